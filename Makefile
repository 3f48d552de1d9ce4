# Every target works alone on a machine that has python3 >= 3.11, make and a package index.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint types imports pytest fuzz mutants explorer check-explorer paper bench accuracy real large scale gpu clean

demo: $(VENV)/.demo  ## petals on a sphere in 100 dimensions: PTU beside Isomap
	$(BIN)/python examples/petals.py

test: lint types imports pytest  ## everything that has to hold

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

pytest: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadfile

fuzz: $(VENV)/.dev  ## whole fits of points of every kind, damaged models, Ctrl-C at random moments, processes that share a cache, 500 fits in one process
	$(BIN)/pytest tests/test_properties.py --hypothesis-profile=fuzz --timeout=0
	$(BIN)/python tests/fuzz/models.py 20000
	$(BIN)/python tests/fuzz/interrupts.py 50
	$(BIN)/python tests/fuzz/processes.py 3
	$(BIN)/python tests/fuzz/soak.py 500

mutants: $(VENV)/.dev  ## small errors in geometry, geodesics and embedding: the share that the tests find
	$(BIN)/python tests/mutants.py --sample 200 --seed 0 --jobs 2

explorer: explorer/node_modules/.installed  ## bundle the explorer's page from its sources; needs Node
	cd explorer && npm run --silent build

check-explorer: explorer/node_modules/.installed  ## is the bundled page what the sources make?
	cd explorer && npm test && node build.mjs --check

paper: $(VENV)/.demo  ## the paper's figures and claims, at full size, into docs/paper
	$(BIN)/ptunfold paper --output docs/paper

bench: $(VENV)/.dev  ## PTU against scikit-learn's Isomap
	$(BIN)/python benchmarks/against_isomap.py
	$(BIN)/python benchmarks/stages.py

accuracy: $(VENV)/.dev  ## errors against the truth, over ten seeds
	$(BIN)/python benchmarks/accuracy.py

real: $(VENV)/.real  ## real data and surfaces: PTU beside Isomap, UMAP and the heat method
	$(BIN)/python benchmarks/real.py

large: $(VENV)/.dev  ## landmark fits up to ten million points, new points, choice of landmarks
	$(BIN)/python benchmarks/large.py 10000000
	$(BIN)/python benchmarks/landmarks.py

scale: $(VENV)/.dev  ## a store on disk within a bound of memory, a cluster against threads, the explorer's pages
	$(BIN)/python benchmarks/disk.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/explorer.py

gpu: $(VENV)/.dev  ## the GPU engine: its tests, and whole fits against the cores; needs a GPU and CuPy
	$(BIN)/pytest -m gpu
	$(BIN)/python benchmarks/gpu.py full
	$(BIN)/python benchmarks/gpu.py landmarks

clean:
	rm -rf $(VENV) build explorer/node_modules screenshots .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

explorer/node_modules/.installed: explorer/package-lock.json
	cd explorer && npm ci --silent
	@touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ptunfold needs Python 3.11 or newer, found " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.real: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[real]'
	@touch $@
