# The broker plugin: included by the Makefile above, and run from there.

MAVEN := $(CURDIR)/var/maven/bin/mvn --batch-mode --quiet
PLUGIN := broker-plugin/target/kafka-client-telemetry-dump.jar

.PHONY: plugin bench-plugin

plugin: $(STAMPS)/maven  ## build and test the plugin that makes brokers write dumps (needs a JDK)
	@cd broker-plugin && $(MAVEN) package
	@echo "$(PLUGIN)"

bench-plugin: plugin $(STAMPS)/end_to_end  ## measure what the plugin costs a broker, and write it into docs/broker-plugin.md
	@$(BIN)/python -m benchmarks.broker_plugin

e2e: plugin $(STAMPS)/end_to_end

$(STAMPS)/end_to_end: $(wildcard tests/end_to_end/real_kafka/jars/*.xml) tests/end_to_end/real_kafka/clients/requirements.txt | $(STAMPS)/maven
	@echo "fetching brokers, an object store and clients ..."
	@rm -rf var/end_to_end && mkdir -p var/end_to_end
	@for pom in broker-3 broker-4 object-store; do \
	    $(MAVEN) -f tests/end_to_end/real_kafka/jars/$$pom.pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
	        -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/var/end_to_end/jars/$$pom || exit 1; done
	@$(PYTHON) -m venv var/end_to_end/venv
	@var/uv/bin/uv pip sync --quiet --python var/end_to_end/venv/bin/python tests/end_to_end/real_kafka/clients/requirements.txt
	@touch $@

$(STAMPS)/maven: broker-plugin/maven.ivy.xml | $(STAMPS)/venv
	@command -v $${JAVA_HOME:+$$JAVA_HOME/bin/}javac >/dev/null || { echo "There is no Java compiler: install a JDK 17 or newer (on Debian: openjdk-17-jdk-headless), or set JAVA_HOME." >&2; exit 1; }
	@echo "fetching Maven ..."
	@rm -rf var/maven && mkdir -p var/maven
	@java -jar .venv/lib/python3*/site-packages/pyspark/jars/ivy-*.jar -ivy $< -cache var/ivy/maven -warn \
	    -retrieve 'var/maven/[artifact].[ext]' >var/maven/ivy.log 2>&1 || { tail -n 20 var/maven/ivy.log >&2; exit 1; }
	@tar xzf var/maven/apache-maven.tar.gz -C var/maven --strip-components=1
	@touch $@
