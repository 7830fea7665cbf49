//! Writes a machine's file.

use rustcoll::cost::{ByteTime, Link, Machine, Port, Processor, Shared};
use std::fmt::Write;
use std::iter;

/// Returns the text of a machine's file, with all that measured times can determine.
pub fn to_toml(machine: &Machine) -> String {
    let Machine { ranks_per_node, tcp, within, between, shared, processor, beyond, groups } = machine;
    let mut text = String::new();
    if *ranks_per_node > 1 {
        text += &format!("ranks_per_node = {ranks_per_node}\n\n");
    }
    if *tcp {
        text += "tcp = true\n\n";
    }
    let levels = [
        ("between", between, &beyond.between, Port::Node, "nodes"),
        ("within", within, &beyond.within, Port::Rank, "ranks"),
    ];
    // Nodes with one rank each have no messages within.
    for (name, link, beyond, own_port, of) in levels.into_iter().take(if *ranks_per_node > 1 { 2 } else { 1 })
    {
        text += &format!("[{name}]\n{}\n", link_lines(link, &nothing_said(own_port)));
        for (before, (number, link)) in with_those_before(link, beyond) {
            text += &format!("[[{name}.beyond]]\n{of} = {number}\n{}\n", link_lines(link, before));
        }
    }
    if let Some(shared) = shared {
        let unsaid = Shared::copying_twice(f64::NAN, ByteTime::NONE);
        text += &format!("[shared]\n{}\n", shared_lines(shared, &unsaid));
        for (before, (ranks, shared)) in with_those_before(shared, &beyond.shared) {
            text += &format!("[[shared.beyond]]\nranks = {ranks}\n{}\n", shared_lines(shared, before));
        }
    }
    let unsaid = Processor::default();
    if *processor != unsaid || !beyond.processor.is_empty() {
        text += &format!("[processor]\n{}\n", processor_lines(processor, &unsaid));
    }
    for (before, (ranks, processor)) in with_those_before(processor, &beyond.processor) {
        text += &format!("[[processor.beyond]]\nranks = {ranks}\n{}\n", processor_lines(processor, before));
    }
    if let Some(groups) = groups {
        text += &format!("[groups]\nnodes = {}\n", groups.nodes);
    }
    text.trim_end().to_owned() + "\n"
}

/// Returns the entries for more ranks or nodes, each with what it takes over if its lines say nothing else.
fn with_those_before<'machine, T>(
    first: &'machine T,
    beyond: &'machine [(usize, T)],
) -> impl Iterator<Item = (&'machine T, &'machine (usize, T))> {
    let before = iter::once(first).chain(beyond.iter().map(|(_, last)| last));
    before.zip(beyond)
}

/// Returns what holds for a link of which a file says nothing. Latency and bandwidth differ from all, as files must say them.
fn nothing_said(own_port: Port) -> Link {
    Link { port: own_port, ..Machine::hockney(f64::NAN, f64::NAN, 0.0).between }
}

/// Returns the lines of what differs from the shared memory before.
fn shared_lines(shared: &Shared, before: &Shared) -> String {
    differing(lines_of_shared(shared), lines_of_shared(before))
}

/// Returns a line for each key that shared memory can say.
fn lines_of_shared(shared: &Shared) -> [String; 5] {
    let single_copies = shared.single_copy_time.map(|time| bandwidth("single_copy_bandwidth", time));
    [
        time("latency", shared.latency),
        time("overhead", shared.overhead),
        bandwidth("bandwidth", shared.byte_time),
        bandwidth("node_bandwidth", shared.node_byte_time),
        single_copies.unwrap_or_default(),
    ]
}

/// Returns the lines of what differs from the link before.
fn link_lines(link: &Link, before: &Link) -> String {
    differing(lines_of_link(link), lines_of_link(before))
}

/// Returns a line for each key that the link can say.
fn lines_of_link(link: &Link) -> [String; 14] {
    let limit = |name, bytes| if bytes < usize::MAX { format!("{name} = {bytes}\n") } else { String::new() };
    let port = match link.port {
        Port::Rank => "rank",
        Port::Node => "node",
        Port::Receiver => "receiver",
    };
    let optional_time =
        |name, seconds: Option<f64>| seconds.map(|seconds| time(name, seconds)).unwrap_or_default();
    let byte_time = link.unidirectional_byte_time.map(ByteTime::constant);
    let unidirectional_speed = byte_time.map(|time| bandwidth("unidirectional_bandwidth", time));
    [
        time("latency", link.latency),
        time("group_latency", link.group_latency),
        time("overhead", link.overhead),
        optional_time("receive_overhead", link.receive_overhead),
        optional_time("repeated_overhead", link.repeated_overhead),
        time("gap", link.gap),
        bandwidth("bandwidth", link.byte_time),
        bandwidth("exchange_bandwidth", link.exchange_byte_time),
        bandwidth("node_bandwidth", link.node_byte_time),
        optional_time("unidirectional_latency", link.unidirectional_latency),
        unidirectional_speed.unwrap_or_default(),
        limit("eager_limit", link.eager_limit),
        limit("packet", link.packet),
        format!("port = \"{port}\"\n"),
    ]
}

/// Returns the lines of what differs from the processor before.
fn processor_lines(processor: &Processor, before: &Processor) -> String {
    differing(lines_of_processor(processor), lines_of_processor(before))
}

fn lines_of_processor(processor: &Processor) -> [String; 4] {
    let &Processor { reduce_time, copy_time, fresh_time, kept } = processor;
    [
        bandwidth("reduce_bandwidth", reduce_time),
        bandwidth("copy_bandwidth", copy_time),
        bandwidth("fresh_bandwidth", fresh_time),
        if kept < usize::MAX { format!("kept = {kept}\n") } else { String::new() },
    ]
}

/// Returns the lines that differ from those at the same places before. A file's reader takes over the others.
fn differing<const LINES: usize>(lines: [String; LINES], before: [String; LINES]) -> String {
    lines.into_iter().zip(before).filter(|(line, before)| line != before).map(|(line, _)| line).collect()
}

fn time(name: &str, seconds: f64) -> String {
    // Three decimals of a microsecond say little of a shorter time.
    match seconds < 1e-7 && seconds > 0.0 {
        true => format!("{name} = \"{:.3}ns\"\n", 1e9 * seconds),
        false => format!("{name} = \"{:.3}us\"\n", 1e6 * seconds),
    }
}

fn bandwidth(name: &str, time: ByteTime) -> String {
    // Three decimals of a megabyte say nothing of a slow one. A bandwidth of 1e12 MB/s takes no time.
    let in_units = |seconds: f64| match seconds < 1e-6 {
        true => format!("\"{:.3}MB/s\"", 1e-6 / seconds.max(1e-18)),
        false => format!("\"{:.3}B/s\"", 1.0 / seconds),
    };
    let mut line = String::new();
    match time.knots() {
        [(_, seconds)] => writeln!(line, "{name} = {}", in_units(*seconds)),
        knots => {
            let knots = knots.iter().map(|&(bytes, seconds)| format!("{bytes} = {}", in_units(seconds)));
            writeln!(line, "{name} = {{ {} }}", knots.collect::<Vec<_>>().join(", "))
        }
    }
    .expect("a text takes everything");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::cost::machine::SHIPPED;

    /// Says every key, and again in entries beyond: other values, 0, and what a table has if it says nothing.
    const EVERYTHING: &str = r#"
        ranks_per_node = 24
        tcp = true
        [between]
        latency = "2us"
        group_latency = "1us"
        bandwidth = "2GB/s"
        exchange_bandwidth = "1GB/s"
        node_bandwidth = "4GB/s"
        unidirectional_latency = "1us"
        unidirectional_bandwidth = "4GB/s"
        overhead = "3ns"
        receive_overhead = "2ns"
        repeated_overhead = "1ns"
        gap = "4us"
        eager_limit = "8KiB"
        packet = "1KiB"
        port = "rank"
        [[between.beyond]]
        nodes = 4
        latency = "0us"
        group_latency = "0us"
        unidirectional_latency = "5us"
        overhead = "0us"
        receive_overhead = "0us"
        repeated_overhead = "4ns"
        gap = "0us"
        port = "node"
        [[between.beyond]]
        nodes = 8
        gap = "7us"
        unidirectional_bandwidth = "8GB/s"
        port = "receiver"
        [within]
        latency = "1us"
        bandwidth = "4B/s"
        port = "receiver"
        [[within.beyond]]
        ranks = 8
        bandwidth = { 16 = "2B/s", 1KiB = "4B/s" }
        port = "rank"
        [groups]
        nodes = 180
        [shared]
        latency = "5us"
        overhead = "6us"
        bandwidth = "32GB/s"
        single_copy_bandwidth = "16GB/s"
        [[shared.beyond]]
        ranks = 8
        latency = "0us"
        overhead = "0us"
        [[shared.beyond]]
        ranks = 16
        bandwidth = { 16 = "2GB/s", 1KiB = "4GB/s" }
        single_copy_bandwidth = "8GB/s"
        [processor]
        reduce_bandwidth = "8GB/s"
        fresh_bandwidth = "2GB/s"
        kept = "1KiB"
        [[processor.beyond]]
        ranks = 12
        copy_bandwidth = "8GB/s"
        kept = 0
        "#;

    /// Returns the words and numbers of a machine.
    fn words(machine: &Machine) -> Vec<String> {
        let text = format!("{machine:?}");
        let words = text.split(|character: char| " ,()[]{}".contains(character));
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn is_nearly(one: &str, other: &str) -> bool {
        let numbers = [one, other].map(str::parse::<f64>);
        one == other
            || matches!(numbers, [Ok(one), Ok(other)] if (one - other).abs() <= 1e-3 * one.max(other))
    }

    #[test]
    fn a_machine_is_read_as_it_was_written() {
        let shipped = SHIPPED.iter().map(|shipped| (shipped.name, shipped.machine()));
        let everything = Machine::parse("everything", EVERYTHING).unwrap();
        for (name, machine) in shipped.chain([("everything", everything)]) {
            let text = to_toml(&machine);
            let read = Machine::parse(name, &text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
            let [expected, found] = [words(&machine), words(&read)];
            assert_eq!(expected.len(), found.len(), "{name}\n{text}");
            for (place, (expected, found)) in expected.iter().zip(&found).enumerate() {
                assert!(is_nearly(expected, found), "{name}: {found}, not {expected}, at {place}\n{text}");
            }
        }
    }
}
