//! Programs over a real MPI.
