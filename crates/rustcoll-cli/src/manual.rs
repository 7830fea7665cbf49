//! `rustcoll completions` and `rustcoll man`

use crate::command_line::CommandLine;
use crate::failure::{Failure, Outcome};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Prints a shell's completions.
pub fn completions(shell: Shell, output: &mut impl Write) -> Result<Outcome, Failure> {
    // Generate into memory first: the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "rustcoll", &mut script);
    output.write_all(&script)?;
    Ok(Outcome::Right)
}

/// Prints the manual page, or writes those of all commands into a folder.
pub fn pages(folder: Option<&Path>, output: &mut impl Write) -> Result<Outcome, Failure> {
    match folder {
        None => Man::new(CommandLine::command()).render(output)?,
        Some(folder) => {
            let written = fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(CommandLine::command(), folder));
            written.map_err(|error| Failure::Input(format!("{}: {error}", folder.display())))?;
        }
    }
    Ok(Outcome::Right)
}
