use super::*;
use rustcoll::algorithms::Collective;
use tuning::samples::{decision, tried, tuning};
use tuning::{Decision, Skipped};

/// Returns a tuning with everything that a page can show.
fn sample() -> Tuning {
    let cell = |bytes: usize| {
        let growing = 0.4 + 0.1 * (bytes as f64).log2();
        decision(Collective::Bcast, 13, bytes)
            .with("rustcoll:binomial", 0.9)
            .with("rustcoll:knomial:radix=4", growing)
            .with("rustcoll:bcast_as_scatter_allgather", 1.0 / growing)
    };
    let mut cells: Vec<Decision> = [8, 64, 512, 4096, 32768].map(cell).to_vec();
    for cell in &mut cells[3..] {
        *cell = cell.clone().choosing_it();
        cell.verified = Some([tried("rustcoll", 1e-3), tried("rustcoll@rules.toml", 0.6e-3)]);
    }
    cells[1].candidates[1].launches.truncate(1);
    let hopeless = Skipped {
        contestant: "rustcoll:chain".parse().unwrap(),
        reason: "predicted <slow> & \"far\"".into(),
    };
    cells[0].skipped.push(hopeless);
    cells.push(decision(Collective::Barrier, 13, 0).with("rustcoll:tree", 1.1));
    tuning(cells)
}

#[test]
fn a_page_shows_everything_and_needs_nothing_else() {
    let page = page(&sample(), Limits::default()).unwrap();
    for expected in [
        "Of 6 cells measured, 2 have a choice that is faster than the default; 1 rule say",
        "bcast, 13 ranks on 13 hosts",
        "barrier, 13 ranks",
        "<td>rustcoll:bcast_as_scatter_allgather</td><td class=\"number\">",
        "<td class=\"number\">0.60</td>",
        "Not measured, or not to the end: 1",
        "bcast &lt;= scatter + allgather",
        "predicted &lt;slow&gt; &amp; &quot;far&quot;",
        "a host &lt;of&gt; &quot;many&quot; &amp; more",
        "another 12.0 s",
        "What tuned.conf cannot say: 1",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert_eq!(page.matches("<svg width").count(), 2);
    for foreign in ["<script", "<link", "src=", "url(", "@import"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.matches("http").count() == page.matches("http://www.w3.org/2000/svg").count());
}

#[test]
fn pictures_have_colours_by_night() {
    let tuning = sample();
    let drawn = plot::Plot::of(&tuning.settings()[1]).draw().unwrap()
        + &plot::Plot::of(&tuning.settings()[0]).draw().unwrap();
    let sheet = html::sheet();
    let strokes = drawn.split("stroke=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    for colour in strokes.filter(|colour| *colour != "none") {
        assert!(sheet.contains(&format!("[stroke=\"{colour}\"]")), "{colour}");
    }
}

#[test]
fn a_tuning_of_nothing_is_a_page_as_well() {
    let page = page(&tuning(Vec::new()), Limits::default()).unwrap();
    assert!(page.contains("Of 0 cells measured") && page.contains("No violation was found."));
    let mut cell = decision(Collective::Bcast, 4, 8);
    cell.default.launches.clear();
    assert!(super::page(&tuning(vec![cell]), Limits::default()).is_ok());
}
