//! Logging through MPI's output stream, by MPI's verbosity.

use super::watch;
use crate::mpi::shim::bindings::rustcoll_shim_output;
use env_logger::{Builder, Target};
use log::LevelFilter;
use std::ffi::CString;
use std::io::{self, Write};

/// The environment variable that overrides the verbosity, by a filter in the syntax of the `log` ecosystem.
const FILTER_VARIABLE: &str = "RUSTCOLL_LOG";

/// Starts logging. `logs_calls`: also log single calls, even where nothing else of their level is logged.
pub fn start(verbosity: i32, logs_calls: bool) {
    let mut builder = Builder::new();
    builder.filter_level(level(verbosity));
    if logs_calls {
        builder.filter_module(watch::CALLS, LevelFilter::Info);
    }
    builder.parse_env(FILTER_VARIABLE);
    builder.format(|line, record| writeln!(line, "rustcoll: {}", record.args()));
    builder.target(Target::Pipe(Box::new(OutputStream)));
    // An application cannot have set the logger of this library; there is nothing to do about a failure.
    let _ = builder.try_init();
}

fn level(verbosity: i32) -> LevelFilter {
    match verbosity {
        80.. => LevelFilter::Trace,
        60.. => LevelFilter::Debug,
        1.. => LevelFilter::Info,
        _ => LevelFilter::Warn,
    }
}

/// MPI's output stream; each write is a line of the logger.
struct OutputStream;

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        for line in text.lines() {
            let line = CString::new(line).unwrap_or_default();
            // SAFETY: the pointer is a C string that outlives the call, which copies it.
            unsafe { rustcoll_shim_output(line.as_ptr()) };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbosity_selects_the_level() {
        assert_eq!(level(0), LevelFilter::Warn);
        assert_eq!(level(1), LevelFilter::Info);
        assert_eq!(level(100), LevelFilter::Trace);
    }
}
