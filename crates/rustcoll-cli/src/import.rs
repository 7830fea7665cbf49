//! `rustcoll import`

use crate::command_line::ImportOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use msccl::{Imported, Refusal, import};
use std::io::Write;

/// Makes a schedule file of what another program has written, proves it, and says what it is.
pub fn run(options: &ImportOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let text = files::long_text(&options.file)?;
    let name = files::name(&options.file);
    let imported = match import(&text, options.name.as_deref()) {
        Ok(imported) => imported,
        Err(Refusal::Wrong(violation)) => {
            writeln!(output, "{name}: as a schedule file it is wrong; nothing is written\n{violation}")?;
            return Ok(Outcome::Wrong);
        }
        Err(refusal) => return Err(Failure::Input(format!("{name}: {refusal}"))),
    };
    let Imported { text, collective, name, ranks, parts } = imported;
    files::write(Some(&options.output), text.as_bytes(), output)?;
    let path = options.output.display();
    writeln!(output, "{path}: {} {name} on {ranks} ranks: written, and proved", collective.name())?;
    if parts > 1 {
        writeln!(
            output,
            "the {parts} parts of each block take the same way there; here they travel together"
        )?;
    }
    Ok(Outcome::Right)
}
