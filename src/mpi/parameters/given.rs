//! The values that the user gives for parameters, in the environment and in the files that MPI reads, whether
//! MPI knows the parameters or not.

use super::settings::set_by;
use crate::mpi::shim::bindings::{
    RUSTCOLL_BEFORE_ENVIRONMENT, RUSTCOLL_BEHIND_ENVIRONMENT, RUSTCOLL_IN_ENVIRONMENT,
    rustcoll_shim_parameter_files,
};
use crate::text::file_content;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

/// A parameter of this library, with the value that the user gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The full name. There may be no such parameter.
    pub name: String,
    pub value: String,
    pub given_in: GivenIn,
}

/// Where a value is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenIn {
    /// In the environment. Launchers pass their options on there.
    Environment,
    /// In a line of a file. Lines are counted from 1.
    File(String, usize),
}

impl fmt::Display for GivenIn {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            GivenIn::Environment => formatter.write_str("the environment, or an option of mpirun"),
            GivenIn::File(name, line) => write!(formatter, "{name}:{line}"),
        }
    }
}

/// Returns all given values, in the order in which MPI looks for one.
pub fn all() -> &'static [Given] {
    static ALL: LazyLock<Vec<Given>> = LazyLock::new(|| {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        let in_environment = located(of_variables(variables), &of_files(&listed(RUSTCOLL_IN_ENVIRONMENT)));
        let [before, behind] =
            [RUSTCOLL_BEFORE_ENVIRONMENT, RUSTCOLL_BEHIND_ENVIRONMENT].map(|which| of_files(&listed(which)));
        [before, in_environment, behind].concat()
    });
    &ALL
}

/// Returns the value that holds for a parameter: the first one given.
pub fn of(full_name: &str) -> Option<&'static Given> {
    all().iter().find(|given| given.name == full_name)
}

fn of_variables(variables: impl Iterator<Item = (String, String)>) -> Vec<Given> {
    let given = variables.filter_map(|(variable, value)| {
        Some(Given { name: set_by(&variable)?.to_owned(), value, given_in: GivenIn::Environment })
    });
    given.collect()
}

/// Corrects where values of the environment are given. Launchers read some files and pass the values on in the
/// environment. A value that equals that of such a file is given in the file.
fn located(given: Vec<Given>, read_by_launcher: &[Given]) -> Vec<Given> {
    let given_in = |given: &Given| {
        let is_it = |read: &&Given| (&read.name, &read.value) == (&given.name, &given.value);
        read_by_launcher
            .iter()
            .find(is_it)
            .map_or_else(|| given.given_in.clone(), |read| read.given_in.clone())
    };
    given.into_iter().map(|given| Given { given_in: given_in(&given), ..given }).collect()
}

/// The names of MPI's files of one kind (`RUSTCOLL_…_ENVIRONMENT`), separated by commas.
fn listed(which: c_int) -> String {
    // SAFETY: the shim returns a C string that lives until its next call.
    let list = unsafe { CStr::from_ptr(rustcoll_shim_parameter_files(which)) };
    list.to_string_lossy().into_owned()
}

/// Returns the values in files, whose names are separated by commas. Skips files that cannot be read, as MPI does.
fn of_files(list: &str) -> Vec<Given> {
    let contents = list.split(',').filter_map(|name| Some((name, file_content(Path::new(name)).ok()?)));
    contents.flat_map(|(name, content)| of_text(name, &String::from_utf8_lossy(&content))).collect()
}

/// Returns the values in lines `NAME = VALUE`, the last line first: of several values, MPI takes the last.
fn of_text(file: &str, text: &str) -> Vec<Given> {
    let mut is_in_comment = false;
    let lines = text.lines().enumerate().filter_map(|(number, line)| {
        let line = without_comments(line, &mut is_in_comment)?;
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let is_ours = set_by(&format!("OMPI_MCA_{name}")).is_some();
        let given_in = GivenIn::File(file.to_owned(), number + 1);
        is_ours.then(|| Given { name: name.to_owned(), value: value.trim().to_owned(), given_in })
    });
    let mut given: Vec<Given> = lines.collect();
    given.reverse();
    given
}

/// Returns a line without the `/*` comments at its start; `None` if nothing but a comment is left.
/// `is_in_comment`: whether such a comment is open.
fn without_comments<'line>(line: &'line str, is_in_comment: &mut bool) -> Option<&'line str> {
    let mut rest = line.trim_start();
    loop {
        if *is_in_comment {
            rest = rest.split_once("*/")?.1.trim_start();
            *is_in_comment = false;
        }
        match rest.strip_prefix("/*") {
            Some(comment) => (rest, *is_in_comment) = (comment, true),
            None => break,
        }
    }
    (!rest.starts_with('#') && !rest.starts_with("//")).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String, usize)> {
        let line = |given_in| if let GivenIn::File(_, line) = given_in { line } else { 0 };
        of_text("file", text)
            .into_iter()
            .map(|Given { name, value, given_in }| (name, value, line(given_in)))
            .collect()
    }

    #[test]
    fn lines_of_files_are_those_that_open_mpi_reads() {
        let text = "# coll_rustcoll_a = 1\n// coll_rustcoll_b = 1\n/* coll_rustcoll_c = 1\ncoll_rustcoll_d = 1 */ \
                    coll_rustcoll_e=1 2 \n\tcoll_rustcoll_f =\ncoll_tuned_x = 3\ncoll_rustcoll_g\n\
                    /* x */coll_rustcoll_e = 4 = 5\n";
        let expected = [("e", "4 = 5", 8), ("f", "", 5), ("e", "1 2", 4)];
        let expected =
            expected.map(|(name, value, line)| (format!("coll_rustcoll_{name}"), value.to_owned(), line));
        assert_eq!(found(text), expected);
    }

    #[test]
    fn a_file_that_is_not_there_gives_nothing() {
        assert_eq!(of_files("/nowhere/one.conf,/nowhere/two.conf,"), []);
        assert_eq!(of_files(""), []);
    }

    #[test]
    fn what_the_launcher_has_read_stands_in_its_file() {
        let given =
            |value: &str, given_in| Given { name: "coll_rustcoll_a".into(), value: value.into(), given_in };
        let in_file = GivenIn::File("file".into(), 7);
        for (value, given_in) in [("1", in_file.clone()), ("2", GivenIn::Environment)] {
            let found = located(vec![given(value, GivenIn::Environment)], &[given("1", in_file.clone())]);
            assert_eq!(found, [given(value, given_in)]);
        }
    }

    #[test]
    fn variables_give_what_they_set() {
        let variables =
            [("PATH", "x"), ("OMPI_MCA_coll_rustcoll_verbose", "1"), ("OMPI_MCA_coll", "rustcoll")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected =
            Given { name: "coll_rustcoll_verbose".into(), value: "1".into(), given_in: GivenIn::Environment };
        assert_eq!(of_variables(variables.into_iter()), [expected]);
    }
}
