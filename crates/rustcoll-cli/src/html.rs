//! Pages for browsers, without scripts or other files, readable on a phone and on paper.

mod style;

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Returns a whole page.
pub fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(style::sheet())) }
            }
            body {
                h1 { (title) }
                (body)
            }
        }
    };
    page.into_string()
}

#[cfg(test)]
pub use style::sheet;
