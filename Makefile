# make                 what a user runs from a clone, into build/
# make demo            checks and times the algorithms on 8 local ranks
# make check           all tests, those on a real MPI included
# make check-long      the exhaustive ones
# make check-mpi4py    mpi4py's tests of collectives, on rustcoll alone and on Open MPI's own components
# make check-valgrind  the component under valgrind
# make install         what make has built, into Open MPI's plug-in folder; PREFIX, PLUGIN_DIR, DESTDIR
# make install-user    into ~/.openmpi/components, where Open MPI looks too

MPICC ?= mpicc
MPIRUN ?= mpirun
CARGO ?= cargo
BUILD := build
COMPONENT := $(BUILD)/mca_coll_rustcoll.so
HELP := $(BUILD)/help-mca-coll-rustcoll.txt
SHIM := src/coll_component
OPENMPI_PLUGIN_DIR = $(shell ompi_info --path pkglibdir --parsable 2>/dev/null | cut -d: -f3)
PLUGIN_DIR ?= $(if $(PREFIX),$(PREFIX)/lib/openmpi,$(OPENMPI_PLUGIN_DIR))
DEMO_RANKS ?= 8

export MPICC MPIRUN CARGO

.PHONY: all
all: $(COMPONENT) $(HELP)

# Cargo decides whether anything has to be compiled again.
.PHONY: archive
archive: prerequisites
	$(CARGO) build --release --features component --lib --target-dir target

$(COMPONENT): archive $(SHIM)/exports.map
	packaging/link-component $@ target/release/librustcoll.a

$(HELP): $(SHIM)/help-mca-coll-rustcoll.txt
	@mkdir -p $(BUILD)
	cp $< $@

.PHONY: prerequisites
prerequisites:
	@packaging/prerequisites

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
	$(CARGO) test --release -p mpi-programs --all-targets
	@echo "All tests passed."

.PHONY: check-long
check-long: all programs
	$(CARGO) test --release -- --ignored
	$(CARGO) test --release -p mpi-programs -- --ignored

.PHONY: check-mpi4py
check-mpi4py: all
	@packaging/prerequisites --python
	packaging/check-mpi4py

.PHONY: check-valgrind
check-valgrind:
	@packaging/prerequisites --valgrind
	$(MAKE) all programs
	$(CARGO) test --release -p mpi-programs --test valgrind -- --ignored

.PHONY: install
install:
	@test -f $(COMPONENT) || { echo "$(COMPONENT) is not built; run make first" >&2; exit 1; }
	@test -n "$(PLUGIN_DIR)" || { echo "ompi_info names no plug-in folder; set PREFIX or PLUGIN_DIR" >&2; exit 1; }
	install -d $(DESTDIR)$(PLUGIN_DIR)
	install -m 755 $(COMPONENT) $(DESTDIR)$(PLUGIN_DIR)
	install -m 644 $(HELP) $(DESTDIR)$(PLUGIN_DIR)

.PHONY: install-user
install-user:
	$(MAKE) install PLUGIN_DIR=$(HOME)/.openmpi/components DESTDIR=

.PHONY: clean
clean:
	$(CARGO) clean
	rm -rf $(BUILD)
