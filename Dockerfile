# Airflow, Spark and the jobs in one image: what `make install` builds, as root-less services use it.
# docker build -t client-telemetry . && docker run --rm client-telemetry make run
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends git make openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home client-telemetry

WORKDIR /opt/client-telemetry
COPY --chown=client-telemetry . .
RUN chown client-telemetry .
USER client-telemetry
RUN make install

EXPOSE 8080
CMD ["make", "ui"]
