# The four commands a newcomer needs are run, test, demo and bench; each installs what it needs inside this folder.
WITH_NODE := bin/with-node
INSTALLED := node_modules/.package-lock.json
# `make match-test` searches longer than `make test`, and runs the mutants.
MATCH_TESTS := test/matching/match-reference.test.ts test/matching/match-mutants.test.ts test/matching/fairness.test.ts
TESTS := $(filter-out test/matching/match-mutants.test.ts,$(shell find test -name '*.test.ts' | sort))
WIDGET := src/web/widget/dist/widget.js
WIDGET_SOURCES := bin/build-widget.ts $(shell find src/web/widget -path '*/dist' -prune -o -type f -print)

.PHONY: catalog help install widget run test match-test crash-test check format openapi demo bench bench-check capacity-check package clean install-production

help: ## what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

install: $(INSTALLED) $(WIDGET) ## a Node.js of our own where needed, and the pinned packages

$(INSTALLED): package.json package-lock.json .npmrc
	@echo "installing the pinned packages into node_modules"
	@$(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# The file is set back in time so that a target for development installs its packages again.
install-production: ## the compiled program in dist/ and only the packages it needs, for bin/marketplace
	@$(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@$(WITH_NODE) node bin/build-package.ts
	@$(WITH_NODE) npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch -t 200001010000 $(INSTALLED)

widget: $(WIDGET) ## the script that partners' pages load

$(WIDGET): $(INSTALLED) $(WIDGET_SOURCES)
	@$(WITH_NODE) node bin/build-widget.ts
	@touch $@

run: $(INSTALLED) $(WIDGET) ## start the server on 127.0.0.1:8080 (operations on :9090); Ctrl-C drains and stops it
	@exec bin/marketplace serve

test: $(INSTALLED) $(WIDGET) ## every test
	@bin/have-chromium
	@bin/have-jq
	@$(WITH_NODE) node --test --test-reporter=spec --test-concurrency=2 --test-timeout=240000 $(TESTS)

match-test: $(INSTALLED) ## rank BORROWERS=100000 random borrowers and compare with the plain rules; a few minutes
	@MATCH_BORROWERS=$(or $(BORROWERS),100000) $(WITH_NODE) node --test $(MATCH_TESTS)

crash-test: $(INSTALLED) $(WIDGET) ## kill the server under load again and again, CYCLES=200 times, and see that nothing is lost or doubled
	@LOG_LIVES=1000 $(WITH_NODE) node --test test/event-log/log-lives.test.ts
	@$(WITH_NODE) node test/crash/main.ts --cycles $(or $(CYCLES),200) $(if $(SEED),--seed $(SEED))

check: $(INSTALLED) $(WIDGET) ## format, lint, types, architecture
	@$(WITH_NODE) npx biome check --error-on-warnings
	@$(WITH_NODE) npx tsc
	@$(WITH_NODE) npx tsc -p src/web/widget
	@$(WITH_NODE) npx tsc -p bench/report/browser
	@$(WITH_NODE) node --test test/architecture/*.test.ts

format: $(INSTALLED) ## rewrite the files the way `check` wants them
	@$(WITH_NODE) npx biome check --write

openapi: $(INSTALLED) $(WIDGET) ## record the examples of the API's document, and write docs/openapi.json
	@$(WITH_NODE) node bin/write-openapi.ts

demo: $(INSTALLED) $(WIDGET) ## walk a few dozen borrowers through a running server; ARGS=--full prints every answer
	@$(WITH_NODE) node bin/with-demo-key.ts demo -- node bench/demo/main.ts $(ARGS)

.PHONY: demo-page
demo-page: $(INSTALLED) ## a landing page in two variants on 127.0.0.1:3000, for the server of `run`; PORT=n puts it elsewhere
	@$(WITH_NODE) node bin/with-demo-key.ts demo-page --origin http://127.0.0.1:$${PORT:-3000} --origin http://localhost:$${PORT:-3000} \
	  -- node examples/landing-page/main.ts

bench: $(INSTALLED) $(WIDGET) ## the figures of bench/README.md, measured on this machine
	@$(WITH_NODE) node bench/main.ts

bench-check: $(INSTALLED) $(WIDGET) ## fail where a ratio of the benchmarks got worse than bench/baseline.json, beyond noise; minutes
	@$(WITH_NODE) node bench/check/main.ts

capacity-check: $(INSTALLED) $(WIDGET) ## boxes for KEYS=1000 with p99 within SLO=50 ms, and a minute of one box's load to check it; MIX=file
	@bin/marketplace capacity --keys $(or $(KEYS),1000) --slo-p99 $(or $(SLO),50) $(if $(MIX),--mix $(MIX)) --check

catalog: $(INSTALLED) ## print a catalog of OFFERS=1000 made-up offers, with SEED=1; they are valid, but nobody lends by them
	@$(WITH_NODE) node bench/catalogs/main.ts --offers $(or $(OFFERS),1000) --seed $(or $(SEED),1)

package: $(INSTALLED) ## what npm installs elsewhere: compiled, with types, as svc-marketplace-<version>.tgz
	@$(WITH_NODE) node bin/pack-package.ts

clean: ## forget what was installed (never the data folder)
	rm -rf node_modules .node test-artefacts src/web/widget/dist dist svc-marketplace-*.tgz
