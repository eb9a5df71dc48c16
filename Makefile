# The front door: `make help`. Everything is installed into .venv and var/, once, behind stamp files.

PYTHON ?= python3
PORT ?= 8080
# A wheel fetches the same.
JARS := $(shell paste -sd, spark/client_telemetry/lake/spark_jars.txt)
STORAGE_JARS := $(shell paste -sd, spark/storage_jars.txt)
# As many as the configured catalog takes: one where it is a SQLite file.
LAKE_WRITERS = $$($(BIN)/python -c "from client_telemetry.lake.catalog import writers; print(writers())")
SET_POOL = $(AIRFLOW) airflow pools set lake_writer $(LAKE_WRITERS) "Stages that write tables at once" >>var/airflow/migrate.log 2>&1 || { tail -n 5 var/airflow/migrate.log >&2; exit 1; }
# Kafka's own classes and message definitions: the tests compare with them.
KAFKA_CLIENTS := var/knowledge/kafka-clients-4.0.1.jar

BIN := .venv/bin
CLIENT_TELEMETRY := $(BIN)/client-telemetry
AIRFLOW := include/airflow.sh
STAMPS := var/stamps
SOURCES := dags include plugins spark tests benchmarks
SHELL_SCRIPTS := .ci/run $(wildcard include/*.sh spark/executors/*.sh)
MARKDOWN := $(wildcard *.md) $(shell find benchmarks broker-plugin docs include spark tests -name '*.md' -not -path '*/target/*' -not -path 'tests/data/reports/*')

# Around a command that says itself that it was interrupted: make ends as interrupted too, without a line of its own. It is left
# a moment for that: if the shell ends at the same instant, make may miss it and stop with "wait: No child processes".
INTERRUPTIBLE := trap : INT;
END := ; code=$$?; [ $$code -ne 130 ] || { kill -INT $$PPID; sleep 0.2; code=0; }; exit $$code

# As one word of the shell, whatever is in it.
quoted = '$(subst ','\'',$(1))'
# $(call options,TO PLANNED_FOR): --to=... and --planned-for=... where the variables are set.
options = $(foreach name,$(1),$(if $($(name)),--$(shell echo $(name) | tr A-Z_ a-z-)=$(call quoted,$($(name)))))
# What is no option, if there is any.
operands = $(if $(1),-- $(call quoted,$(1)))

# $(call needs,VARIABLES,EXAMPLE): whoever types make is told of variables, not of options.
needs = $(foreach name,$(1),$(if $($(name)),,$(error specify $(name), as in: make $@ $(2))))

# What Python compiles of .venv and this checkout is kept beside it, whatever the shell says of other programs: a process that
# keeps nothing compiles all that it imports, 15 s of CPU for a stage.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install installed demo executors run report review review-accuracy owners history requarantine test e2e e2e-install e2e-long ui check check-python check-generated check-shell check-markdown check-java format generated lock accuracy withheld-facts bench knowledge clean fuzz ask docs storage sbom audit

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

run: install  ## process the bundled sample through Airflow, and print the path of the upgrade report
	@$(INTERRUPTIBLE) $(CLIENT_TELEMETRY) run $(END)

owners: install  ## try owner rules on the clients of the last processed day: OWNERS=file, ARGS=--every-client
	@$(CLIENT_TELEMETRY) owners --lake=$(call quoted,$(or $(LAKE),var/lake)) --owners=$(call quoted,$(or $(OWNERS),include/sample/owners.yaml)) $(ARGS)

history: install  ## first seen, last seen, gone since of every application (or client family: --clients), as CSV: ARGS="--state gone"
	@$(CLIENT_TELEMETRY) history --lake=$(call quoted,$(or $(LAKE),var/lake)) $(ARGS)

test: install $(STAMPS)/class_archive $(KAFKA_CLIENTS)  ## all tests that need no additional software
	@$(AIRFLOW) pytest -n 2 --dist loadfile --max-worker-restart=0 --no-loadscope-reorder $(ARGS)

ask: install  ## ask an upgrade question of the local lake through Airflow: CLUSTER=fleet TO=4.3.1, and FROM, DAY, WINDOW, MECHANISMS, PLANNED_FOR=2026-12-05, ASKED_BY=contact
	@$(call needs,CLUSTER TO,CLUSTER=fleet TO=4.3.1)$(INTERRUPTIBLE) $(CLIENT_TELEMETRY) ask $(call options,TO FROM DAY WINDOW MECHANISMS PLANNED_FOR ASKED_BY) $(call operands,$(CLUSTER)) $(END)

report: install  ## upgrade report from request logs alone: LOGS=<files or folder> TO=4.0.1, and FROM, ZONE, YEAR, OWNERS, KNOWLEDGE, JAR, SCRAM_USERS, MECHANISMS=listener=SCRAM-SHA-512, HOSTS, NAME, OUT, PLANNED_FOR, ASKED_BY, FOLLOW=minutes, FAIL_ON=breaks
	@$(call needs,LOGS TO,LOGS=kafka-request.log TO=4.0.1)$(INTERRUPTIBLE) $(CLIENT_TELEMETRY) report --out=$(call quoted,$(or $(OUT),var/log_reports/$(shell date -u +%Y%m%dT%H%M%SZ))) $(call options,TO FROM ZONE YEAR OWNERS KNOWLEDGE JAR SCRAM_USERS MECHANISMS HOSTS NAME PLANNED_FOR ASKED_BY FOLLOW FAIL_ON) $(call operands,$(LOGS)) $(END)

review: install  ## what an upgrade did to each client: CLUSTER=fleet on the local lake, or LOGS=<folder>; FROM=3.9.1 TO=4.0.1, and DAY, or ZONE, YEAR, OWNERS, KNOWLEDGE, JAR, SCRAM_USERS, MECHANISMS, NAME, OUT
	@$(INTERRUPTIBLE) $(CLIENT_TELEMETRY) review $(if $(CLUSTER),,--publish=$(call quoted,$(or $(OUT),var/published))) $(call options,FROM TO CLUSTER DAY ZONE YEAR OWNERS KNOWLEDGE JAR SCRAM_USERS MECHANISMS NAME) $(call operands,$(LOGS)) $(END)

# Without them, tests that need what they fetch and build are skipped.
MAVEN_AND_JDK := $(and $(shell command -v mvn),$(shell command -v $${JAVA_HOME:+$$JAVA_HOME/bin/}javac))
GO_AND_CC := $(and $(shell command -v go),$(shell command -v cc))
# Four at once on two cores: tests with brokers mostly wait for clients and clocks.
END_TO_END = $(AIRFLOW) pytest -n 4 --dist loadfile --max-worker-restart=0 --no-loadscope-reorder -rs --durations=12 $(or $(ARGS),tests/end_to_end tests/test_documented_blocks.py tests/client_telemetry/campaign/test_year.py)

e2e:  ## tests with real Kafka brokers and clients, and a real browser in a real Airflow; pictures are left in var/e2e
	@$(END_TO_END) -m "end_to_end and not long"
	@echo "left out: tests that take too long for each change (make e2e-long; CONTRIBUTING.md names them)"

e2e-long:  ## the same with those that take too long for each change
	@$(END_TO_END) -m end_to_end

e2e e2e-long: e2e-install
e2e-long: $(if $(GO_AND_CC),$(STAMPS)/gitea)

# Brokers need no browser.
e2e-install: install storage executors $(STAMPS)/s3_server $(if $(MAVEN_AND_JDK),$(STAMPS)/rest_catalog $(if $(ARGS),$(if $(findstring lake,$(ARGS)),$(STAMPS)/nessie),$(STAMPS)/nessie)) $(if $(findstring real_kafka,$(ARGS)),,$(STAMPS)/browser)

# What Airflow needs is installed while the clients work.
demo:  ## the whole loop, to look at: a real broker, four clients, an object store, Airflow, a report; then the upgrade and its review
	@test -n "$(MAVEN_AND_JDK)" || { echo "The demo builds the broker plugin: install a JDK 17 or newer and Maven (on Debian: openjdk-17-jdk-headless maven)." >&2; exit 2; }
	@$(MAKE) --no-print-directory $(TWO_AT_ONCE) $(STAMPS)/machine $(STAMPS)/venv $(PLUGIN) $(STAMPS)/end_to_end var/end_to_end/jars/kafka-4.0.1/.fetched var/end_to_end/kafka-python-2.0.2/.fetched
	@$(INTERRUPTIBLE) $(BIN)/python -m tests.end_to_end.real_kafka.demo $(ARGS) $(END)

executors: $(STAMPS)/executors  ## pack what Spark's workers need into var/executors (docs/deployment.md)

# Everything that a wheel is made of.
$(STAMPS)/executors: $(shell find spark -type f -not -path '*/__pycache__/*' -not -path '*.egg-info/*') pyproject.toml requirements.txt | install
	@spark/executors/pack.sh $(CURDIR)/var/executors
	@touch $@

requarantine: install  ## reprocess days that have quarantined records
	@$(INTERRUPTIBLE) $(CLIENT_TELEMETRY) requarantine $(END)

ui: install $(if $(wildcard var/published/upgrade_impact),,run)  ## Airflow on 127.0.0.1:8080 (or PORT=...) with the sample processed; stop it with Ctrl-C
	@$(INTERRUPTIBLE) $(CLIENT_TELEMETRY) ui $(END)

# Each part can be run alone; `make -k check` runs all of them in spite of failures.
check: check-python check-generated check-shell check-markdown check-java docs  ## Python, types, boundaries, generated files, shell, Markdown, Java, links of the documentation

check-python: install
	@$(BIN)/ruff check --quiet $(SOURCES)
	@$(BIN)/ruff format --check --quiet $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/python -m benchmarks.rooms >/dev/null

check-generated: install
	@$(BIN)/python spark/generated_files.py --check

check-shell: install
	@$(BIN)/shellcheck -x $(SHELL_SCRIPTS)

check-markdown: install
	@$(BIN)/pymarkdown scan $(MARKDOWN)

check-java: $(if $(shell command -v mvn),$(STAMPS)/checkstyle)
	@$(if $(shell command -v mvn),true,echo "left out: Checkstyle (there is no mvn)")

# Behind a stamp, as Maven takes half of the time and Java changes seldom.
JAVA := $(shell find broker-plugin/src tests/end_to_end spark/client_telemetry/rehearsal spark/client_telemetry/knowledge_package -name '*.java')
$(STAMPS)/checkstyle: $(JAVA) broker-plugin/checkstyle.xml broker-plugin/import-control.xml broker-plugin/pom.xml
	@mvn --batch-mode --quiet -f broker-plugin/pom.xml checkstyle:check
	@mkdir -p $(@D) && touch $@

docs: install  ## build the documentation site into var/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

format: install  ## format the code
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

accuracy: install  ## compare the verdicts with what real clients did on real brokers
	@$(BIN)/python -m benchmarks.accuracy --write docs/accuracy.md
	@$(BIN)/python -m benchmarks.identification --write docs/identification.md
	@$(BIN)/python -m benchmarks.product_knowledge --write docs/accuracy-products.md

review-accuracy: install  ## compare reviews of recorded upgrades with what happened to each application
	@$(BIN)/python -m benchmarks.review_accuracy --write docs/review-accuracy.md

withheld-facts: install  ## compare 100,000 verdicts on made clients, of which facts are withheld, with what protocol facts say
	@$(BIN)/python -m benchmarks.withheld_facts --write docs/accuracy-withheld-facts.md

bench: install $(STAMPS)/class_archive $(STAMPS)/peers  ## benchmark against peers and write docs/performance.md; a single benchmark: ARGS=decode
	@$(AIRFLOW) python -m benchmarks.bench $(ARGS)

fuzz: install  ## compare the fast decoder with the slow one on damaged pushes: ARGS="SECONDS SEED"
	@$(BIN)/python -m benchmarks.fuzz $(ARGS)

generated: install  ## write what is generated from the code: docs/tables.md, docs/libraries.md, include/releases.py, classes of the contract
	@$(BIN)/python spark/generated_files.py

knowledge: install  ## read the request versions of a release from its kafka-clients jar: RELEASE=4.0.1
	@test -n "$(RELEASE)" || { echo "say which release: make knowledge RELEASE=4.0.1" >&2; exit 2; }
	@$(MAKE) --no-print-directory var/knowledge/kafka-clients-$(RELEASE).jar
	@$(BIN)/python -m client_telemetry.knowledge.broker_release --jar var/knowledge/kafka-clients-$(RELEASE).jar
	@$(BIN)/python spark/generated_files.py

sbom: install $(STAMPS)/audit  ## write what the Python part consists of into var/sbom/python.cdx.json (CycloneDX)
	@mkdir -p var/sbom
	@var/audit/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --validate -o var/sbom/python.cdx.json $(BIN)/python
	@echo var/sbom/python.cdx.json

audit: $(STAMPS)/audit  ## known vulnerabilities of the pinned packages: from OSV, or offline with DATABASE=<folder with OSV's records>
	@var/audit/bin/python include/audit/known_vulnerabilities.py requirements.txt $(if $(DATABASE),$(call quoted,$(DATABASE)))

lock: $(STAMPS)/uv  ## resolve the dependencies of pyproject.toml into requirements.txt, with hashes
	@var/uv/bin/uv pip compile -q --universal --generate-hashes --python-version 3.11 --all-extras pyproject.toml -o requirements.txt
	@var/uv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header include/audit/requirements.in -o include/audit/requirements.txt
	@grep -E '^(#|uv==)' include/uv_requirements.txt | sed 's/ .$$//' | tee var/uv/wanted >/dev/null
	@var/uv/bin/uv pip compile -q --no-header --no-annotate --generate-hashes var/uv/wanted -o var/uv/locked
	@{ grep '^#' var/uv/wanted; cat var/uv/locked; } >include/uv_requirements.txt

CLEANED := var/lake var/published var/results var/airflow
clean:  ## remove tables, reports and Airflow's state; what was installed stays
	@$(if $(wildcard $(CLEANED)),du -sh $(wildcard $(CLEANED)),echo "there is nothing to delete")
	@test -n "$(YES)$(if $(wildcard $(CLEANED)),,nothing)" || { printf 'Delete these? [y/N] '; read -r answer && [ "$$answer" = y ]; } || { echo "nothing deleted; without the question: make clean YES=1"; exit 1; }
	@rm -rf $(CLEANED) $(STAMPS)/airflow

storage: install $(STAMPS)/storage_jars  ## what tables in S3 or another catalog need: Spark's jars, as many writers as the catalog takes (docs/storage.md)
	@$(MAKE) --no-print-directory $(STAMPS)/class_archive
	@$(SET_POOL)

# Jars of another version stay beside the new ones nowhere: those of the storage are fetched again if they were.
installed: $(addprefix $(STAMPS)/,machine venv compiled bytecode jars spark airflow) $(wildcard $(STAMPS)/storage_jars)
	@true

# Two steps, or as many as make was told.
TWO_AT_ONCE = $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs=2)

install:
	@$(MAKE) --no-print-directory $(TWO_AT_ONCE) installed

$(STAMPS)/machine: include/machine.sh
	@include/machine.sh $(PYTHON)
	@mkdir -p $(@D) && touch $@

# $(call download,WHAT,LOG) before a command: tried again where the network fails, and one line where it goes on to.
download = include/download.sh $(1) $(2)

$(STAMPS)/uv: include/uv_requirements.txt | $(STAMPS)/machine
	@$(PYTHON) -m venv var/uv
	@$(call download,uv,var/uv/install.log) var/uv/bin/pip install --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(STAMPS)/venv: requirements.txt pyproject.toml | $(STAMPS)/uv
	@echo "installing Python packages into .venv ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(call download,"a Python package",var/uv/sync.log) var/uv/bin/uv pip sync --quiet --require-hashes --python $(BIN)/python requirements.txt
	@$(call download,"what builds this package",var/uv/editable.log) var/uv/bin/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

# Apart from the project's packages, which it looks at.
$(STAMPS)/audit: include/audit/requirements.txt | $(STAMPS)/uv
	@var/uv/bin/uv venv --quiet --clear --python $(PYTHON) var/audit
	@$(call download,"what looks for vulnerabilities",var/uv/audit.log) var/uv/bin/uv pip sync --quiet --require-hashes --python var/audit/bin/python $<
	@touch $@

# Of the packages, only a quarter is ever imported, and Python keeps what it compiles then.
IMPORTED := dags include plugins spark
# Python that Ctrl-C ends without a traceback, also while it starts and imports.
QUIET_PYTHON = trap '' INT; $(BIN)/python -c 'import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); import sys;
# As `-m compileall -qq`.
COMPILE = $(QUIET_PYTHON) import compileall; sys.exit(not all([compileall.compile_dir(each, quiet=2) for each in sys.argv[1:]]))'
$(STAMPS)/bytecode: $(STAMPS)/venv $(shell find $(IMPORTED) -name '*.py')
	@$(COMPILE) $(IMPORTED)
	@touch $@

# Of the benchmarks only: what this project is compared with.
$(STAMPS)/peers: benchmarks/requirements.txt $(shell find benchmarks/peers -type f) $(STAMPS)/venv | $(STAMPS)/uv
	@$(call download,"a peer of the benchmarks",var/uv/peers.log) var/uv/bin/uv pip install --quiet --require-hashes --python $(BIN)/python --no-deps -r $<
ifneq ($(shell command -v mvn),)
	@$(call download,"a peer in Java",var/bench/java.log) mvn -q -B -f benchmarks/peers/java/pom.xml -DoutputDirectory=$(CURDIR)/var/bench/java -DincludeScope=runtime \
	    -Dspark.jars=$$(echo $(CURDIR)/.venv/lib/python3.*/site-packages/pyspark/jars) package dependency:copy-dependencies
endif
ifneq ($(shell command -v cargo),)
	@cargo build --quiet --release --locked --manifest-path benchmarks/peers/rust/Cargo.toml --target-dir var/bench/rust-build
endif
	@touch $@

$(STAMPS)/rest_catalog: tests/end_to_end/lake/rest_catalog/pom.xml
	@echo "fetching the jars of Iceberg's REST catalog ..."
	@mkdir -p $(@D)
	@$(call download,"Iceberg's REST catalog",var/e2e/rest_catalog.log) mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/var/e2e/rest_catalog
	@touch $@

$(STAMPS)/nessie:
	@echo "fetching the server of Nessie (245 MB) ..."
	@mkdir -p $(@D)
	@$(call download,Nessie,var/e2e/nessie.log) mvn -q -B dependency:copy -Dartifact=org.projectnessie.nessie:nessie-quarkus:0.99.0:jar:runner -DoutputDirectory=$(CURDIR)/var/e2e/nessie
	@touch $@

# Of e2e-long only. What it reads beside itself (templates, locales) stays in Go's cache of modules.
GITEA := code.gitea.io/gitea@v1.24.0
$(STAMPS)/gitea:
	@echo "building Gitea (10 to 15 minutes of CPU time) ..."
	@mkdir -p var/e2e/gitea $(@D)
	@$(call download,Gitea,var/e2e/gitea/source.log) go mod download $(GITEA)
	@ln -sfn "$$(go env GOMODCACHE)/$(GITEA)" var/e2e/gitea/source
	@$(call download,"what Gitea is built of",var/e2e/gitea/build.log) go build -C var/e2e/gitea/source -trimpath -tags "sqlite sqlite_unlock_notify" \
	    -o $(CURDIR)/var/e2e/gitea/gitea .
	@touch $@

$(STAMPS)/s3_server: | $(STAMPS)/uv
	@echo "installing an S3 server ..."
	@mkdir -p var/e2e
ifneq ($(shell command -v go),)
	@GOBIN=$(CURDIR)/var/e2e/bin $(call download,"the S3 server",var/e2e/s3_server.log) go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
else
	@var/uv/bin/uv venv -q --python $(PYTHON) var/e2e/moto
	@$(call download,"the S3 server",var/e2e/s3_server.log) var/uv/bin/uv pip install -q --python var/e2e/moto/bin/python 'moto[server]==5.2.1'
endif
	@touch $@

# Chromium comes with the system (on Debian: apt-get install chromium) or, where that may be reached, from Playwright.
$(STAMPS)/browser: tests/end_to_end/requirements.txt $(STAMPS)/venv | $(STAMPS)/uv
	@$(call download,"what drives a browser",var/uv/browser.log) var/uv/bin/uv pip install --quiet --require-hashes --no-deps --python $(BIN)/python -r $<
	@command -v chromium chromium-browser google-chrome >/dev/null || $(BIN)/playwright install chromium || \
	    echo "left out: the tests that need a browser (on Debian: apt-get install chromium)"
	@touch $@

# With the Ivy that Spark ships. $(call fetch,PACKAGES,IVY_FOLDER,FOLDER,MORE_OPTIONS) copies all that is resolved.
fetch = PATH="$(CURDIR)/$(BIN):$$PATH" PYSPARK_PYTHON=python SPARK_CONF_DIR=spark/conf $(call download,"a jar",$(3).log) spark-submit --packages $(1) \
    --conf spark.jars.ivy=$(CURDIR)/$(2) $(4) spark/resolve_jars.py $(2)/jars $(3)

$(STAMPS)/jars: spark/resolve_jars.py spark/client_telemetry/lake/spark_jars.txt | $(STAMPS)/venv
	@echo "fetching the jars of the table format ..."
	@rm -rf var/jars && mkdir -p var
	@$(call fetch,$(JARS),var/ivy,var/jars)
	@touch $@

$(STAMPS)/storage_jars: $(STAMPS)/jars spark/storage_jars.txt
	@echo "fetching the jars of S3 and PostgreSQL ..."
	@$(call fetch,$(STORAGE_JARS),var/ivy_storage,var/jars)
	@touch $@

# What only running clients need.
NOT_KNOWLEDGE := com.github.luben:zstd-jni,at.yawk.lz4:lz4-java,org.lz4:lz4-java,org.xerial.snappy:snappy-java,org.slf4j:slf4j-api
var/knowledge/kafka-clients-%.jar: spark/resolve_jars.py | $(STAMPS)/venv
	@echo "fetching kafka-clients $* ..."
	@mkdir -p var/knowledge/$*
	@$(call fetch,org.apache.kafka:kafka-clients:$*,var/knowledge/$*/ivy,var/knowledge/$*,--exclude-packages $(NOT_KNOWLEDGE))
	@mv var/knowledge/$*/org.apache.kafka_kafka-clients-$*.jar $@
	@rm -rf var/knowledge/$*

$(STAMPS)/compiled: $(shell grep -l '^@compiled' -r spark/client_telemetry --include='*.py') | $(STAMPS)/venv
	@echo "compiling what workers do with pushes ..."
	@find spark -name '*.nb[ic]' -delete
	@$(QUIET_PYTHON) from client_telemetry.formats.raw import machine_code; sys.exit(machine_code.main())' >/dev/null
	@touch $@

PYSPARK = $$($(BIN)/python -c "import pyspark; print(pyspark.__path__[0])")
$(STAMPS)/spark: spark/client_telemetry/pipeline/spark-defaults.conf.in spark/conf/log4j2.properties $(STAMPS)/venv
	@mkdir -p var/spark $(@D)
	@sed "s|@CHECKOUT@|$(CURDIR)|g; s|@SPARK_HOME@|$(PYSPARK)|" $< > var/spark/spark-defaults.conf
	@cp spark/conf/log4j2.properties var/spark/
	@touch $@

# Made anew when there are more jars. Stages of a small day start no JVM: this is for tests, and for those who follow docs/storage.md.
$(STAMPS)/class_archive: spark/class_archive.py $(STAMPS)/jars $(STAMPS)/spark $(wildcard $(STAMPS)/storage_jars)
	@echo "archiving the classes that Spark loads ..."
	@SPARK_CONF_DIR=$(CURDIR)/var/spark $(AIRFLOW) python spark/class_archive.py
	@touch $@

$(STAMPS)/airflow: $(STAMPS)/venv
	@echo "preparing Airflow's database ..."
	@umask 027; mkdir -p var/airflow; chmod o= var/airflow; : >var/airflow/migrate.log
	@$(AIRFLOW) airflow db migrate >var/airflow/migrate.log 2>&1 || { tail -n 20 var/airflow/migrate.log >&2; exit 1; }
	@$(SET_POOL)
	@touch $@

include broker-plugin/plugin.mk
include tests/end_to_end/subscriptions/kafka_classes.mk
