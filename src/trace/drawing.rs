//! Draws a run: a column for each rank, and for each step arrows for its messages, or what ranks write.

use super::{Event, How, Moment, Trace, Travel, Write};
use crate::schedule::Message;
use std::collections::BTreeMap;
use std::fmt;

/// Lengths in pixels.
const COLUMN: usize = 96;
const LEFT: usize = 96;
const TOP: usize = 40;
/// The height of a message's arrow.
const WAY: usize = 34;
const LINE: usize = 16;

/// Begins an SVG. It has the colours of the page around it.
const STYLE: &str = "<style>text{font:12px sans-serif;fill:currentColor}.small{font-size:10px}line{stroke:currentColor}\
                     .rank{opacity:.25}.late{fill:#b00}</style>\
                     <marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
                     <path d=\"M0 0 8 4 0 8z\" fill=\"currentColor\"/></marker>";

impl Trace {
    /// Returns an SVG of the run of so many ranks.
    pub fn svg(&self, ranks: usize) -> String {
        let mut picture = Picture { shapes: String::new(), y: TOP };
        for (number, moment) in self.steps.iter().enumerate() {
            picture.step(number, moment);
        }
        if !self.has_ended {
            picture.text(8, picture.y + LINE, "late", "the others wait forever");
            picture.y += 2 * LINE;
        }
        let (width, height) = (LEFT + ranks * COLUMN, picture.y + LINE);
        let columns = (0..ranks).map(|rank| {
            let x = column(rank);
            format!(
                "<text x=\"{x}\" y=\"20\" text-anchor=\"middle\">rank {rank}</text>\
                 <line class=\"rank\" x1=\"{x}\" y1=\"28\" x2=\"{x}\" y2=\"{height}\"/>"
            )
        });
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">{STYLE}{}{}</svg>",
            columns.collect::<String>(),
            picture.shapes
        )
    }
}

/// The middle of a rank's column.
fn column(rank: usize) -> usize {
    LEFT + rank * COLUMN + COLUMN / 2
}

/// A picture that grows downwards.
struct Picture {
    shapes: String,
    y: usize,
}

impl Picture {
    fn step(&mut self, number: usize, moment: &Moment) {
        self.text(8, self.y + LINE, "", &format!("step {}", number + 1));
        self.y += match &moment.event {
            Event::Messages(travels) => self.messages(travels),
            Event::Work(_) => self.work(&moment.writes),
        } + LINE;
    }

    /// Draws messages. Returns their height.
    fn messages(&mut self, travels: &[Travel]) -> usize {
        for Travel { source, target, into, .. } in travels {
            let (from, to, y) = (column(*source), column(*target), self.y);
            self.add(format_args!(
                "<line x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{}\" marker-end=\"url(#end)\"/>",
                y + WAY
            ));
            self.text(to + 4, y + WAY + 12, "small", &shown(into));
        }
        WAY + 12
    }

    /// Draws what ranks write to their own memory. Returns its height.
    fn work(&mut self, writes: &[Write]) -> usize {
        let mut lines: BTreeMap<usize, usize> = BTreeMap::new();
        for Write { place, how, .. } in writes {
            let line = lines.entry(place.rank).or_default();
            *line += 1;
            let sign = if *how == How::Reduced { "⊕" } else { "=" };
            let (x, y) = (column(place.rank) + 4, self.y + *line * LINE - 4);
            self.text(x, y, "small", &format!("{sign} {}[{}]", place.buffer, place.block));
        }
        lines.into_values().max().unwrap_or(1) * LINE
    }

    fn text(&mut self, x: usize, y: usize, class: &str, text: &str) {
        self.add(format_args!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>"));
    }

    fn add(&mut self, shape: fmt::Arguments) {
        self.shapes.push_str(&shape.to_string());
    }
}

/// Returns the blocks of a message; of several runs, the first and how many blocks there are.
fn shown(message: &Message) -> String {
    let mut runs = message.runs();
    match (runs.next(), runs.next()) {
        (None, _) => String::new(),
        (Some(run), None) => run.to_string(),
        (Some(run), Some(_)) => format!("{run}, … ({} blocks)", message.blocks()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, Problem};
    use crate::schedule::Schedule;

    #[test]
    fn every_message_is_an_arrow_and_every_rank_a_column() {
        let problem = Problem::new(4);
        let schedules = Collective::Allreduce.algorithm("recursive_doubling").unwrap().programs(&problem);
        let svg = Trace::new(Collective::Allreduce, &problem, &schedules).unwrap().svg(4);
        assert_eq!(svg.matches("marker-end").count(), 8);
        assert_eq!(svg.matches("class=\"rank\"").count(), 4);
        assert_eq!(svg.matches("⊕ ").count(), 8);
        assert!(!svg.contains("forever"));
    }

    #[test]
    fn ranks_that_wait_for_ever_are_told() {
        let wait = |rank, other| {
            let text = format!("rank {rank} of 2, 1 blocks\n0: receive from {other} into recv[0]\nwait 0\n");
            text.parse::<Schedule>().unwrap()
        };
        let trace = Trace::new(Collective::Bcast, &Problem::new(2), &[wait(0, 1), wait(1, 0)]).unwrap();
        assert!(trace.svg(2).contains("wait forever"));
    }
}
