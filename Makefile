# SPDX-License-Identifier: Apache-2.0
SCENARIO ?= late1ms
ARGS ?=
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/.tools/bin:$(PATH)
export PYTHON

NATIVE := CMakeLists.txt $(shell find plugin -type f \( -name '*.cc' -o -name '*.h' -o -name '*.map' -o -name CMakeLists.txt \))
MODULES := .venv/modules-$(firstword $(shell find sentinel exporter -name '*.py' | LC_ALL=C sort | cksum))
CXX_SOURCES := $(shell find plugin -type f \( -name '*.cc' -o -name '*.h' \))
WORKERS ?= 2

.PHONY: setup check test bench bench-plugin bench-detect bench-tick bench-scale bench-decode bench-scrape bench-delivery bench-soak bench-baseline demo dashboards operator-rules pictures lock format clean
.DELETE_ON_ERROR:

setup: .venv/installed .tools/ready .tools/browser-ready .tools/test-ready  ## virtual environment, plugin, Prometheus, Alertmanager; Chromium, tmux and VictoriaMetrics for tests
	@:

.venv/locked: requirements.lock scripts/setup-python
	@scripts/setup-python
	@touch $@

# Editable: Python sources are used where they are; plugin and player are rebuilt when their sources change. The install
# lists the modules, so that a new or a removed one needs another.
$(MODULES): | .venv/locked
	@rm -f .venv/modules-*
	@touch $@

.venv/installed: .venv/locked pyproject.toml $(MODULES) $(NATIVE)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

.tools/ready: scripts/setup-servers scripts/packages.sh
	@scripts/setup-servers
	@touch $@

# For the tests of the status page.
.tools/browser-ready: scripts/setup-browser scripts/packages.sh
	@scripts/setup-browser
	@mkdir -p $(@D) && touch $@

# For the tests of sentinel top and of other stores.
.tools/test-ready: scripts/setup-test-tools scripts/packages.sh
	@scripts/setup-test-tools
	@mkdir -p $(@D) && touch $@

check: setup  ## style, types, imports
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-cache
	clang-format --dry-run -Werror $(CXX_SOURCES)

format: setup  ## what `make check` would complain about, mended
	ruff check --fix .
	ruff format .
	clang-format -i $(CXX_SOURCES)

test: setup  ## every test, the plugin's included
	python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

bench: setup  ## all benchmarks and one table, half an hour: make bench ARGS="--only scale decode"
	@PYTHONPATH=tests python tests/bench/all.py $(ARGS)

bench-plugin: setup  ## what a profiler plugin's callbacks cost: make bench-plugin ARGS="--plugin OTHER.so"
	@python tests/bench/plugin.py $(ARGS)

bench-detect: setup  ## what the detectors find in simulated jobs, and say of healthy ones: make bench-detect ARGS=--quick
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 python tests/bench/detect.py $(ARGS)

bench-tick: setup  ## what one tick of detection costs at 1,024 and 8,192 ranks
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 python tests/bench/tick.py $(ARGS)

bench-scale: setup  ## what a tick of the daemon costs, up to 100,000 ranks
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 python tests/bench/scale.py $(ARGS)

bench-decode: setup  ## what it takes to read a range query's answer, beside prometheus-api-client
	@PYTHONPATH=tests python tests/bench/decode.py $(ARGS)

bench-scrape: setup  ## what a scrape of the exporter costs
	@python tests/bench/scrape.py $(ARGS)

bench-delivery: setup  ## how long it takes from a verdict to a webhook, through a real Alertmanager
	@PYTHONPATH=tests python tests/bench/delivery.py $(ARGS)

bench-soak: setup  ## whether the daemon's memory and files stay as they are over a day at 1,024 ranks
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 python tests/bench/soak.py $(ARGS)

bench-baseline: setup  ## what a baseline of a week at 1,024 ranks takes, here and on Dask workers
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 python tests/bench/baseline.py $(ARGS)

demo: .venv/installed .tools/ready  ## the whole chain on this machine: make demo SCENARIO=stall2
	@sentinel demo --scenario $(SCENARIO) $(ARGS)

dashboards: setup  ## Grafana's, again from the catalogues of metrics
	@PYTHONPATH=config/grafana python -m nccl_dashboards

operator-rules:  ## the rules for Kubernetes, again from those of config/prometheus
	@$(PYTHON) scripts/operator_rules.py

pictures: setup  ## those of docs/detection.md, again from simulated jobs
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 python scripts/detection_pictures.py

lock: .venv/locked  ## choose the newest allowed versions again
	uv pip compile --quiet --universal --generate-hashes --upgrade --python-version 3.11 \
	  --no-annotate --no-header --group dev pyproject.toml -o requirements.lock

clean:  ## everything that was made, the virtual environment included
	rm -rf .venv .tools build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
