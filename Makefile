# The front door; CMake and scripts/ do the work. `make help` lists the targets.
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   := $(if $(MASE_BUILD),$(MASE_BUILD),build)
JOBS    := $(shell nproc 2>/dev/null || echo 2)
SOURCES  = $$(scripts/sources | grep '\.[ch]$$')

.PHONY: all test interop bench fuzz soak format lint docs abi install uninstall dist distcheck deb trydeb sbom doctor clean help

all: ## build ch, libmase.so and libmase.a into build/
	@scripts/build

test: ## install what the tests need, build them, run them all
	@scripts/packages install test
	@scripts/build --tests
	@ctest --test-dir $(BUILD) -j $(JOBS) -LE interop --output-on-failure --no-tests=error \
	    && echo "make test: all tests passed; $$(ctest --test-dir $(BUILD) -N -L interop \
	        | sed -n 's/^Total Tests: //p') comparisons with other programs are for make interop" \
	    || { echo "make test: FAILED, see above" >&2; exit 1; }

interop: ## install PyTorch, scikit-learn, Chromium and so on, and compare with them
	@scripts/packages install test interop
	@scripts/build --tests
	@scripts/interop $(BUILD)

bench: ## start-up, plans, training (quantised, too), prediction, loading, profiling, rounding and sampling, beside their peers; BENCH_QUICK=1: briefly
	@scripts/packages install bench
	@scripts/build all bench_peak bench_infer bench_load bench_profile bench_setup bench_growth bench_round bench_search bench_table
	@bench/startup $(if $(BENCH_QUICK),5)
	@bench/setup
	@bench/growth
	@bench/train
	@bench/ranks
	@bench/qat
	@bench/infer
	@bench/emulate
	@bench/load
	@bench/profile
	@bench/ptq
	@bench/round
	@bench/search
	@bench/python $(if $(BENCH_QUICK),5)

fuzz: ## run each fuzzer for FUZZ_SECONDS (default 60)
	@scripts/packages install build lint
	@scripts/fuzz

soak: ## random calls of the whole library by two threads, under sanitizers, for SOAK_SECONDS (default 60) each
	@scripts/packages install build lint
	@scripts/soak

format: ## lay out all C files by .clang-format
	@scripts/packages install lint
	@clang-format -i $(SOURCES)

lint: ## layout, sizes, clang-tidy, shellcheck, layers
	@scripts/packages install build lint
	@scripts/lint

docs: ## write docs/reference and the outputs shown in the documents anew
	@scripts/build
	@scripts/gen_docs
	@scripts/check_docs --write

abi: ## write tests/abi anew: the symbols of libmase.so, and the types of its stable part
	@scripts/build
	@scripts/abi symbols $(BUILD)/libmase.so --write
	@scripts/abi types $(BUILD)/libmase.so --write

install: ## install under PREFIX (default /usr/local), staged below DESTDIR
	@scripts/build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) >$(BUILD)/install.log \
	    || { cat $(BUILD)/install.log; exit 1; }
	@echo "installed ch under $(DESTDIR)$(PREFIX)"

uninstall: ## remove what the last install put under the same PREFIX and DESTDIR
	@sed 's|^|$(DESTDIR)|' $(BUILD)/install_manifest.txt | xargs -d '\n' rm -f
	@echo "removed ch from $(DESTDIR)$(PREFIX)"

dist: ## the source tarball, mase-VERSION.tar.xz, into build/dist
	@scripts/dist

distcheck: ## the same, then built and tested outside of any checkout, without a network
	@scripts/packages install test
	@scripts/dist check

deb: ## Debian packages into build/deb, looked at by lintian
	@scripts/packages install build test scale deb
	@scripts/deb

trydeb: ## the same, then installed and tried in a minimal Debian of their own
	@scripts/packages install build test scale deb bare
	@scripts/deb >/dev/null
	@scripts/try_deb

sbom: ## what is used at run time, with versions and licences, as CycloneDX JSON into build/
	@scripts/build
	@scripts/dependencies sbom $(BUILD) >$(BUILD)/mase.cdx.json && echo $(BUILD)/mase.cdx.json

doctor: ## what is here: packages and their size, libraries, compilers, CPU, build time
	@scripts/doctor

clean: ## remove build folders
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s%s\n", $$1, $$2 }'
