//! The memory that the ranks of a node share, and how they find it.

pub mod agreed_lanes;
pub mod allotment;
pub mod geometry;
pub mod lane_memory;
pub mod lanes;
pub mod mapping;
pub mod node;
pub mod nodes;
pub mod patience;
pub mod sharing;
pub mod single_copy;
pub mod slot_writer;
pub mod spared;
pub mod tenancy;
