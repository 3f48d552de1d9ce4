# Every target works alone on a machine that has python3 >= 3.11, make and a package index.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TOOLS  := $(VENV)/tools/bin
# Any Python from 3.11 on, and any index, take what pyproject.toml allows. `make LOCKED=1 test` takes the
# very files of requirements-dev.lock instead, which not every index and platform has.
DEV    := $(VENV)/$(if $(LOCKED),.locked,.dev)
# What the oldest and the newest dependencies are tried with: what calls them, not every number.
CALLERS := tests/test_estimator.py tests/test_models.py tests/test_validation.py tests/test_show.py tests/test_cli.py tests/test_cli_doctor.py \
	tests/test_cli_files.py tests/test_cli_streaming.py tests/test_lazy.py tests/test_supply.py tests/io tests/geometry \
	tests/geodesics tests/embedding tests/diagnostics tests/engines tests/explorer/test_page.py

.PHONY: demo test long lint types imports pytest kernels fuzz mutants lowest newest lock audit explorer check-explorer notebook paper bench field accuracy bars metrics real large scale gpu docs release-check clean

demo: $(VENV)/.demo  ## petals on a sphere in 100 dimensions: PTU beside Isomap
	$(BIN)/python examples/petals.py

test: kernels lint types imports pytest  ## everything that has to hold, but for what takes long

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

imports: $(DEV)
	$(BIN)/lint-imports

# Four on two cores: some of them wait, for browsers, other processes and disks. Threads of linear algebra beside
# them would wait for each other, and take the cores while they do.
pytest: $(DEV) | kernels
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder -m "not long"

long: $(DEV) | kernels  ## tests that take half a minute and more each: a million points on a page, pynndescent, empty caches, more kills
	PTUNFOLD_BROWSER=required OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m long

# Two processes share the work, and all that tests start find it done.
kernels: kernels-float64 kernels-float32  ## compile what tests need

kernels-%: $(DEV)
	$(BIN)/python -m tests.compile_kernels $*

fuzz: $(DEV)  ## whole fits of points of every kind, damaged models, Ctrl-C at random moments and among a million points, kills, processes that share a cache, 500 fits in one process
	$(BIN)/pytest tests/test_properties.py --hypothesis-profile=fuzz --timeout=0
	$(BIN)/python tests/fuzz/models.py 20000
	$(BIN)/python tests/fuzz/interrupts.py 50
	$(BIN)/python tests/fuzz/many_points.py 20
	$(BIN)/python tests/fuzz/kills.py 20
	$(BIN)/python tests/fuzz/processes.py 3
	$(BIN)/python tests/fuzz/soak.py 500

mutants: $(VENV)/.dev  ## small errors in geometry, geodesics and embedding: the share that the tests find
	$(BIN)/python tests/mutants.py --sample 200 --seed 0 --jobs 2

# The package as it is installed, not the sources. Warnings of old packages about newer ones are not ours.
lowest: $(VENV)/tools/.installed  ## tests with the oldest dependencies that pyproject.toml allows, on Python 3.11
	$(TOOLS)/uv venv --quiet --clear --python 3.11 $(VENV)/lowest
	$(TOOLS)/uv pip install --quiet --python $(VENV)/lowest --resolution lowest-direct '.[dev]'
	$(VENV)/lowest/bin/python -W ignore -m tests.compile_kernels float64
	$(VENV)/lowest/bin/pytest -n 2 --dist loadfile -W default $(CALLERS)

newest: $(VENV)/tools/.installed  ## tests with the newest releases of all dependencies
	$(TOOLS)/uv venv --quiet --clear --python $(PYTHON) $(VENV)/newest
	$(TOOLS)/uv pip install --quiet --python $(VENV)/newest --upgrade '.[dev]'
	$(VENV)/newest/bin/python -W ignore -m tests.compile_kernels float64
	$(VENV)/newest/bin/pytest -n 2 --dist loadfile $(CALLERS)

lock: $(VENV)/tools/.installed  ## write requirements-dev.lock anew: one file for all Pythons and platforms
	$(TOOLS)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-header --extra dev --output-file requirements-dev.lock pyproject.toml

audit: $(VENV)/tools/.installed explorer/node_modules/.installed  ## known holes in what the lock files name; needs the network
	$(TOOLS)/pip-audit --strict --require-hashes --disable-pip --requirement requirements-dev.lock
	cd explorer && npm audit

explorer: explorer/node_modules/.installed  ## bundle the explorer's page from its sources; needs Node
	cd explorer && npm run --silent build

check-explorer: explorer/node_modules/.installed  ## is the bundled page what the sources make?
	cd explorer && npm test && node build.mjs --check

notebook: $(VENV)/.notebook  ## the widget in a real JupyterLab; needs a browser
	PTUNFOLD_BROWSER=required PTUNFOLD_NOTEBOOK=required $(VENV)/notebook/bin/pytest tests/explorer/test_notebook.py

paper: $(VENV)/.demo  ## the paper's figures and claims, at full size, into docs/paper
	$(BIN)/ptunfold paper --output docs/paper

bench: $(DEV)  ## PTU against scikit-learn's Isomap
	$(BIN)/python benchmarks/against_isomap.py
	$(BIN)/python benchmarks/wide.py
	$(BIN)/python benchmarks/stages.py

field: $(VENV)/.field  ## PTU beside Isomap's kin, local methods, UMAP's kin and diffusion: half an hour
	$(VENV)/field/bin/python benchmarks/field.py

accuracy: $(DEV)  ## errors against the truth, over ten seeds
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/few_points.py 2 --output benchmarks/results/few_points.md

bars: $(DEV)  ## how many errors of distances are within their bars, over ten seeds
	$(BIN)/python benchmarks/bars.py 10 --output benchmarks/results/bars.md

metrics: $(DEV)  ## metrics: distances in the place of coordinates; ALANINE=FILE for conformations with two angles
	$(BIN)/python benchmarks/metrics.py $(if $(ALANINE),--alanine $(ALANINE)) --output benchmarks/results/metrics.md

real: $(VENV)/.real  ## real data and surfaces: PTU beside Isomap, UMAP and the heat method
	$(BIN)/python benchmarks/real.py

large: $(DEV)  ## landmark fits up to ten million points, new points, choice of landmarks
	$(BIN)/python benchmarks/large.py 10000000
	$(BIN)/python benchmarks/landmarks.py

scale: $(DEV)  ## a store on disk within a bound of memory, a cluster against threads, long files, the explorer's pages
	$(BIN)/python benchmarks/disk.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/stream.py
	$(BIN)/python benchmarks/explorer.py

gpu: $(DEV)  ## the GPU engine: its tests, and whole fits against the cores; needs a GPU and CuPy
	$(BIN)/pytest -m gpu
	$(BIN)/python benchmarks/gpu.py full
	$(BIN)/python benchmarks/gpu.py landmarks

docs: $(VENV)/.docs  ## the site, every example of the gallery run, into build/docs; no warning is let through
	$(VENV)/docs/bin/python -m sphinx -a -W --keep-going -n -q -b html docs build/docs
	$(VENV)/docs/bin/python docs/links.py build/docs

release-check: $(VENV)/tools/.installed  ## sdist and wheel: what is in them, and each at work in an environment of its own
	$(BIN)/python tests/release.py --uv $(TOOLS)/uv

clean:
	rm -rf $(VENV) build docs/made explorer/node_modules screenshots .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

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

# Apart: rivals want versions of their own. HeatGeo asks for NumPy 1.23 and scikit-learn 1.2, older than ours, and works
# with today's; pyLDLE2 names nothing that it needs. What cannot be installed is a line of the report.
$(VENV)/.field: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/field
	$(VENV)/field/bin/python -m pip install --quiet --editable '.[bench]'
	-$(VENV)/field/bin/python -m pip install --quiet s_gd2
	-$(VENV)/field/bin/python -m pip install --quiet --no-deps heatgeo pyLDLE2
	@touch $@

# Apart: it needs nothing for tests, and tests nothing of it.
$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --editable '.[docs]'
	@touch $@

# Apart: a hundred packages for one test.
$(VENV)/.notebook: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/notebook
	$(VENV)/notebook/bin/python -m pip install --quiet --editable '.[dev]' 'jupyterlab>=4'
	@touch $@

$(VENV)/.locked: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@ $(VENV)/.demo

# Apart from what is tested, which they must not change.
$(VENV)/tools/.installed: | $(BIN)/python
	$(BIN)/python -m venv $(VENV)/tools
	$(TOOLS)/python -m pip install --quiet uv pip-audit
	@touch $@
