#!/usr/bin/env bash
# What the image `airflow` runs: Airflow on all interfaces of the container, with all that changes below STATE, a volume; or another
# command with the same settings:
#     include/container.sh airflow scheduler
# Stages are forks of a process that has imported everything (spark/warm_jobs.py). Should it die, each is a process of its own.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export AIRFLOW_HOME=$STATE/airflow
export CLIENT_TELEMETRY_CLUSTERS=${CLIENT_TELEMETRY_CLUSTERS:-$STATE/clusters.yaml}
export AIRFLOW__API__HOST=${AIRFLOW__API__HOST:-0.0.0.0}

mkdir -p "$AIRFLOW_HOME"
if [ ! -e "$CLIENT_TELEMETRY_CLUSTERS" ]; then
    sed "s|: var/|: $STATE/|" "$checkout/include/clusters.yaml" >"$CLIENT_TELEMETRY_CLUSTERS"
fi
cd "$checkout"
writers=$(.venv/bin/python -c "from client_telemetry.lake.catalog import writers; print(writers())")
include/airflow.sh airflow db migrate >"$AIRFLOW_HOME/migrate.log" 2>&1 || { tail -n 20 "$AIRFLOW_HOME/migrate.log" >&2; exit 1; }
include/airflow.sh airflow pools set lake_writer "$writers" "Stages that write tables at once" >>"$AIRFLOW_HOME/migrate.log" 2>&1
mkdir -p "$STATE/spark"
WARM_JOBS=$(mktemp -d)/socket
export WARM_JOBS
# Ends with the container.
include/airflow.sh python spark/warm_jobs.py serve "$WARM_JOBS" >"$STATE/spark/warm_jobs.log" 2>&1 &
if [ $# -eq 0 ]; then
    set -- include/ui.sh
fi
exec include/airflow.sh "$@"
