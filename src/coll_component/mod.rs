//! The Open MPI component.
