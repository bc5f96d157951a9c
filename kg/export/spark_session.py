"""Spark sessions, and errors of Spark in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kg.base.packages import install_hint
from kg.errors import EngineError

LOCAL = "local[*]"


@contextmanager
def session(master: str | None = None, *, name: str = "granola") -> Iterator[Any]:
    """A Spark session at `master` (None: from spark-submit or the environment, else this machine's cores).

    A session that is active already is used and left running. Raises EngineError without pyspark or Java.
    """
    try:
        import pandas  # noqa: F401  # pyspark asks for it late
        import pyspark
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError(f"Spark needs {error.name}: {install_hint('spark')}") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    # Executors start the first `python3` they find, which is seldom the one that has this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = master or os.environ.get("MASTER")
    builder = SparkSession.builder.appName(name).config("spark.ui.showConsoleProgress", "false")
    if given or not os.environ.get("SPARK_CONF_DIR"):
        builder = builder.master(given or LOCAL)
    if (given or LOCAL).startswith("local"):
        # The machine's own host name may not resolve, and then executors die at once.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
    try:
        spark = builder.getOrCreate()
    except (PySparkException, RuntimeError, OSError) as error:
        raise EngineError(
            f"Spark does not start; it needs Java 17 or newer on the PATH or JAVA_HOME: {error}"
        ) from error
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def explaining_spark_errors(what: str) -> Iterator[None]:
    """Convert errors of Spark into one error whose message is the line with the cause."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        java = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
        lines = [line.strip() for line in str(java or error).splitlines() if line.strip()]
        causes = [line for line in lines if "Error:" in line or "Exception:" in line] or lines
        raise EngineError(f"Spark gave up {what}: {causes[-1] if causes else error}") from error
