//! Pictures: an atlas as a map of the fastest algorithm, both axes logarithmic; panels side by side.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::prelude::*;
use plotters::style::register_font;
use rustcoll::algorithms::Algorithm;
use rustcoll::atlas::{Atlas, Point};
use rustcoll::selection::quantity;
use std::fmt::Display;
use std::ops::Range;
use std::ptr;

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
}

/// Width and height of a picture, in pixels.
pub const SIZE: (u32, u32) = (1000, 640);

const LEGEND_WIDTH: i32 = 250;

/// Most panels side by side.
const ACROSS: usize = 3;

/// Height of a line of text above panels, in pixels.
const TITLE_HEIGHT: u32 = 30;

/// Colours that colour-blind people tell apart: Paul Tol's muted ones, with two greys.
pub const COLOURS: [RGBColor; 11] = [
    RGBColor(0x33, 0x22, 0x88),
    RGBColor(0x88, 0xCC, 0xEE),
    RGBColor(0xCC, 0x66, 0x77),
    RGBColor(0xDD, 0xCC, 0x77),
    RGBColor(0x11, 0x77, 0x33),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0x44, 0xAA, 0x99),
    RGBColor(0x99, 0x99, 0x33),
    RGBColor(0xAA, 0x44, 0x99),
    RGBColor(0xBB, 0xBB, 0xBB),
    RGBColor(0x55, 0x55, 0x55),
];

/// Returns a colour in the form that SVG uses.
pub fn colour_name(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The font family that is embedded for measuring texts and for PNG. An SVG only names it, and its viewer has one.
pub const FONT: &str = "sans-serif";

/// Returns a picture as the content of a file.
pub fn draw(atlas: &Atlas, title: &str, format: Format) -> Result<Vec<u8>, String> {
    register_the_font()?;
    match format {
        Format::Svg => {
            let mut text = String::new();
            draw_on(SVGBackend::with_string(&mut text, SIZE).into_drawing_area(), atlas, title)?;
            Ok(text.into_bytes())
        }
        Format::Png => {
            let mut pixels = vec![0; 3 * (SIZE.0 * SIZE.1) as usize];
            draw_on(BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area(), atlas, title)?;
            png(&pixels)
        }
    }
}

/// Registers the embedded font.
pub fn register_the_font() -> Result<(), String> {
    register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the font cannot be read".to_owned())
}

/// Returns panels of one size below lines of text, as an SVG.
pub fn draw_panels<Panel>(
    titles: &[String],
    panels: &[Panel],
    size: (u32, u32),
    mut draw_panel: impl for<'text> FnMut(
        &DrawingArea<SVGBackend<'text>, Shift>,
        &Panel,
    ) -> Drawn<SVGBackend<'text>>,
) -> Result<String, String> {
    register_the_font()?;
    let (across, down) = (panels.len().min(ACROSS), panels.len().div_ceil(ACROSS));
    let head = TITLE_HEIGHT * titles.len() as u32;
    let mut text = String::new();
    {
        let whole = (size.0 * across as u32, head + size.1 * down as u32);
        let mut area = SVGBackend::with_string(&mut text, whole).into_drawing_area();
        area.fill(&WHITE).map_err(in_words)?;
        for title in titles {
            area = area.titled(title, (FONT, 19)).map_err(in_words)?;
        }
        for (place, panel) in area.split_evenly((down, across)).iter().zip(panels) {
            draw_panel(place, panel).map_err(in_words)?;
        }
        area.present().map_err(in_words)?;
    }
    Ok(text)
}

fn png(pixels: &[u8]) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let mut encoder = png::Encoder::new(&mut content, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(pixels)?;
        writer.finish()
    });
    written.map_err(|error| error.to_string())?;
    Ok(content)
}

fn draw_on<Backend: DrawingBackend>(
    area: DrawingArea<Backend, Shift>,
    atlas: &Atlas,
    title: &str,
) -> Result<(), String> {
    area.fill(&WHITE).map_err(in_words)?;
    let (map, legend) = area.split_horizontally(SIZE.0 as i32 - LEGEND_WIDTH);
    draw_map(&map, atlas, title).map_err(in_words)?;
    draw_legend(&legend, atlas).map_err(in_words)?;
    area.present().map_err(in_words)
}

/// Returns an error in words.
pub fn in_words(error: impl Display) -> String {
    format!("the picture cannot be drawn: {error}")
}

/// Returns the least and the greatest of some numbers. There must be at least one, and none below 0.
pub fn bounds(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, 0.0), |(least, most), number| (least.min(number), most.max(number)))
}

/// The result of drawing on an area.
pub type Drawn<Backend> = Result<(), DrawingAreaErrorKind<<Backend as DrawingBackend>::ErrorType>>;

fn draw_map<Backend: DrawingBackend>(
    area: &DrawingArea<Backend, Shift>,
    atlas: &Atlas,
    title: &str,
) -> Drawn<Backend> {
    let (across, up) = (edges(&atlas.ranks), edges(&atlas.bytes));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 22))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(78)
        .build_cartesian_2d(Axis::of(&atlas.ranks), Axis::of(&atlas.bytes))?;
    // Where no algorithm has a time, the map stays white.
    let cells = atlas.points().filter_map(|point| {
        let corner = |more| (across[point.ranks + more], up[point.bytes + more]);
        let colour = colour(fastest(atlas, point)?);
        Some(Rectangle::new([corner(0), corner(1)], colour.filled()))
    });
    chart.draw_series(cells)?;
    let measure = rustcoll::selection::Measure::of(atlas.collective).description();
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("ranks")
        .y_desc(format!("bytes of {measure}"))
        .axis_desc_style((FONT, 17))
        .label_style((FONT, 15))
        .x_label_formatter(&|place| number_at(*place).to_string())
        .y_label_formatter(&|place| quantity::in_units(number_at(*place)))
        .draw()
}

/// Draws the algorithms that are the fastest somewhere, with their colours.
fn draw_legend<Backend: DrawingBackend>(area: &DrawingArea<Backend, Shift>, atlas: &Atlas) -> Drawn<Backend> {
    let winners: Vec<&Algorithm> = atlas.points().filter_map(|point| fastest(atlas, point)).collect();
    let wins = |algorithm: &&Algorithm| winners.iter().any(|winner| ptr::eq(*winner, *algorithm));
    let style = (FONT, 15).into_font();
    area.draw(&Text::new("The fastest is", (0, 50), style.clone()))?;
    for (number, algorithm) in atlas.collective.algorithms().filter(wins).enumerate() {
        let top = 78 + 26 * number as i32;
        area.draw(&Rectangle::new([(0, top), (18, top + 18)], colour(algorithm).filled()))?;
        area.draw(&Text::new(algorithm.name, (26, top + 1), style.clone()))?;
    }
    Ok(())
}

fn fastest(atlas: &Atlas, point: Point) -> Option<&'static Algorithm> {
    atlas.winner(point).map(|winner| atlas.candidates[winner].algorithm)
}

/// Returns an algorithm's colour. It is the same in all pictures of a collective.
fn colour(algorithm: &Algorithm) -> RGBColor {
    let position = algorithm.contract().algorithms().position(|other| ptr::eq(other, algorithm));
    COLOURS[position.expect("it is registered") % COLOURS.len()]
}

/// A logarithmic axis. Its values are the results of [`place`].
struct Axis {
    whole: Range<f64>,
    marks: Vec<f64>,
}

impl Axis {
    fn of(numbers: &[usize]) -> Axis {
        let edges = edges(numbers);
        Axis { whole: edges[0]..edges[edges.len() - 1], marks: marks(numbers) }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (first, last): (i32, i32)) -> i32 {
        let Range { start, end } = self.whole;
        first + (f64::from(last - first) * (place - start) / (end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.whole.clone()
    }
}

/// Returns the place of a number on a logarithmic axis that has a place for 0.
fn place(number: usize) -> f64 {
    (number as f64 + 1.0).log2()
}

/// Returns the number at a place.
fn number_at(place: f64) -> usize {
    (place.exp2() - 1.0).round() as usize
}

/// Returns where the cells of numbers begin, half way between neighbours, and where the last cell ends.
fn edges(numbers: &[usize]) -> Vec<f64> {
    let places: Vec<f64> = numbers.iter().map(|&number| place(number)).collect();
    let (first, last) = (places[0], places[places.len() - 1]);
    let between = places.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    // A single cell needs a width, too.
    let margin = if places.len() == 1 { 0.5 } else { 0.0 };
    [first - margin].into_iter().chain(between).chain([last + margin]).collect()
}

/// Returns the places of at most 12 marks: of powers of two among the numbers, otherwise of any numbers.
fn marks(numbers: &[usize]) -> Vec<f64> {
    let powers: Vec<usize> = numbers.iter().copied().filter(|number| number.is_power_of_two()).collect();
    let powers = if powers.is_empty() { numbers.to_vec() } else { powers };
    let step = powers.len().div_ceil(12);
    powers.into_iter().step_by(step).map(place).collect()
}
