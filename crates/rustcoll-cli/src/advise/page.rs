//! Advice as a page: time by collective and length, lateness by rank.

use super::{Advice, Calls, HEADINGS, Part, Sums, share};
use crate::html;
use crate::words::percent;
use maud::{Markup, html};

/// The page lists at most this many ranks for which others waited.
const MOST_RANKS: usize = 64;

/// The page leaves out calls that take less than this part of the time of collectives.
const LEAST: f64 = 0.001;

pub fn page(advice: &Advice) -> String {
    let Advice { sums, things, grown, .. } = advice;
    let [title, collectives] = advice.heading();
    let body = html! {
        p { (collectives) }
        (parts(sums))
        h2 { "What to do" }
        ol {
            @for thing in things {
                li {
                    (thing.text)
                    @if let Some(line) = &thing.line { pre { (line) } }
                }
            }
        }
        h2 { "The calls that take the most time, for the mean rank" }
        (calls(advice))
        @if sums.waiting > 0.0 {
            h2 { "For whom the ranks wait" }
            (late(advice))
        }
        @if let Some(grown) = grown {
            h2 { "On more ranks" }
            p { (grown) }
        }
    };
    html::page(&title, &body)
}

/// Draws a bar of parts of a whole.
fn bar(parts: &[(&str, f64)], whole: f64) -> Markup {
    let width = |seconds: f64| format!("width: {:.2}%", 100.0 * seconds / whole.max(f64::MIN_POSITIVE));
    html! {
        div .bar {
            @for (kind, seconds) in parts { i class=(kind) style=(width(*seconds)) {} }
        }
    }
}

/// Draws the parts of the time of collectives, to the scale of the whole job.
fn parts(sums: &Sums) -> Markup {
    let parts = sums.parts();
    let drawn: Vec<_> = parts.iter().map(|Part { kind, seconds, .. }| (*kind, *seconds)).collect();
    html! {
        (bar(&drawn, sums.job))
        table {
            @for Part { name, kind, seconds } in parts {
                tr {
                    td { span class=(format!("key {kind}")) {} (name) }
                    td .number { (format!("{seconds:.3} s")) }
                    td .number { (share(seconds, sums.collectives)) }
                }
            }
        }
    }
}

fn calls(advice: &Advice) -> Markup {
    let listed = advice.calls.iter().filter(|calls| calls.seconds >= LEAST * advice.sums.collectives);
    let longest = advice.calls.first().map_or(0.0, |calls| calls.seconds);
    html! {
        div .scroll {
            table {
                tr {
                    th { "time" }
                    @for heading in HEADINGS { th { (heading) } }
                }
                @for calls in listed {
                    tr {
                        td { (bar(&of_calls(calls), longest)) }
                        @for cell in calls.cells() { td { (cell) } }
                    }
                }
            }
        }
    }
}

fn of_calls(calls: &Calls) -> [(&'static str, f64); 2] {
    let moving = if calls.waiting.is_some() { "moving" } else { "unknown" };
    [("waiting", calls.waiting.unwrap_or(0.0)), (moving, calls.moving())]
}

/// Draws the parts of the waiting, by rank and by node.
fn late(advice: &Advice) -> Markup {
    let ranks = advice.blame.by_rank().into_iter().take(MOST_RANKS);
    let ranks: Vec<_> = ranks.map(|(rank, part)| (rank.to_string(), part)).collect();
    let nodes = advice.blame.by_node();
    html! {
        (parts_of_waiting("rank", &ranks))
        @if nodes.len() > 1 { (parts_of_waiting("ranks of a node", &nodes)) }
    }
}

fn parts_of_waiting(whose: &str, parts: &[(String, f64)]) -> Markup {
    html! {
        div .scroll {
            table {
                tr { th { "waiting" } th { (whose) } th .number { "of all waiting" } }
                @for (name, part) in parts {
                    tr {
                        td { (bar(&[("waiting", *part)], 1.0)) }
                        td { (name) }
                        td .number { (percent(*part)) }
                    }
                }
            }
        }
    }
}
