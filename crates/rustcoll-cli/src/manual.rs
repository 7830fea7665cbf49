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

#[cfg(test)]
mod tests {
    use super::*;
    use clap_markdown::{MarkdownOptions, help_markdown_command_custom};
    use std::env;

    const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");

    const BEGINNING: &str = "# Commands\n\n\
        For all who use the command `rustcoll`: every command with its options. `rustcoll COMMAND --help` and the manual pages say the same.\n\n";

    #[test]
    fn the_book_has_all_commands() {
        let options = MarkdownOptions::new().show_footer(false).show_table_of_contents(false);
        let text = help_markdown_command_custom(&CommandLine::command(), &options);
        let (_, commands) = text.split_once("\n## ").expect("a title stands before the first command");
        let reference = format!("{BEGINNING}## {}\n", commands.trim_end());
        if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
            fs::write(REFERENCE, &reference).expect("writing the reference");
        }
        let written = fs::read_to_string(REFERENCE).unwrap_or_default();
        assert!(
            written == reference,
            "docs/commands.md is not what the command says; UPDATE_SNAPSHOTS=1 rewrites it"
        );
    }
}
