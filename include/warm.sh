#!/usr/bin/env bash
# Runs a command with a process that has imported everything and forks for each job, and ends it afterwards:
#     include/airflow.sh include/warm.sh python -m include.sample_run
# Jobs find the process (spark/warm_jobs.py) by WARM_JOBS. Its log is in var/spark.
set -euo pipefail

# Before there is anything to stop; the command below says so itself.
trap 'echo interrupted >&2; exit 130' INT
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)

echo "starting Airflow ..."
python "$checkout/spark/warm_jobs.py" serve "$folder/socket" >"$checkout/var/spark/warm_jobs.log" 2>&1 &
jobs=$!
# shellcheck disable=SC2329  # by the trap
stop() {
    kill "$jobs" || true
    wait "$jobs" || true
    rm -rf "$folder"
}
trap 'stop 2>/dev/null' EXIT

trap - INT
# The command starts at once; its first job waits until the process has imported everything.
status=0
WARM_JOBS=$folder/socket "$@" || status=$?
exit "$status"
