//! The style of pages, by day and by night.

use crate::pictures::{COLOURS, colour_name};
use plotters::style::RGBColor;
use std::fmt::Write;

const SHEET: &str = include_str!("style.css");

/// The colours that replace those of pictures on a dark ground.
const BY_NIGHT: [&str; COLOURS.len()] = [
    "#a99cff", "#88ccee", "#ff8a9a", "#ddcc77", "#4fc07a", "#e887b8", "#5fd0bd", "#c8c850", "#da8ad2",
    "#bbbbbb", "#999999",
];

/// Returns the style sheet.
pub fn sheet() -> String {
    let mut sheet = String::from(SHEET);
    sheet += "@media screen and (prefers-color-scheme: dark) {\n";
    let black = (RGBColor(0, 0, 0), "#e4e4e4");
    for (day, night) in COLOURS.into_iter().zip(BY_NIGHT).chain([black]) {
        let day = colour_name(day);
        for property in ["fill", "stroke"] {
            let rule = format!("  svg [{property}=\"{day}\"] {{ {property}: {night} }}");
            writeln!(sheet, "{rule}").expect("a text takes everything");
        }
    }
    sheet + "}\n"
}
