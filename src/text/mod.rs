//! Texts that users write: they are read within bounds, and what is wrong in them is told with its place.

#![forbid(unsafe_code)]

mod columns;
pub(crate) mod content;
pub(crate) mod error;
pub mod nearest;
pub mod quantity;
pub(crate) mod tables;

pub use columns::{Side, columns};
pub use content::{LONGEST_TEXT, file_content};
pub use error::{Note, Origin, TextError, TextErrors};
