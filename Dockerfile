# The service in a container: docs/service.md tells how to start it.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY scripts/requirements-service.txt scripts/
COPY kg kg
COPY abstraction abstraction
COPY granola granola
RUN python -m venv /opt/granola \
 && /opt/granola/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes \
    -r scripts/requirements-service.txt \
 && /opt/granola/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM python:3.11-slim
COPY --from=build /opt/granola /opt/granola
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin granola
USER granola
ENV PATH=/opt/granola/bin:$PATH PYTHONUNBUFFERED=1
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/v1/health/ready', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["granola", "serve", "--host", "0.0.0.0"]
CMD ["--demo"]
