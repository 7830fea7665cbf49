//! The parameters that the shim registers, derived from the registry of algorithms.

use super::given::Given;
use super::settings::*;
use crate::algorithms::{Collective, Parameter};
use crate::mpi::decision::schedule_files;
use crate::mpi::shim::bindings::rustcoll_parameter;
use crate::text::nearest::nearest;
use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The word of a performance variable if the component below served the last call, or there was none.
const BELOW: &str = "below";

/// A list of words for C.
struct Words {
    /// NULL-terminated; points into `texts`.
    pointers: Vec<*const c_char>,
    texts: Vec<CString>,
}

impl Words {
    fn new(words: impl IntoIterator<Item = &'static str>) -> Self {
        let texts: Vec<CString> = words.into_iter().map(text).collect();
        let pointers = texts.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Words { pointers, texts }
    }
}

/// A parameter with the C strings that its description points to; they live as long as the process.
struct Registered {
    name: CString,
    description: CString,
    kept: Kept,
    variable: Option<(CString, Words, &'static AtomicI32)>,
    role: Role,
}

/// On which ranks a parameter's value holds, and when it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Choices depend on it, so it must be equal on all ranks.
    Shared,
    /// As `Shared`, but only read when the job starts.
    SharedAndFixed,
    /// Each rank may have its own value.
    Own,
    /// As `Own`, but only read when the job starts.
    Fixed,
}

/// What a parameter's value may be, and where it is kept.
enum Kept {
    /// A word, or a number of at least `minimum`; if that is 0, words only.
    Number { words: Words, minimum: i32, value: &'static AtomicI32 },
    /// Any text.
    Text(&'static Text),
}

// SAFETY: the pointers point into texts that the same value owns and nobody changes.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    fn describe(&self) -> rustcoll_parameter {
        let variable = self.variable.as_ref();
        let (text, words, minimum, value) = match &self.kept {
            Kept::Number { words, minimum, value } => {
                (ptr::null_mut(), words.pointers.as_ptr(), *minimum, value.as_ptr())
            }
            Kept::Text(text) => (text.0.as_ptr(), ptr::null(), 0, ptr::null_mut()),
        };
        rustcoll_parameter {
            name: self.name.as_ptr(),
            description: self.description.as_ptr(),
            text,
            words,
            minimum,
            value,
            is_fixed: c_int::from(matches!(self.role, Role::Fixed | Role::SharedAndFixed)),
            variable: variable.map_or(ptr::null(), |(name, ..)| name.as_ptr()),
            variable_words: variable.map_or(ptr::null(), |(_, words, _)| words.pointers.as_ptr()),
            variable_value: variable.map_or(ptr::null_mut(), |(.., value)| value.as_ptr()),
        }
    }

    /// Returns `name=value`; `None` if the value is the default.
    fn setting(&self) -> Option<String> {
        let shown = match &self.kept {
            Kept::Number { words, value, .. } => {
                let value = value.load(Relaxed);
                let word = usize::try_from(value).ok().and_then(|value| words.texts.get(value));
                let shown = word.map_or(value.to_string(), |word| word.to_string_lossy().into_owned());
                (value != 0).then_some(shown)
            }
            Kept::Text(text) => text.value(),
        };
        shown.map(|shown| format!("{}={shown}", self.name.to_string_lossy()))
    }
}

fn text(text: &str) -> CString {
    CString::new(text).expect("the registry's names hold no zero bytes")
}

/// The first parameter. It names files of algorithms, and the words of other parameters include these algorithms.
static FIRST: LazyLock<Registered> = LazyLock::new(|| {
    text_parameter(
        SCHEDULES_NAME,
        "Schedule files, and folders of files *.sched, separated by commas. Each has an algorithm, which is proved when the job starts and \
         then chosen as all others are, by its name",
        &SCHEDULES,
    )
});

static OTHERS: LazyLock<Vec<Registered>> = LazyLock::new(|| {
    schedule_files::given();
    let of_collectives = Collective::ALL.into_iter().flat_map(registered);
    let of_memory =
        shared_memory_parameters().into_iter().chain(mock_up_parameters()).chain(scratch_parameters());
    of_memory.chain(other_parameters()).chain(rule_parameters()).chain(of_collectives).collect()
});

/// All parameters, in the order in which they are registered.
fn all() -> impl Iterator<Item = &'static Registered> {
    [&*FIRST].into_iter().chain(OTHERS.iter())
}

/// The parameters of the memory that ranks share.
fn shared_memory_parameters() -> [Registered; 5] {
    [
        general_parameter(
            "shared_memory_limit",
            "How much memory a rank shares with the others of its node on all communicators together, in KiB, beside \
             flags and slots of a cache line; those that were not used for longest give theirs back; 65536 unless set",
            &["default"],
            1,
            &SHARED_MEMORY_LIMIT,
        ),
        shared(general_parameter(
            "shared_memory",
            "Whether ranks of a node may share memory; off has everything go by messages",
            &SHARE_WORDS,
            0,
            &MAY_SHARE_MEMORY,
        )),
        fixed(general_parameter(
            SINGLE_COPY,
            "Whether ranks of a node may copy long blocks from each other's own memory; if it is off at some rank of a \
             communicator, no rank of it does",
            &SHARE_WORDS,
            0,
            &MAY_COPY_SINGLY,
        )),
        shared(general_parameter(
            "shared_memory_size",
            "How much memory a rank shares with the others of its node, on each communicator, in KiB, for collectives that \
             block, as much again for those that do not, and for each persistent one; 4096 unless set",
            &["default"],
            1,
            &SHARED_MEMORY_SIZE,
        )),
        shared(general_parameter(
            "shared_memory_from",
            "From which short collective of a communicator on they share memory, of those that could; the ones before go by \
             messages. Longer ones count more. Those that block and those that do not are counted apart; 501 unless set",
            &["default"],
            1,
            &SHARED_MEMORY_FROM,
        )),
    ]
}

/// The parameters of the memory of mock-ups.
fn mock_up_parameters() -> [Registered; 2] {
    let parameter = |name, description, value| Registered {
        role: Role::SharedAndFixed,
        ..general_parameter(name, description, &["default"], 1, value)
    };
    [
        parameter(
            MESSAGE_BYTES,
            "The most memory for data that a mock-up, an algorithm that calls other collectives, may need at a rank, in \
             bytes; what would need more is not eligible; allocated once; 100000000 unless set",
            &MOCK_UP_MESSAGE_BYTES,
        ),
        parameter(
            INT_BYTES,
            "The most memory for counts and displacements that a mock-up may need at a rank, in bytes; what would need \
             more is not eligible; allocated once; 10000 unless set",
            &MOCK_UP_INT_BYTES,
        ),
    ]
}

/// The parameters of temporary memory.
fn scratch_parameters() -> [Registered; 2] {
    [
        shared(general_parameter(
            "scratch_limit",
            "The most temporary memory that a collective may take at a rank, in KiB; if it needs more at some rank, it returns \
             MPI_ERR_NO_MEM at all ranks",
            &["none"],
            1,
            &SCRATCH_LIMIT,
        )),
        general_parameter(
            "scratch_kept",
            "How much temporary memory a communicator keeps at a rank between its blocking collectives, and as much for the others together, in KiB",
            &["none"],
            1,
            &SCRATCH_KEPT,
        ),
    ]
}

/// The other parameters for all collectives.
fn other_parameters() -> [Registered; 9] {
    [
        Registered {
            role: Role::SharedAndFixed,
            ..general_parameter(
                "tcp",
                "Whether messages between nodes go by TCP, which rules may ask for; auto, what Open MPI 4.1 tells, and off where no MPI does",
                &TCP_WORDS,
                0,
                &TCP,
            )
        },
        shared(general_parameter(
            "reproducible",
            "Whether an element of a reduction depends only on the number of ranks and on their values of it; on \
             restricts the choice of algorithms and never leaves a reduction to the component below",
            &SWITCH,
            0,
            &REPRODUCIBLE,
        )),
        shared(general_parameter(
            "no_idle_neighbours",
            "Whether in each neighbourhood collective on a graph, all ranks have something to send or receive, or none has; off: they may \
             differ, and then combining, node_aware, shared and single_copy do not serve neighbor_allgather and neighbor_alltoall there if \
             they block",
            &SWITCH,
            0,
            &NO_IDLE_NEIGHBOURS,
        )),
        fixed(general_parameter(
            "report",
            "What is told of the calls of a job: summary, a table when it ends, of the calls of its first rank; calls, \
             that and a line for each call of each rank",
            &Reported::WORDS,
            0,
            &REPORT,
        )),
        Registered {
            role: Role::SharedAndFixed,
            ..general_parameter(
                "tune",
                "Whether algorithms are tried while the job runs: online, calls that block are served by candidates in turn, until the fastest is \
                 known; algorithms that are forced and reductions that must be reproducible are not tried",
                &TUNE_WORDS,
                0,
                &TUNE,
            )
        },
        Registered {
            role: Role::SharedAndFixed,
            ..general_parameter(
                "tune_from",
                "From which call of a kind on a communicator algorithms are tried; half as many calls are from one try to the next at first; 32 unless set",
                &["default"],
                1,
                &TUNE_FROM,
            )
        },
        text_parameter(
            "learnt",
            "The rule file to which the first rank of the job writes, when the job ends, what was found by trying algorithms on communicators in which it has rank 0",
            &LEARNT,
        ),
        Registered {
            role: Role::SharedAndFixed,
            ..text_parameter(
                "profile",
                "The file to which the first rank writes, when the job ends, what collectives all ranks called and how long they took and waited; \
                 rustcoll advise reads it",
                &PROFILE,
            )
        },
        fixed(general_parameter(
            "profile_every",
            "After how many seconds, again and again, ranks write what they did so far, for a job that may not end: into a folder named as the \
             profile, with .parts behind it; rustcoll advise reads it",
            &["never"],
            1,
            &PROFILE_EVERY,
        )),
    ]
}

/// The parameters of rules for all collectives.
fn rule_parameters() -> [Registered; 4] {
    let [file, alias] = rules_files();
    [
        text_parameter(
            file,
            "Rule files, separated by commas; where several have a rule for a call, the last of them decides",
            &RULES_FILE,
        ),
        text_parameter(alias, &format!("Another name of {}", full_name(file)), &DYNAMIC_RULES_FILENAME),
        text_parameter(
            SITE_RULES,
            &format!(
                "Rule files of a site, behind those of {}, as these separated by commas",
                full_name(file)
            ),
            &SITE_RULES_FILE,
        ),
        fixed(general_parameter(
            "rules_strict",
            "Whether a job ends if rules or schedule files that it is given have faults; else it warns and leaves them out",
            &SWITCH,
            0,
            &RULES_STRICT,
        )),
    ]
}

fn text_parameter(name: &str, description: &str, value: &'static Text) -> Registered {
    Registered {
        name: text(name),
        description: text(description),
        kept: Kept::Text(value),
        variable: None,
        role: Role::Fixed,
    }
}

fn shared(parameter: Registered) -> Registered {
    Registered { role: Role::Shared, ..parameter }
}

fn fixed(parameter: Registered) -> Registered {
    Registered { role: Role::Fixed, ..parameter }
}

fn general_parameter(
    name: &str,
    description: &str,
    words: &[&'static str],
    minimum: i32,
    value: &'static AtomicI32,
) -> Registered {
    let (name, description) = (text(name), text(description));
    let words = Words::new(words.iter().copied());
    Registered {
        name,
        description,
        kept: Kept::Number { words, minimum, value },
        variable: None,
        role: Role::Own,
    }
}

/// The parameters of a collective: its algorithm, its rules, then the parameters of its algorithms.
fn registered(collective: Collective) -> Vec<Registered> {
    let others = collective.parameters().map(|parameter| shaping_parameter(collective, parameter));
    [algorithm_parameter(collective), line_parameter(collective)].into_iter().chain(others).collect()
}

fn line_parameter(collective: Collective) -> Registered {
    let name = collective.name();
    let description = format!(
        "Rules of {name} ahead of all files, as in \"ranks=33.. bytes=16K.. -> ALGORITHM; -> below\""
    );
    text_parameter(&line_name(collective), &description, &Settings::of(collective).rules)
}

fn algorithm_parameter(collective: Collective) -> Registered {
    let (name, settings) = (collective.name(), Settings::of(collective));
    let words = |first| {
        Words::new([first].into_iter().chain(collective.algorithms().map(|algorithm| algorithm.name)))
    };
    Registered {
        name: text(&algorithm_name(collective)),
        description: text(&format!("Algorithm of {name}; {AUTOMATIC} follows the selection rules")),
        kept: Kept::Number { words: words(AUTOMATIC), minimum: 0, value: &settings.algorithm },
        variable: Some((text(&format!("{name}_ran")), words(BELOW), &settings.ran)),
        role: Role::Shared,
    }
}

fn shaping_parameter(collective: Collective, parameter: Parameter) -> Registered {
    let (name, settings) = (collective.name(), Settings::of(collective));
    let takers: Vec<&str> = collective
        .algorithms()
        .filter(|algorithm| algorithm.parameters.contains(&parameter))
        .map(|algorithm| algorithm.name)
        .collect();
    Registered {
        name: text(&format!("{name}_{}", parameter.name())),
        description: text(&format!("For {name} by {}: {}", takers.join(", "), parameter.description())),
        kept: Kept::Number {
            words: Words::new([parameter.default_word()]),
            minimum: parameter.minimum(),
            value: match parameter {
                Parameter::Radix => &settings.radix,
                Parameter::Segment => &settings.segment,
                Parameter::Window => &settings.window,
            },
        },
        variable: None,
        role: Role::Shared,
    }
}

/// Lists, as `name=value`, the parameters that must be equal on all ranks and are not at their defaults.
/// Leaves out rules.
pub fn shaping() -> String {
    let shared = all().filter(|parameter| matches!(parameter.role, Role::Shared | Role::SharedAndFixed));
    shared.filter_map(Registered::setting).collect::<Vec<_>>().join(", ")
}

/// Returns the parameter of that number; `None` past the last one.
pub fn parameter(index: usize) -> Option<rustcoll_parameter> {
    if index == 0 { Some(FIRST.describe()) } else { OTHERS.get(index - 1).map(Registered::describe) }
}

/// The names of the parameters that the shim reads itself, and of the log filter.
fn read_by_shim() -> &'static [&'static str] {
    match is_preloaded() {
        true => &["alone", "disable", "log", "nonblocking", "verbose"],
        false => &["priority", "verbose"],
    }
}

/// Returns the first given parameter of this library that does not exist, and the nearest name that does.
pub fn unknown(given: &[Given]) -> Option<(&Given, String)> {
    let registered = all().filter_map(|parameter| parameter.name.to_str().ok());
    let known: Vec<String> = read_by_shim().iter().copied().chain(registered).map(full_name).collect();
    let unknown = given.iter().find(|given| !known.contains(&given.name))?;
    let nearest = nearest(&unknown.name, known.iter().map(String::as_str))?.to_owned();
    Some((unknown, nearest))
}

/// Returns the word nearest to a value, if the parameter of that full name takes only words and the value is no number.
pub fn nearest_word(parameter: &str, value: &str) -> Option<&'static str> {
    let words = all().find_map(|registered| match &registered.kept {
        Kept::Number { words, minimum: 0, .. } => {
            let is_it = registered.name.to_str().is_ok_and(|name| full_name(name) == parameter);
            is_it.then_some(&words.texts)
        }
        _ => None,
    })?;
    let is_number = value.parse::<i64>().is_ok();
    nearest(value, words.iter().filter_map(|word| word.to_str().ok())).filter(|_| !is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::parameters::given::GivenIn;

    #[test]
    fn mistyped_parameters_are_found() {
        let given = ["coll_rustcoll_verbose", "coll_rustcoll_alreduce_algorithm"].map(|name| Given {
            name: name.into(),
            value: "1".into(),
            given_in: GivenIn::Environment,
        });
        let (unknown, nearest) = unknown(&given).unwrap();
        assert_eq!(unknown, &given[1]);
        assert_eq!(nearest, "coll_rustcoll_allreduce_algorithm");
        assert_eq!(super::unknown(&given[..1]), None);
    }

    #[test]
    fn mistyped_words_are_found() {
        for (parameter, value, expected) in [
            ("allreduce_algorithm", "binary_block", Some("binary_blocks")),
            ("report", "sumary", Some("summary")),
            ("allreduce_algorithm", "99", None),
            ("alltoall_radix", "sqr", None),
            ("priority", "of", None),
        ] {
            assert_eq!(nearest_word(&full_name(parameter), value), expected, "{parameter}={value}");
        }
    }

    fn names() -> Vec<&'static str> {
        all().map(|parameter| parameter.name.to_str().unwrap()).collect()
    }

    #[test]
    fn parameters_are_those_of_the_registry() {
        let names = names();
        assert!(Collective::ALL.iter().all(|&collective| names.contains(&&*algorithm_name(collective))
            && names.contains(&&*line_name(collective))));
        for taken in ["alltoall_radix", "alltoall_window", "bcast_segment", "reduce_segment"] {
            assert!(names.contains(&taken), "{taken}");
        }
        for not_taken in ["barrier_segment", "alltoallw_segment", "bcast_window"] {
            assert!(!names.contains(&not_taken), "{not_taken}");
        }
        assert!(SET_BY_MODULES.iter().all(|end| !names.contains(&&*end.to_lowercase())));
    }

    #[test]
    fn what_shapes_schedules_must_be_equal_on_all_ranks() {
        let shared = |name: &str| {
            let parameter = all().find(|parameter| parameter.name.to_str() == Ok(name)).unwrap();
            matches!(parameter.role, Role::Shared | Role::SharedAndFixed)
        };
        for name in [
            "allreduce_algorithm",
            "alltoall_radix",
            "alltoall_window",
            "bcast_segment",
            "reproducible",
            "scratch_limit",
            "shared_memory_size",
            "shared_memory_from",
            "mockup_message_bytes",
            "mockup_int_bytes",
        ] {
            assert!(shared(name), "{name}");
        }
        for name in ["scratch_kept", "shared_memory_limit", "single_copy", "report", "rules_strict"] {
            assert!(!shared(name), "{name}");
        }
    }
}
