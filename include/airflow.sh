#!/usr/bin/env bash
# Runs a command with the settings of the Airflow that lives in this checkout:
#     include/airflow.sh airflow dags list
# Everything it writes lies under var/, or below STATE in a container. A variable that is already set keeps its value.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
port=${PORT:-8080}

# Tables, pages, databases and logs name clients: the group may read them, nobody else.
umask 027

export PATH="$checkout/.venv/bin:$PATH"
# As in the Makefile: else each process compiles all that it imports.
unset PYTHONDONTWRITEBYTECODE
# Finds the package include; Airflow itself adds only the folders of the DAGs and the plugins.
export PYTHONPATH="$checkout${PYTHONPATH:+:$PYTHONPATH}"
export PYSPARK_PYTHON=${PYSPARK_PYTHON:-$checkout/.venv/bin/python}
export PYSPARK_DRIVER_PYTHON=${PYSPARK_DRIVER_PYTHON:-$PYSPARK_PYTHON}
# Where Spark's settings are: those of one machine, written by the Makefile, or those of a cluster.
if [ -n "${SPARK_MASTER:-}" ] && [ -z "${SPARK_CONF_DIR:-}" ]; then
    export SPARK_CONF_DIR=${STATE:-$checkout/var}/spark/cluster
    mkdir -p "$SPARK_CONF_DIR"
    spark_home=("$checkout"/.venv/lib/python3.*/site-packages/pyspark)
    sed -e "s|@CHECKOUT@|$checkout|g" -e "s|@SPARK_HOME@|${spark_home[0]}|" -e "s|@EXECUTOR_HOME@|${EXECUTOR_HOME:-/opt/client-telemetry}|" \
        "${CLUSTER_CONF:-$checkout/spark/conf/cluster.conf.in}" >"$SPARK_CONF_DIR/spark-defaults.conf.$$"
    mv "$SPARK_CONF_DIR/spark-defaults.conf.$$" "$SPARK_CONF_DIR/spark-defaults.conf"
    cp "$checkout/spark/conf/log4j2.properties" "$SPARK_CONF_DIR/"
fi
export SPARK_CONF_DIR=${SPARK_CONF_DIR:-$checkout/var/spark}
if grep -qE '^[^#].*@[A-Z_]+@' "$SPARK_CONF_DIR/spark-defaults.conf" 2>/dev/null; then
    echo "$SPARK_CONF_DIR/spark-defaults.conf has placeholders such as @CHECKOUT@: set CLUSTER_CONF to a copy of spark/conf/cluster.conf.in instead of SPARK_CONF_DIR; they are then filled in (docs/deployment.md)." >&2
    exit 2
fi

export AIRFLOW_HOME=${AIRFLOW_HOME:-$checkout/var/airflow}
export AIRFLOW__CORE__DAGS_FOLDER=${AIRFLOW__CORE__DAGS_FOLDER:-$checkout/dags}
export AIRFLOW__CORE__PLUGINS_FOLDER=${AIRFLOW__CORE__PLUGINS_FOLDER:-$checkout/plugins}
export AIRFLOW__CORE__LOAD_EXAMPLES=${AIRFLOW__CORE__LOAD_EXAMPLES:-False}
export AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION=${AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION:-False}
export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS=${AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS:-admin:admin}
# WARNING would hide what spark-submit prints.
export AIRFLOW__LOGGING__LOGGING_LEVEL=${AIRFLOW__LOGGING__LOGGING_LEVEL:-INFO}
export AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FOLDER_PERMISSIONS=${AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FOLDER_PERMISSIONS:-0o750}
export AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FILE_PERMISSIONS=${AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FILE_PERMISSIONS:-0o640}
# Airflow's default is to listen on every interface. Tasks reach the API by BASE_URL, so both must name the port.
export AIRFLOW__API__HOST=${AIRFLOW__API__HOST:-127.0.0.1}
export AIRFLOW__API__PORT=${AIRFLOW__API__PORT:-$port}
export AIRFLOW__API__BASE_URL=${AIRFLOW__API__BASE_URL:-http://127.0.0.1:$port}
# JSON, because the URI spark://local[2] is quietly read as YARN.
spark='{"conn_type": "spark", "host": "'${SPARK_MASTER:-local[2]}'"}'
export AIRFLOW_CONN_SPARK_DEFAULT=${AIRFLOW_CONN_SPARK_DEFAULT:-$spark}

exec "$@"
