#!/usr/bin/env bash
# Starts Airflow with its user interface on 127.0.0.1 and stays in the foreground; Ctrl-C ends it, with the tasks that are
# running: they can be repeated.
#     client-telemetry ui --port 8081
# Needs the settings of include/airflow.sh and a database that `airflow db migrate` has prepared.
set -euo pipefail

port=$AIRFLOW__API__PORT
url=$AIRFLOW__API__BASE_URL
passwords=$AIRFLOW_HOME/simple_auth_manager_passwords.json.generated

if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "Port $port is taken. Set another one, for instance: client-telemetry ui --port $((port + 1)), or make ui PORT=$((port + 1))" >&2
    exit 1
fi

# Airflow would make up a password and print it between its log lines; made here, it can be shown where one looks. Other auth
# managers than the simple one have users of their own.
manager=${AIRFLOW__CORE__AUTH_MANAGER:-SimpleAuthManager}
login="log in as ${manager##*.} asks"
if [[ $manager == *SimpleAuthManager ]]; then
    if [ ! -s "$passwords" ]; then
        (umask 077 && python -c 'import json, secrets; print(json.dumps({"admin": secrets.token_urlsafe(12)}))' >"$passwords")
    fi
    login=$(python -c 'import json, sys; print("user: admin  password:", json.load(open(sys.argv[1]))["admin"])' "$passwords")
fi

echo "Starting Airflow on $url; its log is $AIRFLOW_HOME/standalone.log."
(
    trap '' INT
    while ! python -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=2)' "$url/api/v2/version" 2>/dev/null; do
        kill -0 $$ 2>/dev/null || exit 0
        sleep 1
    done
    echo "Ready: $url  $login   (Ctrl-C ends it)"
) &

# A process group of its own (set -m), because standalone waits for the tasks that are running, and Ctrl-C is to end those too.
set -m
python -m include.standalone >"$AIRFLOW_HOME/standalone.log" 2>&1 </dev/null &
airflow=$!
set +m
# shellcheck disable=SC2329  # by the trap
stop() {
    trap '' INT TERM
    kill -TERM -- "-$airflow" 2>/dev/null || true
    for _ in {1..50}; do
        kill -0 -- "-$airflow" 2>/dev/null || exit "$1"
        sleep 0.2
    done
    kill -KILL -- "-$airflow" 2>/dev/null || true
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM
wait "$airflow"
