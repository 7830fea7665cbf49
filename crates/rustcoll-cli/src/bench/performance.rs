//! `rustcoll performance`

use super::cells::Cells;
use super::job::Hearer;
use super::lab::Lab;
use super::launcher::{Launcher, rules_parameter};
use super::other_mpis::{self, OtherMpi};
use super::plan::{Experiment, Plan};
use super::repetitions::short_lived_words;
use super::report;
use super::shaping::{Shaping, shaping};
use super::store::{self, Store};
use super::{Race, duration, job, limits, machine};
use crate::appended::{Appended, whole_lines};
use crate::command_line::{LaunchOptions, PerformanceOptions, ProgramOptions, RepetitionOptions};
use crate::failure::{Failure, Outcome};
use crate::files::{self, unwritable};
use crate::interruption;
use crate::progress::Progress;
use crate::words::counted;
use measurements::{Contestant, Heat, Measurement, OutputLine};
use rustcoll::hash::hash;
use rustcoll::selection::nearest;
use rustix::process::geteuid;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

/// Measures by a plan, and reports.
pub fn run(options: &PerformanceOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let name = files::name(&options.plan);
    let plan = Plan::read(&files::text(&options.plan)?);
    let plan = plan.map_err(|reason| Failure::Input(format!("{name}: {reason}")))?;
    check_names(&options.only, &plan)?;
    let folder = options.report.with_extension("");
    if folder == options.report {
        let told = format!("--report {}: a name with an ending is expected, as report.md", folder.display());
        return Err(Failure::Usage(told));
    }
    let (store, unmeasured) = match &options.from {
        Some(path) => (read_for(&plan, path)?, BTreeMap::new()),
        None => {
            fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
            interruption::listen()?;
            Campaign::new(&plan, options, &folder)?.run()?
        }
    };
    let is_asked = |name: &str| match options.from {
        Some(_) => store.experiments.contains_key(name),
        None => options.is_asked(name),
    };
    let all_hold = report::write(&plan, &store, &unmeasured, &is_asked, &options.report, output)?;
    Ok(if all_hold { Outcome::Right } else { Outcome::Wrong })
}

impl PerformanceOptions {
    /// Whether the user asks to measure an experiment.
    fn is_asked(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|asked| asked == name)
    }
}

fn check_names(only: &[String], plan: &Plan) -> Result<(), Failure> {
    let known = || plan.experiments.iter().map(|experiment| &experiment.name[..]);
    match only.iter().find(|name| known().all(|known| known != **name)) {
        Some(name) => Err(Failure::Usage(nearest::unknown("experiment", name, known()))),
        None => Ok(()),
    }
}

/// Reads a file with results of a plan.
fn read_for(plan: &Plan, path: &Path) -> Result<Store, Failure> {
    let store = read(path)?;
    match plan.experiments.iter().any(|experiment| store.experiments.contains_key(&experiment.name)) {
        true => Ok(store),
        false => Err(Failure::Input(format!("{}: no experiment of the plan is in it", path.display()))),
    }
}

fn read(path: &Path) -> Result<Store, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Input(format!("{}: cannot be read: {error}", path.display())))?;
    parsed(path, whole_lines(&text))
}

fn parsed(path: &Path, text: &str) -> Result<Store, Failure> {
    Store::read(text).map_err(|(line, reason)| Failure::Input(format!("{}:{line}: {reason}", path.display())))
}

/// The experiments to measure, and what was measured already.
struct Campaign<'plan> {
    plan: &'plan Plan,
    options: &'plan PerformanceOptions,
    /// All times as they come. A run after an interrupted one starts with these.
    unfinished: Appended,
    /// The quartiles of the times, once all times are there.
    finished: PathBuf,
    store: Store,
    /// Why experiments were not measured, or not to the end.
    unmeasured: BTreeMap<String, String>,
    /// Whether the same command could measure more.
    is_complete: bool,
    /// Seconds of the work that is left.
    left: f64,
}

/// One of several jobs that measure the same.
struct Job {
    launcher: Launcher,
    race: Race,
    launch: usize,
}

/// Keeps measurements in a file and in memory, and shows the job's progress.
struct Keeping<'campaign> {
    experiment: &'campaign str,
    launch: usize,
    cells: &'campaign mut Cells,
    file: &'campaign mut Appended,
    /// Why nothing more can be kept.
    failure: Option<Failure>,
    progress: Progress,
}

impl Hearer for Keeping<'_> {
    fn hear(&mut self, line: OutputLine, part: f64) -> ControlFlow<()> {
        self.progress.show(part);
        if let OutputLine::Measurement(measurement) = line {
            let measurement = Measurement { launch: self.launch, ..measurement };
            if let Err(failure) = self.file.append(&store::row(self.experiment, &measurement)) {
                self.failure = Some(failure);
                return ControlFlow::Break(());
            }
            self.cells.add(measurement);
        }
        ControlFlow::Continue(())
    }
}

impl<'plan> Campaign<'plan> {
    fn new(plan: &'plan Plan, options: &'plan PerformanceOptions, folder: &Path) -> Result<Self, Failure> {
        let mut unfinished = Appended::locked(folder.join("measuring.csv"))?;
        let text = unfinished.whole_lines()?;
        let store = parsed(&unfinished.path, &text)?;
        unfinished.cut(&text)?;
        if unfinished.is_empty() {
            unfinished.append(&Store::default().to_text())?;
        }
        let finished = folder.join("measured.csv");
        let unmeasured = BTreeMap::new();
        Ok(Campaign { plan, options, unfinished, finished, store, unmeasured, is_complete: true, left: 0.0 })
    }

    /// Measures. Returns what was measured, and why some is missing.
    fn run(mut self) -> Result<(Store, BTreeMap<String, String>), Failure> {
        let is_asked = |experiment: &&Experiment| self.options.is_asked(&experiment.name);
        let experiments: Vec<&Experiment> = self.plan.experiments.iter().filter(is_asked).collect();
        let seconds = experiments.iter().map(|experiment| duration::of_experiment(self.plan, experiment));
        self.left = seconds.sum::<Result<f64, String>>().map_err(Failure::Input)?;
        let mut lab = Lab::new(
            &self.plan.lab,
            experiments.iter().map(|experiment| hosts(experiment)).max().unwrap_or(0),
        );
        for experiment in experiments {
            match &experiment.network {
                Some(_) if !geteuid().is_root() => {
                    self.leave_out(experiment, "an emulated network needs root")
                }
                _ => self.measure(experiment, &mut lab)?,
            }
        }
        drop(lab);
        self.finish()
    }

    fn leave_out(&mut self, experiment: &Experiment, reason: &str) {
        eprintln!("rustcoll: {} is not measured: {reason}", experiment.name);
        self.unmeasured.insert(experiment.name.clone(), reason.to_owned());
    }

    /// Returns all results, and why some are missing. Experiments that were not measured now keep those that they had.
    fn finish(mut self) -> Result<(Store, BTreeMap<String, String>), Failure> {
        let mut all = if self.finished.exists() { read(&self.finished)? } else { Store::default() };
        let mut asked = self.store.clone();
        asked.experiments.retain(|name, _| self.options.is_asked(name));
        self.store.experiments.retain(|name, _| !asked.experiments.contains_key(name));
        all.replace(asked.into_quartiles());
        if self.is_complete {
            files::replace(&self.finished, all.quartiles_to_text().as_bytes())?;
            self.keep_the_rest()?;
        }
        Ok((all, self.unmeasured))
    }

    /// Keeps the times of experiments that the user did not ask for this time, for the run that goes on with them.
    fn keep_the_rest(&mut self) -> Result<(), Failure> {
        let path = &self.unfinished.path;
        if self.store.experiments.is_empty() {
            return fs::remove_file(path).map_err(|error| unwritable(path, &error));
        }
        files::replace(path, self.store.to_text().as_bytes())
    }

    fn measure(&mut self, experiment: &Experiment, lab: &mut Lab) -> Result<(), Failure> {
        let expected = duration::of_experiment(self.plan, experiment).map_err(Failure::Input)?;
        let left_after = self.left - expected;
        self.note_settings(experiment)?;
        let jobs = self.jobs(experiment, 0..experiment.launches)?;
        self.carry_out(experiment, jobs, lab)?;
        if experiment.twice {
            self.measure_again(experiment, lab)?;
        }
        self.left = left_after;
        Ok(())
    }

    /// Notes the settings of an experiment. What an interrupted run measured with others cannot be compared with the rest.
    fn note_settings(&mut self, experiment: &Experiment) -> Result<(), Failure> {
        let (name, settings) = (&experiment.name, self.settings(experiment)?);
        if self.store.settings.get(name) == Some(&settings) {
            return Ok(());
        }
        if self.store.set_settings(name, &settings) {
            eprintln!(
                "rustcoll: {name}: its settings, a file that its jobs use, the environment or the machine changed since the \
                 interruption, and so it is measured anew"
            );
        }
        self.unfinished.append(&store::settings_line(name, &settings))
    }

    /// Returns a digest of what shapes the times of an experiment besides its cells and contestants.
    fn settings(&self, experiment: &Experiment) -> Result<String, Failure> {
        let contestants = self.plan.contestants(experiment).map_err(Failure::Input)?;
        let Experiment { network, ranks_per_host, mca, rules, .. } = experiment;
        let settings = (
            self.plan.launcher(experiment),
            self.other_mpis(&contestants),
            (network, ranks_per_host),
            (mca, rules),
            self.repetitions(experiment),
            self.shaping(experiment, &contestants)?,
            machine::without_library(),
        );
        Ok(format!("{:016x}", hash(format!("{settings:?}").as_bytes())))
    }

    /// Returns what shapes the times of the jobs of all MPIs that take part in an experiment.
    fn shaping(&self, experiment: &Experiment, contestants: &[Contestant]) -> Result<Shaping, Failure> {
        let mut all = shaping(&self.launcher(experiment)?, contestants);
        for (_, mpi) in self.other_mpis(contestants).into_iter().filter(|(_, mpi)| mpi.program.exists()) {
            all.extend(shaping(&self.other_launcher(experiment, mpi)?, &[]));
        }
        Ok(all)
    }

    /// Returns the other MPIs among some contestants, with their names.
    fn other_mpis(&self, contestants: &[Contestant]) -> Vec<(&'plan String, &'plan OtherMpi)> {
        let is_there = |name: &str| contestants.iter().any(|contestant| contestant.component == name);
        self.plan.other_mpis.iter().filter(|(name, _)| is_there(name)).collect()
    }

    /// Measures the cells that are beyond a limit in one more job.
    fn measure_again(&mut self, experiment: &Experiment, lab: &mut Lab) -> Result<(), Failure> {
        let Some(cells) = self.store.experiments.get(&experiment.name) else { return Ok(()) };
        let beyond = limits::beyond(self.plan, experiment, cells).map_err(Failure::Input)?;
        if beyond.is_empty() {
            return Ok(());
        }
        let count = counted(beyond.len(), "cell");
        eprintln!("rustcoll: {}: beyond a limit, and so measured again: {count}", experiment.name);
        let mut jobs = self.jobs(experiment, experiment.launches..experiment.launches + 1)?;
        jobs.retain_mut(|job| {
            let is_beyond = |heat: &Heat, bytes| {
                let called = (heat.series.name(), job.race.ranks, bytes);
                beyond.iter().any(|place| (place.name(), place.ranks, place.bytes) == called)
            };
            job.race.only(is_beyond).map(|race| job.race = race).is_some()
        });
        self.carry_out(experiment, jobs, lab)
    }

    fn carry_out(&mut self, experiment: &Experiment, jobs: Vec<Job>, lab: &mut Lab) -> Result<(), Failure> {
        for Job { launcher, race, launch } in jobs {
            let expected = duration::of_race(self.plan, experiment, &race);
            let cells = self.store.experiments.entry(experiment.name.clone()).or_default();
            let Some(left) = cells.left(&race, launch) else {
                self.left -= expected;
                continue;
            };
            let prepared = experiment.network.as_ref().map_or(Ok(()), |network| lab.prepare(network));
            self.check_interruption()?;
            if let Err(reason) = prepared {
                // Experiments that need no network can still be measured.
                self.leave_out(experiment, &reason.to_string());
                self.is_complete = false;
                return Ok(());
            }
            self.race(experiment, &Job { launcher, race: left, launch })?;
            if experiment.network.is_some()
                && let Err(reason) = lab.check()
            {
                eprintln!("rustcoll: {}: {reason}", experiment.name);
            }
            self.left -= expected;
        }
        Ok(())
    }

    /// Returns the jobs in the order in which they take turns. Leaves out MPIs that are not installed, and says so.
    fn jobs(&self, experiment: &Experiment, launches: Range<usize>) -> Result<Vec<Job>, Failure> {
        let mut jobs = Vec::new();
        let mut missing = BTreeSet::new();
        for race in self.plan.races(experiment).map_err(Failure::Input)? {
            let parts = other_mpis::parts(&race, &self.plan.other_mpis);
            for (launch, (mpi, race)) in
                launches.clone().flat_map(|launch| parts.iter().map(move |part| (launch, part.clone())))
            {
                let launcher = match mpi {
                    Some((name, mpi)) if !mpi.program.exists() => {
                        missing.insert((name, &mpi.program));
                        continue;
                    }
                    Some((_, mpi)) => self.other_launcher(experiment, mpi)?,
                    None => self.launcher(experiment)?,
                };
                jobs.push(Job { launcher, race, launch });
            }
        }
        for (name, program) in missing {
            eprintln!(
                "rustcoll: {}: {name} is not measured: there is no {}; `make other-mpis` provides what PyPI has",
                experiment.name,
                program.display()
            );
        }
        Ok(jobs)
    }

    fn race(&mut self, experiment: &Experiment, job: &Job) -> Result<(), Failure> {
        let (name, Job { launcher, race, launch }) = (&experiment.name, job);
        let names: Vec<String> = race.contestants.iter().map(Contestant::to_string).collect();
        let (cells, minutes) = (counted(race.cells(), "cell"), (self.left / 60.0).ceil().max(1.0));
        eprintln!(
            "rustcoll: about {minutes} min left; {name}, {} ranks, {cells}: {}",
            race.ranks,
            names.join(", ")
        );
        let cells = self.store.experiments.entry(name.clone()).or_default();
        let (file, progress) = (&mut self.unfinished, race.progress());
        let mut keeping = Keeping { experiment: name, launch: *launch, cells, file, failure: None, progress };
        let ended = job::run(launcher, race, &mut keeping);
        let Keeping { failure, progress, .. } = keeping;
        drop(progress);
        failure.map_or(Ok(()), Err)?;
        let is_whole = cells.left(race, *launch).is_none();
        if let Some(library) = &ended.library {
            self.note_machine(name, library)?;
        }
        self.check_interruption()?;
        for complaint in ended.complaints(race.ranks) {
            eprintln!("rustcoll: {name}: {complaint}");
        }
        if !is_whole {
            self.unmeasured.entry(name.clone()).or_insert_with(|| "a job ended too early".into());
            self.is_complete = false;
        }
        Ok(())
    }

    fn check_interruption(&self) -> Result<(), Failure> {
        let path = self.unfinished.path.display();
        interruption::check(|| {
            format!("what was measured is in {path}, and the same command goes on from there")
        })
    }

    fn note_machine(&mut self, experiment: &str, library: &str) -> Result<(), Failure> {
        let noted = self.store.machines.get(experiment);
        let described = machine::described(noted.map(String::as_str), library);
        if noted != Some(&described) {
            self.unfinished.append(&store::machine_line(experiment, &described))?;
            self.store.machines.insert(experiment.to_owned(), described);
        }
        Ok(())
    }

    fn launcher(&self, experiment: &Experiment) -> Result<Launcher, Failure> {
        let mut mca: Vec<(String, String)> = experiment.mca.clone().into_iter().collect();
        if !experiment.rules.is_empty() {
            let files: Vec<PathBuf> = experiment.rules.iter().map(PathBuf::from).collect();
            mca.push(rules_parameter(&files)?);
        }
        let launcher = self.plan.launcher(experiment).to_owned();
        let launch = LaunchOptions { launcher, mca, program: self.options.program.clone() };
        Launcher::new(&launch, self.repetitions(experiment))
    }

    fn other_launcher(&self, experiment: &Experiment, mpi: &OtherMpi) -> Result<Launcher, Failure> {
        let program = Some(mpi.program.clone());
        let program = ProgramOptions { program, component: None, ..self.options.program.clone() };
        let launch = LaunchOptions { launcher: mpi.launcher.clone(), mca: Vec::new(), program };
        Launcher::new(&launch, self.repetitions(experiment))
    }

    fn repetitions(&self, experiment: &Experiment) -> Vec<String> {
        let (at_least, at_most) = self.plan.repetitions(experiment);
        let Experiment { hot, fresh, short_lived, .. } = *experiment;
        let repetitions = RepetitionOptions { at_least, at_most, budget: self.plan.budget, hot, fresh };
        [repetitions.words(), short_lived_words(short_lived)].concat()
    }
}

/// Returns how many hosts of an emulated cluster an experiment needs.
fn hosts(experiment: &Experiment) -> usize {
    let most = experiment.ranks.iter().max().copied().unwrap_or(0);
    if experiment.network.is_some() { most / experiment.ranks_per_host } else { 0 }
}
