# Kafka's own classes, with which subscriptions are compared: included by the Makefile, and run from the root.

KAFKA_CLASSES := 3.7.1 3.9.1 4.0.1 4.3.1 4.4.0

e2e-install: $(if $(MAVEN_AND_JDK),$(STAMPS)/kafka_classes)

$(STAMPS)/kafka_classes: tests/end_to_end/subscriptions/kafka_classes.pom.xml tests/end_to_end/subscriptions/KafkaClasses.java | $(STAMPS)/uv
	@echo "fetching Kafka's classes of subscriptions ..."
	@rm -rf var/kafka_classes && mkdir -p var/kafka_classes
	@for release in $(KAFKA_CLASSES); do \
	    $(MAVEN) -f tests/end_to_end/subscriptions/kafka_classes.pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
	        -Dkafka.version=$$release -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/var/kafka_classes/$$release || exit 1; done
	@$${JAVA_HOME:+$$JAVA_HOME/bin/}javac -nowarn -proc:none -cp 'var/kafka_classes/4.3.1/*' -d var/kafka_classes/classes $(word 2,$^)
	@touch $@
