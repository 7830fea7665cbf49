//! Profiles as JSON. The ranks of a job send them to each other, and programs read them.

use super::profile::{Late, Lateness, OverRanks, Profile, Row};
use super::{CallKind, Form};
use crate::algorithms::Collective;
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The version of the format.
const VERSION: u64 = 1;

/// More ranks than any job has; limits the ranges of ranks that are read.
const MOST_RANKS: u32 = 1 << 24;

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn list(items: impl IntoIterator<Item = String>, separator: &str) -> String {
    items.into_iter().collect::<Vec<_>>().join(separator)
}

fn over_ranks(OverRanks { sum, least, most }: OverRanks) -> String {
    format!("{{\"sum\": {sum:.9}, \"least\": {least:.9}, \"most\": {most:.9}}}")
}

/// Returns ascending ranks as a text, as in 0-3,7.
pub fn ranges(ranks: &[u32]) -> String {
    let range = |run: &[u32]| match run {
        [rank] => rank.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    list(ranks.chunk_by(|one, next| one + 1 == *next).map(range), ",")
}

/// Parses a text like that of [`ranges`].
fn ranks(text: &str) -> Option<Vec<u32>> {
    let mut ranks = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last.checked_sub(first)? >= MOST_RANKS {
            return None;
        }
        ranks.extend(first..=last);
    }
    Some(ranks)
}

impl Profile {
    /// Returns the profile as JSON, with a line for each row.
    pub fn to_json(&self) -> String {
        let nodes = list(
            self.nodes.iter().map(|(node, ranks)| format!("\"{node:016x}\": \"{}\"", ranges(ranks))),
            ", ",
        );
        let rows = list(self.rows.iter().map(|(kind, row)| format!("    {}", line(kind, row))), ",\n");
        format!(
            "{{\n  \"rustcoll_profile\": {VERSION},\n  \"ranks\": {},\n  \"nodes\": {{{nodes}}},\n  \"seconds\": {},\n  \"rows\": [\n{rows}\n  ]\n}}\n",
            self.ranks(),
            over_ranks(self.seconds),
        )
    }

    /// Parses a text of [`Profile::to_json`]. The error tells why it is no profile.
    pub fn of_json(text: &str) -> Result<Profile, String> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        let parsed = parsed.map_err(|error| error.to_string())?;
        let Some(Value::Object(object)) = parsed.value else { return Err("it is not a JSON object".into()) };
        let whole = Fields { object: &object, place: "the profile".into() };
        match whole.number("rustcoll_profile") {
            Ok(VERSION) => {}
            Ok(other) => {
                return Err(format!(
                    "it is a profile of version {other}; this command reads version {VERSION}"
                ));
            }
            Err(_) => return Err("`rustcoll_profile` is missing: it is not a profile of rustcoll".into()),
        }
        let nodes = whole.object("nodes")?.object;
        let node = |property: &ObjectProp| {
            let name = property.name.as_str();
            let ranks = property.value.as_string_lit().and_then(|text| ranks(&text.value));
            let node = u64::from_str_radix(name, 16).ok().zip(ranks);
            node.ok_or(format!("`nodes`: `{name}` is no node with its ranks, as in \"0-3,7\""))
        };
        Ok(Profile {
            nodes: nodes.properties.iter().map(node).collect::<Result<_, _>>()?,
            seconds: whole.object("seconds")?.over_ranks()?,
            rows: whole
                .array("rows")?
                .elements
                .iter()
                .zip(1..)
                .map(|(row, number)| Fields::of(row, format!("row {number}"))?.row())
                .collect::<Result<_, _>>()?,
        })
    }
}

fn line(kind: &CallKind, row: &Row) -> String {
    let CallKind {
        communicator,
        size,
        remote,
        collective,
        form,
        bytes_from,
        datatype,
        operator,
        served,
        decided,
    } = kind;
    let Row { ranks, calls, bytes, seconds, lateness } = row;
    let [communicator, datatype, operator, served, decided] =
        [communicator, datatype, operator, served, decided].map(|text| quoted(text));
    let mut line = format!(
        "{{\"communicator\": {communicator}, \"size\": {size}, \"remote\": {remote}, \"collective\": \"{}\", \"form\": \"{}\", \
         \"bytes_from\": {bytes_from}, \"datatype\": {datatype}, \"operator\": {operator}, \"algorithm\": {served}, \"decided\": {decided}, \
         \"ranks\": {ranks}, \"calls\": {calls}, \"bytes\": {bytes}",
        collective.name(),
        form.name(),
    );
    if let Some(seconds) = seconds {
        let _ = write!(line, ", \"seconds\": {}", over_ranks(*seconds));
    }
    let Lateness { calls, seconds, waiting, .. } = lateness;
    if *calls > 0 {
        let late = lateness.latest(usize::MAX).into_iter().map(|(rank, Late { calls, waiting, longest })| {
            format!(
                "{{\"rank\": {rank}, \"calls\": {calls}, \"waiting\": {waiting:.9}, \"longest\": {longest:.9}}}"
            )
        });
        let late = list(late, ", ");
        let _ = write!(
            line,
            ", \"lateness\": {{\"calls\": {calls}, \"seconds\": {seconds:.9}, \"waiting\": {waiting:.9}, \"late\": [{late}]}}"
        );
    }
    line + "}"
}

/// The fields of an object. Errors name its place.
struct Fields<'a> {
    object: &'a Object<'a>,
    place: String,
}

impl<'a> Fields<'a> {
    fn of(value: &'a Value<'a>, place: String) -> Result<Fields<'a>, String> {
        let object = value.as_object().ok_or(format!("{place} is not an object"))?;
        Ok(Fields { object, place })
    }

    fn expected(&self, name: &str, what: &str) -> String {
        format!("{}: `{name}` is missing or not {what}", self.place)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, String> {
        let number = self.object.get_number(name).and_then(|number| number.value.parse().ok());
        number.ok_or_else(|| self.expected(name, "a number that is legal here"))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let text = self.object.get_string(name).map(|text| text.value.clone().into_owned());
        text.ok_or_else(|| self.expected(name, "a text"))
    }

    /// Returns the thing that a field's text names; an error if there is none.
    fn named<T>(&self, name: &str, find: impl FnOnce(&str) -> Option<T>) -> Result<T, String> {
        let text = self.text(name)?;
        find(&text).ok_or_else(|| format!("{}: `{name}`: there is no `{text}`", self.place))
    }

    fn object(&self, name: &str) -> Result<Fields<'a>, String> {
        let object = self.object.get_object(name).ok_or_else(|| self.expected(name, "an object"))?;
        Ok(Fields { object, place: format!("{}: `{name}`", self.place) })
    }

    fn array(&self, name: &str) -> Result<&'a Array<'a>, String> {
        self.object.get_array(name).ok_or_else(|| self.expected(name, "a list"))
    }

    fn over_ranks(&self) -> Result<OverRanks, String> {
        Ok(OverRanks { sum: self.number("sum")?, least: self.number("least")?, most: self.number("most")? })
    }

    fn row(&self) -> Result<(CallKind, Row), String> {
        let kind = CallKind {
            communicator: self.text("communicator")?,
            size: self.number("size")?,
            remote: self.number("remote")?,
            collective: self.named("collective", Collective::named)?,
            form: self.named("form", |name| Form::ALL.into_iter().find(|form| form.name() == name))?,
            bytes_from: self.number("bytes_from")?,
            datatype: self.text("datatype")?,
            operator: self.text("operator")?,
            served: self.text("algorithm")?,
            decided: self.text("decided")?,
        };
        let has = |name| self.object.get(name).is_some();
        let row = Row {
            ranks: self.number("ranks")?,
            calls: self.number("calls")?,
            bytes: self.number("bytes")?,
            seconds: has("seconds").then(|| self.object("seconds")?.over_ranks()).transpose()?,
            lateness: has("lateness")
                .then(|| self.object("lateness")?.lateness())
                .transpose()?
                .unwrap_or_default(),
        };
        Ok((kind, row))
    }

    fn lateness(&self) -> Result<Lateness, String> {
        let late = |value: &'a Value<'a>| {
            let late = Fields::of(value, format!("{}: a rank of `late`", self.place))?;
            let (calls, waiting, longest) =
                (late.number("calls")?, late.number("waiting")?, late.number("longest")?);
            Ok((late.number("rank")?, Late { calls, waiting, longest }))
        };
        Ok(Lateness {
            calls: self.number("calls")?,
            seconds: self.number("seconds")?,
            waiting: self.number("waiting")?,
            late: self
                .array("late")?
                .elements
                .iter()
                .map(late)
                .collect::<Result<BTreeMap<_, _>, String>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sum;
    use super::super::profile::tests::kind;
    use super::*;
    use std::time::Duration;

    fn profile() -> Profile {
        let strange =
            CallKind { communicator: "rows \"of\"\\\n a grid, µ".into(), ..kind(Collective::Bcast, 0) };
        let time = Some(Duration::from_micros(1500));
        let mut profile = Profile::of_rank(
            (7, u64::MAX),
            2.5,
            [(kind(Collective::Allreduce, 9), Sum { calls: 3, bytes: 27, time }), (strange, Sum::default())],
        );
        let row = profile.rows.values_mut().next().unwrap();
        row.lateness = Lateness {
            calls: 2,
            seconds: 0.001,
            waiting: 0.0005,
            late: BTreeMap::from([(3, Late { calls: 2, waiting: 0.0005, longest: 0.0003 })]),
        };
        profile
    }

    #[test]
    fn ranks_in_order_are_ranges() {
        for (all, text) in [(&[0, 1, 2, 7][..], "0-2,7"), (&[5], "5")] {
            assert_eq!(ranges(all), text);
            assert_eq!(ranks(text).unwrap(), all);
        }
        for text in ["", "3-1", "0-4294967295", "a", "1,"] {
            assert_eq!(ranks(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Profile::of_json(&profile().to_json()).unwrap(), profile());
        assert_eq!(Profile::of_json(&Profile::default().to_json()).unwrap(), Profile::default());
    }

    #[test]
    fn faults_are_told_with_their_places() {
        let text = profile().to_json();
        let fault = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Profile::of_json(&text.replacen(from, to, 1)).unwrap_err()
        };
        assert_eq!(
            fault("\"calls\": 3", "\"calls\": -3"),
            "row 1: `calls` is missing or not a number that is legal here"
        );
        assert_eq!(fault("\"allreduce\"", "\"reduce_all\""), "row 1: `collective`: there is no `reduce_all`");
        assert_eq!(
            fault("\"rustcoll_profile\": 1", "\"rustcoll_profile\": 2"),
            "it is a profile of version 2; this command reads version 1"
        );
        assert_eq!(
            fault("\"least\"", "\"lest\""),
            "the profile: `seconds`: `least` is missing or not a number that is legal here"
        );
        assert_eq!(
            fault("\"rank\": 3", "\"rank\": []"),
            "row 1: `lateness`: a rank of `late`: `rank` is missing or not a number that is legal here"
        );
        assert_eq!(Profile::of_json("[]").unwrap_err(), "it is not a JSON object");
        assert_eq!(
            Profile::of_json("{}").unwrap_err(),
            "`rustcoll_profile` is missing: it is not a profile of rustcoll"
        );
        assert!(Profile::of_json("{").unwrap_err().contains("line 1"));
    }
}
