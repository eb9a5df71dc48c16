#!/usr/bin/env bash
# Runs a command with a Spark of its own that stays warm between jobs (Spark Connect), and stops it afterwards:
#     include/airflow.sh include/spark_connect.sh python -m include.sample_run
# Jobs find it by SPARK_REMOTE. It listens on 127.0.0.1 only, on a free port. Its log is var/spark/connect.log.
set -euo pipefail

log=var/spark/connect.log
port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
spark-submit --master 'local[2]' --name client-telemetry \
    --conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port="$port" \
    --class org.apache.spark.sql.connect.service.SparkConnectServer spark-internal >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true' EXIT

for _ in $(seq 240); do
    if (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; then
        SPARK_REMOTE=sc://127.0.0.1:$port "$@"
        exit
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.25
done
echo "Spark did not start; the reason stands in $log" >&2
exit 1
