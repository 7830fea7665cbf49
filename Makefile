# make                 what a user runs from a clone, into build/
# make cli             only the command rustcoll, its manual pages and completions; needs no MPI
# make guide           the page of `rustcoll guide`, which the command embeds; needs Node.js. make and make cli build it where they can
# make preload         librustcoll_mpich.so, which serves the collectives of another MPI than Open MPI when it is loaded before it; for the
#                      MPI of PRELOAD_MPICC, mpicc.mpich unless set
# make demo            checks and times the algorithms on 8 local ranks
# make check           all tests, those on a real MPI included
# make check-long      the exhaustive ones
# make check-preload   that library with the MPICH of the system, and with MPICH and Intel MPI from PyPI
# make check-guide     the page's tests, in Chromium; part of make check where the page can be built
# make screenshots     the pictures of docs/guide
# make check-mpi4py    mpi4py's tests of collectives, on rustcoll alone and on Open MPI's own components
# make check-mpi4py-shared  the same with everything over shared memory that can go there, on more numbers of ranks
# make check-lab       the emulated cluster of lab/: whether it works and is what is asked of it; needs root
# make check-valgrind  the component under valgrind
# make check-supply-chain  what rustcoll is made of, and what is made of it: docs/supply-chain.md; CHECKS names some of its checks
# make sbom            bills of materials of the libraries and the command, into build/sbom
# make bench           docs/performance.md: rustcoll against Open MPI's own components, over an emulated network as root, and
#                      against MPICH and Intel MPI on one node
# make other-mpis      MPICH and Intel MPI from PyPI, into build/other-mpis, and the measuring program for them
# make bench-costs     what it costs to choose an algorithm, and to build schedules
# make source-release  the committed sources with the guide's page, which then needs no Node.js, into build/
# make install         what make has built: the component into Open MPI's plug-in folder, the command and its measuring
#                      program into /usr/local; PREFIX, PLUGIN_DIR, DESTDIR
# make install-preload what make preload has built, and a modulefile, into /usr/local; PREFIX, DESTDIR
# make install-user    into ~/.openmpi/components, where Open MPI looks too, and ~/.local

MPICC ?= mpicc
PRELOAD_MPICC ?= mpicc.mpich
MPIRUN ?= mpirun
CARGO ?= cargo
BUILD := build
ARCHIVE := target/library/librustcoll.a
COMPONENT := $(BUILD)/mca_coll_rustcoll.so
HELP := $(BUILD)/help-mca-coll-rustcoll.txt
COMMAND := $(BUILD)/rustcoll
MEASURE := $(BUILD)/measure
SHARE := $(BUILD)/share

VERSION = $(shell sed -n '/workspace.package/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
RELEASE = rustcoll-$(VERSION)
PAGE := guide/dist/index.html
PAGE_LIBRARY := guide/wasm/guide.wasm
PAGE_SOURCES = $(wildcard guide/*.html guide/*.ts guide/*.json) $(shell find guide/src guide/build -type f)
WASM := wasm32-unknown-unknown
PRELOAD_RANKS ?= 1 2 3 4 5 6 7 8 9 13
PRELOAD_SECONDS ?= 15
# Known only once it is installed.
INSTALLED_CHROMIUM = $(shell command -v $${CHROMIUM:-chromium})
OPENMPI_PLUGIN_DIR = $(shell ompi_info --path pkglibdir --parsable 2>/dev/null | cut -d: -f3)
PLUGIN_DIR ?= $(if $(PREFIX),$(PREFIX)/lib/openmpi,$(OPENMPI_PLUGIN_DIR))
COMMAND_PREFIX = $(or $(PREFIX),/usr/local)
DEMO_RANKS ?= 8
SHARED_RANKS ?= 2 3 4 5 6 7 8 9 13 16
LAB_TESTS = python3 -B -m unittest discover --top-level-directory lab --start-directory lab/tests

export MPICC MPIRUN CARGO

.PHONY: all
all: $(COMPONENT) $(HELP) cli measure

# What runs inside an MPI; Cargo decides whether anything has to be compiled again.
.PHONY: archive
archive:
	RUSTC_WRAPPER=$(CURDIR)/packaging/rustc-without-paths $(CARGO) build --profile library --features mpi --lib --target-dir target

$(COMPONENT): prerequisites archive
	packaging/link-component $@ $(ARCHIVE)

$(HELP): src/coll_component/help-mca-coll-rustcoll.txt
	@mkdir -p $(BUILD)
	cp $< $@

# The page of `rustcoll guide`, which holds the library as WebAssembly.
.PHONY: guide
guide:
	@missing=$$(packaging/guide-tools) || { echo "Missing for the guide: $$missing" >&2; exit 1; }
	$(MAKE) $(PAGE)

$(PAGE): $(PAGE_LIBRARY) $(PAGE_SOURCES) guide/node_modules/.package-lock.json
	cd guide && npm run build

# Cargo decides whether it has to be compiled again; the page is built again if it then differs.
.PHONY: always
always:

$(PAGE_LIBRARY): always
	$(CARGO) build --profile page -p guide --target $(WASM) --target-dir target
	@cmp -s target/$(WASM)/page/guide.wasm $@ || install -D -m 644 target/$(WASM)/page/guide.wasm $@

# A page without the packages that it is built with came in a source release.
.PHONY: guide-if-possible
guide-if-possible:
	@if [ -e $(PAGE) ] && [ ! -e guide/node_modules ]; then \
	  echo "The guide: $(PAGE) is taken as it is."; \
	elif missing=$$(packaging/guide-tools); then \
	  $(MAKE) $(PAGE); \
	else \
	  echo "The guide's page is not built. Missing: $$missing"; \
	fi

# The command embeds the page.
.PHONY: cli
cli: guide-if-possible
	$(CARGO) build --release -p rustcoll-cli --target-dir target
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 target/release/rustcoll $(COMMAND)
	$(COMMAND) man $(SHARE)/man/man1
	$(COMMAND) completions bash > $(SHARE)/bash-completion/completions/rustcoll
	$(COMMAND) completions zsh > $(SHARE)/zsh/site-functions/_rustcoll
	$(COMMAND) completions fish > $(SHARE)/fish/vendor_completions.d/rustcoll.fish

.PHONY: prerequisites
prerequisites:
	@packaging/prerequisites

# What `rustcoll bench` starts.
.PHONY: measure
measure: prerequisites
	$(CARGO) build --release -p mpi-programs --bin measure --target-dir target
	install -D -m 755 target/release/measure $(MEASURE)

.PHONY: preload
preload:
	@MPICC=$(PRELOAD_MPICC) packaging/prerequisites --preload
	$(MAKE) archive
	MPICC=$(PRELOAD_MPICC) packaging/link-preload $(BUILD) $(ARCHIVE)

# What make preload has built, with a modulefile that loads it.
.PHONY: install-preload
install-preload:
	@ls $(BUILD)/librustcoll_*.so >/dev/null 2>&1 || { echo "no $(BUILD)/librustcoll_*.so is built; run make preload first" >&2; exit 1; }
	install -d $(DESTDIR)$(COMMAND_PREFIX)/lib $(DESTDIR)$(COMMAND_PREFIX)/share/modulefiles/rustcoll
	install -m 755 $(BUILD)/librustcoll_*.so $(DESTDIR)$(COMMAND_PREFIX)/lib
	install -m 644 $(BUILD)/librustcoll_*.a $(DESTDIR)$(COMMAND_PREFIX)/lib
	sed 's#@VERSION@#$(VERSION)#; s#@LIBRARY@#$(COMMAND_PREFIX)/lib/$(notdir $(firstword $(wildcard $(BUILD)/librustcoll_*.so)))#' \
	  packaging/modulefile/rustcoll > $(DESTDIR)$(COMMAND_PREFIX)/share/modulefiles/rustcoll/$(VERSION)

.PHONY: programs
programs: prerequisites
	$(CARGO) build --release -p mpi-programs --target-dir target

.PHONY: demo
demo: all programs
	packaging/mpirun-clone -n $(DEMO_RANKS) target/release/demo --plugin-path "$(CURDIR)/$(BUILD):$(OPENMPI_PLUGIN_DIR)"

.PHONY: check
check: all programs
	$(CARGO) test
	$(CARGO) test --features component --lib
	$(CARGO) test -p measurements -p tuning -p guide -p rustcoll-cli
	$(CARGO) test --release -p mpi-programs --all-targets
	@packaging/prerequisites --lab
	$(LAB_TESTS)
	@if ! missing=$$(packaging/guide-tools); then \
	  echo "The guide's tests in a browser are skipped. Missing: $$missing"; \
	elif ! packaging/prerequisites --guide; then \
	  echo "The guide's tests in a browser are skipped, for there is no Chromium, see above."; \
	else \
	  $(MAKE) check-guide; \
	fi
	@echo "All tests passed."

.PHONY: check-preload
check-preload: preload
	@packaging/prerequisites --python
	PRELOAD_MPICC=$(PRELOAD_MPICC) SECONDS_EACH=$(PRELOAD_SECONDS) packaging/check-preload $(PRELOAD_RANKS)

.PHONY: check-guide
check-guide: guide cli
	@packaging/prerequisites --guide
	cd guide && CHROMIUM=$(INSTALLED_CHROMIUM) npm test

.PHONY: screenshots
screenshots: guide cli
	@packaging/prerequisites --guide
	cd guide && CHROMIUM=$(INSTALLED_CHROMIUM) npm run screenshots

.PHONY: other-mpis
other-mpis: prerequisites
	@packaging/prerequisites --python
	packaging/other-mpis

.PHONY: bench
bench: all other-mpis
	$(COMMAND) performance benches/performance.toml --report docs/performance.md

.PHONY: bench-costs
bench-costs:
	$(CARGO) bench --bench selection --bench schedules --target-dir target

.PHONY: check-long
check-long: all programs
	$(CARGO) test --release -- --ignored
	$(CARGO) test --release -p rustcoll-cli -- --ignored
	$(CARGO) test --release -p mpi-programs -- --ignored

.PHONY: check-mpi4py
check-mpi4py: all
	@packaging/prerequisites --python
	packaging/check-mpi4py

.PHONY: check-mpi4py-shared
check-mpi4py-shared: all
	@packaging/prerequisites --python
	packaging/check-mpi4py --forced shared,shared_flat $(SHARED_RANKS)
	packaging/check-mpi4py --forced shared,shared_slices $(SHARED_RANKS)

.PHONY: check-supply-chain
check-supply-chain:
	@packaging/prerequisites --python
	packaging/check-supply-chain $(CHECKS)

.PHONY: sbom
sbom:
	packaging/bills-of-materials

.PHONY: check-lab
check-lab:
	@packaging/prerequisites --lab
	$(LAB_TESTS) --pattern 'root_*.py'
	lab/lab check

.PHONY: check-valgrind
check-valgrind:
	@packaging/prerequisites --valgrind
	$(MAKE) all programs
	$(CARGO) test --release -p mpi-programs --test valgrind -- --ignored

.PHONY: source-release
source-release: guide
	@mkdir -p $(BUILD)
	git archive --prefix=$(RELEASE)/guide/dist/ --add-file=$(PAGE) --add-file=guide/dist/licences.md \
	  --prefix=$(RELEASE)/ --output=$(BUILD)/$(RELEASE).tar.gz HEAD

.PHONY: install
install:
	@for built in $(COMPONENT) $(COMMAND) $(MEASURE); do \
	  test -f $$built || { echo "$$built is not built; run make first" >&2; exit 1; }; \
	done
	@test -n "$(PLUGIN_DIR)" || { echo "ompi_info names no plug-in folder; set PREFIX or PLUGIN_DIR" >&2; exit 1; }
	install -d $(DESTDIR)$(PLUGIN_DIR)
	install -m 755 $(COMPONENT) $(DESTDIR)$(PLUGIN_DIR)
	install -m 644 $(HELP) $(DESTDIR)$(PLUGIN_DIR)
	install -d $(DESTDIR)$(COMMAND_PREFIX)/bin $(DESTDIR)$(COMMAND_PREFIX)/share
	install -m 755 $(COMMAND) $(MEASURE) $(DESTDIR)$(COMMAND_PREFIX)/bin
	cp -R $(SHARE)/. $(DESTDIR)$(COMMAND_PREFIX)/share

.PHONY: install-user
install-user:
	$(MAKE) install PREFIX=$(HOME)/.local PLUGIN_DIR=$(HOME)/.openmpi/components DESTDIR=

.PHONY: clean
clean:
	$(CARGO) clean
	rm -rf $(BUILD)
	[ ! -e guide/node_modules ] || rm -rf guide/node_modules guide/wasm $(PAGE) guide/dist/licences.md
