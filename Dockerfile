# Two images. `airflow`: the DAGs, their pages and Spark's drivers. `executor`: a worker, or the master, of Spark's standalone
# cluster. docs/deployment.md tells how they are run.
#     docker build --target airflow -t client-telemetry .
#     docker build --target executor -t client-telemetry-executor .
# By digest, which the update bot moves. Any other Debian 12 with Python 3.11 will do (docs/deployment.md, Without Docker Hub).
FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b AS base

FROM base AS java
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home client-telemetry
WORKDIR /opt/client-telemetry
RUN chown client-telemetry .

FROM java AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends make \
    && rm -rf /var/lib/apt/lists/*
COPY --chown=client-telemetry . .
USER client-telemetry
# Machine code for any processor: an image runs on others than the one that built it.
ENV NUMBA_CPU_NAME=generic
# Nothing is written where the image runs: all is compiled when it is built. Some packages ship templates that are no Python.
RUN make install storage && { .venv/bin/python -m compileall -qq .venv/lib || true; }

FROM build AS pack
RUN make executors

FROM java AS executor
RUN install -d -o client-telemetry /work
# Of root, and so read-only for the user that runs it.
COPY --from=pack --chown=root /opt/client-telemetry/var/executors /opt/client-telemetry
USER client-telemetry
WORKDIR /work
# What executors of running applications leave behind.
VOLUME /work
ENV SPARK_WORKER_DIR=/work SPARK_LOCAL_DIRS=/work/tmp
EXPOSE 7077 8081
ENTRYPOINT ["/opt/client-telemetry/spark.sh"]
CMD ["worker", "spark://spark-master:7077"]

FROM java AS airflow
RUN install -d -o client-telemetry /state
# Without the caches of packages that building leaves behind.
COPY --from=build --chown=client-telemetry /opt/client-telemetry /opt/client-telemetry
USER client-telemetry
ENV NUMBA_CPU_NAME=generic PYTHONDONTWRITEBYTECODE=1
# Airflow's database and logs, the clusters file, and tables and pages where they are not in an object store.
VOLUME /state
ENV STATE=/state
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=180s CMD [".venv/bin/python", "include/health.py"]
CMD ["include/container.sh"]
