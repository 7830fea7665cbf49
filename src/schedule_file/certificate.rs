//! Certificates say that a file was proved, for processes that have no time to prove it again.
//!
//! ```text
//! rustcoll certificate, version 1
//! file 0123456789abcdef
//! verifier 1
//! problems 256
//! ```
//!
//! A certificate guards against mistakes, not malice: a user who can write the file can write its
//! certificate.

use crate::hash::hash;
use crate::text::content::beside;
use crate::verify;
use std::path::{Path, PathBuf};

/// The first line of a certificate.
const FIRST_LINE: &str = "rustcoll certificate, version 1";

/// What is appended to a file's name.
const ENDING: &str = ".certificate";

/// Returns the lines that identify the file of these bytes and this verifier.
fn subject(content: &[u8]) -> String {
    format!("{FIRST_LINE}\nfile {:016x}\nverifier {}\n", hash(content), verify::NUMBER)
}

/// Returns the path of a file's certificate.
pub fn certificate_of(file: &Path) -> PathBuf {
    beside(file, ENDING)
}

/// Returns the certificate of a file that was proved for so many problems.
pub fn certificate(content: &[u8], problems: usize) -> String {
    format!("{}problems {problems}\n", subject(content))
}

/// Returns for how many problems this verifier proved the file, according to the certificate. Fails with the
/// reason if the certificate does not apply to the file.
pub fn certified(certificate: &str, content: &[u8]) -> Result<usize, &'static str> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (said, expected) = (lines(certificate), lines(&subject(content)));
    let problems = said.get(expected.len()).and_then(|line| line.strip_prefix("problems ")?.parse().ok());
    match expected.iter().enumerate().find(|(place, line)| said.get(*place) != Some(*line)) {
        Some((0, _)) => Err("this is no certificate"),
        Some((1, _)) => Err("it is for another file, or the file was changed"),
        Some(_) => Err("it is from another verifier"),
        None => problems.filter(|_| said.len() == expected.len() + 1).ok_or("this is no certificate"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_holds_for_its_file_and_this_verifier_alone() {
        let text = certificate(b"content", 256);
        assert_eq!(certified(&text, b"content"), Ok(256));
        assert_eq!(certified(&text, b"Content"), Err("it is for another file, or the file was changed"));
        for other in ["9", "0.1.0"] {
            let other = text.replace(&format!("verifier {}", verify::NUMBER), &format!("verifier {other}"));
            assert_eq!(certified(&other, b"content"), Err("it is from another verifier"));
        }
        for none in ["", "x", &text[..text.len() - 4], &format!("{text}more\n"), &text.replace("256", "x")] {
            assert_eq!(certified(none, b"content"), Err("this is no certificate"), "{none}");
        }
    }

    #[test]
    fn it_lies_beside_its_file() {
        assert_eq!(certificate_of(Path::new("/x/my.sched")), Path::new("/x/my.sched.certificate"));
    }
}
