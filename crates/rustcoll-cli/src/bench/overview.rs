//! The first table of a report: the ratios of each collective, by form and place.

use super::limits::Ratio;
use measurements::{Form, Operation, Shape};
use rustcoll::algorithms::Collective;
use std::fmt::Write;
use tuning::statistics::geometric_mean;

/// The table prints greater ratios in bold.
const SLOW: f64 = 1.1;

/// The subject of a column. Counts of all kinds share a column, and so do neighbours of all kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    OneGroup(Form),
    TwoGroups,
    Overlap,
}

impl Kind {
    fn of(operation: Operation) -> Kind {
        match operation {
            Operation { overlaps: true, .. } => Kind::Overlap,
            Operation { shape: Shape::Inter, .. } => Kind::TwoGroups,
            Operation { form, .. } => Kind::OneGroup(form),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Kind::OneGroup(Form::Blocking) => "blocking",
            Kind::OneGroup(Form::Nonblocking) => "non-blocking",
            Kind::OneGroup(Form::Persistent) => "persistent",
            Kind::TwoGroups => "two groups",
            Kind::Overlap => "overlap",
        }
    }
}

/// The place of a measured cell, and the cell.
pub type Placed<'ratios> = (&'ratios str, &'ratios Ratio<'ratios>);

/// Returns a row for each collective, a column for each form and place: the geometric mean, and below it the worst.
pub fn table(all: &[Placed]) -> String {
    let mut places: Vec<&str> = Vec::new();
    for (place, _) in all {
        if !places.contains(place) {
            places.push(place);
        }
    }
    let column = |(place, ratio): &Placed| {
        (Kind::of(ratio.place.operation), places.iter().position(|other| other == place))
    };
    let mut columns: Vec<_> = all.iter().map(column).collect();
    if columns.is_empty() {
        return String::new();
    }
    columns.sort();
    columns.dedup();
    let title = |(kind, place): &(Kind, Option<usize>)| {
        let place = place.map_or("", |place| places[place]);
        format!(" {}<br>{place} |", kind.title())
    };
    let head: String = columns.iter().map(title).collect();
    let mut text = format!("| |{head}\n|---|{}\n", "--:|".repeat(columns.len()));
    let mut row = |name: &str, is_wanted: &dyn Fn(Collective) -> bool| {
        let own: Vec<&Placed> =
            all.iter().filter(|(_, ratio)| is_wanted(ratio.place.operation.collective)).collect();
        let cell = |wanted| {
            let ratios = own.iter().filter(|placed| column(placed) == wanted).map(|(_, ratio)| *ratio);
            format!(" {} |", summary(&ratios.collect::<Vec<_>>()))
        };
        if !own.is_empty() {
            let cells: String = columns.iter().map(|&column| cell(column)).collect();
            let _ = writeln!(text, "| {name} |{cells}");
        }
    };
    for collective in Collective::ALL {
        row(collective.name(), &|other| other == collective);
    }
    row("all", &|_| true);
    text
}

/// Returns the mean of the cells of one row and column, and below it the worst.
fn summary(ratios: &[&Ratio]) -> String {
    let overlaps: Vec<[f64; 2]> = ratios.iter().filter_map(|ratio| ratio.overlap).collect();
    if !overlaps.is_empty() {
        let mean = |side: usize| overlaps.iter().map(|both| both[side]).sum::<f64>() / overlaps.len() as f64;
        let worst = overlaps.iter().map(|[own, _]| *own).fold(f64::INFINITY, f64::min);
        return format!("{:.0} % ({:.0} %)<br>{worst:.0} %", mean(0), mean(1));
    }
    let number = |ratio: f64| if ratio > SLOW { format!("**{ratio:.2}**") } else { format!("{ratio:.2}") };
    let worst = ratios.iter().map(|ratio| ratio.ratio).reduce(f64::max);
    let mean = geometric_mean(ratios.iter().map(|ratio| ratio.ratio));
    mean.zip(worst).map_or(String::new(), |(mean, worst)| format!("{}<br>{}", number(mean), number(worst)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::plan::ReportedCell;

    fn ratio(name: &str, ratio: f64, overlap: Option<[f64; 2]>) -> Ratio<'static> {
        let place = ReportedCell { experiment: "a", operation: name.parse().unwrap(), ranks: 4, bytes: 8 };
        Ratio { place, ratio, again: None, overlap, ran: String::new() }
    }

    #[test]
    fn collectives_have_rows_and_forms_and_places_have_columns() {
        let cells = [
            ("here", ratio("bcast", 0.5, None)),
            ("here", ratio("bcast", 2.0, None)),
            ("there", ratio("bcast", 0.4, None)),
            ("there", ratio("ibcast", 0.6, None)),
            ("here", ratio("ibcast@overlap", 1.0, Some([80.0, 30.0]))),
            ("here", ratio("ibcast@overlap", 1.0, Some([40.0, 50.0]))),
            ("here", ratio("ibcast@inter", 0.9, None)),
            ("here", ratio("allgatherv@sparse", 1.2, None)),
            ("here", ratio("allgatherv@linear", 0.3, None)),
        ];
        let all: Vec<Placed> = cells.iter().map(|(place, ratio)| (*place, ratio)).collect();
        let expected = "\
| | blocking<br>here | blocking<br>there | non-blocking<br>there | two groups<br>here | overlap<br>here |
|---|--:|--:|--:|--:|--:|
| allgatherv | 0.60<br>**1.20** |  |  |  |  |
| bcast | 1.00<br>**2.00** | 0.40<br>0.40 | 0.60<br>0.60 | 0.90<br>0.90 | 60 % (40 %)<br>40 % |
| all | 0.77<br>**2.00** | 0.40<br>0.40 | 0.60<br>0.60 | 0.90<br>0.90 | 60 % (40 %)<br>40 % |
";
        assert_eq!(table(&all), expected);
    }
}
