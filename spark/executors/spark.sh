#!/usr/bin/env bash
# Starts a master or a worker of Spark's standalone cluster with what lies beside this file, and stays in the foreground:
#     spark.sh master --host spark-master.example.com --port 7077
#     spark.sh worker spark://spark-master.example.com:7077 --cores 8 --memory 24g
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Files of tables name clients: the group may read them, nobody else.
umask 027
export SPARK_HOME=$folder/packages/pyspark
case ${1:-} in
    master) class=org.apache.spark.deploy.master.Master ;;
    worker) class=org.apache.spark.deploy.worker.Worker ;;
    *)
        echo "say what to start: spark.sh master [options], or spark.sh worker spark://HOST:PORT [options]" >&2
        exit 2
        ;;
esac
shift
exec "$SPARK_HOME/bin/spark-class" "$class" "$@"
