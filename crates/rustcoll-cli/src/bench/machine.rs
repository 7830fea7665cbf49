//! Describes the machine that measured.

use std::fs;
use std::thread;

/// Returns processors, kernel and MPI libraries: those that `noted` has for the same machine, and `library`.
pub fn described(noted: Option<&str>, library: &str) -> String {
    let machine = without_library();
    let noted = noted.filter(|noted| noted.starts_with(&machine)).unwrap_or(&machine);
    let library = in_short(library);
    if noted.split("; ").any(|part| part == library) {
        noted.to_owned()
    } else {
        format!("{noted}; {library}")
    }
}

/// Returns processors and kernel.
pub fn without_library() -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model(&text));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cpu = cpu.map_or(String::new(), |model| format!(" ({model})"));
    format!("{processors} processors{cpu}; Linux {}", kernel.trim())
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
