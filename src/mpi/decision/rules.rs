//! The rules of a job: those that the user gives in lines and files, then the site's, then the default ones. Algorithms that come from files
//! stand at their side: rules name them.

use super::schedule_files;
use crate::algorithms::Collective;
use crate::mpi::parameters::settings::{self, Settings};
use crate::mpi::shim::bindings::rustcoll_shim_refuse_rules;
use crate::selection::{self, RuleErrors, Rules, Table};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

/// A process remembers the rules of so many collectives and sizes of communicators; then it starts anew.
const MOST_TABLES: usize = 256;

/// Rules from several sources. A source with a fault is left out as a whole.
#[derive(Default)]
pub struct Collected {
    /// The rules, those of the sources that were added first first.
    pub rules: Rules,
    /// What is wrong with sources that were left out.
    pub faults: Vec<String>,
    /// The others.
    pub sources: Vec<Source>,
}

/// A text of rules that hold, or of an algorithm that stands beside the registered ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it comes from: a file, or a line's parameter.
    pub name: String,
    /// Whether it is a file.
    pub is_file: bool,
    /// The text.
    pub content: Vec<u8>,
}

/// What the user gives for the whole job, then what the site gives.
pub fn given() -> &'static Collected {
    static GIVEN: LazyLock<Collected> = LazyLock::new(|| {
        let schedule_files::Given { sources, faults } = schedule_files::given();
        let (sources, faults) = (sources.clone(), faults.clone());
        let mut given = Collected { rules: Rules::default(), faults, sources };
        for collective in Collective::ALL {
            if let Some(line) = Settings::of(collective).rules() {
                let name = settings::full_name(&settings::line_name(collective));
                given.add_line(&name, collective, &line);
            }
        }
        given.add_files_of(settings::rule_files());
        if let (origin, Some(list)) = settings::site_rule_files() {
            given.add_files(&origin, &list);
        }
        given
    });
    &GIVEN
}

/// The rules of the whole job: those, then the default ones. The latter are read when the first call asks for them, so that
/// a process without any does not have to.
pub fn of_job() -> &'static Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(|| given().rules.clone().followed_by(Rules::built_in()));
    &RULES
}

/// Those of a collective, cut down to communicators of so many ranks, of one or two groups. Communicators that are alike share them.
pub fn table_of_job(collective: Collective, size: usize, groups: usize) -> Arc<Table> {
    static KNOWN: Mutex<BTreeMap<(usize, usize, usize), Arc<Table>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if known.len() == MOST_TABLES {
        known.clear();
    }
    let key = (collective as usize, size, groups);
    let table =
        known.entry(key).or_insert_with(|| of_job().for_communicator(collective, size, groups).into());
    Arc::clone(table)
}

/// What is wrong with those that are left out, one fault in a line.
pub fn faults() -> &'static CStr {
    static FAULTS: LazyLock<CString> = LazyLock::new(|| text(&given().faults));
    &FAULTS
}

/// Ends the job if its rules have faults and it is to be strict; tells once what they mean less than it may seem.
pub fn announce(is_first_on_node: bool, is_first_of_job: bool) {
    let Collected { faults, rules, .. } = given();
    if !faults.is_empty() && settings::rules_are_strict() {
        refuse(faults, is_first_on_node);
    }
    match rules.notes() {
        [first, others @ ..] if is_first_of_job => log::warn!("{first}{}", further(others.len())),
        _ => {}
    }
}

fn further(notes: usize) -> String {
    match notes {
        0 => String::new(),
        1 => "; `rustcoll rules check` shows another note on these rules".to_owned(),
        _ => format!("; `rustcoll rules check` shows {notes} more notes on these rules"),
    }
}

/// Ends the job over faults, of which one rank shall speak before the others.
pub fn refuse(faults: &[String], speaks_first: bool) {
    // SAFETY: the pointer is a C string that outlives the call.
    unsafe { rustcoll_shim_refuse_rules(text(faults).as_ptr(), c_int::from(speaks_first)) };
}

/// The names in a list that are separated by commas; `origin` is where the list stands. An error: a name is empty.
pub fn names<'list>(
    origin: &str,
    list: &'list str,
) -> impl DoubleEndedIterator<Item = Result<&'list str, String>> {
    list.split(',').map(str::trim).map(move |name| match name {
        "" => Err(format!("{origin}: an empty name stands in the list `{list}`")),
        _ => Ok(name),
    })
}

fn read(name: &str) -> Result<(Source, Rules), RuleErrors> {
    let content = selection::file_content(Path::new(name))?;
    let rules = Rules::read(name, &content)?;
    Ok((Source { name: name.into(), is_file: true, content }, rules))
}

fn text(faults: &[String]) -> CString {
    // Offending texts are shown, whatever they hold.
    CString::new(faults.join("\n").replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl Collected {
    /// Adds the rules of a collective in a line.
    pub fn add_line(&mut self, name: &str, collective: Collective, line: &str) {
        let rules = Rules::parse_line(name, collective, line);
        self.add(
            rules.map(|rules| (Source { name: name.into(), is_file: false, content: line.into() }, rules)),
        );
    }

    /// Adds the files of a list, those that stand later in it first; `origin` is where the list stands.
    pub fn add_files(&mut self, origin: &str, list: &str) {
        for name in names(origin, list).rev() {
            match name {
                Ok(name) => self.add(read(name)),
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    /// The same for a list that may stand in two places.
    fn add_files_of(&mut self, lists: [(String, Option<String>); 2]) {
        match lists {
            [(origin, Some(list)), (other_origin, Some(other))] if list != other => self.faults.push(format!(
                "{origin} and {other_origin} mean the same, but are `{list}` and `{other}`; give one of them"
            )),
            [(origin, Some(list)), _] | [_, (origin, Some(list))] => self.add_files(&origin, &list),
            _ => {}
        }
    }

    fn add(&mut self, read: Result<(Source, Rules), RuleErrors>) {
        match read {
            Ok((source, rules)) => {
                self.rules = std::mem::take(&mut self.rules).followed_by(&rules);
                self.sources.push(source);
            }
            Err(errors) => self.faults.push(errors.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Call;

    fn chosen(given: &Collected, size: usize) -> &'static str {
        let choice = given.rules.choose(&Call::new(Collective::Bcast, size, 8));
        choice.algorithm().map_or("below", |algorithm| algorithm.name)
    }

    #[test]
    fn what_is_added_first_decides_first() {
        let mut given = Collected::default();
        given.add_line("one", Collective::Bcast, "ranks=4 -> chain");
        given.add_line("other", Collective::Bcast, "-> binary");
        assert_eq!((chosen(&given, 4), chosen(&given, 5)), ("chain", "binary"));
        assert_eq!(
            given.sources[1],
            Source { name: "other".into(), is_file: false, content: b"-> binary".into() }
        );
    }

    #[test]
    fn a_faulty_source_is_left_out_as_a_whole() {
        let mut given = Collected::default();
        given.add_line("faulty", Collective::Bcast, "-> chain; ranks=x -> binary");
        given.add_line("right", Collective::Bcast, "-> linear");
        given.add_files("files", "/nowhere/one.toml,,/nowhere/two.toml");
        assert_eq!(chosen(&given, 4), "linear");
        assert_eq!(given.sources.len(), 1);
        let places: Vec<_> = given.faults.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
        assert_eq!(
            places,
            ["faulty:1:17", "/nowhere/two.toml", "files", "/nowhere/one.toml"],
            "{:?}",
            given.faults
        );
    }

    #[test]
    fn two_names_of_one_parameter_must_agree() {
        let lists = |one: Option<&str>, other: Option<&str>| {
            [("one".to_owned(), one.map(str::to_owned)), ("other".to_owned(), other.map(str::to_owned))]
        };
        let faults = |lists| {
            let mut given = Collected::default();
            given.add_files_of(lists);
            given.faults
        };
        assert_eq!(faults(lists(None, None)), [""; 0]);
        assert_eq!(faults(lists(Some("/nowhere"), Some("/nowhere"))).len(), 1);
        assert!(faults(lists(None, Some("/nowhere")))[0].starts_with("/nowhere: cannot be read"));
        let expected = "one and other mean the same, but are `/nowhere` and `/x`; give one of them";
        assert_eq!(faults(lists(Some("/nowhere"), Some("/x"))), [expected]);
    }
}
