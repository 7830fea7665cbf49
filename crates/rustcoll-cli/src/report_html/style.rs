//! How the page looks, by day and by night.

use crate::pictures::COLOURS;
use plotters::style::RGBColor;
use std::fmt::Write;

const SHEET: &str = include_str!("style.css");

/// What stands for each of the pictures' colours on a dark ground.
const BY_NIGHT: [&str; COLOURS.len()] = [
    "#a99cff", "#88ccee", "#ff8a9a", "#ddcc77", "#4fc07a", "#e887b8", "#5fd0bd", "#c8c850", "#da8ad2",
    "#bbbbbb", "#999999",
];

/// A colour as pictures name it.
pub fn name(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The style sheet.
pub fn sheet() -> String {
    let mut sheet = String::from(SHEET);
    sheet += "@media screen and (prefers-color-scheme: dark) {\n";
    let black = (RGBColor(0, 0, 0), "#e4e4e4");
    for (day, night) in COLOURS.into_iter().zip(BY_NIGHT).chain([black]) {
        let day = name(day);
        for property in ["fill", "stroke"] {
            let rule = format!("  svg [{property}=\"{day}\"] {{ {property}: {night} }}");
            writeln!(sheet, "{rule}").expect("a text takes everything");
        }
    }
    sheet + "}\n"
}
