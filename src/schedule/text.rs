//! text
#[derive(Debug)]
pub struct ParseError;
