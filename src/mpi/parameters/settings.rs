//! The names of the parameters that MPI registers, and their current values.

use crate::algorithms::{Algorithm, Collective, Parameter};
use crate::engine::mock_up::Limits;
use crate::engine::{SlotBounds, Slots};
use crate::mpi::shared_memory::geometry::PAGE;
use crate::mpi::shim::bindings::rustcoll_shim_is_preloaded;
use crate::selection::Parameters;
use crate::selection::online::Online;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed};

/// Whether this library is loaded before an MPI, rather than by Open MPI as a component.
pub fn is_preloaded() -> bool {
    // SAFETY: returns a constant of the shim's.
    unsafe { rustcoll_shim_is_preloaded() != 0 }
}

/// The prefix of full parameter names, which are Open MPI's names or those of environment variables.
fn prefix() -> &'static str {
    if is_preloaded() { "RUSTCOLL_" } else { "coll_rustcoll_" }
}

/// The full name of a parameter.
pub fn full_name(name: &str) -> String {
    let name = if is_preloaded() { name.to_uppercase() } else { name.to_owned() };
    prefix().to_owned() + &name
}

/// The ends of variables by which modules of a site describe an installation, such as `RUSTCOLL_ROOT`. No parameter has such a name.
pub(super) const SET_BY_MODULES: [&str; 5] = ["DIR", "HOME", "PREFIX", "ROOT", "VERSION"];

/// Returns the full name of this library's parameter that an environment variable sets. There may be no such parameter.
pub fn set_by(variable: &str) -> Option<&str> {
    let name = if is_preloaded() { variable } else { variable.strip_prefix("OMPI_MCA_")? };
    let end = name.strip_prefix(prefix())?;
    (!SET_BY_MODULES.contains(&end)).then_some(name)
}

/// The word of an algorithm parameter that lets rules decide.
pub const AUTOMATIC: &str = "auto";

/// The name, for users, of what serves the calls that this library leaves alone.
pub fn name_below() -> &'static str {
    if is_preloaded() { "MPI itself" } else { "the component below" }
}

/// The number of the component below, among the numbers of algorithms.
pub const BELOW: i32 = 0;

/// The parameters and variables of one collective. Numbers of algorithms count from 1 in the order of the registry.
pub struct Settings {
    /// The algorithm that the user forces, or 0.
    pub algorithm: AtomicI32,
    /// The radix that the user sets, or 0. The next two are 0 as well if the user does not set them.
    pub radix: AtomicI32,
    /// Bytes of a pipeline segment.
    pub segment: AtomicI32,
    /// The number of messages in flight at a time.
    pub window: AtomicI32,
    /// The rules that the user gives in a line.
    pub rules: Text,
    /// The number of the algorithm that served the last call, or 0 for the component below.
    pub ran: AtomicI32,
}

/// A text that the user sets before the job starts; MPI keeps it.
pub struct Text(pub AtomicPtr<c_char>);

impl Text {
    const fn new() -> Text {
        Text(AtomicPtr::new(ptr::null_mut()))
    }

    /// The text, unless it is empty.
    pub fn value(&self) -> Option<String> {
        let text = self.0.load(Relaxed);
        // SAFETY: the pointer is NULL or a C string that MPI keeps as long as the component is open, for nobody may
        // change the parameter.
        let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
        Some(text.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
    }
}

/// A collective's parameter values at one moment; 0 is the default of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values {
    algorithm: i32,
    radix: i32,
    segment: i32,
    window: i32,
    reproducible: i32,
    scratch_limit: i32,
    shared_memory: i32,
    no_idle_neighbours: i32,
}

/// Whether results must be reproducible, for all collectives: an index of [`SWITCH`].
pub static REPRODUCIBLE: AtomicI32 = AtomicI32::new(0);

/// The most temporary memory that a collective may take, in KiB; 0: no limit.
pub static SCRATCH_LIMIT: AtomicI32 = AtomicI32::new(0);

/// How much temporary memory a communicator keeps between its calls, in KiB.
pub static SCRATCH_KEPT: AtomicI32 = AtomicI32::new(64 << 10);

/// Memory that a rank shares with those of its node, on each communicator, in KiB; 0: the default.
pub static SHARED_MEMORY_SIZE: AtomicI32 = AtomicI32::new(0);

/// The default of [`SHARED_MEMORY_SIZE`], in KiB.
const DEFAULT_SHARED_MEMORY_SIZE: i32 = (Slots::BANKS[2] * SlotBounds::DEFAULT.bank / 1024) as i32;

/// The most memory that all communicators of a rank share together, in KiB; 0: the default.
pub static SHARED_MEMORY_LIMIT: AtomicI32 = AtomicI32::new(0);

/// The default of [`SHARED_MEMORY_LIMIT`], in KiB.
const DEFAULT_SHARED_MEMORY_LIMIT: i32 = 64 << 10;

/// The first short collective of a communicator that shares memory, counted from 1; 0: the default.
pub static SHARED_MEMORY_FROM: AtomicI32 = AtomicI32::new(0);

/// The default of [`SHARED_MEMORY_FROM`]. Many communicators run few collectives. On two ranks, memory costs 170 us, and a
/// short call gains 0.25 us by it, so some 700 of these pay it off.
const DEFAULT_SHARED_MEMORY_FROM: i32 = 501;

/// The weights of a communicator's collectives that send messages before any uses shared memory; see
/// [`Spared`](crate::mpi::shared_memory::spared::Spared).
pub fn by_messages() -> u64 {
    given_or(&SHARED_MEMORY_FROM, DEFAULT_SHARED_MEMORY_FROM) as u64 - 1
}

/// The most bytes of memory that all communicators of a rank share together.
pub fn shared_memory_limit() -> usize {
    kibibytes_or(&SHARED_MEMORY_LIMIT, DEFAULT_SHARED_MEMORY_LIMIT)
}

/// The most bytes of data that a mock-up (an algorithm that calls other collectives) may need; 0: the default.
pub static MOCK_UP_MESSAGE_BYTES: AtomicI32 = AtomicI32::new(0);

/// The most bytes of counts and displacements that a mock-up may need; 0: the default.
pub static MOCK_UP_INT_BYTES: AtomicI32 = AtomicI32::new(0);

/// The name of the parameter that sets [`MOCK_UP_MESSAGE_BYTES`].
pub const MESSAGE_BYTES: &str = "mockup_message_bytes";
/// The name of the parameter that sets [`MOCK_UP_INT_BYTES`].
pub const INT_BYTES: &str = "mockup_int_bytes";

/// How much memory a mock-up may need, in bytes.
pub fn mock_up_limits() -> Limits {
    let limit = |setting, default| given_or(setting, default as i32) as usize;
    Limits {
        message: limit(&MOCK_UP_MESSAGE_BYTES, Limits::DEFAULT.message),
        numbers: limit(&MOCK_UP_INT_BYTES, Limits::DEFAULT.numbers),
    }
}

/// Whether ranks may share memory: an index of [`SHARE_WORDS`].
pub static MAY_SHARE_MEMORY: AtomicI32 = AtomicI32::new(0);

/// The words of [`MAY_SHARE_MEMORY`], the default first.
pub const SHARE_WORDS: [&str; 2] = ["on", "off"];

/// Whether ranks may copy from each other's own memory: an index of [`SHARE_WORDS`].
pub static MAY_COPY_SINGLY: AtomicI32 = AtomicI32::new(0);

/// The name of the parameter that sets [`MAY_COPY_SINGLY`].
pub const SINGLE_COPY: &str = "single_copy";

/// Whether ranks may copy from each other's own memory.
pub fn may_copy_singly() -> bool {
    MAY_COPY_SINGLY.load(Relaxed) == 0
}

/// Bytes of a bank of long slots, rounded up to pages.
pub fn shared_bank() -> usize {
    let memory = kibibytes_or(&SHARED_MEMORY_SIZE, DEFAULT_SHARED_MEMORY_SIZE);
    // Short slots and flags take more memory, beside this.
    (memory / Slots::BANKS[2]).next_multiple_of(PAGE)
}

/// Whether a job with faulty rules ends: an index of [`SWITCH`].
pub static RULES_STRICT: AtomicI32 = AtomicI32::new(0);

/// What is reported: an index of [`Reported::WORDS`].
pub static REPORT: AtomicI32 = AtomicI32::new(0);

/// What rustcoll reports of the calls of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    Nothing,
    /// A table when MPI ends.
    Summary,
    /// That table, and a line for each call.
    Calls,
}

impl Reported {
    /// The parameter's word for each.
    pub const WORDS: [&str; 3] = ["none", "summary", "calls"];
}

/// What the user wants to be reported.
pub fn reported() -> Reported {
    match REPORT.load(Relaxed) {
        1 => Reported::Summary,
        2 => Reported::Calls,
        _ => Reported::Nothing,
    }
}

/// The rule files.
pub static RULES_FILE: Text = Text::new();

/// The rule files, by a parameter name that users of other components know.
pub static DYNAMIC_RULES_FILENAME: Text = Text::new();

/// The rule files of all users of a site.
pub static SITE_RULES_FILE: Text = Text::new();

/// The name of the parameter that sets [`SITE_RULES_FILE`].
pub const SITE_RULES: &str = "site_rules_file";

/// Whether algorithms are tried while the job runs: an index of [`TUNE_WORDS`].
pub static TUNE: AtomicI32 = AtomicI32::new(0);

/// Whether messages between nodes go by TCP: an index of [`TCP_WORDS`].
pub static TCP: AtomicI32 = AtomicI32::new(0);

/// The words of [`TCP`], the default first.
pub const TCP_WORDS: [&str; 3] = [AUTOMATIC, "on", "off"];

/// Whether messages between nodes go by TCP, if the user says so.
pub fn tcp() -> Option<bool> {
    match TCP.load(Relaxed) {
        0 => None,
        word => Some(word == 1),
    }
}

/// Whether the program promises that in each neighbourhood collective on a graph, all ranks have something to send or
/// receive, or none has: an index of [`SWITCH`].
pub static NO_IDLE_NEIGHBOURS: AtomicI32 = AtomicI32::new(0);

/// The words of [`TUNE`].
pub const TUNE_WORDS: [&str; 2] = ["off", "online"];

/// Whether algorithms are tried while the job runs.
pub fn tunes_online() -> bool {
    TUNE.load(Relaxed) != 0
}

/// The first call of a kind for which algorithms are tried; 0: the default.
pub static TUNE_FROM: AtomicI32 = AtomicI32::new(0);

/// The first call of a kind for which algorithms are tried.
pub fn tune_from() -> u64 {
    u64::try_from(TUNE_FROM.load(Relaxed)).ok().filter(|&from| from > 0).unwrap_or(Online::FIRST)
}

/// The number of a job that `MPI_Comm_spawn` started; 0: the launcher started the job.
static JOB: AtomicI32 = AtomicI32::new(0);

/// Notes which job this is, before anything is written.
pub fn note_job(number: c_int) {
    JOB.store(number, Relaxed);
}

/// The file that this job writes in place of `file`: jobs that another one started have files of their own.
fn of_this_job(file: String) -> String {
    let path = Path::new(&file);
    let extension = path.extension().map(|extension| format!(".{}", extension.display())).unwrap_or_default();
    match JOB.load(Relaxed) {
        0 => file,
        number => path.with_extension(format!("spawned-{number}{extension}")).display().to_string(),
    }
}

/// The file for the rules that were learnt while the job ran.
pub static LEARNT: Text = Text::new();

/// The file for the rules that were learnt while this job ran, if the user wants one.
pub fn learnt_file() -> Option<String> {
    LEARNT.value().map(of_this_job)
}

/// The file for the profile of the job.
pub static PROFILE: Text = Text::new();

/// The file for the profile of the job, if the user wants one.
pub fn profile_file() -> Option<String> {
    PROFILE.value().map(of_this_job)
}

/// Seconds between two times at which ranks write what they did so far; 0: never.
pub static PROFILE_EVERY: AtomicI32 = AtomicI32::new(0);

/// Nanoseconds between two times at which ranks write what they did so far; `None`: never.
pub fn profile_every() -> Option<u64> {
    let seconds = u64::try_from(PROFILE_EVERY.load(Relaxed)).ok().filter(|&seconds| seconds > 0)?;
    Some(seconds * 1_000_000_000)
}

/// The schedule files.
pub static SCHEDULES: Text = Text::new();

/// The name of the parameter that sets [`SCHEDULES`].
pub const SCHEDULES_NAME: &str = "schedules";

/// The names of both parameters of rule files.
pub fn rules_files() -> [&'static str; 2] {
    ["rules_file", if is_preloaded() { "rules" } else { "dynamic_rules_filename" }]
}

/// The words of a parameter that is off or on.
pub const SWITCH: [&str; 2] = ["off", "on"];

static SETTINGS: [Settings; Collective::ALL.len()] = [const { Settings::new() }; Collective::ALL.len()];

impl Settings {
    const fn new() -> Self {
        let [algorithm, radix, segment, window, ran] = [const { AtomicI32::new(0) }; 5];
        Settings { algorithm, radix, segment, window, rules: Text::new(), ran }
    }

    pub const ALL: &[Settings; Collective::ALL.len()] = &SETTINGS;

    pub fn of(collective: Collective) -> &'static Settings {
        &SETTINGS[collective as usize]
    }

    /// The current values. A tool may change them between calls.
    pub fn values(&self) -> Values {
        let value = |setting: &AtomicI32| setting.load(Relaxed);
        Values {
            algorithm: value(&self.algorithm),
            radix: value(&self.radix),
            segment: value(&self.segment),
            window: value(&self.window),
            reproducible: value(&REPRODUCIBLE),
            scratch_limit: value(&SCRATCH_LIMIT),
            shared_memory: value(&MAY_SHARE_MEMORY),
            no_idle_neighbours: value(&NO_IDLE_NEIGHBOURS),
        }
    }

    /// The rules that the user gives in a line.
    pub fn rules(&self) -> Option<String> {
        self.rules.value()
    }

    /// Notes which algorithm served a call: its number, or 0 for the component below.
    pub fn note_ran(&self, number: i32) {
        self.ran.store(number, Relaxed);
    }
}

impl PartialEq for Values {
    /// Without branches, because every call compares all values.
    #[inline(always)]
    fn eq(&self, other: &Values) -> bool {
        let differ = (self.algorithm ^ other.algorithm)
            | (self.radix ^ other.radix)
            | (self.segment ^ other.segment)
            | (self.window ^ other.window)
            | (self.reproducible ^ other.reproducible)
            | (self.scratch_limit ^ other.scratch_limit)
            | (self.shared_memory ^ other.shared_memory)
            | (self.no_idle_neighbours ^ other.no_idle_neighbours);
        differ == 0
    }
}

impl Values {
    /// The algorithm that the user forces.
    pub fn forced(self, collective: Collective) -> Option<&'static Algorithm> {
        let index = usize::try_from(self.algorithm).ok()?.checked_sub(1)?;
        collective.algorithms().nth(index)
    }

    /// Whether results must be reproducible.
    pub fn reproducible(self) -> bool {
        self.reproducible != 0
    }

    /// Whether ranks may share memory.
    pub fn may_share_memory(self) -> bool {
        self.shared_memory == 0
    }

    /// Whether all ranks of a graph come to each of its neighbourhood collectives. Open MPI itself ends some of them at ranks
    /// with counts of 0; the preloaded library comes first.
    pub fn idle_neighbours_come(self) -> bool {
        is_preloaded() || self.no_idle_neighbours != 0
    }

    /// The most bytes of temporary memory that a collective may take.
    pub fn scratch_limit(self) -> usize {
        if self.scratch_limit == 0 { usize::MAX } else { kibibytes(self.scratch_limit) }
    }

    /// The parameters of algorithms that the user sets.
    pub fn parameters(self) -> Parameters {
        let mut parameters = Parameters::default();
        for parameter in Parameter::ALL {
            let value = match parameter {
                Parameter::Radix => self.radix,
                Parameter::Segment => self.segment,
                Parameter::Window => self.window,
            };
            parameters.set(parameter, usize::try_from(value).ok().filter(|&value| value > 0));
        }
        parameters
    }
}

/// The name of the parameter that holds a collective's rules in a line.
pub fn line_name(collective: Collective) -> String {
    format!("{}_rules", collective.name())
}

/// The name of the parameter that forces an algorithm.
pub fn algorithm_name(collective: Collective) -> String {
    format!("{}_algorithm", collective.name())
}

/// Whether a job with faulty rules ends.
pub fn rules_are_strict() -> bool {
    RULES_STRICT.load(Relaxed) != 0
}

/// The rule files that the user names, with the parameters that name them.
pub fn rule_files() -> [(String, Option<String>); 2] {
    let [one, other] = rules_files().map(full_name);
    [(one, RULES_FILE.value()), (other, DYNAMIC_RULES_FILENAME.value())]
}

/// The rule files of the site, with the parameter that names them.
pub fn site_rule_files() -> (String, Option<String>) {
    (full_name(SITE_RULES), SITE_RULES_FILE.value())
}

/// The schedule files, with the parameter that names them.
pub fn schedule_files() -> (String, Option<String>) {
    (full_name(SCHEDULES_NAME), SCHEDULES.value())
}

/// Whether the user, not the site, gives rules, even faulty ones.
pub fn gives_rules() -> bool {
    let has_line = |collective| Settings::of(collective).rules().is_some();
    rule_files().iter().any(|(_, list)| list.is_some()) || Collective::ALL.into_iter().any(has_line)
}

/// How many bytes of temporary memory a communicator keeps between its calls.
#[inline]
pub fn scratch_kept() -> usize {
    kibibytes(SCRATCH_KEPT.load(Relaxed))
}

fn kibibytes(number: i32) -> usize {
    (number as usize) << 10
}

/// Returns a setting, or the default if that is 0.
fn given_or(setting: &AtomicI32, default: i32) -> i32 {
    let given = setting.load(Relaxed);
    if given == 0 { default } else { given }
}

/// Returns the bytes of a setting in KiB, or of the default if that is 0.
fn kibibytes_or(setting: &AtomicI32, default: i32) -> usize {
    kibibytes(given_or(setting, default))
}

/// The number by which a collective's parameters and variables know an algorithm.
pub fn number(collective: Collective, algorithm: &Algorithm) -> i32 {
    let position = collective.algorithms().position(|other| ptr::eq(other, algorithm));
    position.map_or(0, |position| position as i32 + 1)
}

/// The name of the algorithm with a number, or of what serves calls for [`BELOW`].
pub fn word(collective: Collective, number: i32) -> &'static str {
    let values = Values { algorithm: number, ..Values::default() };
    values.forced(collective).map_or_else(name_below, |algorithm| algorithm.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_find_their_algorithm() {
        for collective in Collective::ALL {
            for algorithm in collective.algorithms() {
                let values = Values { algorithm: number(collective, algorithm), ..Values::default() };
                assert!(ptr::eq(values.forced(collective).unwrap(), algorithm));
            }
        }
    }
}
