//! What the user sets, by MPI's parameters or the environment.

pub mod given;
pub mod registered;
pub mod settings;
