//! Contestants: the components and algorithms that a benchmark compares.

use rustcoll::algorithms::{Algorithm, MOCK_UPS};
use rustcoll::selection::{nearest, quantity};
use std::fmt;
use std::str::FromStr;

/// A component of Open MPI, possibly with an algorithm and its parameters: `rustcoll:bruck:radix=4`,
/// `tuned:3`, `han`. It can also be the name of another MPI, or `copy`, a plain copy of as many bytes as a
/// call moves. `rustcoll@rules.toml` follows its own rule file. `tuned:allgather_as_alltoall` or
/// `mpich:allgather_as_alltoall` runs this mock-up with calls of that component or MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    pub component: String,
    /// The rule file of the contestant's communicator; it takes precedence over the job's rules.
    pub rules: Option<String>,
    /// An algorithm's name or number. With `None`, the component chooses.
    pub algorithm: Option<String>,
    pub parameters: Vec<(String, usize)>,
}

impl Contestant {
    /// The name of rustcoll's component.
    pub const OWN: &str = "rustcoll";

    /// The name of the contestant that copies bytes and calls no collective.
    pub const COPY: &str = "copy";

    const OWN_PARAMETERS: [&str; 3] = ["radix", "segment", "window"];

    pub fn is_own(&self) -> bool {
        self.component == Self::OWN
    }

    pub fn is_copy(&self) -> bool {
        self.component == Self::COPY
    }

    /// Whether the contestant is a component's name alone.
    pub fn is_plain(&self) -> bool {
        self.algorithm.is_none() && self.parameters.is_empty() && self.rules.is_none()
    }

    /// Returns the mock-up that the measuring program must run for this contestant. `None` for rustcoll,
    /// because the component itself has mock-ups.
    pub fn mock_up(&self) -> Option<&'static Algorithm> {
        let name = self.algorithm.as_deref().filter(|_| !self.is_own() && self.parameters.is_empty())?;
        MOCK_UPS.iter().copied().find(|mock_up| mock_up.name == name)
    }

    fn check_parameter(&self, key: &str) -> Result<(), String> {
        let is_known = !self.is_own() || Self::OWN_PARAMETERS.contains(&key);
        if is_known { Ok(()) } else { Err(nearest::unknown("parameter", key, Self::OWN_PARAMETERS)) }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |reason: String| format!("the contestant `{text}`: {reason}");
        let mut parts = text.split(':');
        let first = parts.next().unwrap_or_default();
        let (component, rules) =
            first.split_once('@').map_or((first, None), |(name, rules)| (name, Some(rules)));
        if !is_name(component) {
            return Err(refuse("component[:algorithm][:key=value] is expected".into()));
        }
        if rules == Some("") || rules.is_some() && component != Self::OWN {
            return Err(refuse(format!("{}@FILE is expected", Self::OWN)));
        }
        let mut contestant = Contestant {
            component: component.into(),
            rules: rules.map(str::to_owned),
            algorithm: None,
            parameters: Vec::new(),
        };
        for (place, part) in parts.enumerate() {
            match part.split_once('=') {
                Some((key, value)) => {
                    contestant.check_parameter(key).map_err(refuse)?;
                    let value = quantity::bytes(value).map_err(|error| refuse(format!("{key}: {error}")))?;
                    contestant.parameters.push((key.into(), value));
                }
                None if place == 0 && is_name(part) => contestant.algorithm = Some(part.into()),
                None => return Err(refuse(format!("`{part}` is not key=value"))),
            }
        }
        if contestant.is_copy() && !contestant.is_plain() {
            return Err(refuse("a copy has neither algorithms nor parameters".into()));
        }
        Ok(contestant)
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.component)?;
        if let Some(rules) = &self.rules {
            write!(formatter, "@{rules}")?;
        }
        if let Some(algorithm) = &self.algorithm {
            write!(formatter, ":{algorithm}")?;
        }
        self.parameters.iter().try_for_each(|(key, value)| write!(formatter, ":{key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_are_written_as_they_are_read() {
        for text in
            ["tuned", "tuned:3", "rustcoll:bruck:radix=4", "rustcoll:radix=4:window=2", "rustcoll@a/b.toml"]
        {
            assert_eq!(text.parse::<Contestant>().unwrap().to_string(), text);
        }
        let contestant: Contestant = "rustcoll:ring:segment=8K".parse().unwrap();
        assert_eq!(contestant.parameters, [("segment".to_owned(), 8192)]);
    }

    #[test]
    fn mock_ups_of_others_are_known() {
        let name = |text: &str| text.parse::<Contestant>().unwrap().mock_up().map(|mock_up| mock_up.name);
        assert_eq!(name("tuned:bcast_as_allgatherv"), Some("bcast_as_allgatherv"));
        assert_eq!(name("rustcoll:bcast_as_allgatherv"), None);
        assert_eq!(name("tuned:3"), None);
        assert_eq!(name("tuned"), None);
    }

    #[test]
    fn what_is_no_contestant_is_refused() {
        for (text, expected) in [
            ("", "the contestant ``: component[:algorithm][:key=value] is expected"),
            ("a b", "the contestant `a b`: component[:algorithm][:key=value] is expected"),
            ("tuned:3:4", "the contestant `tuned:3:4`: `4` is not key=value"),
            ("tuned:", "the contestant `tuned:`: `` is not key=value"),
            (
                "rustcoll:bruck:radx=2",
                "the contestant `rustcoll:bruck:radx=2`: unknown parameter `radx`; the nearest known one is `radix`",
            ),
            ("tuned@a", "the contestant `tuned@a`: rustcoll@FILE is expected"),
            ("rustcoll@", "the contestant `rustcoll@`: rustcoll@FILE is expected"),
            ("copy:3", "the contestant `copy:3`: a copy has neither algorithms nor parameters"),
            (
                "tuned:segmentsize=x",
                "the contestant `tuned:segmentsize=x`: segmentsize: `x` is not a number of bytes",
            ),
        ] {
            assert_eq!(text.parse::<Contestant>().unwrap_err(), expected);
        }
    }
}
