#!/usr/bin/env bash
# Runs a command with a Spark of its own that stays warm between jobs, and stops it afterwards:
#     include/airflow.sh include/spark_connect.sh python -m include.sample_run
# Jobs find Spark (a Spark Connect server, on 127.0.0.1 and a free port) by SPARK_REMOTE, and a process that has
# imported everything (spark/warm_jobs.py) by WARM_JOBS. Logs are in var/spark.
set -euo pipefail

# Before there is anything to stop; the command below says so itself.
trap 'echo interrupted >&2; exit 130' INT
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$checkout/var/spark
folder=$(mktemp -d)
# One session for all jobs of a lake (pipeline/stage.py): each session of Spark Connect has Python workers of its own, and their imports.
# It is kept however long no job comes (the timeout below).
read -r port session < <(trap '' INT; python -c 'import socket, uuid; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1], uuid.uuid4())')

echo "starting Spark and Airflow ..."
spark-submit --master "${SPARK_MASTER:-local[2]}" --name client-telemetry \
    --conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port="$port" \
    --conf spark.connect.session.manager.defaultSessionTimeout=-1 \
    --class org.apache.spark.sql.connect.service.SparkConnectServer spark-internal >"$logs/connect.log" 2>&1 &
spark=$!
export SPARK_REMOTE="sc://127.0.0.1:$port/;session_id=$session"
python "$checkout/spark/warm_jobs.py" serve "$folder/socket" >"$logs/warm_jobs.log" 2>&1 &
jobs=$!
# shellcheck disable=SC2329  # by the trap
stop() {
    kill "$spark" "$jobs" || true
    wait "$spark" "$jobs" || true
    rm -rf "$folder"
}
trap 'stop 2>/dev/null' EXIT

trap - INT
# The command starts at once; its first job waits until both are up.
status=0
WARM_JOBS=$folder/socket "$@" || status=$?
exit "$status"
