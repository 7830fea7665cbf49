//! Describes the machine that measured.

use std::collections::BTreeMap;
use std::fs;
use std::thread;

/// Separates processors, kernel and MPI libraries.
const SEPARATOR: &str = "; ";

/// Returns processors, kernel and MPI libraries: those that `noted` has for the same machine, and `library`.
pub fn described(noted: Option<&str>, library: &str) -> String {
    let machine = without_library();
    let noted = noted.filter(|noted| parts(noted).0 == machine).unwrap_or(&machine);
    let library = in_short(library);
    if parts(noted).1.contains(&&library[..]) {
        noted.to_owned()
    } else {
        format!("{noted}{SEPARATOR}{library}")
    }
}

/// Returns processors and kernel of a description, and its MPI libraries.
fn parts(described: &str) -> (&str, Vec<&str>) {
    let mut separators = described.match_indices(SEPARATOR);
    let end = separators.nth(1).map_or(described.len(), |(place, _)| place);
    let (machine, libraries) = described.split_at(end);
    (machine, libraries.split(SEPARATOR).skip(1).collect())
}

/// Returns in words which machines measured which experiments, with all their MPI libraries.
pub fn of_all(machines: &BTreeMap<String, String>) -> String {
    let mut distinct: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for (experiment, described) in machines {
        let (machine, libraries) = parts(described);
        let place = distinct.iter().position(|(known, ..)| *known == machine).unwrap_or_else(|| {
            distinct.push((machine, Vec::new(), Vec::new()));
            distinct.len() - 1
        });
        let (_, known, experiments) = &mut distinct[place];
        let new: Vec<&str> = libraries.into_iter().filter(|library| !known.contains(library)).collect();
        known.extend(new);
        experiments.push(experiment);
    }
    let whole = |machine: &str, libraries: &[&str]| [&[machine], libraries].concat().join(SEPARATOR);
    match &distinct[..] {
        [] => "Machine: not known.".into(),
        [(machine, libraries, _)] => format!("Machine: {}.", whole(machine, libraries)),
        several => {
            let line = |(machine, libraries, experiments): &(&str, Vec<&str>, Vec<&str>)| {
                format!("\n- {}: {}", whole(machine, libraries), experiments.join(", "))
            };
            format!(
                "Machines, and the experiments that each of them measured:\n{}",
                several.iter().map(line).collect::<String>()
            )
        }
    }
}

/// Returns processors and kernel.
pub fn without_library() -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model(&text));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cpu = cpu.map_or(String::new(), |model| format!(" ({model})"));
    format!("{processors} processors{cpu}{SEPARATOR}Linux {}", kernel.trim())
}

/// Returns a library's name and version. In `library`, the build machine follows after a comma, the rest on new lines.
fn in_short(library: &str) -> String {
    let line = library.split(['\n', ',']).next().unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn model(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_noted_once() {
        let one = described(None, "Some MPI 1.0, made somewhere");
        assert_eq!(one, format!("{}; Some MPI 1.0", without_library()));
        let both = described(Some(&one), "MPICH Version:      5.0.2\nMPICH Device: x");
        assert_eq!(both, format!("{one}; MPICH Version: 5.0.2"));
        assert_eq!(described(Some(&both), "Some MPI 1.0"), both);
        assert_eq!(described(Some("another machine; Some MPI 0.9"), "Some MPI 1.0"), one);
        let later_kernel = format!("{}9; Some MPI 0.9", without_library());
        assert_eq!(described(Some(&later_kernel), "Some MPI 1.0"), one);
    }

    #[test]
    fn all_machines_are_told_with_all_libraries() {
        let of_all = |machines: &[(&str, &str)]| {
            let own = |(name, machine): &(&str, &str)| (name.to_string(), machine.to_string());
            super::of_all(&machines.iter().map(own).collect())
        };
        let (one, other) =
            ("2 processors; Linux 6; Some MPI 1.0", "2 processors; Linux 6; MPICH 5; Some MPI 1.0");
        assert_eq!(of_all(&[]), "Machine: not known.");
        assert_eq!(of_all(&[("a", one)]), format!("Machine: {one}."));
        assert_eq!(of_all(&[("a", one), ("b", other)]), format!("Machine: {one}; MPICH 5."));
        let told = of_all(&[("a", one), ("b", "8 processors; Linux 6; MPICH 5"), ("c", other)]);
        assert!(
            told.ends_with(&format!("\n\n- {one}; MPICH 5: a, c\n- 8 processors; Linux 6; MPICH 5: b")),
            "{told}"
        );
    }

    #[test]
    fn the_model_of_the_processors_is_found() {
        assert_eq!(
            model("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n").as_deref(),
            Some("Some CPU @ 2 GHz")
        );
        assert_eq!(model("processor : 0\n"), None);
    }
}
