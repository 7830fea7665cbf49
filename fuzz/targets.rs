//! What is fuzzed: each function takes any bytes, and panics if what is made of them contradicts itself. The tests run them
//! on mutated seeds.
#![allow(dead_code, reason = "each target is a program of its own")]

use rustcoll::algorithms::{Collective, Root};
use rustcoll::report::profile::Profile;
use rustcoll::schedule::Schedule;
use rustcoll::schedule_file::{self, ScheduleFile, Title};
use rustcoll::selection::{Call, Format, RuleErrors, Rules};

const MOST_RANKS: usize = 5;

/// A target, by name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const ALL: [Target; 9] = [
    ("native", native),
    ("line", line),
    ("expression", expression),
    ("tuned", tuned),
    ("open_mpi", open_mpi),
    ("mpich", mpich),
    ("pgmpi", pgmpi),
    ("schedule_file", schedule_file),
    ("profile", profile),
];

/// Our own files.
pub fn native(data: &[u8]) {
    file(Format::Native, data);
}

/// Files of Open MPI's tuned component.
pub fn tuned(data: &[u8]) {
    file(Format::Tuned, data);
}

/// Files of Open MPI 6.
pub fn open_mpi(data: &[u8]) {
    file(Format::OpenMpi, data);
}

/// Files of MPICH.
pub fn mpich(data: &[u8]) {
    file(Format::Mpich, data);
}

/// Profiles of PGMPITuneLib.
pub fn pgmpi(data: &[u8]) {
    file(Format::Pgmpi, data);
}

/// Rules in a line; the first byte is the collective.
pub fn line(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let collective = Collective::ALL[usize::from(*first) % Collective::ALL.len()];
    check(Rules::parse_line("line", collective, &String::from_utf8_lossy(rest)));
}

/// Expressions, which have no quotes.
pub fn expression(data: &[u8]) {
    let text = String::from_utf8_lossy(data).replace(['"', '\''], "");
    check(Rules::parse_line("line", Collective::Allreduce, &format!("when=\"{text}\" -> ring")));
}

/// Profiles of jobs. What was read is read again from what is written of it.
pub fn profile(data: &[u8]) {
    let Ok(profile) = Profile::of_json(&String::from_utf8_lossy(data)) else { return };
    let written = profile.to_json();
    let again = Profile::of_json(&written).unwrap_or_else(|fault| panic!("{fault}:\n{written}"));
    assert_eq!(again.to_json(), written);
}

/// Algorithms as files. What was read is read again from what is written of it.
pub fn schedule_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let file = match ScheduleFile::read(&text) {
        Ok(file) => file,
        Err(misread) => return assert!(misread.line > 0 && misread.column > 0, "{misread}"),
    };
    let title = Title {
        collective: file.listed.collective,
        name: &file.name,
        root: (file.listed.root == Root::Any).then_some("any"),
        needs_commutative: file.needs_commutative,
        source: None,
    };
    let programs: Vec<Schedule> = file.listed.programs.values().flatten().cloned().collect();
    let written = schedule_file::file(&title, &programs);
    let again = ScheduleFile::read(&written).unwrap_or_else(|misread| panic!("{misread}\n{written}"));
    assert_eq!(file.listed.programs, again.listed.programs, "{written}");
}

/// What is of another format is left to its own target.
fn file(format: Format, data: &[u8]) {
    if std::str::from_utf8(data).is_ok_and(|text| Format::of(text) == format) || format == Format::Native {
        check(Rules::read("file", data));
    }
}

fn check(read: Result<Rules, RuleErrors>) {
    let rules = match read {
        Ok(rules) => rules,
        Err(errors) => {
            assert!(!errors.0.is_empty());
            // A fault of the whole text has neither line nor column.
            assert!(errors.0.iter().all(|error| (error.origin.line > 0) == (error.origin.column > 0)));
            return;
        }
    };
    let count = |rules: &Rules| Collective::ALL.map(|collective| rules.of(collective).len());
    if count(&rules).iter().sum::<usize>() == 0 {
        return;
    }
    let native = rules.to_native();
    let again = Rules::parse("native", &native).unwrap_or_else(|errors| panic!("{errors}\n{native}"));
    assert_eq!(count(&rules), count(&again), "{native}");
    assert!(rules.differences(&again, 1..=MOST_RANKS).is_empty(), "{native}");
    for text in [rules.to_tuned(MOST_RANKS).text, rules.to_open_mpi(MOST_RANKS).text] {
        match Rules::parse("written", &text) {
            Ok(_) => {}
            Err(errors) => assert!(errors.to_string().ends_with("there are no rules"), "{errors}\n{text}"),
        }
    }
    for collective in Collective::ALL {
        let pieces = rules.decisions(&Call::new(collective, MOST_RANKS, 0));
        for piece in pieces {
            let call = Call::new(collective, MOST_RANKS, *piece.bytes.start());
            assert_eq!(rules.choose(&call), piece.decision.choice);
        }
    }
}
