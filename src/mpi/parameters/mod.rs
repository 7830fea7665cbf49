//! What the user sets, by MPI's parameters or the environment.

pub mod registered;
pub mod settings;
