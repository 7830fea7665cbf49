//! `rustcoll predict`

use crate::atlas::one_group_algorithms;
use crate::command_line::{PredictOptions, TableFormat};
use crate::failure::{Failure, Outcome};
use crate::problem::described_problem;
use crate::progress::Progress;
use crate::rules::{choice, in_order};
use crate::table;
use rustcoll::algorithms::description::Description;
use rustcoll::algorithms::{Algorithm, Collective, Graph, Parameter, Problem};
use rustcoll::atlas::{Candidate, Price, priceable, prices};
use rustcoll::cost::simulation::SimulationError;
use rustcoll::cost::{Machine, Prediction};
use rustcoll::selection::{Call, Choice, Measure, Neighbourhood, Parameters};
use serde_json::{Value, json};
use std::io::{self, Write};

const HEAD: [&str; 11] = [
    "algorithm",
    "time/us",
    "ratio",
    "waits",
    "messages within",
    "between nodes",
    "bytes within",
    "between nodes",
    "flags awaited",
    "bytes in slots",
    "",
];

/// Prints what the algorithms of a collective cost.
pub fn run(options: &PredictOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let machine = options.machine.read()?;
    let collective = options.collective;
    let graph = neighbours(options)?;
    let bytes = bytes(options)?;
    let chosen = chosen(options, &machine, bytes, &graph)?;
    let mut candidates = candidates(options)?;
    if let Some(Choice::Use { algorithm, parameters }) = chosen
        && !algorithm.is_mock_up()
        && !candidates.iter().any(|candidate| is_chosen(candidate, chosen))
    {
        candidates.push(Candidate { collective, algorithm, parameters });
    }
    let progress = Progress::new(collective.name());
    let on = Problem { graph, ..Problem::new(options.ranks) };
    let prices = prices(&candidates, &machine, &on, bytes, |part| progress.show(part))
        .map_err(|error| Failure::Input(error.to_string()))?;
    drop(progress);
    let rows = Row::of(&prices, chosen);
    match options.format {
        TableFormat::Text => as_text(&rows, output)?,
        TableFormat::Json => writeln!(output, "{:#}", as_json(&rows, chosen))?,
        TableFormat::Csv => as_csv(&rows, output)?,
    }
    match (chosen, options.format) {
        (Some(Choice::Below), TableFormat::Text) => {
            writeln!(output, "the rules leave it to the component below")?;
        }
        (Some(Choice::Use { algorithm, .. }), TableFormat::Text) if algorithm.is_mock_up() => {
            writeln!(output, "the rules choose {}: {}", algorithm.name, SimulationError::CostsWhatItCalls)?;
        }
        _ => {}
    }
    Ok(Outcome::Right)
}

/// Returns the neighbours of a neighbourhood collective.
fn neighbours(options: &PredictOptions) -> Result<Graph, Failure> {
    let PredictOptions { collective, ranks, ref grid, periodic, corners, .. } = *options;
    if grid.is_none() {
        return priced(collective).map(|_| Graph::default());
    }
    let description = Description { ranks, grid: grid.clone(), periodic, corners, ..Description::default() };
    let algorithm = collective.scheduled().next().expect("every collective has an algorithm with schedules");
    Ok(described_problem(algorithm, &description)?.graph)
}

/// Fails for collectives whose price depends on who the neighbours are.
pub fn priced(collective: Collective) -> Result<Collective, Failure> {
    priceable(collective).map_err(Failure::Usage)
}

fn bytes(options: &PredictOptions) -> Result<usize, Failure> {
    let name = options.collective.name();
    match options.bytes {
        Some(_) if options.collective == Collective::Barrier => {
            Err(Failure::Usage("--bytes: a barrier has none".into()))
        }
        None if options.collective != Collective::Barrier => {
            let measure = match Measure::of(options.collective) {
                Measure::Nothing => "each block, all of one length",
                measure => measure.description(),
            };
            Err(Failure::Usage(format!("--bytes is missing: for {name} those of {measure}")))
        }
        bytes => Ok(bytes.unwrap_or(0)),
    }
}

fn candidates(options: &PredictOptions) -> Result<Vec<Candidate>, Failure> {
    let radices: Vec<usize> = match options.sweep_radix {
        true => (2..=options.ranks.max(2)).collect(),
        false => options.radix.iter().map(|&radix| (radix as usize).min(options.ranks.max(2))).collect(),
    };
    let algorithms = one_group_algorithms(options.collective, &options.algorithms)?;
    check_parameters(options, &algorithms)?;
    let of = |algorithm: &'static Algorithm| {
        let mut all = vec![Parameters::default()];
        for (parameter, values) in [(Parameter::Radix, &radices), (Parameter::Segment, &options.segment)] {
            if algorithm.parameters.contains(&parameter) && !values.is_empty() {
                let with =
                    |others: Parameters| values.iter().map(move |&value| others.with(parameter, value));
                all = all.into_iter().flat_map(with).collect();
            }
        }
        let collective = options.collective;
        all.into_iter().map(move |parameters| Candidate { collective, algorithm, parameters })
    };
    Ok(algorithms.into_iter().flat_map(of).collect())
}

/// Fails if a parameter is given that none of the algorithms takes.
fn check_parameters(options: &PredictOptions, algorithms: &[&Algorithm]) -> Result<(), Failure> {
    for (option, is_given, parameter) in [
        ("--radix", !options.radix.is_empty(), Parameter::Radix),
        ("--sweep-radix", options.sweep_radix, Parameter::Radix),
        ("--segment", !options.segment.is_empty(), Parameter::Segment),
    ] {
        if is_given && !algorithms.iter().any(|algorithm| algorithm.parameters.contains(&parameter)) {
            let names: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.name).collect();
            let all = options.collective.algorithms();
            let taking = all.filter(|algorithm| algorithm.parameters.contains(&parameter));
            let taking: Vec<&str> = taking.map(|algorithm| algorithm.name).collect();
            let right = match taking.is_empty() {
                true => format!("no algorithm of {} takes it", options.collective.name()),
                false => format!("algorithms that take it: {}", taking.join(", ")),
            };
            let names = names.join(", ");
            return Err(Failure::Usage(format!("{option}: has no effect on {names}; {right}")));
        }
    }
    Ok(())
}

/// Returns the choice of the rules; none if the user names no rules.
fn chosen(
    options: &PredictOptions,
    machine: &Machine,
    bytes: usize,
    graph: &Graph,
) -> Result<Option<Choice>, Failure> {
    let Some(file) = &options.rules else { return Ok(None) };
    // Ranks look for a stencil only where there are neighbours at corners.
    let stencil = graph.stencil().filter(|_| options.corners);
    let neighbourhood = stencil.map(Neighbourhood::from);
    let call = Call { neighbourhood, ..call_on(machine, options.collective, options.ranks, bytes) };
    Ok(Some(in_order([file.as_path()].into_iter())?.choose(&call)))
}

/// Returns what rules know of a call on a machine, with one of MPI's own operators and root 0.
pub fn call_on(machine: &Machine, collective: Collective, size: usize, bytes: usize) -> Call {
    Call {
        root: collective.is_rooted().then_some(0),
        predefined: Some(true),
        copies_singly: machine.shared().single_copy_time.is_some(),
        nodes: Some(size.div_ceil(machine.ranks_per_node)),
        ranks_per_node: Some(machine.ranks_per_node.min(size)),
        goes_by_tcp: machine.tcp,
        ..Call::new(collective, size, bytes)
    }
}

fn is_chosen(candidate: &Candidate, chosen: Option<Choice>) -> bool {
    let Candidate { algorithm, parameters, .. } = *candidate;
    chosen == Some(Choice::Use { algorithm, parameters })
}

/// A row of the table.
struct Row<'prices> {
    candidate: Candidate,
    prediction: Result<&'prices Prediction, &'prices SimulationError>,
    /// Its time divided by the time of the fastest.
    ratio: f64,
    is_chosen: bool,
}

impl Row<'_> {
    fn of(prices: &[Price], chosen: Option<Choice>) -> Vec<Row<'_>> {
        let best = prices.first().map_or(0.0, Price::time);
        let row = |price: &'_ Price| {
            let ratio = if price.time() == best { 1.0 } else { price.time() / best };
            let is_chosen = is_chosen(&price.candidate, chosen);
            (price.candidate, ratio, is_chosen)
        };
        prices
            .iter()
            .map(|price| {
                let (candidate, ratio, is_chosen) = row(price);
                Row { candidate, prediction: price.prediction.as_ref(), ratio, is_chosen }
            })
            .collect()
    }
}

/// Returns the numbers of a prediction for printing: waits, messages and bytes, flags and bytes in shared memory.
fn numbers(prediction: &Prediction) -> [String; 7] {
    let Prediction { rounds, within, between, shared, .. } = prediction;
    [
        rounds.len().to_string(),
        within.messages.to_string(),
        between.messages.to_string(),
        format!("{:.0}", within.bytes),
        format!("{:.0}", between.bytes),
        shared.messages.to_string(),
        format!("{:.0}", shared.bytes),
    ]
}

fn as_text(rows: &[Row], output: &mut impl Write) -> io::Result<()> {
    let mut lines: Vec<[String; 11]> = Vec::new();
    for row in rows {
        let name = row.candidate.to_string();
        let mark = if row.is_chosen { "chosen by the rules" } else { "" }.to_owned();
        let Ok(prediction) = row.prediction else { continue };
        let [waits, messages_within, messages_between, bytes_within, bytes_between, flags, slots] =
            numbers(prediction);
        lines.push([
            name,
            format!("{:.2}", 1e6 * prediction.time()),
            format!("{:.2}", row.ratio),
            waits,
            messages_within,
            messages_between,
            bytes_within,
            bytes_between,
            flags,
            slots,
            mark,
        ]);
    }
    table::write(HEAD, &lines, output)?;
    for row in rows {
        match row.prediction {
            Err(SimulationError::DoesNotServe(reason)) => {
                writeln!(output, "{} cannot serve this: {reason}", row.candidate)?;
            }
            Err(error) => writeln!(output, "{} has no price: {error}", row.candidate)?,
            Ok(_) => {}
        }
    }
    Ok(())
}

fn as_csv(rows: &[Row], output: &mut impl Write) -> io::Result<()> {
    writeln!(
        output,
        "algorithm,radix,segment,microseconds,ratio,waits,messages_within,messages_between,bytes_within,bytes_between,flags_awaited,bytes_in_slots,chosen"
    )?;
    for row in rows {
        let Ok(prediction) = row.prediction else { continue };
        let given = |parameter| row.candidate.parameters.get(parameter).map(|value| value.to_string());
        writeln!(
            output,
            "{},{},{},{},{},{},{}",
            row.candidate.algorithm.name,
            given(Parameter::Radix).unwrap_or_default(),
            given(Parameter::Segment).unwrap_or_default(),
            1e6 * prediction.time(),
            row.ratio,
            numbers(prediction).join(","),
            row.is_chosen
        )?;
    }
    Ok(())
}

fn as_json(rows: &[Row], chosen: Option<Choice>) -> Value {
    let row = |row: &Row| match row.prediction {
        Err(SimulationError::DoesNotServe(reason)) => {
            json!({ "algorithm": row.candidate.algorithm.name, "refused": reason.to_string() })
        }
        Err(error) => json!({ "algorithm": row.candidate.algorithm.name, "refused": error.to_string() }),
        Ok(prediction) => json!({
            "algorithm": row.candidate.algorithm.name,
            "parameters": choice::as_json(row.candidate.parameters),
            "microseconds": 1e6 * prediction.time(),
            "ratio": row.ratio,
            "waits": prediction.rounds.len(),
            "within": { "messages": prediction.within.messages, "bytes": prediction.within.bytes },
            "between": { "messages": prediction.between.messages, "bytes": prediction.between.bytes },
            "shared": { "flags": prediction.shared.messages, "bytes": prediction.shared.bytes },
            "chosen": row.is_chosen,
        }),
    };
    json!({
        "algorithms": rows.iter().map(row).collect::<Vec<Value>>(),
        "rules": chosen.map(choice::name),
    })
}
