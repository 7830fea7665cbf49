//! Pictures of ratios: a panel for each collective, a line for each number of ranks.

use super::limits::{Ratio, by_name};
use crate::pictures::{COLOURS, Drawn, FONT, bounds, draw_panels};
use plotters::coord::Shift;
use plotters::prelude::*;
use rustcoll::selection::quantity;
use std::collections::BTreeSet;

/// Size of a panel.
const PANEL: (u32, u32) = (360, 280);

const LEVEL: f64 = 1.0;

/// Draws a picture of lines.
pub fn draw(ratios: &[Ratio]) -> Result<String, String> {
    draw_panels(&[], &by_name(ratios), PANEL, |area, (name, own)| draw_panel(area, name, own))
}

fn draw_panel<Backend: DrawingBackend>(
    area: &DrawingArea<Backend, Shift>,
    name: &str,
    ratios: &[&Ratio],
) -> Drawn<Backend> {
    let (least, most) = bounds(ratios.iter().map(|ratio| ratio.place.bytes as f64));
    let (lowest, highest) = bounds(ratios.iter().map(|ratio| ratio.ratio).chain([LEVEL]));
    // Where there are no bytes there is but one place, which has no name.
    let in_units =
        |bytes: &f64| if most > 0.0 { quantity::in_units(bytes.round() as usize) } else { String::new() };
    let (least, most) = (least.max(1.0), (2.0 * least.max(1.0)).max(most));
    let mut chart = ChartBuilder::on(area)
        .caption(name, (FONT, 17))
        .margin(8)
        .x_label_area_size(26)
        .y_label_area_size(38)
        .build_cartesian_2d(
            (least..most).log_scale().base(2.0),
            (lowest * 0.9..highest * 1.1).log_scale().base(2.0),
        )?;
    chart
        .configure_mesh()
        .x_labels(6)
        .y_labels(6)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 12))
        .x_label_formatter(&in_units)
        .y_label_formatter(&|ratio| format!("{ratio:.2}"))
        .draw()?;
    chart.draw_series(LineSeries::new([(least, LEVEL), (most, LEVEL)], BLACK))?;
    let ranks: BTreeSet<usize> = ratios.iter().map(|ratio| ratio.place.ranks).collect();
    for (number, ranks) in ranks.into_iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let own = ratios.iter().filter(|ratio| ratio.place.ranks == ranks);
        let points: Vec<(f64, f64)> =
            own.map(|ratio| ((ratio.place.bytes as f64).max(1.0), ratio.ratio)).collect();
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(2))?
            .label(ranks.to_string())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 12, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .label_font((FONT, 12))
        .draw()
}
