//! A picture of how bytes and times grow with the number of ranks: a line for each row of the table.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use std::error::Error;
use std::ops::Range;
use std::path::Path;

/// Width and height of a panel, in pixels.
const PANEL: (u32, u32) = (430, 360);

const FONT: &str = "sans-serif";

/// Whether rows go to all, the name of such rows in the legend, and their colour.
const KINDS: [(bool, &str, RGBColor); 2] = [
    (true, "alltoall, alltoallv, alltoallw", RGBColor(0xCC, 0x66, 0x77)),
    (false, "the others", RGBColor(0x33, 0x22, 0x88)),
];

/// How one row of the table grows.
pub struct Line {
    pub goes_to_all: bool,
    /// Ranks and the value.
    pub points: Vec<(f64, f64)>,
}

/// One quantity of all rows.
pub struct Panel {
    pub title: &'static str,
    pub lines: Vec<Line>,
}

type Drawn = Result<(), Box<dyn Error>>;

/// Writes an SVG with the panels side by side.
pub fn write(path: &Path, panels: &[Panel]) -> Drawn {
    register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the font cannot be read")?;
    let whole = (PANEL.0 * panels.len() as u32, PANEL.1);
    let area = SVGBackend::new(path, whole).into_drawing_area();
    area.fill(&WHITE)?;
    for (place, panel) in area.split_evenly((1, panels.len())).iter().zip(panels) {
        draw(place, panel)?;
    }
    area.present()?;
    Ok(())
}

fn draw(area: &DrawingArea<SVGBackend, Shift>, panel: &Panel) -> Drawn {
    let [across, up] = [|point: &(f64, f64)| point.0, |point: &(f64, f64)| point.1]
        .map(|part| range(panel.lines.iter().flat_map(|line| line.points.iter().map(part))));
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, (FONT, 17))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(62)
        .build_cartesian_2d(across.log_scale(), up.log_scale())?;
    chart
        .configure_mesh()
        .x_labels(5)
        .y_labels(6)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 12))
        .x_desc("ranks")
        .x_label_formatter(&|ranks| format!("{ranks:.0}"))
        .y_label_formatter(&|value| format!("{value}"))
        .draw()?;
    for (goes_to_all, name, colour) in KINDS {
        for line in panel.lines.iter().filter(|line| line.goes_to_all == goes_to_all) {
            chart.draw_series(LineSeries::new(line.points.iter().copied(), colour.mix(0.6)))?;
        }
        chart
            .draw_series(LineSeries::new([], colour))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 8, y + 4)], colour.filled()));
    }
    chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).label_font((FONT, 12)).draw()?;
    Ok(())
}

/// The range of an axis. A value of 0 has no place on a logarithmic axis.
fn range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (least, most) = values
        .filter(|&value| value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    least / 1.3..most * 1.3
}
