# make demo    run the built-in demo and show what it found; all that it prints is in results/demo/logs/workflow.log
# make report  put the finished demo on one page, results/demo/report.html; RUN=results/NAME that run
# make test    run the tests that take seconds, and one small demo from end to end
# make test-all  run all tests: also the workflow's, the manual's, and those of Slurm, MPI and kills
# make lint    check style, types and workflow
# make docs    make the manual, a site in site/ that needs no network
# make bench   measure speed and memory; RUN=results/NAME measures inference on that run's model
# make fuzz    feed damaged files to a reader: READER=conll SECONDS=120; tests/fuzz/readers.py lists them, and
#              tests/fuzz/found.py keeps what was found as tests
# make test-lowest, make test-highest  run the tests of make test with the oldest or newest versions that pyproject.toml allows
# The first of them makes the virtual environment .venv, once, with what the demo needs; test, lint, docs and bench add
# the rest. `make demo CORES=4` uses four cores, and so does `make test`.

PYTHON ?= python3
VENV ?= .venv
CORES ?= 2
READER ?= conll
SECONDS ?= 120
# Where PyTorch comes from: the index of its CPU builds. `make demo TORCH_INDEX=` takes the default index, whose build for
# Linux has CUDA (3 GB); the index of another build can be named likewise.
TORCH_INDEX ?= $(if $(filter Linux,$(shell uname -s)),https://download.pytorch.org/whl/cpu)

# What the demo needs is there, and everything else too.
STAMP := $(VENV)/.installed
WHOLE := $(VENV)/.complete
IN := "$(VENV)/bin/python" -m

# Of the package's own requirements, what the demo needs, and all of them; Slurm's plugin asks for newer versions of its own.
DEMO := vectors,parse,plots,workflow
EXTRAS := $(addprefix --extra ,vectors networkx parse encoders search plots workflow completion mpi docs test)

# PyTorch from TORCH_INDEX, for an interpreter, in the version that a file names; false where that is not possible.
torch = { [ -n "$(TORCH_INDEX)" ] && { $(1) -m pip install --quiet --no-deps --retries 1 --timeout 20 \
  --index-url "$(TORCH_INDEX)" "$$(grep '^torch==' $(2))" 2> /dev/null || \
  { echo "$(TORCH_INDEX) cannot be reached: PyTorch comes from the default index (on Linux with CUDA, 3 GB)."; false; }; }; }

.PHONY: demo report test test-all test-rest test-lowest test-highest lint docs bench fuzz

demo: $(STAMP)
	@"$(VENV)/bin/python" workflow/quiet.py results/demo --cores $(CORES)

report: $(STAMP)
	$(IN) snakemake --report "$(or $(RUN),results/demo)/report.html" --configfile "$(or $(RUN),results/demo)/config.yaml"

# What `make test` leaves out. The tests with random examples run again, with more of these.
SLOW := workflow or cluster or docs or fuzz
PYTEST = OMP_NUM_THREADS=1 $(IN) pytest -n $(CORES)

test: $(WHOLE)
	$(PYTEST) -m "not ($(SLOW))"

test-rest: $(WHOLE)
	$(PYTEST) -m "$(SLOW) or hypothesis" --hypothesis-profile thorough

test-all:
	$(MAKE) test
	$(MAKE) test-rest

test-lowest: RESOLUTION := lowest-direct
test-highest: RESOLUTION := highest
test-lowest test-highest: test-%:
	test -x .$*/bin/python || "$(PYTHON)" -m venv .$*
	.$*/bin/python -m pip install --quiet uv "setuptools>=77"
	.$*/bin/uv pip compile --quiet --upgrade --no-annotate --python .$*/bin/python --resolution $(RESOLUTION) $(EXTRAS) \
	  --output-file .$*/requirements.txt pyproject.toml
	if $(call torch,.$*/bin/python,.$*/requirements.txt); then sed -i '/^nvidia-/d; /^triton==/d' .$*/requirements.txt; fi
	.$*/bin/python -m pip install --quiet --no-deps -r .$*/requirements.txt
	.$*/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	PATH="$$PWD/.$*/bin:$$PATH" OMP_NUM_THREADS=1 .$*/bin/python -m pytest -n $(CORES) -m "not ($(SLOW))"

lint: $(WHOLE)
	$(IN) ruff check .
	$(IN) ruff format --check .
	$(IN) mypy
	$(IN) snakefmt --check Snakefile workflow
	$(IN) snakemake --lint

docs: $(WHOLE)
	$(IN) sphinx -W --keep-going -q -E docs site
	@printf 'The manual begins at %s/site/index.html.\n' "$$PWD"

fuzz:
	test -x .fuzz/bin/python || "$(PYTHON)" -m venv .fuzz
	.fuzz/bin/python -m pip install --quiet atheris numpy scipy scikit-learn safetensors pyyaml jsonschema pyarrow \
	  threadpoolctl tqdm pandas matplotlib markdown-it-py
	mkdir -p .fuzz/corpus/$(READER)
	TMPDIR=$(firstword $(wildcard /dev/shm) /tmp) PYTHONPATH=. .fuzz/bin/python tests/fuzz/run.py $(READER) \
	  .fuzz/corpus/$(READER) -max_total_time=$(SECONDS) -timeout=60 -artifact_prefix=.fuzz/

bench: $(WHOLE)
	"$(VENV)/bin/python" tests/bench/run.py $(if $(RUN),--run "$(RUN)")

$(STAMP): requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, and $(PYTHON) is not; name another with: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@echo "Installing what the demo needs into $(VENV), once: about 240 MB to download, and PyTorch ($(if $(TORCH_INDEX),CPU build: 190 MB,default build: on Linux with CUDA, 3 GB))."
	@"$(PYTHON)" -m venv "$(VENV)"
	@$(IN) pip install --quiet -c requirements.lock setuptools
	@$(call torch,"$(VENV)/bin/python",requirements.lock) || true
	@$(IN) pip install --quiet -c requirements.lock --no-build-isolation -e ".[$(DEMO)]"
	@touch "$@"

$(WHOLE): $(STAMP)
	@echo "Installing what tests, linters and manual need into $(VENV), once: about 70 MB to download."
	@$(IN) pip install --quiet -r requirements.lock
	@touch "$@"
