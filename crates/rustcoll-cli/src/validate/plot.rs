//! A picture of predicted times against measured ones: a panel for each collective, a colour for each algorithm.

use super::{Compared, quantile, share_within};
use crate::failure::Failure;
use crate::pictures::{COLOURS, Drawn, FONT, bounds, colour_name, draw_panels};
use crate::words::{counted, given_percent};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// Width and height of a panel, in pixels.
const PANEL: (u32, u32) = (340, 330);

/// The room around the points of a panel, as a factor.
const MARGIN: f64 = 1.3;

/// The end of an SVG.
const END: &str = "</svg>\n";

/// The times of a collective, by the algorithm's name.
struct Panel<'rows> {
    collective: &'static str,
    algorithms: BTreeMap<&'static str, Vec<&'rows Compared>>,
}

/// Fails if the file's name is not that of an SVG.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(()),
        _ => Err(Failure::Usage(format!("--plot {}: the name does not end in .svg", path.display()))),
    }
}

/// Returns an SVG. In each panel two lines mark the errors of `limit`.
pub fn draw(compared: &[Compared], machine: &str, limit: f64) -> Result<String, String> {
    let titles = [
        format!("{machine}: {}", counted(compared.len(), "time")),
        format!(
            "{:.1} % predicted within {}, half within {:.1} %",
            100.0 * share_within(compared, limit),
            given_percent(limit),
            quantile(compared, 50)
        ),
    ];
    let mut points = String::new();
    let frames = draw_panels(&titles, &panels(compared), PANEL, |area, panel| {
        draw_panel(area, panel, limit, &mut points)
    })?;
    Ok(frames.replace(END, &(points + END)))
}

fn panels(compared: &[Compared]) -> Vec<Panel<'_>> {
    let mut panels: BTreeMap<_, Panel> = BTreeMap::new();
    for compared in compared {
        let candidate = &compared.row.candidate;
        let collective = candidate.collective.name();
        let panel = panels.entry(collective).or_insert(Panel { collective, algorithms: BTreeMap::new() });
        panel.algorithms.entry(candidate.algorithm.name).or_default().push(compared);
    }
    panels.into_values().collect()
}

fn draw_panel<Backend: DrawingBackend>(
    area: &DrawingArea<Backend, Shift>,
    panel: &Panel,
    limit: f64,
    points: &mut String,
) -> Drawn<Backend> {
    let times = panel.times();
    let mut chart = ChartBuilder::on(area)
        .caption(panel.collective, (FONT, 17))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(62)
        .build_cartesian_2d(times.clone().log_scale(), times.clone().log_scale())?;
    chart
        .configure_mesh()
        .x_labels(5)
        .y_labels(6)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 12))
        .x_desc("measured")
        .y_desc("predicted")
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .draw()?;
    chart.draw_series(LineSeries::new(line(&times, 1.0), BLACK))?;
    for factor in [1.0 - limit, 1.0 + limit] {
        chart.draw_series(LineSeries::new(line(&times, factor), BLACK.mix(0.4)))?;
    }
    let (across, down) = chart.plotting_area().get_pixel_range();
    for (number, (name, compared)) in panel.algorithms.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let places = compared.iter().map(|compared| {
            let part =
                |seconds: f64| (seconds.max(times.start) / times.start).ln() / (times.end / times.start).ln();
            (along(&across, part(compared.row.seconds)), along(&down, 1.0 - part(compared.predicted)))
        });
        write_points(name, colour, places, points);
        chart
            .draw_series(LineSeries::new([], colour))?
            .label(*name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 8, y + 4)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(2)
        .legend_area_size(12)
        .label_font((FONT, 11))
        .draw()
}

impl Panel<'_> {
    /// Returns the range of both axes, in seconds. A prediction may be 0, which has no place on a logarithmic axis.
    fn times(&self) -> Range<f64> {
        let all = self.algorithms.values().flatten();
        let times = all.flat_map(|compared| [compared.row.seconds, compared.predicted]);
        let (least, most) = bounds(times.filter(|&seconds| seconds > 0.0));
        least / MARGIN..most * MARGIN
    }
}

/// Returns the line on which predictions are `factor` times the measured time, within the range.
fn line(times: &Range<f64>, factor: f64) -> Vec<(f64, f64)> {
    let first = times.start.max(times.start / factor);
    let last = times.end.min(times.end / factor);
    if first < last {
        [first, last].map(|measured| (measured, factor * measured)).to_vec()
    } else {
        Vec::new()
    }
}

/// Returns a place between the ends of a range of pixels.
fn along(pixels: &Range<i32>, part: f64) -> f64 {
    f64::from(pixels.start) + part * f64::from(pixels.end - pixels.start)
}

/// Returns the label of a time on an axis.
fn label(seconds: &f64) -> String {
    tuning::words::time(*seconds).replace(".00 ", " ").replace(".0 ", " ")
}

/// Writes the points of an algorithm. Their common attributes are written once, as there may be thousands of points.
fn write_points(name: &str, colour: RGBColor, places: impl Iterator<Item = (f64, f64)>, text: &mut String) {
    *text += &format!("<g fill=\"{}\" fill-opacity=\"0.5\"><title>{name}</title>\n", colour_name(colour));
    for (x, y) in places {
        writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\"/>").expect("a text takes everything");
    }
    *text += "</g>\n";
}
