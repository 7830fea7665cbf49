# make              what a user runs from a clone, into build/
# make demo         checks and times the algorithms on 8 local ranks
# make check        all tests; check-long the exhaustive ones, check-valgrind the component under valgrind
# make install      into Open MPI's plug-in folder (PREFIX, DESTDIR); install-user into ~/.openmpi/components

MPICC ?= mpicc
MPIRUN ?= mpirun
CARGO ?= cargo
BUILD := build
COMPONENT := $(BUILD)/mca_coll_rustcoll.so
HELP := $(BUILD)/help-mca-coll-rustcoll.txt
SHIM := src/coll_component

export MPICC

.PHONY: all
all: $(COMPONENT) $(HELP)

# Cargo decides whether anything has to be compiled again.
.PHONY: archive
archive: prerequisites
	$(CARGO) build --release --features component --lib

$(COMPONENT): archive $(SHIM)/exports.map
	MPICC=$(MPICC) packaging/link-component target/release/librustcoll.a $@

$(HELP): $(SHIM)/help-mca-coll-rustcoll.txt
	mkdir -p $(BUILD)
	cp $< $@

.PHONY: prerequisites
prerequisites:
	@packaging/prerequisites
