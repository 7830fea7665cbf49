//! `rustcoll import`

use crate::command_line::ImportOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::schedule_json;
use msccl::{Imported, Refusal};
use std::io::Write;

/// Converts another program's file to a schedule file, proves it, and prints what it is.
pub fn run(options: &ImportOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let (text, name) = (files::long_text(&options.file)?, files::name(&options.file));
    let import = if schedule_json::is_begun(&text) { schedule_json::import } else { msccl::import };
    let Imported { text, proved, parts } = match import(&text, options.name.as_deref()) {
        Ok(imported) => imported,
        Err(Refusal::Wrong(violation)) => {
            writeln!(output, "{name}: as a schedule file it is wrong; nothing is written\n{violation}")?;
            return Ok(Outcome::Wrong);
        }
        Err(refusal) => return Err(Failure::Input(format!("{name}: {refusal}"))),
    };
    files::write(Some(&options.output), text.as_bytes(), output)?;
    let (path, title, ranks) = (options.output.display(), proved.file().title(), proved.file().ranks());
    writeln!(output, "{path}: {title} on {ranks} ranks: written, and proved")?;
    if parts > 1 {
        writeln!(
            output,
            "the {parts} parts of each block take the same way there; here they travel together"
        )?;
    }
    Ok(Outcome::Right)
}
