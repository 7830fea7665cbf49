//! A picture of times relative to the default choice, by bytes, as in Hunold and Carpen-Amarie 2018, figure 4.

use crate::pictures::{COLOURS, Drawn, FONT, bounds, colour_name, in_words, register_the_font};
use maud::{Markup, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use rustcoll::selection::quantity;
use std::ops::Range;
use tuning::{Decision, Setting, Tried};

const SIZE: (u32, u32) = (760, 420);

/// The default's ratio.
const LEVEL: f64 = 1.0;

/// Contestants of the same cell stand side by side, and their bytes differ by this factor.
const STEP: f64 = 1.035;

/// One contestant's time in one cell, relative to the default's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    bytes: f64,
    ratio: f64,
    /// The least and the greatest of the jobs' medians.
    extremes: (f64, f64),
}

/// The points of a contestant that was measured to the end. Each run has the points of consecutive cells.
struct Curve {
    name: String,
    runs: Vec<Vec<Point>>,
}

/// A picture of one setting.
pub struct Plot {
    level: Vec<Point>,
    lines: Vec<Curve>,
    /// What the rule file chooses, as measured against the default.
    tuned: Vec<Point>,
    /// What the rule file chooses, as measured again in the verification.
    verified: Vec<Point>,
}

/// Returns the place of a number of bytes on a logarithmic axis. 0 bytes have the place of 1 byte.
fn across(bytes: usize) -> f64 {
    (bytes as f64).max(1.0)
}

fn point(cell: &Decision, tried: &Tried) -> Option<Point> {
    let default = cell.default.median()?;
    let (least, most) = tried.extremes()?;
    Some(Point {
        bytes: across(cell.bytes),
        ratio: cell.relative(tried)?,
        extremes: (least / default, most / default),
    })
}

impl Plot {
    /// Returns the picture of all that was measured to the end in a setting.
    pub fn of(setting: &Setting) -> Plot {
        let cells = &setting.cells;
        let mut names: Vec<String> = Vec::new();
        for name in cells.iter().flat_map(|cell| cell.finalists()).map(|tried| tried.contestant.to_string()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let tuned = |cell: &&Decision| {
            let chosen = cell.chosen.as_ref().and_then(|chosen| cell.candidates.get(chosen.candidate));
            point(cell, chosen.unwrap_or(&cell.default))
        };
        let verified = |cell: &&Decision| {
            let ratio = cell.verified_ratio()?;
            Some(Point { bytes: across(cell.bytes), ratio, extremes: (ratio, ratio) })
        };
        Plot {
            level: cells.iter().filter_map(|cell| point(cell, &cell.default)).collect(),
            lines: names.into_iter().map(|name| Curve::of(name, cells)).collect(),
            tuned: cells.iter().filter_map(tuned).collect(),
            verified: cells.iter().filter_map(verified).collect(),
        }
    }

    /// Returns an SVG with a transparent background.
    pub fn draw(&self) -> Result<String, String> {
        register_the_font()?;
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            self.draw_on(&area).map_err(in_words)?;
            area.present().map_err(in_words)?;
        }
        Ok(text)
    }

    fn draw_on<Backend: DrawingBackend>(&self, area: &DrawingArea<Backend, Shift>) -> Drawn<Backend> {
        let (bytes, highest) = self.extent();
        let (left, right) = (bytes.start, bytes.end);
        // A barrier has no bytes.
        let in_units = |place: &f64| match right > 2.0 {
            true => quantity::in_units(place.round() as usize),
            false => String::new(),
        };
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(48)
            .y_label_area_size(66)
            .build_cartesian_2d(bytes.log_scale().base(2.0), 0.0..highest * 1.08)?;
        chart
            .configure_mesh()
            .x_labels(9)
            .y_labels(8)
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .axis_desc_style((FONT, 18))
            .label_style((FONT, 17))
            .x_desc("bytes")
            .y_desc("time relative to the default")
            .x_label_formatter(&in_units)
            .y_label_formatter(&|ratio| format!("{ratio:.1}"))
            .draw()?;
        let thick = BLACK.stroke_width(2);
        chart.draw_series(LineSeries::new([(left, LEVEL), (right, LEVEL)], thick))?;
        chart.draw_series(bars(&self.level, 0, BLACK))?;
        chart.draw_series(LineSeries::new(places(&self.tuned, 0), BLACK.mix(0.2).stroke_width(9)))?;
        for (number, run) in self.runs() {
            let colour = colour(number);
            chart.draw_series(LineSeries::new(places(run, number + 1), colour.stroke_width(2)))?;
            chart.draw_series(bars(run, number + 1, colour))?;
        }
        chart.draw_series(places(&self.tuned, 0).map(|place| Circle::new(place, 6, thick)))?;
        chart.draw_series(places(&self.verified, 0).map(|place| Cross::new(place, 5, thick)))?;
        Ok(())
    }

    /// Returns the runs of all lines, each with the index of its line.
    fn runs(&self) -> impl Iterator<Item = (usize, &Vec<Point>)> {
        let lines = self.lines.iter().enumerate();
        lines.flat_map(|(number, line)| line.runs.iter().map(move |run| (number, run)))
    }

    /// Returns the range of bytes, with a margin, and the highest ratio.
    fn extent(&self) -> (Range<f64>, f64) {
        let points = || self.runs().flat_map(|(_, run)| run).chain(&self.level).chain(&self.verified);
        let (least, most) = bounds(points().map(|point| point.bytes));
        let (_, highest) = bounds(points().map(|point| point.extremes.1).chain([LEVEL]));
        // There are axes even if nothing was measured.
        let most = most.max(1.0);
        (least.min(most) / 1.3..most * 1.3, highest)
    }

    pub fn legend(&self) -> Markup {
        html! {
            ul .legend {
                li { svg viewBox="0 0 32 16" { line x1="0" x2="32" y1="8" y2="8" stroke="#000000" stroke-width="3" {} } "the default" }
                @for (number, line) in self.lines.iter().enumerate() {
                    li {
                        svg viewBox="0 0 32 16" { rect width="32" height="16" y="0" fill=(colour_name(colour(number))) {} }
                        (line.name)
                    }
                }
                li { svg viewBox="0 0 32 16" { circle cx="16" cy="8" r="6" fill="none" stroke="#000000" stroke-width="3" {} } "tuned" }
                @if !self.verified.is_empty() {
                    li { svg viewBox="0 0 32 16" { path d="M10 2L22 14M22 2L10 14" stroke="#000000" stroke-width="3" {} } "verified" }
                }
                li { "Bars: the least and the greatest of the jobs' medians" }
            }
        }
    }
}

impl Curve {
    fn of(name: String, cells: &[&Decision]) -> Curve {
        let found = |cell: &&Decision| {
            let tried = cell.finalists().find(|tried| tried.contestant.to_string() == name)?;
            point(cell, tried)
        };
        let points: Vec<Option<Point>> = cells.iter().map(found).collect();
        let runs = points.split(Option::is_none).filter(|run| !run.is_empty());
        let runs = runs.map(|run| run.iter().flatten().copied().collect()).collect();
        Curve { name, runs }
    }
}

fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

fn beside(bytes: f64, step: usize) -> f64 {
    bytes * STEP.powi(step as i32)
}

fn places(points: &[Point], step: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
    points.iter().map(move |point| (beside(point.bytes, step), point.ratio))
}

fn bars(
    points: &[Point],
    step: usize,
    colour: RGBColor,
) -> Vec<ErrorBar<f64, f64, plotters::element::ErrorBarOrientV<f64, f64>>> {
    let bar = |point: &Point| {
        let (least, most) = point.extremes;
        ErrorBar::new_vertical(beside(point.bytes, step), least, point.ratio, most, colour.filled(), 6)
    };
    points.iter().map(bar).collect()
}
