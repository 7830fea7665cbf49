//! Predictions, atlases, rules derived from predictions, and how well predictions fit measured times.

mod common;

use common::{folder, rustcoll, rustcoll_reading};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const HOCKNEY: &str = "--machine hockney:1e-5,1e-9,1e-10";

const EMULATED: &str = "--machine machines/emulated.toml";

const MEASURED: &str = "machines/emulated-measured.csv";

#[test]
fn algorithms_are_listed_with_the_cheapest_first() {
    let table = rustcoll(&format!("predict allreduce --ranks 8 --bytes 1MiB {HOCKNEY}")).right();
    let serving = table.lines().skip(1).filter(|line| !line.contains(" cannot serve this: "));
    let rows: Vec<Vec<&str>> = serving.map(|line| line.split_whitespace().collect()).collect();
    let times: Vec<f64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(times.is_sorted(), "{table}");
    let rabenseifner = rows.iter().find(|row| row[0] == "rabenseifner").unwrap();
    // 6 alpha, 2 (7/8) n beta and (7/8) n gamma; each of the 6 rounds has 8 messages. `circulant` has fewer rounds.
    assert_eq!(rabenseifner[1..], ["1986.76", "1.04", "6", "0", "48", "0", "14680064", "0", "0"]);
    assert!(!table.contains("inter_leaders"));
}

#[test]
fn who_cannot_serve_is_listed_with_the_reason() {
    let table =
        rustcoll(&format!("predict allgather --ranks 7 --ranks-per-node 7 --bytes 8 {HOCKNEY}")).right();
    let expected = "neighbor_exchange cannot serve this: the number of ranks is odd";
    assert!(table.lines().any(|line| line == expected), "{table}");
    let expected =
        "single_copy cannot serve this: the ranks of a node cannot copy from each other's own memory";
    assert_eq!(table.lines().last(), Some(expected));
}

#[test]
fn shared_memory_is_priced_where_all_ranks_are_on_one_node() {
    let on_edr =
        |ranks| rustcoll(&format!("predict barrier --ranks {ranks} --machine infiniband-edr")).right();
    let table = on_edr(32);
    let shared = table.lines().find(|line| line.starts_with("shared ")).unwrap();
    let numbers: Vec<&str> = shared.split_whitespace().skip(1).collect();
    // Radix 6: two rounds of 0.30 us. In each, every rank raises one flag and sees five, and at the end it raises one, for 0.14 us each.
    assert_eq!(numbers, ["2.42", "1.00", "10", "0", "0", "0", "0", "320", "0"], "{table}");
    let expected = "shared cannot serve this: the ranks are not all known to be on one node";
    assert!(on_edr(33).lines().any(|line| line == expected));
}

#[test]
fn radices_may_be_chosen_or_swept() {
    let names = |options: &str| {
        let table = rustcoll(&format!("predict alltoall --ranks 5 --bytes 8 {HOCKNEY} {options}")).right();
        let mut names: Vec<String> = table
            .lines()
            .filter(|line| line.starts_with("bruck ") || line.starts_with("bruck,"))
            .map(|line| line[..14].trim().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("").len(), 1);
    assert_eq!(names("--radix 2,4"), ["bruck, radix 2", "bruck, radix 4"]);
    assert_eq!(
        names("--sweep-radix"),
        ["bruck, radix 2", "bruck, radix 3", "bruck, radix 4", "bruck, radix 5"]
    );
}

#[test]
fn the_choice_of_rules_is_marked() {
    let line = format!(
        "predict allreduce --ranks 100 --bytes 1MiB {HOCKNEY} --rules selection-rules/t3e-atlas.toml"
    );
    let table = rustcoll(&line).right();
    let marked: Vec<&str> = table.lines().filter(|line| line.ends_with("chosen by the rules")).collect();
    assert!(marked.len() == 1 && marked[0].starts_with("binary_blocks "), "{table}");
    let file = folder("marked").join("rules.toml");
    fs::write(&file, "[[allreduce]]\nalgorithm = \"recursive_multiplying\"\nradix = 7\n").unwrap();
    let line = format!(
        "predict allreduce --ranks 100 --bytes 1MiB {HOCKNEY} --rules {} --format json",
        file.display()
    );
    let found: Value = serde_json::from_str(&rustcoll(&line).right()).unwrap();
    let algorithms = found["algorithms"].as_array().unwrap();
    let chosen: Vec<&Value> = algorithms.iter().filter(|row| row["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0]["parameters"]["radix"], 7);
    fs::write(&file, "[[allreduce]]\nalgorithm = \"below\"\n").unwrap();
    let text = rustcoll(line.strip_suffix(" --format json").unwrap()).right();
    assert!(text.ends_with("the rules leave it to the component below\n"), "{text}");
}

#[test]
fn neighbourhood_collectives_have_prices_on_grids() {
    let first = |bytes: &str| {
        let line = format!(
            "predict neighbor_alltoall --ranks 64 --bytes {bytes} --grid 4x4x4 --periodic --corners --machine machines/infiniband-edr.toml"
        );
        let table = rustcoll(&line).right();
        table.lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(first("8"), "combining");
    assert_eq!(first("1MiB"), "linear");
}

#[test]
fn segments_may_be_chosen() {
    let line = "predict bcast --ranks 8 --bytes 1MiB --machine hockney:1e-5,1e-9,0 --algorithms chain,linear --segment";
    let table = rustcoll(&format!("{line} 16K,1MiB")).right();
    let names: Vec<&str> = table.lines().skip(1).map(|line| line[..22].trim()).collect();
    // 64 segments travel along the chain back to back.
    assert_eq!(names, ["chain, segment 16384", "linear", "chain, segment 1048576"], "{table}");
    let errors = rustcoll(&format!("{line} 0")).refused(2);
    assert!(errors.contains("0 is not from 1 to "), "{errors}");
}

#[test]
fn predictions_are_given_to_programs_too() {
    let line = format!("predict bcast --ranks 6 --bytes 1KiB {HOCKNEY} --format csv");
    let table = rustcoll(&line).right();
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().all(|line| line.split(',').count() == columns), "{table}");
    // ceil(log2 6) = 3 rounds, 5 messages.
    let binomial = table.lines().find(|line| line.starts_with("binomial,")).unwrap();
    assert!(binomial.contains(",0,5,0,5120,0,0,false"), "{binomial}");
}

#[test]
fn what_has_no_price_is_refused() {
    for (line, expected) in [
        (
            "predict allreduce --ranks 8 --machine hockney:1,1,1",
            "--bytes is missing: for allreduce those of the whole vector",
        ),
        (
            "predict alltoallv --ranks 8 --machine hockney:1,1,1",
            "--bytes is missing: for alltoallv those of each block, all of one length",
        ),
        ("predict barrier --ranks 8 --bytes 8 --machine hockney:1,1,1", "--bytes: a barrier has none"),
        (
            "predict neighbor_alltoall --ranks 8 --bytes 8 --machine hockney:1,1,1",
            "neighbor_alltoall has no price: it depends on who the neighbours are",
        ),
        (
            "predict allreduce --ranks 8 --bytes 8 --grid 8 --machine hockney:1,1,1",
            "--grid has no effect on allreduce recursive_doubling",
        ),
        (
            "predict allreduce --ranks 8 --bytes 8 --machine hockney:1,1",
            "--machine hockney:1,1: expected three numbers, as in hockney:1e-6,1e-9,1e-10",
        ),
        ("predict allreduce --ranks 8 --bytes 17TiB --machine hockney:1,1,1", "unknown unit `TiB`"),
        ("atlas allreduce --machine hockney:1,1,1 --bytes 8..", "the range `8..` has no end"),
        (
            "atlas allreduce --machine hockney:1,1,1 -o picture.pdf",
            "picture.pdf: its name does not end as those of known formats do: .svg, .png or .csv",
        ),
        ("atlas allreduce --machine hockney:1,1,1 --algorithms rung", "unknown allreduce algorithm `rung`"),
        (
            "atlas allreduce --machine hockney:1,1,1 --algorithms inter_leaders",
            "--algorithms: inter_leaders is for communicators of two groups",
        ),
        (
            "rules derive --machine hockney:1,1,1 --collective alltoallv",
            "--collective alltoallv: rules cannot ask for its bytes",
        ),
        (
            "rules regret --machine hockney:1,1,1 --collective neighbor_alltoall",
            "neighbor_alltoall has no price",
        ),
        ("rules derive --machine hockney:1,1,1 --regret 5", "`5` is not a percentage, as 5% is"),
    ] {
        let message = rustcoll(line).refused(2);
        assert!(message.contains(expected), "{line}: {message}");
    }
    let message = rustcoll("predict barrier --ranks 8 --machine machines/none.toml").refused(1);
    assert!(message.contains("machines/none.toml: cannot be read"), "{message}");
    assert!(
        message.contains("; machines that come with rustcoll are infiniband-edr, leonardo, "),
        "{message}"
    );
    let message = rustcoll("predict barrier --ranks 8 --machine README.md").refused(1);
    assert!(message.contains("README.md:"), "{message}");
}

const SMALL: &str = "--ranks 2..12 --bytes 8..64KiB";

#[test]
fn an_atlas_is_drawn_in_lines_with_title_axes_and_legend() {
    let file = folder("svg").join("atlas.svg");
    assert_eq!(rustcoll(&format!("atlas allreduce {EMULATED} {SMALL} -o {}", file.display())).right(), "");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("<svg width=\"1000\" height=\"640\" "), "{text:.100}");
    assert!(text.trim_end().ends_with("</svg>"));
    assert_eq!(text.matches("<text").count(), text.matches("</text>").count());
    for expected in [
        "The fastest allreduce on emulated.toml",
        "ranks",
        "bytes of the whole vector",
        "recursive_doubling",
        "32KiB",
    ] {
        assert!(text.lines().any(|line| line.trim() == expected), "{expected}");
    }
    assert!(!text.contains("inter_leaders"));
}

#[test]
fn an_atlas_is_drawn_in_pixels() {
    let file = folder("png").join("atlas.png");
    rustcoll(&format!("atlas allreduce {EMULATED} {SMALL} -o {}", file.display())).right();
    let reader = png::Decoder::new(fs::File::open(&file).unwrap()).read_info();
    let mut reader = reader.unwrap();
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (1000, 640, png::ColorType::Rgb));
    let colours: std::collections::HashSet<&[u8]> = pixels.chunks(3).collect();
    assert!(colours.contains(&[255, 255, 255][..]) && colours.contains(&[0x33, 0x22, 0x88][..]));
}

#[test]
fn an_atlas_is_a_table_too() {
    let table =
        rustcoll(&format!("atlas barrier {HOCKNEY} --ranks 2..9 --algorithms ring,dissemination")).right();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("ranks,bytes,fastest,ring,dissemination"));
    assert!(lines.next().unwrap().starts_with("2,0,"));
    assert!(lines.clone().skip(1).all(|line| line.contains(",0,dissemination,")), "{table}");
    assert_eq!(lines.count(), 7);
}

#[test]
#[ignore = "takes a minute, and needs the processors for itself"]
fn an_atlas_of_allreduce_up_to_1024_ranks_and_16_mib_is_drawn_within_a_minute() {
    for machine in ["emulated", "cray-xc40-aries"] {
        let file = folder("large").join("atlas.svg");
        let start = Instant::now();
        let line = format!(
            "atlas allreduce --machine machines/{machine}.toml --ranks 2..1024 --bytes 8..16MiB -o {}",
            file.display()
        );
        rustcoll(&line).right();
        assert!(start.elapsed() < Duration::from_secs(60), "{machine}: {:?}", start.elapsed());
    }
}

#[test]
#[ignore = "takes minutes"]
fn rules_of_all_collectives_are_derived() {
    let file = folder("derived-all").join("rules.toml");
    let file = file.display();
    rustcoll(&format!("rules derive {EMULATED} -o {file}")).right();
    let summary = rustcoll(&format!("rules check {file}")).right();
    for collective in ["allgather", "allreduce", "alltoall", "bcast", "reduce", "scatter"] {
        assert!(summary.contains(collective), "{summary}");
    }
}

#[test]
fn derived_rules_are_right_and_decide() {
    let file = folder("derived").join("rules.toml");
    let file = file.display();
    let line =
        format!("rules derive {EMULATED} {SMALL} --collective allreduce --collective alltoall -o {file}");
    assert_eq!(rustcoll(&line).right(), "");
    let summary = rustcoll(&format!("rules check {file}")).right();
    assert!(summary.contains("allreduce") && summary.contains("alltoall"), "{summary}");
    let text = fs::read_to_string(file.to_string()).unwrap();
    let rules = text.matches("\n[[").count();
    assert!(
        text.starts_with(&format!("# {rules} rules derived from predictions for machines/emulated.toml by")),
        "{text}"
    );
    assert_eq!(text.matches("\n# at most ").count(), rules);
    let explained =
        rustcoll(&format!("rules explain {file} --collective allreduce --ranks 8 --bytes 64KiB")).right();
    let predicted =
        rustcoll(&format!("predict allreduce --ranks 8 --bytes 64KiB {EMULATED} --rules {file}")).right();
    let marked = predicted.lines().find(|line| line.ends_with("chosen by the rules")).unwrap();
    let chosen = marked.split("  ").next().unwrap();
    assert_eq!(explained.lines().last(), Some(format!("{chosen} serves it").as_str()));
}

#[test]
fn derived_rules_lose_no_more_than_their_regret_and_others_may() {
    let file = folder("regret").join("rules.toml");
    let file = file.display();
    let grid = format!("{EMULATED} {SMALL} --collective bcast");
    rustcoll(&format!("rules derive {grid} --regret 10% -o {file}")).right();
    let table = rustcoll(&format!("rules regret {file} {grid} --limit 10% --worst 2")).right();
    let mut lines = table.lines();
    assert_eq!(lines.next().unwrap().split_whitespace().last(), Some("fastest"));
    assert!(lines.next().unwrap().starts_with("bcast "), "{table}");
    assert_eq!(lines.count(), 2);
    let always_linear = folder("regret").join("linear.toml");
    fs::write(&always_linear, "[[bcast]]\nalgorithm = \"linear\"\n").unwrap();
    let table = rustcoll(&format!("rules regret {} {grid} --limit 10%", always_linear.display())).wrong();
    assert!(table.contains("linear"), "{table}");
    let always_below = folder("regret").join("below.toml");
    fs::write(&always_below, "[[bcast]]\nalgorithm = \"below\"\n").unwrap();
    let table = rustcoll(&format!("rules regret {} {grid} --limit 10%", always_below.display())).wrong();
    assert!(table.contains("mean of 0 points"), "{table}");
}

#[test]
fn derived_rules_choose_shared_memory_on_full_nodes_and_messages_elsewhere() {
    let file = folder("derived_for_nodes").join("rules.toml");
    let file = file.display();
    let grid =
        "--machine infiniband-edr --ranks-per-node 4 --ranks 2..16 --bytes 8..1MiB --collective allreduce";
    rustcoll(&format!("rules derive {grid} -o {file}")).right();
    rustcoll(&format!("rules regret {file} {grid} --limit 6%")).right();
    let explained = |nodes: &str| {
        let call = "--collective allreduce --ranks 16 --bytes 8";
        rustcoll(&format!("rules explain {file} {call} {nodes}")).right().lines().last().unwrap().to_owned()
    };
    assert!(explained("--nodes 4 --ranks-per-node 4").starts_with("shared"));
    for other in ["--nodes 16 --ranks-per-node 1", "--nodes 4 --ranks-per-node 4 --no-shared-memory", ""] {
        assert!(!explained(other).starts_with("shared"), "{other}: {}", explained(other));
    }
}

#[test]
fn mock_ups_cost_what_they_call_and_have_no_price_of_their_own() {
    let no_price = "bcast_as_allgatherv: it has no price of its own";
    let file = folder("priced_mock_ups").join("rules.toml");
    fs::write(&file, "[[bcast]]\nalgorithm = \"bcast_as_allgatherv\"\n").unwrap();
    let file = file.display();
    let table = rustcoll(&format!("rules regret {file} {EMULATED} {SMALL} --collective bcast")).right();
    assert!(table.contains("mean of 0 points"), "{table}");
    let table = rustcoll(&format!("predict bcast --bytes 8 --ranks 4 {EMULATED} --rules {file}")).right();
    assert!(table.lines().last().unwrap().starts_with(&format!("the rules choose {no_price}")), "{table}");
    let row = "collective,algorithm,ranks,bytes,microseconds\nbcast,bcast_as_allgatherv,4,8,1\n";
    for line in [&format!("validate - {EMULATED}"), "fit -"] {
        let message = rustcoll_reading(line, row).refused(1);
        assert!(message.contains(&format!("the standard input:2: bcast {no_price}")), "{message}");
    }
}

#[test]
fn predictions_for_the_emulated_cluster_are_within_15_percent_for_80_percent_of_the_points() {
    let line = format!("validate {MEASURED} {EMULATED} --ranks 3..16 --within 15% --share 80%");
    let table = rustcoll(&line).right();
    assert_eq!(table.lines().take_while(|line| !line.is_empty()).count(), 1 + 63, "{table}");
    let head: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["collective", "algorithm", "ranks", "bytes", "measured/us", "predicted/us", "error"]);
}

#[test]
fn predictions_that_are_too_bad_end_with_1() {
    let text = rustcoll(&format!("validate {MEASURED} {EMULATED} --share 99%")).wrong();
    assert!(text.contains(" of 77 predictions are within 15 %"), "{text}");
    rustcoll(&format!("validate {MEASURED} {EMULATED}")).right();
    let message = rustcoll(&format!("validate {MEASURED} {EMULATED} --ranks 500")).refused(2);
    assert!(message.contains("there are no measured times of these numbers of ranks"), "{message}");
}

/// The errors are 1 to 7 %. Six of seven predictions are fewer than nine of ten.
#[test]
fn as_many_predictions_as_are_told_are_within_an_error() {
    let row = |percent: u32| format!("bcast,linear,2,8,{}\n", 100.0 / (1.0 + f64::from(percent) / 100.0));
    let rows: String = (1..=7).map(row).collect();
    let text =
        rustcoll_reading("validate - --machine hockney:1e-4,0,0 --within 7%", &format!("{COLUMNS}{rows}"))
            .right();
    let told = " of 7 predictions are within 7 %; half of them within 4.0 %, nine of ten within 7.0 %, all within 7.0 %";
    assert!(text.contains(told), "{text}");
}

/// Prediction chooses the binomial tree, but the linear one was measured to be faster.
#[test]
fn choices_by_prediction_are_compared_with_what_was_measured() {
    let rows = "collective,algorithm,ranks,bytes,microseconds\nbcast,linear,16,8,40\nbcast,binomial,16,8,50\n\
                bcast,linear,16,16,10\n";
    let text = rustcoll_reading("validate - --machine hockney:1e-6,1e-6,0", rows).right();
    let row = text.lines().find(|line| line.starts_with("bcast  ") && line.contains("for linear")).unwrap();
    let words: Vec<&str> = row.split_whitespace().take(4).collect();
    assert_eq!(words, ["bcast", "1", "1.250", "1.25"], "{text}");
}

/// A choice of the rules counts only where it was measured.
#[test]
fn choices_by_rules_are_compared_with_what_was_measured() {
    let rules = folder("chosen").join("rules.toml");
    fs::write(
        &rules,
        "[[bcast]]\nbytes = \"..8\"\nalgorithm = \"binomial\"\n[[bcast]]\nalgorithm = \"chain\"\n",
    )
    .unwrap();
    let rows = "collective,algorithm,ranks,bytes,microseconds\nbcast,linear,16,8,40\nbcast,binomial,16,8,60\n\
                bcast,linear,16,16,10\nbcast,binomial,16,16,20\n";
    let line = format!("validate - --machine hockney:1e-6,1e-6,0 --rules {}", rules.display());
    let text = rustcoll_reading(&line, rows).right();
    let (_, by_rules) = text.split_once("What it chooses was measured for 1 call of 2:").unwrap();
    let row = by_rules.lines().find(|line| line.starts_with("bcast ")).unwrap();
    assert!(row.contains("1.500") && row.contains("binomial for linear"), "{text}");
    let message =
        rustcoll_reading("validate - --machine hockney:1,1,1 --rules nothing.toml", rows).refused(1);
    assert!(message.contains("nothing.toml"), "{message}");
}

#[test]
fn times_under_names_that_are_not_known_here_are_passed_over() {
    let rows = "collective,algorithm,ranks,bytes,microseconds,published_as\nbcast,linear,2,8,9,linear_over\n\
                bcast,,2,8,9,other_tree\n";
    let line = "validate - --machine hockney:1e-6,1e-6,0";
    let text = rustcoll_reading(line, rows).right();
    assert!(text.contains(" of 1 prediction "), "{text}");
    let faulty = rows.replace(",other_tree", ",");
    let message = rustcoll_reading(line, &faulty).refused(1);
    assert!(message.contains("the standard input:3: unknown bcast algorithm ``"), "{message}");
}

#[test]
fn predictions_are_drawn_in_a_panel_for_each_collective_with_a_point_for_each_time() {
    let rows = "collective,algorithm,ranks,bytes,microseconds\nbcast,linear,16,8,40\nbcast,binomial,16,8,50\n\
                bcast,linear,16,16,10\nbarrier,ring,4,0,30\nbarrier,ring,1,0,1\n";
    let file = folder("plot").join("plot.svg");
    let line = format!("validate - {HOCKNEY} --within 40% --plot {}", file.display());
    rustcoll_reading(&line, rows).right();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"), "{text}");
    for title in ["hockney:1e-5,1e-9,1e-10: 5 times", "barrier", "bcast"] {
        assert_eq!(text.lines().filter(|line| line.trim() == title).count(), 1, "{title}: {text}");
    }
    let points = |group: &str| group.matches("<circle ").count();
    let of_each: Vec<(&str, usize)> = text
        .split("<title>")
        .skip(1)
        .map(|group| (group.split_once('<').unwrap().0, points(group)))
        .collect();
    assert_eq!(of_each, [("ring", 2), ("binomial", 1), ("linear", 2)]);
    assert_eq!(points(&text), 5);
}

#[test]
fn a_plot_that_cannot_be_written_is_refused() {
    let line = format!("validate {MEASURED} {EMULATED} --plot");
    let message = rustcoll(&format!("{line} plot.png")).refused(2);
    assert!(message.contains("--plot plot.png: the name does not end in .svg"), "{message}");
    let run = rustcoll(&format!("{line} {}/missing/plot.svg", folder("unwritten").display()));
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("missing/plot.svg: cannot be written"), "{}", run.errors);
    assert!(run.output.contains(" of 77 predictions are within 15 %"), "{}", run.output);
}

/// With times that are means over the ranks, and with nodes whose groups are not consecutive.
#[test]
fn a_time_may_be_a_mean_and_nodes_may_be_placed() {
    let folder = folder("placed");
    let (machine, nodes) = (folder.join("machine.toml"), folder.join("nodes.csv"));
    let text = "[between]\nlatency = \"10us\"\nbandwidth = \"1GB/s\"\ngroup_latency = \"90us\"\n[groups]\nnodes = 2\n";
    fs::write(&machine, text).unwrap();
    fs::write(&nodes, "run,node,group\na,0,7\na,1,8\n").unwrap();
    let rows = "collective,algorithm,ranks,bytes,microseconds,run,time\nbcast,linear,2,1,10,a,slowest\n\
                bcast,linear,2,1,10,b,slowest\nbcast,linear,2,1,10,b,mean\n";
    let line = format!("validate - --machine {} --placement {}", machine.display(), nodes.display());
    let text = rustcoll_reading(&line, rows).right();
    let predicted: Vec<&str> =
        text.lines().skip(1).take(3).map(|line| line.split_whitespace().nth(5).unwrap()).collect();
    assert_eq!(predicted, ["100.0", "10.0", "5.0"], "{text}");
    let message = rustcoll_reading(&line, &rows.replace("mean", "meen")).refused(1);
    assert!(message.contains("unknown time `meen`; the nearest known one is `mean`"), "{message}");
    fs::write(&nodes, "run,node\n").unwrap();
    let message = rustcoll_reading(&line, rows).refused(1);
    assert!(message.contains("nodes.csv:1: the column `group` is missing"), "{message}");
}

#[test]
fn measured_times_with_a_fault_are_refused_with_its_place() {
    let line = format!("validate - {EMULATED}");
    let run =
        rustcoll_reading(&line, "collective,algorithm,ranks,bytes,microseconds\nbcast,linear,2,8,fast\n");
    let message = run.refused(1);
    assert!(
        message.contains("the standard input:2: microseconds: `fast` is not a number above 0"),
        "{message}"
    );
}

#[test]
fn what_is_fitted_is_a_machine_that_predicts_what_was_measured() {
    let file = folder("fit").join("machine.toml");
    let report = rustcoll(&format!("fit {MEASURED} --one-of 4 -o {}", file.display())).right();
    let summary = |what: &str| report.lines().any(|line| line.starts_with(what));
    assert!(summary("Fitted: ") && summary("Held out: "), "{report}");
    let line =
        format!("validate {MEASURED} --machine {} --ranks 3..16 --within 15% --share 80%", file.display());
    rustcoll(&line).right();
}

const COLUMNS: &str = "collective,algorithm,ranks,bytes,microseconds\n";

#[test]
fn times_that_contradict_each_other_determine_nothing() {
    let rows = "bcast,binomial,2,8,10\nbcast,binomial,2,8,1000\n";
    let report = rustcoll_reading("fit -", &format!("{COLUMNS}{rows}")).right();
    let told =
        "lines 2 and 3 contradict each other: 10.0 and 1000.0 us for bcast binomial on 2 ranks, 8 bytes\n";
    assert!(report.contains(told), "{report}");
    let (_, parameters) = report.split_once("may be wrong by").unwrap();
    assert!(parameters.trim_start().starts_with("not determined by these times: "), "{report}");
}

/// Returns the end of a report: the machine's file, without the comment above it.
fn machine_in(report: &str) -> &str {
    report.split_once("not looked at.\n").unwrap().1
}

#[test]
fn calls_that_do_nothing_are_not_fitted() {
    let measured =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(MEASURED)).unwrap();
    let expected = rustcoll_reading("fit -", &measured).right();
    let columns = measured.lines().find(|line| line.starts_with("collective")).unwrap();
    let row = columns.split(',').map(|column| match column {
        "collective" => "bcast",
        "algorithm" => "binomial",
        "ranks" | "ranks_per_node" => "1",
        "bytes" => "8",
        "microseconds" => "0.1",
        _ => "",
    });
    let row = row.collect::<Vec<_>>().join(",");
    let report = rustcoll_reading("fit -", &format!("{measured}{row}\n")).right();
    let reason =
        "not looked at, because they are predicted to take no time: 1 row of bcast binomial on 1 ranks";
    let named = format!("{reason} (line {})\n", measured.lines().count() + 1);
    assert!(report.contains(&named), "{report}");
    assert_eq!(machine_in(&report), machine_in(&expected));
    let only_idle = rustcoll_reading("fit -", &format!("{columns}\n{row}\n")).refused(1);
    assert_eq!(only_idle, format!("rustcoll: the standard input: no row can be fitted\n{reason} (line 2)\n"));
}

/// On the emulated cluster, each rank has a host of its own, and no rank copies from another's memory.
#[test]
fn calls_without_a_price_are_left_out_and_told_with_their_lines() {
    let columns = COLUMNS.replace('\n', ",ranks_per_node\n");
    let others = "bcast,binomial,8,1024,3000,1\nbcast,binomial,8,65536,20000,1\n";
    for (row, calls, reason) in [
        (
            "bcast,shared,8,1024,3.1,",
            "bcast shared on 8 ranks",
            "the ranks are not all known to be on one node",
        ),
        (
            "allgather,single_copy,8,1024,3.1,8",
            "allgather single_copy on 8 ranks",
            "the ranks of a node cannot copy from each other's own memory",
        ),
    ] {
        let told = format!(
            "not looked at, because the algorithm has no price here (it cannot serve this: {reason}): 1 row of {calls} (line 2)\n"
        );
        for command in [format!("validate - {EMULATED}"), format!("fit - {EMULATED}")] {
            let report = rustcoll_reading(&command, &format!("{columns}{row}\n{others}")).right();
            assert!(report.contains(&told), "{command}: {report}");
            assert!(report.contains(" of 2 predictions are within "), "{command}: {report}");
            let message = rustcoll_reading(&command, &format!("{columns}{row}\n")).refused(1);
            assert!(message.ends_with(&told), "{command}: {message}");
        }
    }
}

#[test]
fn a_fit_to_no_cell_is_refused() {
    let rows: String =
        (0..25).map(|number| format!("bcast,linear,2,{},{}\n", 8 + number, 9 + number)).collect();
    let message = rustcoll_reading("fit - --one-of 8", &format!("{COLUMNS}{rows}")).refused(2);
    let expected = "--one-of 8: that chooses none of 25 cells; the next lower number that chooses one is ";
    assert!(message.contains(expected), "{message}");
    let lower = message.split(expected).nth(1).unwrap().trim();
    rustcoll_reading(&format!("fit - --one-of {lower}"), &format!("{COLUMNS}{rows}")).right();
}

#[test]
fn an_atlas_is_empty_where_nothing_has_a_price() {
    let line =
        "atlas bcast --machine leonardo --ranks-per-node 4 --algorithms shared --ranks 4..8 --bytes 8..8";
    let table = rustcoll(line).right();
    let fastest = |ranks: &str| {
        let row = table.lines().find(|line| line.starts_with(ranks)).unwrap();
        row.split(',').nth(2).unwrap()
    };
    assert_eq!([fastest("4,"), fastest("8,")], ["shared", ""], "{table}");
    let file = folder("white").join("atlas.svg");
    let cells = |ranks: &str| {
        let line = line.replace("4..8", ranks);
        rustcoll(&format!("{line} -o {}", file.display())).right();
        fs::read_to_string(&file).unwrap().matches("<rect").count()
    };
    assert_eq!(cells("4..8"), cells("4..4"));
}

#[test]
fn options_without_effect_are_refused() {
    let on = "predict bcast --ranks 8 --bytes 8 --machine emulated --algorithms linear,binomial";
    for (option, refused) in [("--radix 4", "--radix"), ("--sweep-radix", "--sweep-radix")] {
        let message = rustcoll(&format!("{on} {option}")).refused(2);
        assert!(message.contains(&format!("{refused}: has no effect on linear, binomial")), "{message}");
    }
    let message = rustcoll("predict barrier --ranks 8 --machine emulated --segment 8").refused(2);
    assert!(message.contains("--segment: has no effect on "), "{message}");
    let nodes = "machines/measured/leonardo-nodes.csv";
    for command in [format!("validate {MEASURED} {EMULATED}"), format!("fit {MEASURED}")] {
        let message = rustcoll(&format!("{command} --placement {nodes}")).refused(2);
        let expected = format!("--placement {nodes}: has no effect on a machine without `[groups]`");
        assert!(message.contains(&expected), "{message}");
    }
}

/// Over shared memory, segments change no schedule, but how often it runs.
#[test]
fn a_choice_of_rules_is_known_by_its_segments_too() {
    let rules = folder("chosen_segments").join("rules.toml");
    fs::write(&rules, "[[bcast]]\nalgorithm = \"shared\"\nsegment = \"16KiB\"\n").unwrap();
    let rows = "collective,algorithm,ranks,bytes,microseconds,segment\nbcast,shared,4,1048576,100,1048576\n\
                bcast,shared,4,1048576,300,16384\n";
    let line = format!("validate - --machine infiniband-edr --ranks-per-node 4 --rules {}", rules.display());
    let text = rustcoll_reading(&line, rows).right();
    let (_, by_rules) = text.split_once("What it chooses was measured for 1 call of 1:").unwrap();
    assert!(by_rules.contains("shared, segment 16384 for shared, segment 1048576"), "{text}");
}

#[test]
fn the_regret_of_barriers_and_of_choices_without_a_price_is_told() {
    let grid = "--machine hockney:1e-5,1e-9,1e-10 --ranks 2..3 --bytes 8..8";
    let table = rustcoll(&format!("rules regret {grid}")).right();
    assert!(table.lines().any(|line| line.starts_with("barrier ")), "{table}");
    let file = folder("regret_elsewhere").join("rules.toml");
    fs::write(&file, "[[bcast]]\nranks = \"3\"\nalgorithm = \"below\"\n").unwrap();
    let table = rustcoll(&format!("rules regret {} {grid} --collective bcast", file.display())).right();
    let expected = "mean of 1 points; 1 more are left to the component below or to mock-ups";
    assert!(table.contains(expected), "{table}");
}
