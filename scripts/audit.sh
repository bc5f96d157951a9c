#!/usr/bin/env bash
# Asks whether a fault is known in a version of scripts/requirements*.txt. Exit status 0: none; 1: one, or no answer that
# is understood; 3: the registry or the database of known faults cannot be reached, and nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
readonly UNREACHED='ConnectionError|ConnectTimeout|Max retries|NewConnectionError|ServiceError|ReadTimeout|timed out'
readonly UNNAMED='NameResolution|ProxyError|Failed to establish|50[0-9] Server Error'

asked() { # what is asked for, command ...
  local status=0
  "${@:2}" 2>"$folder/said" || status=$?
  cat "$folder/said" >&2
  if [ "$status" -ne 0 ] && grep -qE "$UNREACHED|$UNNAMED" "$folder/said"; then
    echo "audit: $1 cannot be reached, so nothing was checked" >&2
    exit 3
  fi
  [ "$status" -eq 0 ] || exit 1
}

"${PYTHON:-python3.11}" -m venv "$folder/venv"
asked "the package registry" "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
  -r scripts/requirements-audit.txt
files=()
for file in scripts/requirements*.txt; do files+=(-r "$file"); done
asked "the database of known faults" "$folder/venv/bin/pip-audit" --disable-pip --require-hashes "${files[@]}"
