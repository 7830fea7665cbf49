//! The results of a tuning as one page.

mod plot;
mod tables;

use crate::html;
use crate::words::counted;
use maud::{Markup, PreEscaped, html};
use tuning::words::{percent, time};
use tuning::{
    Gains, Guideline, Limits, Setting, Tuning, comparisons, open_mpi_rules, tuned_rules, violations,
};

/// Returns the page. Guidelines are violated beyond these limits. Fails if a picture cannot be drawn.
pub fn page(tuning: &Tuning, limits: Limits) -> Result<String, String> {
    let settings = tuning.settings();
    let sections = settings.iter().map(section).collect::<Result<Vec<_>, _>>()?;
    let title = format!("rustcoll tune, {}", tuning.provenance.date);
    let body = html! {
        (summary(tuning, &settings))
        (tables::provenance(&tuning.provenance))
        @for section in sections { (section) }
        (guidelines(tuning, limits))
        (usage(tuning))
    };
    Ok(html::page(&title, &body))
}

fn summary(tuning: &Tuning, settings: &[Setting]) -> Markup {
    let rules: usize = settings.iter().map(|setting| setting.rules().len()).sum();
    let replaced = tuning.cells.iter().filter(|cell| cell.chosen.is_some()).count();
    let cells = counted(tuning.cells.len(), "cell");
    html! {
        p { "Of " (cells) " measured, " (replaced) " have a choice that is faster than the default; " (counted(rules, "rule")) " say so." }
        ul {
            (gains("Expected", &tuning.expected_gains()))
            (gains("Verified: the default and the rule file in one job", &tuning.verified_gains()))
            @if tuning.seconds_saved > 0.0 {
                li { "Predictions excluded candidates whose measurement would have taken another " (time(tuning.seconds_saved)) "." }
            }
        }
    }
}

/// Returns nothing if there are no cells.
fn gains(what: &str, gains: &Gains) -> Markup {
    let Some((mean, (cell, worst))) = gains.mean().zip(gains.worst()) else { return html!() };
    let bytes = tuning::words::bytes(cell.bytes);
    html! {
        li {
            (what) ": " strong { (percent(1.0 - mean)) } " of the default's time saved, the geometric mean of "
            (counted(gains.cells.len(), "cell")) ". Slowest against the default: " (cell.collective.name()) ", "
            (cell.ranks) " ranks, " (bytes) ", " (format!("{worst:.2}")) " of its time."
        }
    }
}

/// Returns the section of a collective on some ranks.
fn section(setting: &Setting) -> Result<Markup, String> {
    let picture = plot::Plot::of(setting);
    let drawn = picture.draw()?;
    let name = setting.collective.name();
    Ok(html! {
        section {
            h2 { (name) ", " (setting.ranks) " ranks" (tables::placement(setting)) }
            figure {
                div .scroll {
                    div role="img" aria-label=(format!("Times of {name} relative to the default choice; the table below has the numbers")) {
                        (PreEscaped(drawn))
                    }
                }
                (picture.legend())
            }
            (tables::choices(setting))
            (tables::skipped(setting))
        }
    })
}

fn guidelines(tuning: &Tuning, limits: Limits) -> Markup {
    let compared = comparisons(&tuning.cells, &Guideline::ALL);
    let found = violations(&compared, limits);
    html! {
        section {
            h2 { "Guidelines" }
            p {
                "What the default choice should not be slower than, and is by a factor of more than " (format!("{:.2}", limits.factor))
                ": other collectives that do the same together, the same call with more data, several calls with parts of them. "
                "Mock-ups that came to no final were measured in the survey, by one job, the default by all jobs of the final; "
                code { "rustcoll guidelines" } " compares them in the same jobs."
            }
            @if found.is_empty() { p { "No violation was found." } } @else { (tables::violations(&found)) }
        }
    }
}

fn usage(tuning: &Tuning) -> Markup {
    if !tuning.has_rules() {
        return html! {
            section {
                h2 { "How to use it" }
                p { "There is nothing to write rules for: the default stays." }
            }
        };
    }
    let conversions = [("tuned.conf", tuned_rules(tuning)), ("open-mpi.json", open_mpi_rules(tuning))];
    let files = tuning.provenance.rules.iter().map(String::as_str).chain(["/path/to/rules.toml"]);
    let files = files.collect::<Vec<_>>().join(",");
    html! {
        section {
            h2 { "How to use it" }
            p { "With rustcoll, for one job, or for all jobs in " code { "openmpi-mca-params.conf" } ":" }
            pre { "mpirun --mca coll rustcoll,tuned,basic,libnbc,self,inter \\\n  --mca coll_rustcoll_rules_file " (files) " ./your_program" }
            p {
                "With plain Open MPI 4.1 and later, or 6, which have fewer algorithms. Gains are against the default named above: "
                "where that was kept these files say nothing, and Open MPI decides by itself, which was not measured."
            }
            pre { "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename /path/to/tuned.conf ./your_program" }
            @for (file, conversion) in &conversions {
                @if let Ok(conversion) = conversion { (tables::notes(file, &conversion.notes)) }
            }
            p {
                "The rules hold for the numbers of ranks that were measured, up to the largest number of bytes. "
                code { "rustcoll rules explain rules.toml" } " says what they choose for a call."
            }
        }
    }
}

#[cfg(test)]
mod tests;
