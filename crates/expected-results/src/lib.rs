//! The contents of a collective's buffers before and after the call, computed without communication. A test fills
//! [`buffers::Buffers`], calls the collective on them, and asks for the differences from the expected result.

#![forbid(unsafe_code)]

pub mod arithmetic;
pub mod buffers;
mod contents;
pub mod image;
pub mod layout;
pub mod random;
pub mod storage;
