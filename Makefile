# make                 what a user runs from a clone, into build/
# make cli             only the command rustcoll, its manual pages and completions; needs no MPI
# make guide           the page of `rustcoll guide`, which the command embeds; needs Node.js. make and make cli build it where they can
# make preload         librustcoll_mpich.so, which serves the collectives of another MPI than Open MPI when it is loaded before it; for the
#                      MPI of PRELOAD_MPICC, mpicc.mpich unless set
# make demo            checks and times the algorithms of allreduce, alltoall and bcast on 8 local ranks
# make check           the tests of every day, those on a real MPI included
# make check-all       all that follow too, one after another, with a table of results and times at the end; takes hours and needs root.
#                      CHECK_ALL names some of them
# make check-long      the exhaustive tests
# make fuzz-jobs       simulated jobs of other seeds than those of make check, until one is wrong; SEEDS=from..to or SEEDS=seed names them
# make check-mutations  whether the simulated jobs find known defects, each put into a copy of the sources
# make check-preload   that library with the MPICH of the system, and with MPICH and Intel MPI from PyPI
# make check-series    the component on Open MPI 5.0 and 6.0, from Debian's packages in folders of their own below build; needs root
# make check-in-tree  rustcoll as a part of Open MPI's own sources, which are fetched from Debian and built twice
# make check-guide     the page's tests, in Chromium
# make book            the book of docs/, into build/book; needs mdbook, or cargo to get it
# make check-book      that it is built without warnings, and the style of all documents (scripts/check-style, which needs Node.js and
#                      npm); that its links lead somewhere is part of cargo test
# make screenshots     the pictures of docs/guide
# make demo-picture    docs/demo.svg, the session at the top of README.md, by what the commands of docs/demo.txt print today
# make check-mpi4py    mpi4py's tests of collectives, on rustcoll alone and on Open MPI's own components
# make check-mpi4py-shared  the same with everything over shared memory that can go there, on more numbers of ranks
# make check-python    the Python module: it is built, installed below build, and tested, its page in the book too
# make check-lab       the emulated cluster of lab/: whether it works and is what is asked of it; needs root
# make check-valgrind  the component under valgrind
# make check-sanitizer  the component with AddressSanitizer
# make check-supply-chain  what rustcoll is made of, and what is made of it: docs/supply-chain.md; CHECKS names some of its checks
# make sbom            bills of materials of the libraries and the command, into build/sbom
# make bench           docs/performance.md: every collective in every form against Open MPI's own components, on one node and, as root, over an
#                      emulated network, and some against MPICH and Intel MPI on one node; in an hour, at most 90 minutes; without root it
#                      ends with 1, and says what it has not measured
# make bench-quick     every collective in its three forms on two ranks, in minutes: fails where rustcoll is far slower than Open MPI's own
#                      components
# make bench-applications  docs/applications.md: whole run times of real programs in the emulated cluster and on one node; in an hour, needs
#                      root; programs of Debian that are not installed are left out
# make other-mpis      MPICH and Intel MPI from PyPI, into build/other-mpis, and the measuring program for them
# make bench-costs     what it costs to choose an algorithm, and to build schedules
# make bench-scale     what one rank of a million keeps and computes for a call: writes docs/scale.md, with a picture
# make dist            the committed sources with the guide's page and all crates, which need neither Node.js nor a network, into
#                      build/rustcoll-VERSION.tar.xz, and the recipes for Spack and EasyBuild with its digest into build/recipes
# make check-packages  what packages are made with: docs/install.md; needs root
# make install         what make has built: the component into Open MPI's plug-in folder, the command and its measuring
#                      program into /usr/local, with a modulefile and for pkg-config; PREFIX, PLUGIN_DIR, LIBDIR, DESTDIR,
#                      OPENMPI_PLUGIN_DIR
# make install-cli     of these the command alone
# make install-preload what make preload has built, with the same two, into /usr/local; PREFIX, LIBDIR, DESTDIR, PRELOAD_LIBRARY
# make uninstall       removes what these have installed, and the folders that are empty then; with the same variables
# make install-user    into ~/.openmpi/components, where Open MPI looks too, and ~/.local
# make uninstall-user  removes what that has installed

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
PAGE := guide/dist/index.html
PAGE_LIBRARY := guide/wasm/guide.wasm
PAGE_SOURCES = $(wildcard guide/*.html guide/*.ts guide/*.json) $(shell find guide/src guide/build -type f)
WASM := wasm32-unknown-unknown
PRELOAD_RANKS ?= 1 2 3 4 5 6 7 8 9 13
PRELOAD_SECONDS ?= 15
SERIES ?= 5.0 6.0
SERIES_RANKS ?= 1 2 3 4 5 8
SERIES_SECONDS ?= 15
SERIES_SEEDS ?= 1 2 3 4 5 6 7 8 9 10 11 12
# Asked by the shell, after the line before has installed it: make expands all lines of a recipe before it runs the first.
INSTALLED_CHROMIUM = $$(command -v $${CHROMIUM:-chromium})
# Where the Open MPI that the component was built for has its plug-ins, whichever Open MPI is in PATH by now.
BUILT_FOR := $(BUILD)/openmpi-plugins
OPENMPI_PLUGIN_DIR = $(shell cat $(BUILT_FOR) 2>/dev/null)
PLUGIN_DIR ?= $(if $(PREFIX),$(PREFIX)/lib/openmpi,$(OPENMPI_PLUGIN_DIR))
COMMAND_PREFIX = $(or $(PREFIX),/usr/local)
LIBDIR ?= $(COMMAND_PREFIX)/lib
PKGCONFIG_DIR ?= $(LIBDIR)/pkgconfig
MODULEFILES ?= $(COMMAND_PREFIX)/share/modulefiles
DEMO_RANKS ?= 8
SHARED_RANKS ?= 2 3 4 5 6 7 8 9 13 16
CHECK_ALL ?= check check-long check-guide check-mpi4py check-mpi4py-shared check-python check-preload check-series check-in-tree check-packages \
  check-supply-chain check-mutations check-sanitizer check-book check-lab bench-quick
LAB_TESTS = python3 -B -m unittest discover --top-level-directory lab --start-directory lab/tests

# Recipes and make itself would take a part of such a name for a name.
$(foreach name,CURDIR PREFIX DESTDIR PLUGIN_DIR LIBDIR PKGCONFIG_DIR MODULEFILES,$(if $(word 2,$($(name))),\
  $(error $(name) is "$($(name))"; it must be a folder without spaces in its name)))

export MPICC MPIRUN CARGO
# For another target Cargo would put what it builds into a folder of its name, where nothing here looks.
unexport CARGO_BUILD_TARGET

# What runs inside an MPI and the guide's page are each optimised as a whole, on one processor: both are built at the same time.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=2
endif

.PHONY: all
all: $(COMPONENT) $(HELP) cli measure

# No variable takes back the same setting in Cargo's configuration files.
.PHONY: own-target
own-target:
	@scripts/own-target

archive bindings cli guide-if-possible: own-target

# What a target needs besides, asked for before anything is built.
PREREQUISITES =
check: PREREQUISITES = --jobs --lab
check-long: PREREQUISITES = --jobs --valgrind

# What runs inside an MPI; Cargo decides whether anything has to be compiled again.
.PHONY: archive
archive:
	RUSTC_WRAPPER=$(CURDIR)/scripts/rustc-without-paths $(CARGO) build --profile library --features mpi --lib --target-dir target

$(COMPONENT): prerequisites
	$(MAKE) archive
	scripts/link-component $@ $(ARCHIVE)
	@scripts/openmpi-plugins > $(BUILT_FOR) 2>/dev/null || true

$(HELP): src/coll_component/help-mca-coll-rustcoll.txt
	@mkdir -p $(BUILD)
	cp $< $@

# The page of `rustcoll guide`, which holds the library as WebAssembly.
.PHONY: guide
guide:
	@missing=$$(scripts/guide-tools) || { echo "Missing for the guide: $$missing" >&2; exit 1; }
	$(MAKE) $(PAGE)

$(PAGE): $(PAGE_LIBRARY) $(PAGE_SOURCES) guide/node_modules/.package-lock.json
	cd guide && npm run build

# Cargo decides whether it has to be compiled again; the page is built again if it then differs.
.PHONY: always
always:

$(PAGE_LIBRARY): always
	$(CARGO) build --profile page -p guide-questions --target $(WASM) --target-dir target
	@cmp -s target/$(WASM)/page/guide_questions.wasm $@ || install -D -m 644 target/$(WASM)/page/guide_questions.wasm $@

# A page without the packages that it is built with came in a source release.
.PHONY: guide-if-possible
guide-if-possible:
	@if [ -e $(PAGE) ] && [ ! -e guide/node_modules ]; then \
	  echo "The guide: $(PAGE) is taken as it is."; \
	elif missing=$$(scripts/guide-tools); then \
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
	@scripts/prerequisites $(PREREQUISITES)

.PHONY: bindings
bindings: prerequisites
	@scripts/forget-other-bindings target

.PHONY: demo-picture
demo-picture: all
	ROOT=$(CURDIR) PATH=$(CURDIR)/$(BUILD):$$PATH OMPI_MCA_mca_base_component_path=$(CURDIR)/$(BUILD):SYSTEM_DEFAULT \
	  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 scripts/terminal-picture docs/demo.txt docs/demo.svg

# What `rustcoll bench` starts.
.PHONY: measure
measure: bindings
	$(CARGO) build --release -p mpi-programs --bin measure --target-dir target
	install -D -m 755 target/release/measure $(MEASURE)

.PHONY: preload
preload:
	@MPICC=$(PRELOAD_MPICC) scripts/prerequisites --preload
	$(MAKE) archive
	MPICC=$(PRELOAD_MPICC) scripts/link-preload $(BUILD) $(ARCHIVE)

# Installs a template, with what it names between @ put in: $(call fill,TEMPLATE,TARGET).
PRELOAD_LIBRARY ?= $(notdir $(wildcard $(BUILD)/librustcoll_*.so))
define fill
install -d $(DESTDIR)$(dir $(2))
sed 's#@VERSION@#$(VERSION)#; s#@PREFIX@#$(COMMAND_PREFIX)#; s#@LIBDIR@#$(LIBDIR)#; s#@LIBRARY@#$(PRELOAD_LIBRARY)#; \
  s#@ARCHIVE@#$(PRELOAD_LIBRARY:lib%.so=%)#; s#@SYSTEM_LIBRARIES@#$(shell cat scripts/system-libraries)#; \
  s#@PLUGIN_DIR@#$(PLUGIN_DIR)#; s#@OPENMPI_PLUGIN_DIR@#$(OPENMPI_PLUGIN_DIR)#' \
  $(1) > $(DESTDIR)$(2)
chmod 644 $(DESTDIR)$(2)
endef

.PHONY: install-preload
install-preload:
	@test -n "$(PRELOAD_LIBRARY)" || { echo "no $(BUILD)/librustcoll_*.so is built; run make preload first" >&2; exit 1; }
	@test "$(words $(PRELOAD_LIBRARY))" = 1 || \
	  { echo "several are built, of which PRELOAD_LIBRARY= has to name one: $(PRELOAD_LIBRARY)" >&2; exit 1; }
	@test -f $(BUILD)/$(PRELOAD_LIBRARY) || { echo "$(BUILD)/$(PRELOAD_LIBRARY) is not built; run make preload first" >&2; exit 1; }
	install -D -m 755 -t $(DESTDIR)$(LIBDIR) $(BUILD)/$(PRELOAD_LIBRARY)
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(BUILD)/$(PRELOAD_LIBRARY:.so=.a)
	$(call fill,packaging/modulefile/rustcoll,$(MODULEFILES)/rustcoll/$(VERSION))
	$(call fill,packaging/pkg-config/rustcoll-preload.pc,$(PKGCONFIG_DIR)/rustcoll-preload.pc)

.PHONY: programs
programs: bindings
	@scripts/prerequisites --jobs
	$(CARGO) build --release -p mpi-programs --target-dir target

.PHONY: demo
demo: all programs
	scripts/mpirun-clone -n $(DEMO_RANKS) target/release/demo --plugin-path "$(CURDIR)/$(BUILD):$(OPENMPI_PLUGIN_DIR)"

# With the component's C files the unit tests include those of src/mpi. They are compiled while the component is optimised as a whole, on one
# processor. What make has built in the release profile is not built again:
# crates of one command ask for each other's features, so those that ask for others have a command of their own.
.PHONY: check
check: export NOTES_OF_TESTS = $(CURDIR)/$(BUILD)/notes-of-tests
check: $(COMPONENT) unit-tests all programs
	@rm -f $(NOTES_OF_TESTS)
	$(CARGO) test --no-fail-fast --features component --lib
	$(CARGO) test --no-fail-fast --release --test '*'
	$(CARGO) test --release --doc
	$(CARGO) test --no-fail-fast --release -p rustcoll-cli -p measurements -p tuning -p synthesis -p msccl -p guide-questions --all-targets
	$(CARGO) test --no-fail-fast --release -p simulated-jobs -p expected-results
	RUST_TEST_THREADS=4 $(CARGO) test --no-fail-fast --release -p mpi-programs --all-targets
	$(LAB_TESTS)
	@cat $(NOTES_OF_TESTS) 2>/dev/null || true
	@echo "All tests passed."

.PHONY: unit-tests
unit-tests: prerequisites
	$(CARGO) test --no-run --features component --lib

# Everything that exists, each part with its time.
.PHONY: check-all
check-all:
	scripts/check-all $(CHECK_ALL)

# Other seeds each time.
SEEDS ?= $(shell date +%s)00000..
.PHONY: fuzz-jobs
fuzz-jobs:
	$(CARGO) build --release -p simulated-jobs --target-dir target
	target/release/simulated-jobs $(SEEDS)

.PHONY: check-mutations
check-mutations:
	scripts/check-mutations

.PHONY: check-preload
check-preload: preload
	@MPICC=$(PRELOAD_MPICC) scripts/prerequisites --preload --python
	PRELOAD_MPICC=$(PRELOAD_MPICC) SECONDS_EACH=$(PRELOAD_SECONDS) scripts/check-preload $(PRELOAD_RANKS)

.PHONY: check-series
check-series: prerequisites
	$(MAKE) archive
	RANKS="$(SERIES_RANKS)" SECONDS_EACH=$(SERIES_SECONDS) SEEDS="$(SERIES_SEEDS)" scripts/check-series $(SERIES)

.PHONY: check-in-tree
check-in-tree:
	@scripts/prerequisites --in-tree
	$(MAKE) archive
	scripts/check-in-tree

.PHONY: check-guide
check-guide: guide
	$(MAKE) cli
	@scripts/prerequisites --guide
	cd guide && CHROMIUM=$(INSTALLED_CHROMIUM) npm test

.PHONY: book
book:
	scripts/book

.PHONY: check-book
check-book:
	scripts/check-style
	scripts/book --strict
	$(CARGO) test --test book --test troubleshooting --test algorithms --test example

.PHONY: screenshots
screenshots: guide
	$(MAKE) cli
	@scripts/prerequisites --guide
	cd guide && CHROMIUM=$(INSTALLED_CHROMIUM) npm run screenshots

.PHONY: other-mpis
other-mpis: prerequisites
	@scripts/prerequisites --python
	scripts/other-mpis

.PHONY: bench
bench: all other-mpis
	$(COMMAND) performance benches/performance.toml --report docs/performance.md

.PHONY: bench-quick
bench-quick: all
	$(COMMAND) performance benches/quick.toml --report $(BUILD)/bench-quick.md

.PHONY: bench-applications
bench-applications: all
	benches/applications/bench --report docs/applications.md

.PHONY: bench-costs
bench-costs:
	$(CARGO) bench -p benchmarks --bench schedules --bench selection --target-dir target

.PHONY: bench-scale
bench-scale:
	@mkdir -p $(BUILD)
	$(CARGO) bench -p benchmarks --bench scale --target-dir target -- $(CURDIR)/$(BUILD)/scale.svg >$(BUILD)/scale.md
	cp $(BUILD)/scale.md $(BUILD)/scale.svg docs

.PHONY: check-long
check-long: all programs
	$(CARGO) test --release -- --ignored
	$(CARGO) test --no-fail-fast --test '*'
	$(CARGO) test --release -p slot-model
	$(CARGO) test --release -p simulated-jobs -p expected-results -- --ignored
	$(CARGO) test --release -p rustcoll-cli -- --ignored --test-threads=1
	$(CARGO) test --release -p mpi-programs --no-fail-fast -- --ignored

.PHONY: check-mpi4py
check-mpi4py: all
	@scripts/prerequisites --python
	scripts/check-mpi4py

.PHONY: check-python
check-python:
	@scripts/prerequisites --python
	scripts/check-python

.PHONY: check-mpi4py-shared
check-mpi4py-shared: all
	@scripts/prerequisites --python
	scripts/check-mpi4py --forced shared,shared_leaders,shared_flat --forced shared,shared_slices $(SHARED_RANKS)

.PHONY: check-supply-chain
check-supply-chain:
	@scripts/prerequisites --python
	scripts/check-supply-chain $(CHECKS)

.PHONY: sbom
sbom:
	scripts/bills-of-materials

.PHONY: check-lab
check-lab:
	@scripts/prerequisites --lab
	$(LAB_TESTS) --pattern 'root_*.py'
	lab/lab check

.PHONY: check-valgrind
check-valgrind:
	@scripts/prerequisites --valgrind
	$(MAKE) all programs
	$(CARGO) test --release -p mpi-programs --test valgrind -- --ignored

.PHONY: check-sanitizer
check-sanitizer: programs
	scripts/check-sanitizer

.PHONY: dist
dist: guide
	scripts/dist $(VERSION) $(BUILD)

.PHONY: check-packages
check-packages: dist
	@scripts/prerequisites --packages
	scripts/check-packages $(VERSION)

# Readable for all, whatever modes the clone's files have.
define install_files
cd $(1) && find $(2) -type f -print0 | xargs -0 -I '{}' install -D -m 644 '{}' '$(abspath $(3))/{}'
endef

# The command alone, which make cli has built.
.PHONY: install-cli
install-cli:
	@test -f $(COMMAND) || { echo "$(COMMAND) is not built; run make cli first" >&2; exit 1; }
	install -D -m 755 -t $(DESTDIR)$(COMMAND_PREFIX)/bin $(COMMAND)
	$(call install_files,$(SHARE),.,$(DESTDIR)$(COMMAND_PREFIX)/share)
	$(call install_files,.,machines selection-rules,$(DESTDIR)$(COMMAND_PREFIX)/share/rustcoll)

.PHONY: install
install:
	@for built in $(COMPONENT) $(MEASURE); do \
	  test -f $$built || { echo "$$built is not built; run make first" >&2; exit 1; }; \
	done
	@test -n "$(OPENMPI_PLUGIN_DIR)" || { \
	  echo "no ompi_info beside MPICC told where Open MPI has its plug-ins; OPENMPI_PLUGIN_DIR=FOLDER does" >&2; exit 1; }
	$(MAKE) install-cli
	install -d $(DESTDIR)$(PLUGIN_DIR)
	install -m 755 $(COMPONENT) $(DESTDIR)$(PLUGIN_DIR)
	install -m 644 $(HELP) $(DESTDIR)$(PLUGIN_DIR)
	install -D -m 755 -t $(DESTDIR)$(COMMAND_PREFIX)/libexec/rustcoll $(MEASURE)
	$(call fill,packaging/modulefile/rustcoll-openmpi,$(MODULEFILES)/rustcoll-openmpi/$(VERSION))
	$(call fill,packaging/pkg-config/rustcoll.pc,$(PKGCONFIG_DIR)/rustcoll.pc)

# All that the others may have installed by the same variables.
.PHONY: uninstall
uninstall:
	@test -n "$(PLUGIN_DIR)" || { echo "where is the component? PREFIX=, PLUGIN_DIR= or OPENMPI_PLUGIN_DIR= tells" >&2; exit 1; }
	rm -f $(addprefix $(DESTDIR),$(addprefix $(PLUGIN_DIR)/,$(notdir $(COMPONENT) $(HELP))) \
	  $(LIBDIR)/librustcoll_*.so $(LIBDIR)/librustcoll_*.a $(PKGCONFIG_DIR)/rustcoll.pc $(PKGCONFIG_DIR)/rustcoll-preload.pc \
	  $(MODULEFILES)/rustcoll/$(VERSION) $(MODULEFILES)/rustcoll-openmpi/$(VERSION) $(COMMAND_PREFIX)/bin/rustcoll \
	  $(addprefix $(COMMAND_PREFIX)/share/,man/man1/rustcoll.1 man/man1/rustcoll-*.1 bash-completion/completions/rustcoll \
	    zsh/site-functions/_rustcoll fish/vendor_completions.d/rustcoll.fish))
	rm -rf $(addprefix $(DESTDIR)$(COMMAND_PREFIX)/,libexec/rustcoll share/rustcoll/machines share/rustcoll/selection-rules)
	@for folder in $(addprefix $(DESTDIR),$(PLUGIN_DIR) $(dir $(PLUGIN_DIR)) $(PKGCONFIG_DIR) $(MODULEFILES)/rustcoll \
	    $(MODULEFILES)/rustcoll-openmpi $(MODULEFILES) $(LIBDIR) $(addprefix $(COMMAND_PREFIX)/,bin libexec share/rustcoll \
	    share/man/man1 share/man share/bash-completion/completions share/bash-completion share/zsh/site-functions share/zsh \
	    share/fish/vendor_completions.d share/fish share) $(COMMAND_PREFIX)); do \
	    rmdir --ignore-fail-on-non-empty $$folder 2>/dev/null || true; done

# make install-user is make install with these variables, and make uninstall-user is make uninstall.
.PHONY: install-user uninstall-user
install-user uninstall-user: %-user:
	$(MAKE) $* PREFIX='$(HOME)/.local' PLUGIN_DIR='$(HOME)/.openmpi/components' DESTDIR=

.PHONY: clean
clean:
	$(CARGO) clean
	rm -rf $(BUILD)
	[ ! -e guide/node_modules ] || rm -rf guide/node_modules guide/wasm $(PAGE) guide/dist/licences.md
