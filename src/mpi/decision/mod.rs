//! Decides who serves a call, by info keys, forced algorithms and rules, and makes schedules.

pub mod decided;
pub mod info;
pub mod learnt;
pub mod neighbours_of_node;
pub mod rules;
pub mod schedule_files;
pub mod schedules;
pub mod stencil;
pub mod topology;
