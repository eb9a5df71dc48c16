#!/usr/bin/env bash
# Starts Airflow with its user interface on 127.0.0.1 and stays in the foreground; Ctrl-C ends it.
#     PORT=8081 include/airflow.sh include/ui.sh
# Needs the settings of include/airflow.sh and a database that `airflow db migrate` has prepared.
set -euo pipefail

port=$AIRFLOW__API__PORT
url=$AIRFLOW__API__BASE_URL
passwords=$AIRFLOW_HOME/simple_auth_manager_passwords.json.generated

if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "Port $port is taken. Set another one, for instance: make ui PORT=$((port + 1))" >&2
    exit 1
fi

# Airflow would make up a password and print it between its log lines; made here, it can be shown where one looks.
if [ ! -s "$passwords" ]; then
    (umask 077 && python -c 'import json, secrets; print(json.dumps({"admin": secrets.token_urlsafe(12)}))' >"$passwords")
fi
password=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["admin"])' "$passwords")

echo "Starting Airflow on $url; its log is $AIRFLOW_HOME/standalone.log."
(
    trap '' INT
    while ! python -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=2)' "$url/api/v2/version" 2>/dev/null; do
        kill -0 $$ 2>/dev/null || exit 0
        sleep 1
    done
    echo "Ready: $url  user: admin  password: $password   (Ctrl-C ends it)"
) &

exec airflow standalone >"$AIRFLOW_HOME/standalone.log" 2>&1
