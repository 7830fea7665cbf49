//! The tables of the report.

use maud::{Markup, html};
use rustcoll::selection::{Note, quantity};
use tuning::words::{percent, probability, time};
use tuning::{Comparison, Decision, Provenance, Setting, Tried};

/// Returns where, when and with what the tuning measured.
pub fn provenance(provenance: &Provenance) -> Markup {
    let Provenance { machine, library, version, date, launcher, launches, rules } = provenance;
    let default = if rules.is_empty() { "the default rules".to_owned() } else { rules.join(", ") };
    let launches = launches.to_string();
    let entries = [
        ("Machine", machine),
        ("MPI", library),
        ("rustcoll", version),
        ("Date", date),
        ("Launcher", launcher),
        ("Jobs for each comparison", &launches),
        ("Default", &default),
    ];
    html! { dl { @for (what, said) in entries { dt { (what) } dd { (said) } } } }
}

/// Returns the placement of the ranks, if it is known.
pub fn placement(setting: &Setting) -> String {
    match (setting.nodes, setting.ranks_per_node) {
        (0, _) => String::new(),
        (1, _) => " on one host".into(),
        (hosts, 1) => format!(" on {hosts} hosts"),
        (hosts, most) => format!(" on {hosts} hosts, up to {most} on each"),
    }
}

fn time_of(tried: &Tried) -> String {
    tried.median().map_or(String::new(), time)
}

/// Returns a table of the choices, by bytes.
pub fn choices(setting: &Setting) -> Markup {
    let is_verified = setting.cells.iter().any(|cell| cell.verified.is_some());
    html! {
        div .scroll {
            table {
                tr {
                    th .number { "bytes" } th { "by default" } th .number { "time" } th { "chosen" } th .number { "time" }
                    th .number { "saved" } th .number { "p" }
                    @if is_verified { th .number { "verified" } }
                }
                @for cell in &setting.cells {
                    tr .chosen[cell.chosen.is_some()] {
                        td .number { (quantity::in_units(cell.bytes)) }
                        td { (cell.default.ran) }
                        td .number { (time_of(&cell.default)) }
                        (chosen(cell))
                        @if is_verified { td .number { (cell.verified_ratio().map_or(String::new(), |ratio| format!("{ratio:.2}"))) } }
                    }
                }
            }
        }
    }
}

fn chosen(cell: &Decision) -> Markup {
    let found =
        cell.chosen.as_ref().and_then(|chosen| Some((chosen, cell.candidates.get(chosen.candidate)?)));
    html! {
        @if let Some((chosen, tried)) = found {
            td { (tried.contestant) }
            td .number { (time_of(tried)) }
            td .number { (percent(chosen.gain)) }
            td .number { (probability(chosen.probability)) }
        } @else {
            td { "the default" } td {} td {} td {}
        }
    }
}

/// Returns the candidates that were not measured to the end, and why; nothing if all were.
pub fn skipped(setting: &Setting) -> Markup {
    let all: Vec<_> = setting
        .cells
        .iter()
        .flat_map(|cell| cell.skipped.iter().map(move |skipped| (cell, skipped)))
        .collect();
    html! {
        @if !all.is_empty() {
            details {
                summary { "Not measured, or not to the end: " (all.len()) }
                div .scroll {
                    table {
                        tr { th .number { "bytes" } th { "candidate" } th { "reason" } }
                        @for (cell, skipped) in all {
                            tr {
                                td .number { (quantity::in_units(cell.bytes)) }
                                td { (skipped.contestant) }
                                td .reason { (skipped.reason) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns what a file for Open MPI cannot express of the rules.
pub fn notes(file: &str, notes: &[Note]) -> Markup {
    html! {
        @if !notes.is_empty() {
            details {
                summary { "What " (file) " cannot say: " (notes.len()) }
                ul { @for note in notes { li { (note) } } }
            }
        }
    }
}

/// Returns the table of guidelines that do not hold.
pub fn violations(violations: &[&Comparison]) -> Markup {
    html! {
        div .scroll {
            table {
                tr {
                    th { "guideline" } th .number { "ranks" } th .number { "bytes" } th .number { "time" } th { "faster" }
                    th .number { "time" } th .number { "ratio" } th .number { "p" }
                }
                @for one in violations {
                    tr {
                        td { (one.guideline) }
                        td .number { (one.ranks) }
                        td .number { (quantity::in_units(one.bytes)) }
                        td .number { (time(one.seconds)) }
                        td { (one.other) }
                        td .number { (time(one.other_seconds)) }
                        td .number { (format!("{:.2}", one.ratio())) }
                        td .number { (probability(one.probability)) }
                    }
                }
            }
        }
    }
}
