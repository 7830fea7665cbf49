//! Who serves a call: rules, info keys and forced algorithms, and the schedules that they choose.

pub mod decided;
pub mod info;
pub mod learnt;
pub mod rules;
pub mod schedule_files;
pub mod schedules;
pub mod stencil;
pub mod topology;
