# The broker plugin: included by the Makefile above, and run from there.

MAVEN := $(CURDIR)/var/maven/bin/mvn --batch-mode --quiet
PLUGIN := broker-plugin/target/kafka-client-telemetry-dump.jar

.PHONY: plugin

plugin: $(STAMPS)/maven  ## build and test the plugin that makes brokers write dumps (needs a JDK)
	@cd broker-plugin && $(MAVEN) package
	@echo "$(PLUGIN)"

$(STAMPS)/maven: broker-plugin/maven.ivy.xml | $(STAMPS)/venv
	@command -v $${JAVA_HOME:+$$JAVA_HOME/bin/}javac >/dev/null || { echo "There is no Java compiler: install a JDK 17 or newer (on Debian: openjdk-17-jdk-headless), or set JAVA_HOME." >&2; exit 1; }
	@echo "fetching Maven ..."
	@rm -rf var/maven && mkdir -p var/maven
	@java -jar .venv/lib/python3*/site-packages/pyspark/jars/ivy-*.jar -ivy $< -cache var/ivy/maven -warn \
	    -retrieve 'var/maven/[artifact].[ext]' >var/maven/ivy.log 2>&1 || { tail -n 20 var/maven/ivy.log >&2; exit 1; }
	@tar xzf var/maven/apache-maven.tar.gz -C var/maven --strip-components=1
	@touch $@
