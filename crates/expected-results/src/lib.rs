//! What the buffers of a collective hold before and after it, computed without communication. Whoever tests collectives fills
//! [`buffers::Buffers`], calls the collective on them, and asks what differs from what is expected.

#![forbid(unsafe_code)]

pub mod arithmetic;
pub mod buffers;
mod contents;
pub mod image;
pub mod layout;
pub mod random;
pub mod storage;
