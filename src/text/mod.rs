//! Texts that users write: reads them within bounds, and reports errors with their places.

#![forbid(unsafe_code)]

mod columns;
pub(crate) mod content;
pub(crate) mod error;
pub mod nearest;
pub mod quantity;
pub(crate) mod tables;

pub use columns::{Alignment, columns};
pub use content::{LONGEST_TEXT, file_content};
pub use error::{Note, Origin, TextError, TextErrors};
