//! The addresses of the guide's pages, and the one to open.

use crate::failure::Failure;
use crate::problem::algorithm;
use rustcoll::algorithms::Collective;
use rustcoll::text::nearest;

/// The pages of every collective besides those of its algorithms.
const PAGES: [&str; 2] = ["compare", "own"];

/// An address after the server's name: a path, which begins with `/`, and what follows the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Returns the address of the first page.
    pub fn home() -> Address {
        Address("/".into())
    }

    /// Returns the address of a page. Fails if there is no such page.
    pub fn read(text: &str) -> Result<Address, Failure> {
        let text = text.trim_start_matches('/');
        let path = text.split(['?', '#']).next().unwrap_or_default();
        check(path)?;
        match text.chars().find(|character| !character.is_ascii_graphic()) {
            None => Ok(Address(format!("/{text}"))),
            Some(wrong) => {
                Err(Failure::Usage(format!("the page `{text}`: {wrong:?} cannot stand in an address")))
            }
        }
    }

    /// Returns the address for a browser.
    pub fn on(&self, port: u16) -> String {
        format!("http://127.0.0.1:{port}{}", self.0)
    }
}

/// Whether there is a page at this path.
pub fn is_page(path: &str) -> bool {
    check(path).is_ok()
}

fn check(path: &str) -> Result<(), Failure> {
    let mut names = path.split('/').filter(|name| !name.is_empty());
    let Some(name) = names.next() else { return Ok(()) };
    let collective =
        Collective::ALL.into_iter().find(|collective| collective.name() == name).ok_or_else(|| {
            Failure::Usage(nearest::unknown("collective", name, Collective::ALL.map(Collective::name)))
        })?;
    match names.next() {
        Some(name) if !PAGES.contains(&name) => algorithm(collective, name).map(drop)?,
        _ => (),
    }
    match names.next() {
        None => Ok(()),
        Some(_) => {
            Err(Failure::Usage(format!("the page `{path}`: an address has a collective and an algorithm")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_collectives_and_their_algorithms() {
        for path in [
            "/",
            "/alltoall",
            "/alltoall/",
            "/alltoall/bruck",
            "/alltoall/compare",
            "/bcast/own",
            "/bcast/pipeline",
        ] {
            assert!(is_page(path), "{path}");
        }
        for path in ["/all", "/alltoall/binomial", "/alltoall/bruck/1", "/favicon.ico", "/alltoall/../bcast"]
        {
            assert!(!is_page(path), "{path}");
        }
    }

    #[test]
    fn addresses_are_read_with_or_without_their_first_slash() {
        for text in ["alltoall/bruck?p=8", "/alltoall/bruck?p=8"] {
            assert_eq!(Address::read(text).unwrap().on(80), "http://127.0.0.1:80/alltoall/bruck?p=8");
        }
        assert_eq!(Address::home().on(1), "http://127.0.0.1:1/");
    }

    #[test]
    fn unknown_addresses_are_refused_with_the_nearest_known_name() {
        let refusal = |text| Address::read(text).unwrap_err().to_string();
        assert_eq!(refusal("altoall"), "unknown collective `altoall`; the nearest known one is `alltoall`");
        assert_eq!(
            refusal("alltoall/brook"),
            "unknown alltoall algorithm `brook`; the nearest known one is `bruck`"
        );
        assert_eq!(
            refusal("bcast/chain?p=8 9"),
            "the page `bcast/chain?p=8 9`: ' ' cannot stand in an address"
        );
        assert!(refusal("bcast/chain/3").ends_with(": an address has a collective and an algorithm"));
    }
}
