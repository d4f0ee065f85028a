# Two commands: `make site` builds the documentation, `make test` checks everything.
# Both make their own virtual environment in .venv; nothing else needs to be set up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SITE := _site
PYTEST := $(BIN)/python -m pytest -n 2
# Where the Python at hand has a pip that can install elsewhere, the environment needs none of its own: making
# it then takes no time. $(LENDER) names that Python; where it can't lend any more, a pip is put in after all.
LENDER := $(VENV)/.lends-pip
define install
	@python=$$(cat $(LENDER) 2>/dev/null); \
	if [ -n "$$python" ] && "$$python" -m pip --python $(BIN)/python --version >/dev/null 2>&1; then \
		pip="$$python -m pip --python $(BIN)/python"; \
	else \
		$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null || exit 1; \
		pip="$(BIN)/python -m pip"; \
	fi; \
	echo "$$pip install $(1)"; $$pip install -qq --disable-pip-version-check $(1)
endef

.PHONY: site site-all serve test test-all lint format history clean

site: $(VENV)/.for-site
	$(BIN)/indexer build --output $(SITE)
	@echo "Site built in $(SITE)/. Look at it with: make serve"

site-all: $(VENV)/.for-site
	$(BIN)/indexer build --all-pins --output $(SITE)

serve: $(VENV)/.for-site
	$(BIN)/indexer serve $(SITE)

test: lint
	$(PYTEST) -m "not slow"

test-all: lint
	$(PYTEST)

lint: $(VENV)/.for-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo .importlinter

format: $(VENV)/.for-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The shipped history and the tables beside it: every release, from the wheels in the user's cache (fetched where missing).
history: $(VENV)/.for-site
	$(BIN)/indexer history build
	$(BIN)/python -m indexer.knowledge.messages indexer/data/messages.json
	$(BIN)/python -m indexer.knowledge.message_words indexer/data/message_words.json
	$(BIN)/python -m indexer.knowledge.refusals indexer/data/rehearsal.json
	$(BIN)/python -m indexer.knowledge.env_prefix_build indexer/data/env_prefixes.json
	wheels=$$($(BIN)/python -c 'from indexer.source.cache import cache_folder; print(cache_folder("wheels"))') && \
	for table in config_reader json_values other_parsers; do \
		$(BIN)/python -m indexer.extract.$$table "$$wheels" indexer/data/$$table.json || exit 1; \
	done

clean:
	rm -rf $(VENV) $(SITE) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# A stamp is made last, so that an interrupted installation is begun again. What is never imported (most of
# Pygments) need not be compiled.
$(VENV)/.for-site: pyproject.toml $(BIN)/python
	$(call install,--no-compile --editable .)
	@touch $@

# Only a newer pip than venv brings knows dependency groups.
$(VENV)/.for-test: pyproject.toml $(BIN)/python
	$(call install,--upgrade "pip>=25.1")
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable . --group dev
	@touch $@ $(VENV)/.for-site

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python --version >/dev/null 2>&1 && \
		$(PYTHON) -c 'import sys; print(sys.executable)' > $(LENDER) || \
		{ rm -rf $(VENV); $(PYTHON) -m venv $(VENV); } || \
		{ rm -rf $(VENV); echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
