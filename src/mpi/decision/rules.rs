//! The rules of a job: first those that the user gives in lines and files, then the site's, then the default ones.
//! Rules may name algorithms that come from schedule files.

use super::schedule_files;
use crate::algorithms::Collective;
use crate::mpi::parameters::settings::{self, Settings};
use crate::mpi::shim::bindings::rustcoll_shim_refuse_rules;
use crate::selection::{self, RuleErrors, Rules, Table};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int};
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

/// The most tables of rules that a process remembers. If there are more, it forgets all and starts anew.
const MOST_TABLES: usize = 256;

/// Rules from several sources. A source with a fault is left out as a whole.
#[derive(Default)]
pub struct Collected {
    /// The rules of all sources. The source that was added first comes first.
    pub rules: Rules,
    /// What is wrong with sources that were left out.
    pub faults: Vec<String>,
    /// The sources that were not left out.
    pub sources: Vec<Source>,
}

/// A text of rules in force, or of an algorithm from a schedule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, or the parameter or info key that holds the line.
    pub name: String,
    pub is_file: bool,
    pub content: Vec<u8>,
}

/// Returns the schedule files and rules that the user gives for the whole job, then the site's rules.
pub fn given() -> &'static Collected {
    static GIVEN: LazyLock<Collected> = LazyLock::new(|| {
        let schedule_files::GivenFiles { sources, faults } = schedule_files::given();
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

/// Returns all rules of the job: the given ones, then the default ones. The default ones are read when the first call
/// asks for rules, so a process without calls never reads them.
pub fn of_job() -> &'static Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(|| given().rules.clone().followed_by(Rules::built_in()));
    &RULES
}

/// Returns the job's rules that can match a collective on a communicator. Communicators that are alike share them.
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

/// Returns the faults of all sources that were left out, one in a line.
pub fn faults() -> &'static CStr {
    static FAULTS: LazyLock<CString> = LazyLock::new(|| text(&given().faults));
    &FAULTS
}

/// Ends the job if its rules have faults and faults are to end it. The first rank logs a note on foreign rules.
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

/// Ends the job over faulty rules. `speaks_first`: whether this rank reports them at once; other ranks wait.
pub fn refuse(faults: &[String], speaks_first: bool) {
    // SAFETY: the pointer is a C string that outlives the call.
    unsafe { rustcoll_shim_refuse_rules(text(faults).as_ptr(), c_int::from(speaks_first)) };
}

/// Returns the comma-separated names of a list, with an error for each empty name. `origin`: where the list is.
pub fn names<'list>(
    origin: &str,
    list: &'list str,
) -> impl DoubleEndedIterator<Item = Result<&'list str, String>> {
    list.split(',').map(str::trim).map(move |name| match name {
        "" => Err(format!("{origin}: an empty name stands in the list `{list}`")),
        _ => Ok(name),
    })
}

/// Reads a rule file. What was read once stays, so that communicators that name the same file have the same rules: ranks would
/// see a change at different times.
fn read(name: &str) -> Result<(Source, Rules), RuleErrors> {
    static KNOWN: Mutex<BTreeMap<PathBuf, (Source, Rules)>> = Mutex::new(BTreeMap::new());
    let path = path::absolute(name).unwrap_or_else(|_| name.into());
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(known) = known.get(&path) {
        return Ok(known.clone());
    }
    let content = selection::file_content(Path::new(name))?;
    let rules = Rules::read(name, &content)?;
    let source = Source { name: name.into(), is_file: true, content };
    Ok(known.entry(path).or_insert((source, rules)).clone())
}

fn text(faults: &[String]) -> CString {
    // Faults quote the user's texts, which may contain zero bytes.
    CString::new(faults.join("\n").replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl Collected {
    /// Adds a line of rules of a collective. `name`: where the line is.
    pub fn add_line(&mut self, name: &str, collective: Collective, line: &str) {
        let rules = Rules::parse_line(name, collective, line);
        self.add(
            rules.map(|rules| (Source { name: name.into(), is_file: false, content: line.into() }, rules)),
        );
    }

    /// Adds the files of a list. A later file takes precedence over earlier ones. `origin`: where the list is.
    pub fn add_files(&mut self, origin: &str, list: &str) {
        for name in names(origin, list).rev() {
            match name {
                Ok(name) => self.add(read(name)),
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    /// Adds the files of a list that may be in two places. It is a fault if the two lists differ.
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
    fn a_file_that_changes_keeps_the_rules_of_its_first_reading() {
        let file = std::env::temp_dir().join(format!("rustcoll-read-once-{}.toml", std::process::id()));
        let chosen = |algorithm: &str| {
            std::fs::write(&file, format!("[[bcast]]\nalgorithm = \"{algorithm}\"\n")).unwrap();
            let mut given = Collected::default();
            given.add_files("files", file.to_str().unwrap());
            assert_eq!(given.faults, [""; 0]);
            chosen(&given, 4)
        };
        assert_eq!(["chain", "linear"].map(chosen), ["chain"; 2]);
        std::fs::remove_file(&file).unwrap();
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
