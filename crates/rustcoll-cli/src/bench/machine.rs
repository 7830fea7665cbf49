//! What is said of the machine that measured.

use std::fs;
use std::thread;

/// Processors, kernel and the MPI library.
pub fn described(library: &str) -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model(&text));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // The library names the machine on which it was built, after a comma.
    let library = library.split(',').next().unwrap_or_default();
    let cpu = cpu.map_or(String::new(), |model| format!(" ({model})"));
    format!("{processors} processors{cpu}; Linux {}; {library}", kernel.trim())
}

fn model(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_of_the_processors_is_found() {
        assert_eq!(
            model("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n").as_deref(),
            Some("Some CPU @ 2 GHz")
        );
        assert_eq!(model("processor : 0\n"), None);
    }
}
