# Start with run, test, demo and bench. Each target installs its dependencies inside this folder.
WITH_NODE := bin/with-node
INSTALLED := node_modules/.package-lock.json
# `make match-test` searches longer than `make test`, and runs the mutants.
MATCH_TESTS := test/matching/match-reference.test.ts test/matching/match-mutants.test.ts test/verticals/fairness.test.ts
BENCH_TESTS := $(shell find test/bench -name '*.test.ts' | sort)
# The tests of the benchmarks that run in `make test`: units without processes, and one run of every scenario's preparation.
QUICK_BENCH_TESTS := $(addprefix test/bench/,check/comparison.test.ts demo-console/main.test.ts demo-history/write-demo-history.test.ts \
  limits/check-load.test.ts population/borrower.test.ts report/report.test.ts scenarios/scenarios.test.ts)
# The tests of the consoles share one process and one browser.
TESTS := test/console/main.ts $(filter-out test/console/% test/matching/match-mutants.test.ts test/openapi/generated-clients.test.ts \
  $(filter-out $(QUICK_BENCH_TESTS),$(BENCH_TESTS)), $(shell find test -name '*.test.ts' | sort))
# Short tests that start no process and change no global state. They share one process, which halves their CPU time.
SHORT_TESTS := $(shell find $(addprefix test/,auth clicks config confirmations domain files ids journal ledger logging metrics operations \
  secrets server sessions tls user-agents verticals widgets) -name '*.test.ts' | sort)
# The widget script stands for all files that bin/build-web.ts builds.
WEB := src/web/widget/dist/widget.js
WEB_SOURCES := bin/build-web.ts $(shell find src/web -path '*/dist' -prune -o -type f -print)

.PHONY: catalog help install web run test bench-test match-test crash-test check format openapi demo bench bench-check capacity-check package clean install-production

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

install: $(INSTALLED) $(WEB) ## install Node.js if needed, and the pinned packages

$(INSTALLED): package.json package-lock.json .npmrc
	@echo "installing the pinned packages into node_modules"
	@$(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# The old timestamp makes other targets install the development packages again.
install-production: ## compile to dist/ and install only production packages, for bin/marketplace
	@$(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@$(WITH_NODE) node bin/build-package.ts
	@$(WITH_NODE) npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch -t 200001010000 $(INSTALLED)

web: $(WEB) ## build the widget script and the consoles

$(WEB): $(INSTALLED) $(WEB_SOURCES)
	@$(WITH_NODE) node bin/build-web.ts
	@touch $@

run: $(INSTALLED) $(WEB) ## start the server on 127.0.0.1:8080 (operations on :9090); Ctrl-C stops it
	@echo "to see landing pages of the demo, run 'make demo-page' in another terminal"
	@exec bin/marketplace serve

test: $(INSTALLED) $(WEB) ## run the tests
	@bin/install-test-tools
	@SHORT_TESTS="$(SHORT_TESTS)" $(WITH_NODE) node --test --test-reporter=spec --test-concurrency=2 --test-timeout=3600000 \
	  bin/test-in-one-process.ts $(filter-out $(SHORT_TESTS),$(TESTS))

bench-test: $(INSTALLED) $(WEB) ## run all tests of the benchmarks, with real servers and loads
	@$(WITH_NODE) node --test --test-reporter=spec --test-concurrency=2 --test-timeout=240000 $(BENCH_TESTS)

match-test: $(INSTALLED) ## compare the ranking of BORROWERS=100000 random borrowers with a reference, and run the mutants; a few minutes
	@MATCH_BORROWERS=$(or $(BORROWERS),100000) $(WITH_NODE) node --test $(MATCH_TESTS)

.PHONY: stats-check
stats-check: $(INSTALLED) ## check the error rates of experiments and write docs/experiments-proof.md; about 10 minutes; RUNS=200 checks with fewer simulations a setting and writes nothing
	@$(WITH_NODE) node bench/experiments/main.ts $(if $(RUNS),--runs $(RUNS),--publish)

.PHONY: shard-sim
shard-sim: $(INSTALLED) ## simulate daily caps, budgets and relayed clicks of shards in SCHEDULES=100000 random schedules, and find every mutant; a minute
	@SCHEDULES=$(or $(SCHEDULES),100000) $(WITH_NODE) node --test test/quotas/shard-simulation.test.ts test/shards/relay-simulation.test.ts

crash-test: $(INSTALLED) $(WEB) ## kill the server under load CYCLES=200 times and check that no data is lost or duplicated
	@LOG_LIVES=1000 $(WITH_NODE) node --test test/event-log/log-lives.test.ts
	@$(WITH_NODE) node test/crash/main.ts --cycles $(or $(CYCLES),200) $(if $(SEED),--seed $(SEED))

check: $(INSTALLED) $(WEB) ## check format, lint rules, types and architecture
	@$(WITH_NODE) npx biome check --error-on-warnings
	@$(WITH_NODE) npx tsc
	@$(WITH_NODE) npx tsc -p src/web/widget
	@$(WITH_NODE) npx tsc -p src/web/console
	@$(WITH_NODE) node --test test/architecture/*.test.ts

format: $(INSTALLED) ## format the files
	@$(WITH_NODE) npx biome check --write

openapi: $(INSTALLED) $(WEB) ## record the API examples and write docs/openapi.json
	@$(WITH_NODE) node bin/write-openapi.ts

.PHONY: openapi-clients-test
openapi-clients-test: $(INSTALLED) ## install six OpenAPI client generators (300 MB) and compile a program for each client
	@$(WITH_NODE) node --test test/openapi/generated-clients.test.ts

demo: $(INSTALLED) $(WEB) ## send a few dozen borrowers through a running server; ARGS=--full prints every response
	@$(WITH_NODE) node bin/with-demo-key.ts demo -- node bench/demo/main.ts $(ARGS)

.PHONY: demo-page
demo-page: $(INSTALLED) ## start landing pages for all verticals on 127.0.0.1:3000, with the server of `run`; PORT=n changes the port
	@$(WITH_NODE) node bin/with-demo-key.ts demo-page $(addprefix --vertical ,personal-loans credit-cards mortgage banking find-advisor) \
	  --origin http://127.0.0.1:$${PORT:-3000} --origin http://localhost:$${PORT:-3000} -- node examples/landing-page/main.ts

.PHONY: demo-history
demo-history: $(INSTALLED) $(WEB) ## write a new data folder, DIR=demo-history, with 90 days of invented data and experiments with known effects
	@$(WITH_NODE) node bench/demo-history/main.ts $(DIR)

.PHONY: demo-console
demo-console: $(INSTALLED) $(WEB) ## start a server on the data folder DIR=demo-history with both consoles, and print their logins; writes the folder if it does not exist
	@$(WITH_NODE) node bench/demo-console/main.ts $(DIR)

.PHONY: console-pictures
console-pictures: $(INSTALLED) $(WEB) ## draw the pictures of the consoles in docs/images/ from a new demo history; needs Chromium
	@$(WITH_NODE) node bin/draw-consoles.ts

bench: $(INSTALLED) $(WEB) ## measure the figures of bench/README.md
	@$(WITH_NODE) node bench/main.ts

bench-check: $(INSTALLED) $(WEB) ## fail if this checkout is slower than revision BASE (default: the last release) by more than noise; about 20 minutes
	@$(WITH_NODE) node bench/check/main.ts $(if $(BASE),--base $(BASE))

capacity-check: $(INSTALLED) $(WEB) ## plan capacity for KEYS=1000 with p99 below SLO=50 ms, and check it under load for a minute; MIX=file
	@bin/marketplace capacity --keys $(or $(KEYS),1000) --slo-p99 $(or $(SLO),50) $(if $(MIX),--mix $(MIX)) --check

catalog: $(INSTALLED) ## print a generated catalog of OFFERS=1000 fictional offers with SEED=1 for VERTICAL=personal-loans
	@$(WITH_NODE) node bench/catalogs/main.ts --offers $(or $(OFFERS),1000) --seed $(or $(SEED),1) --vertical $(or $(VERTICAL),personal-loans)

package: $(INSTALLED) ## build the npm package svc-marketplace-<version>.tgz
	@$(WITH_NODE) node bin/pack-package.ts

clean: ## delete installed and built files (never the data folder)
	rm -rf node_modules .node test-artefacts src/web/widget/dist dist svc-marketplace-*.tgz
