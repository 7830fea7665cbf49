//! How a job is started: a template of words, and the parameters of Open MPI.

use super::Race;
use crate::command_line::LaunchOptions;
use crate::failure::Failure;
use crate::schedules;
use measurements::Contestant;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Over-subscribes processors, so that any number of ranks runs anywhere.
pub const DEFAULT_LAUNCHER: &str = "mpirun --oversubscribe --bind-to none -n {ranks}";

const PROGRAM: &str = "measure";
/// Relative to the folder of this command.
const INSTALLED: &str = "../libexec/rustcoll";
const PLUGIN: &str = "mca_coll_rustcoll.so";
/// Beside the component, names the plug-in folder of the Open MPI that it was built for.
const BUILT_FOR: &str = "openmpi-plugins";
const OMPI_INFO: &str = "ompi_info";
const PRIORITY: &str = "coll_rustcoll_priority";
const COMPONENT_PATH: &str = "mca_base_component_path";

/// Where a user has components of Open MPI, and parameters, in the home folder.
const COMPONENTS_OF_USER: &str = ".openmpi/components";
const PARAMETERS: &str = ".openmpi/mca-params.conf";

/// Parameters of Open MPI whose values name files that decide what calls do.
const NAMING_FILES: [&str; 5] = [
    "coll_rustcoll_rules_file",
    "coll_rustcoll_schedules",
    "coll_tuned_dynamic_rules_filename",
    "coll_han_dynamic_rules_filename",
    "mca_base_param_files",
];

/// The `coll` components that the contestants and Open MPI itself need.
const COMPONENTS: [&str; 8] = ["rustcoll", "tuned", "han", "sm", "basic", "libnbc", "self", "inter"];

/// Starts jobs.
#[derive(Clone, Debug)]
pub struct Launcher {
    words: Vec<String>,
    program: PathBuf,
    /// Parameters that go before those of the environment.
    parameters: Vec<(String, String)>,
    /// Options of the measuring program about repetitions.
    repetitions: Vec<String>,
    /// A job without a result for this long is ended.
    pub patience: Duration,
}

impl Launcher {
    /// Fails if the template makes no sense, or if the measuring program, the plug-in or the folder of Open MPI's plug-ins is
    /// missing.
    pub fn new(options: &LaunchOptions, repetitions: Vec<String>) -> Result<Launcher, Failure> {
        let refuse = |reason: &str| Failure::Usage(format!("--launcher `{}`: {reason}", options.launcher));
        let words =
            shell_words::split(&options.launcher).map_err(|_| refuse("a quotation mark is not closed"))?;
        if words.is_empty() {
            return Err(refuse("no command"));
        }
        let mut parameters = options.mca.clone();
        let plugins = plugins(options.program.component.as_deref())?;
        if let Some(folder) = plugins.filter(|_| parameters.iter().all(|(name, _)| name != COMPONENT_PATH)) {
            parameters.push((COMPONENT_PATH.into(), component_path(&folder, &words[0])?));
        }
        Ok(Launcher {
            words,
            program: program(options.program.program.as_deref())?,
            parameters,
            repetitions,
            patience: Duration::from_secs(options.program.patience),
        })
    }

    /// Returns the launcher with other options about repetitions.
    pub fn repeating(&self, repetitions: Vec<String>) -> Launcher {
        Launcher { repetitions, ..self.clone() }
    }

    /// Returns the command that starts a job.
    pub fn command(&self, race: &Race) -> Command {
        let parameters = self.all_parameters(race);
        let mut words = self.words.clone();
        if !words.iter().any(|word| word == "{program}") {
            words.push("{program}".into());
        }
        let in_environment = !words.iter().any(|word| word == "{mca}");
        let words = words.iter().flat_map(|word| match &word[..] {
            "{program}" => self.program_words(race),
            "{mca}" => parameters
                .iter()
                .flat_map(|(name, value)| ["--mca".to_owned(), name.clone(), value.clone()])
                .collect(),
            word => vec![filled(word, race)],
        });
        let words: Vec<String> = words.collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if in_environment {
            command.envs(parameters.iter().map(|(name, value)| (format!("OMPI_MCA_{name}"), value)));
        }
        // Containers and test machines run everything as root. For other users these variables mean nothing.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command
    }

    /// Returns the files that decide how long calls take, as far as they are there: the measuring program, the component, preloaded
    /// libraries, the user's parameters of Open MPI, and files that the template, parameters of Open MPI and contestants name.
    pub fn files(&self, contestants: &[Contestant]) -> Vec<PathBuf> {
        let named = self.words.iter().map(|word| word.rsplit('=').next().unwrap_or_default().into());
        let preloaded = env::var("LD_PRELOAD").unwrap_or_default();
        let preloaded = preloaded.split([':', ' ']).map(PathBuf::from);
        let rules = contestants.iter().filter_map(|contestant| contestant.rules.as_ref()).map(PathBuf::from);
        let files = [self.program.clone()].into_iter().chain(self.component()).chain(named).chain(preloaded);
        let files = files.chain(in_home(PARAMETERS)).chain(self.parameter_files()).chain(rules);
        files.filter(|path: &PathBuf| path.is_file()).collect()
    }

    /// Returns the files that parameters of Open MPI name.
    fn parameter_files(&self) -> Vec<PathBuf> {
        let values = NAMING_FILES.iter().filter_map(|name| self.parameter(name));
        let values: Vec<String> = values.chain(schedules::parameter().map(|(_, files)| files)).collect();
        let paths = values.iter().flat_map(|value| value.split([',', ':'])).map(PathBuf::from);
        paths.flat_map(|path| schedules::expanded(&[path]).unwrap_or_default()).collect()
    }

    /// Returns the value that jobs have for a parameter of Open MPI, if the user or the environment sets it.
    fn parameter(&self, name: &str) -> Option<String> {
        let given = self.parameters.iter().find(|(known, _)| known == name);
        given.map(|(_, value)| value.clone()).or_else(|| environment(name))
    }

    /// Returns the component that Open MPI finds first.
    fn component(&self) -> Option<PathBuf> {
        let folders: Vec<PathBuf> = match self.parameter(COMPONENT_PATH) {
            Some(path) => path.split(':').map(PathBuf::from).collect(),
            None => {
                open_mpi_folder(None, &self.words[0]).into_iter().chain(in_home(COMPONENTS_OF_USER)).collect()
            }
        };
        folders.iter().map(|folder| folder.join(PLUGIN)).find(|component| component.exists())
    }

    fn program_words(&self, race: &Race) -> Vec<String> {
        let mut words = vec![self.program.display().to_string()];
        if !race.contestants.is_empty() {
            let contestants: Vec<String> = race.contestants.iter().map(Contestant::to_string).collect();
            words.extend(["--contestants".into(), contestants.join(",")]);
        }
        words.extend(self.repetitions.iter().cloned());
        words.extend(race.heats.iter().map(ToString::to_string));
        words
    }

    /// Returns all parameters: the user's, the priority, those of the environment, and what else the job needs. The first value
    /// of each counts.
    fn all_parameters(&self, race: &Race) -> Vec<(String, String)> {
        let needed = needed(race);
        let of_environment = needed.iter().filter_map(|&(name, _)| Some((name, environment(name)?)));
        // With a low priority, rustcoll serves no communicator that another component makes. The module sets a higher one in the
        // environment, with which rustcoll would serve the calls of other contestants.
        let others = [(PRIORITY, "1".to_owned())].into_iter().chain(of_environment).chain(needed.clone());
        let mut all = self.parameters.clone();
        for (name, value) in others {
            if all.iter().all(|(known, _)| known != name) {
                all.push((name.to_owned(), value));
            }
        }
        all
    }
}

/// Returns the parameters that a job needs, unless the user or the environment sets them.
fn needed(race: &Race) -> Vec<(&'static str, String)> {
    let mut components: Vec<&str> = COMPONENTS.to_vec();
    // Other components race also where rustcoll is not installed.
    components.retain(|name| *name != Contestant::OWN || race.all_contestants().any(Contestant::is_own));
    let racing = race.all_contestants().filter(|contestant| !contestant.is_copy());
    components.extend(racing.map(|contestant| &contestant.component[..]));
    let known = components.clone();
    let mut place = 0..;
    components.retain(|component| known.iter().position(|other| other == component) == place.next());
    let mut needed = vec![("coll", components.join(","))];
    let asks_tuned = |contestant: &Contestant| {
        let has_algorithm = contestant.algorithm.is_some() && contestant.mock_up().is_none();
        contestant.component == "tuned" && has_algorithm
    };
    if race.all_contestants().any(asks_tuned) {
        needed.push(("coll_tuned_use_dynamic_rules", "1".into()));
    }
    needed.extend(schedules::parameter());
    needed
}

/// Returns a parameter of Open MPI from the environment.
fn environment(name: &str) -> Option<String> {
    env::var(format!("OMPI_MCA_{name}")).ok()
}

fn filled(word: &str, race: &Race) -> String {
    let numbers = [
        ("{ranks}", race.ranks),
        ("{hosts}", race.ranks / race.ranks_per_host),
        ("{ranks_per_host}", race.ranks_per_host),
    ];
    numbers.iter().fold(word.to_owned(), |word, (name, number)| word.replace(name, &number.to_string()))
}

/// Returns a path below the user's home folder.
fn in_home(path: &str) -> Option<PathBuf> {
    env::home_dir().map(|home| home.join(path))
}

/// Returns the folder of this command.
fn own_folder() -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.to_owned())
}

/// Returns the measuring program: where `make install` puts it, or beside this command, where `make` leaves it.
fn own_program() -> Option<PathBuf> {
    let folder = own_folder()?;
    let installed = folder.join(INSTALLED).join(PROGRAM);
    Some(if installed.exists() { installed } else { folder.join(PROGRAM) })
}

/// Returns the parameter that names rule files. Paths are absolute, as jobs run in any folder.
pub fn rules_parameter(files: &[PathBuf]) -> Result<(String, String), Failure> {
    let absolute = |file: &PathBuf| match file.canonicalize() {
        Ok(path) => Ok(path.display().to_string()),
        Err(error) => Err(Failure::Input(format!("the rule file {}: {error}", file.display()))),
    };
    let paths = files.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
    Ok(("coll_rustcoll_rules_file".into(), paths.join(",")))
}

fn program(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let program = named.map(Path::to_owned).or_else(own_program);
    let program = program.ok_or_else(|| Failure::Input("the folder of this command is not known".into()))?;
    match program.canonicalize() {
        Ok(program) => Ok(program),
        Err(error) => Err(Failure::Input(format!(
            "the measuring program {}: {error}; `make` builds it, --program says where it is",
            program.display()
        ))),
    }
}

/// Returns the folder in which Open MPI should look for the component first, if it is not one of its own: the one that the user
/// names; or this command's, unless the environment names others.
fn plugins(named: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    match named {
        Some(folder) if !folder.join(PLUGIN).exists() => {
            Err(Failure::Input(format!("--component {}: there is no {PLUGIN}", folder.display())))
        }
        Some(folder) => Ok(Some(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))),
        None if environment(COMPONENT_PATH).is_some() => Ok(None),
        None => Ok(own_folder().filter(|folder| folder.join(PLUGIN).exists())),
    }
}

/// Returns `folder` before Open MPI's own folder. `folder` alone would hide Open MPI's other plug-ins.
fn component_path(folder: &Path, launcher: &str) -> Result<String, Failure> {
    match open_mpi_folder(Some(folder), launcher) {
        Some(own) => Ok(format!("{}:{}", folder.display(), own.display())),
        None => Err(Failure::Input(format!(
            "the folder of Open MPI's own plug-ins is not known: {} has no file {BUILT_FOR} that names it, and there is no \
             {OMPI_INFO} beside {launcher} or in PATH to ask; name both folders: --mca {COMPONENT_PATH}={0}:FOLDER",
            folder.display()
        ))),
    }
}

/// Returns the folder of the plug-ins that come with Open MPI: the one that is noted beside the component, or that the
/// `ompi_info` beside the launcher tells, or the one in PATH.
fn open_mpi_folder(component: Option<&Path>, launcher: &str) -> Option<PathBuf> {
    let noted = component.and_then(|folder| fs::read_to_string(folder.join(BUILT_FOR)).ok());
    // Without a folder of its own, the launcher is in PATH, too.
    let programs = [Path::new(launcher).with_file_name(OMPI_INFO), OMPI_INFO.into()];
    let told = programs.iter().filter_map(|program| told_by(program));
    let mut folders = noted.into_iter().chain(told).map(|folder| PathBuf::from(folder.trim()));
    folders.find(|folder| folder.is_dir())
}

/// Returns the folder of plug-ins that an `ompi_info` tells.
fn told_by(ompi_info: &Path) -> Option<String> {
    let asked = Command::new(ompi_info).args(["--path", "pkglibdir", "--parsable"]).output().ok()?;
    let answer = String::from_utf8_lossy(&asked.stdout).into_owned();
    answer.trim().splitn(3, ':').nth(2).map(str::to_owned)
}
