# The broker plugin: included by the Makefile above, and run from there.

# This needs a JDK and Maven, and neither Python nor Spark.
MAVEN := mvn --batch-mode --quiet -Dstyle.color=never
PLUGIN_VERSION := $(shell sed -n 's|^  <version>\(.*\)</version>|\1|p' broker-plugin/pom.xml)
PLUGIN := broker-plugin/target/kafka-client-telemetry-dump-$(PLUGIN_VERSION).jar

.PHONY: plugin bench-plugin e2e-brokers

plugin: $(PLUGIN) $(STAMPS)/plugin_tested  ## build and test the plugin that makes brokers write dumps, with its list of parts (needs a JDK)
	@echo "$(PLUGIN)"

$(PLUGIN): broker-plugin/pom.xml $(shell find broker-plugin/src -type f)
	@command -v $${JAVA_HOME:+$$JAVA_HOME/bin/}javac >/dev/null || { echo "There is no Java compiler: install a JDK 17 or newer (on Debian: openjdk-17-jdk-headless), or set JAVA_HOME." >&2; exit 1; }
	@command -v mvn >/dev/null || { echo "There is no Maven: install it (on Debian: maven)." >&2; exit 1; }
	@echo "building the broker plugin ..."
	@rm -f broker-plugin/target/*.jar
	@cd broker-plugin && $(MAVEN) -DskipTests package
	@rm -f broker-plugin/target/original-*.jar
	@touch $@

$(STAMPS)/plugin_tested: $(PLUGIN)
	@echo "running the broker plugin's tests ..."
	@cd broker-plugin && $(MAVEN) surefire:test
	@mkdir -p $(@D) && touch $@

bench-plugin: plugin $(STAMPS)/end_to_end  ## measure what the plugin costs a broker, and write it into docs/broker-plugin.md
	@$(BIN)/python -m benchmarks.broker_plugin

# What a live roll needs: the release after, and libraries of several years, each out of a wheel.
LIVE_ROLL := var/end_to_end/jars/kafka-4.0.1/.fetched $(foreach each,1.7.0 2.3.0 2.8.0,var/end_to_end/librdkafka-$(each)/.fetched) var/end_to_end/kafka-python-2.0.2/.fetched

e2e-install: $(if $(MAVEN_AND_JDK),plugin $(STAMPS)/end_to_end $(LIVE_ROLL))

# Java, librdkafka, kafka-python and franz-go over PLAINTEXT, SCRAM over TLS and mutual TLS on each of them.
BROKER_RELEASES ?= 3.7.1 3.8.1 3.9.1 4.0.1 4.1.1 4.2.1 4.3.1 4.4.0
e2e-brokers: install plugin $(STAMPS)/end_to_end var/end_to_end/franz-go $(BROKER_RELEASES:%=var/end_to_end/jars/kafka-%/.fetched)  ## the plugin on every release of Kafka: BROKER_RELEASES="3.7.1 4.4.0"
	@BROKER_RELEASES="$(BROKER_RELEASES)" $(AIRFLOW) pytest -n 0 -m end_to_end tests/end_to_end/real_kafka/test_releases.py

var/end_to_end/jars/kafka-%/.fetched: | $(STAMPS)/end_to_end
	@echo "fetching Kafka $* ..."
	@$(call download,"Kafka $*",$(@D).log) $(MAVEN) -f spark/client_telemetry/rehearsal/jars/broker-$(firstword $(subst ., ,$*)).pom.xml -Dkafka.version=$* \
	    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
	    -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

$(STAMPS)/end_to_end: $(wildcard tests/end_to_end/real_kafka/jars/*.xml spark/client_telemetry/rehearsal/jars/*.xml) tests/end_to_end/real_kafka/clients/requirements.txt | $(STAMPS)/uv
	@echo "fetching brokers, an object store and clients ..."
	@rm -rf var/end_to_end && mkdir -p var/end_to_end
	@for file in $(wildcard spark/client_telemetry/rehearsal/jars/*.pom.xml tests/end_to_end/real_kafka/jars/*.pom.xml); do \
	    pom=$$(basename $$file .pom.xml); $(call download,$$pom,var/end_to_end/$$pom.log) $(MAVEN) -f $$file org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
	        -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/var/end_to_end/jars/$$pom || exit 1; done
	@$(PYTHON) -m venv var/end_to_end/venv
	@$(call download,"a client of Kafka",var/end_to_end/clients.log) var/uv/bin/uv pip sync --quiet --require-hashes --python var/end_to_end/venv/bin/python tests/end_to_end/real_kafka/clients/requirements.txt
	@touch $@

# The library of a wheel serves every Python: which one the wheel was made for does not matter.
var/end_to_end/librdkafka-%/.fetched: | $(STAMPS)/end_to_end
	@mkdir -p $(@D)
	@$(call download,"confluent-kafka $*",$(@D).log) $(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version $(if $(filter 1.%,$*),3.9,3.11) \
	    $(foreach each,manylinux_2_28 manylinux_2_17 manylinux2014 manylinux2010,--platform $(each)_x86_64) --dest $(@D) confluent-kafka==$*
	@cd $(@D) && $(abspath $(BIN))/python -m zipfile -e *.whl . && touch .fetched

var/end_to_end/kafka-python-%/.fetched: | $(STAMPS)/end_to_end
	@$(call download,"kafka-python $*",$(@D).log) var/uv/bin/uv pip install --quiet --python var/end_to_end/venv/bin/python --target $(@D) kafka-python==$*
	@touch $@

var/end_to_end/franz-go: $(wildcard tests/end_to_end/real_kafka/clients/franz_go/*) | $(STAMPS)/end_to_end
	@command -v go >/dev/null || { echo "The client of franz-go needs Go 1.25 or newer (https://go.dev/dl)." >&2; exit 2; }
	@cd $(<D) && $(CURDIR)/$(call download,franz-go,$(CURDIR)/$@.log) go build -o $(CURDIR)/$@ .
