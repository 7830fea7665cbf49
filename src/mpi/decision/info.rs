//! The info keys that a communicator was created with. They take precedence over all that holds for the whole job.

use super::rules::{self, Collected};
use crate::algorithms::{Algorithm, Collective};
use crate::mpi::calls::attached::Facts;
use crate::mpi::parameters::settings::{self, AUTOMATIC, TUNE_WORDS};
use crate::mpi::shim::bindings::rustcoll_shim_info;
use crate::selection::Rules;
use crate::text::nearest::unknown;
use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::{Arc, LazyLock};

const PREFIX: &str = "rustcoll_";

/// The key of a list of rule files.
const RULES: &str = "rules";

/// The key that says whether algorithms are tried while the job runs.
const TUNE: &str = "tune";

/// What the info keys of one communicator ask for.
#[derive(Default)]
pub struct Info {
    /// Forced algorithms. `None`: rules decide, even if a parameter forces an algorithm.
    forced: HashMap<Collective, Option<&'static Algorithm>>,
    /// Rules that take precedence over the job's.
    pub rules: Rules,
    /// Whether algorithms are tried while the job runs; `None` if no key says so.
    tunes_online: Option<bool>,
}

static NONE: LazyLock<Arc<Info>> = LazyLock::new(Arc::default);

/// What is wrong with keys that were left out.
#[derive(Default)]
pub struct Faults {
    /// Of the keys themselves, which all ranks pass alike.
    of_keys: Vec<String>,
    /// Of rule files. Each rank reads them itself, so other ranks may have none.
    of_files: Vec<String>,
}

/// What a key is about.
enum Key {
    Files,
    Line(Collective),
    Algorithm(Collective),
    Tune,
}

impl Info {
    /// Returns what a communicator's info keys ask for, and the faults of the keys that were left out; `None` if no key is
    /// about rustcoll.
    pub fn of(communicator: *const c_void) -> Option<(Info, Faults)> {
        let entries = entries(communicator);
        entries.iter().any(|(name, _)| name.starts_with(PREFIX)).then(|| Info::read(&entries))
    }

    /// Returns what no info key asks for.
    pub fn none() -> Arc<Info> {
        Arc::clone(&NONE)
    }

    /// Returns the forced algorithm of a collective; `Some(None)`: rules decide, `None`: no key is about it.
    pub fn forced(&self, collective: Collective) -> Option<Option<&'static Algorithm>> {
        self.forced.get(&collective).copied()
    }

    /// Whether any key is about rustcoll.
    pub fn says_anything(&self) -> bool {
        !ptr::eq(self, &**NONE)
    }

    /// Whether algorithms are tried on this communicator.
    pub fn tunes_online(&self) -> bool {
        self.tunes_online.unwrap_or_else(settings::tunes_online)
    }

    fn read(entries: &[(String, String)]) -> (Info, Faults) {
        let (mut forced, mut tunes_online) = (HashMap::new(), None);
        let (mut given, mut files) = (Collected::default(), None);
        for (name, value) in entries {
            let Some(key) = name.strip_prefix(PREFIX) else { continue };
            let origin = format!("info key {name}");
            match Key::read(key) {
                Some(Key::Files) => files = Some((origin, value)),
                Some(Key::Line(collective)) => given.add_line(&origin, collective, value),
                Some(Key::Algorithm(collective)) => match algorithm(collective, value) {
                    Ok(algorithm) => drop(forced.insert(collective, algorithm)),
                    Err(fault) => given.faults.push(format!("{origin}: {fault}")),
                },
                Some(Key::Tune) => match TUNE_WORDS.iter().position(|word| word == value) {
                    Some(word) => tunes_online = Some(word != 0),
                    None => given
                        .faults
                        .push(format!("{origin}: `{value}` is neither `{}`", TUNE_WORDS.join("` nor `"))),
                },
                None => {
                    let known = Key::names().map(|known| format!("{PREFIX}{known}"));
                    let known: Vec<String> = known.collect();
                    given.faults.push(unknown("info key", name, known.iter().map(String::as_str)));
                }
            }
        }
        let of_keys = std::mem::take(&mut given.faults);
        // Lines take precedence over files, in whichever order the keys come.
        if let Some((origin, list)) = files {
            given.add_files(&origin, list);
        }
        let faults = Faults { of_keys, of_files: given.faults };
        (Info { forced, rules: given.rules, tunes_online }, faults)
    }
}

impl Key {
    fn read(name: &str) -> Option<Key> {
        let of = |key_name: fn(Collective) -> String| {
            Collective::ALL.into_iter().find(|&collective| key_name(collective) == name)
        };
        match name {
            RULES => Some(Key::Files),
            TUNE => Some(Key::Tune),
            _ => of(settings::line_name)
                .map(Key::Line)
                .or_else(|| of(settings::algorithm_name).map(Key::Algorithm)),
        }
    }

    fn names() -> impl Iterator<Item = String> {
        let of_collectives = Collective::ALL
            .into_iter()
            .flat_map(|collective| [settings::line_name(collective), settings::algorithm_name(collective)]);
        [RULES, TUNE].map(str::to_owned).into_iter().chain(of_collectives)
    }
}

/// Logs the faults of a communicator's info keys, or ends the job over them if faults are to end it. Those of the keys
/// themselves are rank 0's to log.
pub fn report(Faults { of_keys, of_files }: &Faults, communicator: &Facts) {
    let (rank, name) = (communicator.group.rank, communicator.name());
    let faults = [&of_keys[..], of_files].concat();
    if !faults.is_empty() && settings::rules_are_strict() {
        rules::refuse(&faults, rank == 0);
    }
    let logged = if rank == 0 { &faults } else { of_files };
    logged.iter().for_each(|fault| log::warn!("{name}: left out: {fault}"));
}

fn algorithm(collective: Collective, name: &str) -> Result<Option<&'static Algorithm>, String> {
    let names = collective.algorithms().map(|algorithm| algorithm.name);
    match collective.algorithm(name) {
        _ if name == AUTOMATIC => Ok(None),
        Some(algorithm) => Ok(Some(algorithm)),
        None => Err(unknown(&format!("{} algorithm", collective.name()), name, names.chain([AUTOMATIC]))),
    }
}

/// The info entries of a communicator.
fn entries(communicator: *const c_void) -> Vec<(String, String)> {
    let entry = |number| {
        let (mut key, mut value) = (ptr::null(), ptr::null());
        // SAFETY: the handle is a communicator's, and nobody changes its entries while it is made.
        unsafe {
            let found = rustcoll_shim_info(communicator, number, &mut key, &mut value) != 0;
            found.then(|| [key, value].map(|text| CStr::from_ptr(text).to_string_lossy().into_owned()))
        }
    };
    (0..).map_while(entry).map(|[key, value]| (key, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Call;

    fn read(entries: &[(&str, &str)]) -> (Info, Vec<String>) {
        let entries: Vec<_> =
            entries.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let (info, Faults { of_keys, of_files }) = Info::read(&entries);
        (info, [of_keys, of_files].concat())
    }

    #[test]
    fn keys_force_algorithms_and_give_rules() {
        let (info, faults) = read(&[
            ("rustcoll_allreduce_algorithm", "ring"),
            ("rustcoll_scan_algorithm", "auto"),
            ("rustcoll_bcast_rules", "ranks=4 -> chain"),
            ("rustcoll_tune", "online"),
            ("mpi_assert_no_any_tag", "true"),
        ]);
        assert_eq!(faults, [""; 0]);
        assert!(info.tunes_online());
        assert_eq!(info.forced(Collective::Allreduce).unwrap().unwrap().name, "ring");
        assert!(info.forced(Collective::Scan).unwrap().is_none());
        assert!(info.forced(Collective::Bcast).is_none());
        let choice = info.rules.choose(&Call::new(Collective::Bcast, 4, 8));
        assert_eq!(choice.algorithm().unwrap().name, "chain");
    }

    #[test]
    fn faulty_keys_are_left_out() {
        let (info, faults) = read(&[
            ("rustcoll_rules", "/nowhere"),
            ("rustcoll_allreduce_algorithm", "rinq"),
            ("rustcoll_bcast_rule", "-> chain"),
            ("rustcoll_bcast_rules", "-> chian"),
            ("rustcoll_scan_algorithm", "linear"),
            ("rustcoll_tune", "on"),
        ]);
        assert_eq!(
            faults,
            [
                "info key rustcoll_allreduce_algorithm: unknown allreduce algorithm `rinq`; the nearest known one is `ring`",
                "unknown info key `rustcoll_bcast_rule`; the nearest known one is `rustcoll_bcast_rules`",
                "info key rustcoll_bcast_rules:1:4: unknown bcast algorithm `chian`; the nearest known one is `chain`",
                "info key rustcoll_tune: `on` is neither `off` nor `online`",
                "/nowhere: cannot be read: No such file or directory (os error 2)",
            ]
        );
        assert_eq!(info.forced(Collective::Scan).unwrap().unwrap().name, "linear");
    }
}
