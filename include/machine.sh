#!/usr/bin/env bash
# Says in one line what the machine lacks: include/machine.sh PYTHON
set -euo pipefail

python=$1
command -v "$python" >/dev/null || { echo "There is no $python: install Python 3.11, 3.12 or 3.13, or set PYTHON=/path/to/python3." >&2; exit 1; }
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
    3.11 | 3.12 | 3.13) ;;
    *)
        echo "$python is Python $version; Airflow and Spark need 3.11, 3.12 or 3.13: install one and set PYTHON=/path/to/it." >&2
        exit 1
        ;;
esac
"$python" -c 'import ensurepip, venv' 2>/dev/null || { echo "$python cannot make virtual environments: install its venv module (on Debian: python3-venv)." >&2; exit 1; }

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || { echo "There is no Java: install a Java 17 or newer (on Debian: openjdk-17-jre-headless), or set JAVA_HOME." >&2; exit 1; }
java_version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
if [ "${java_version:-0}" -lt 17 ]; then
    echo "$java is Java ${java_version:-of an unknown version}; Spark needs 17 or newer: install one and set JAVA_HOME." >&2
    exit 1
fi
