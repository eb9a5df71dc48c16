#!/usr/bin/env bash
# What the image `airflow` runs: Airflow on all interfaces of the container, with all that changes below STATE, a volume.
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
exec include/airflow.sh include/ui.sh
