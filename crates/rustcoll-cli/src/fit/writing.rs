//! Writes a machine's file.

use rustcoll::cost::{ByteTime, Link, Machine, Port, Processor, Shared};
use std::fmt::Write;

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
    for (name, link, beyond, own_port, of) in levels.into_iter().take(if *ranks_per_node > 1 { 2 } else { 1 })
    {
        text += &format!("[{name}]\n{}\n", link_lines(link, own_port));
        for (number, link) in beyond {
            text += &format!("[[{name}.beyond]]\n{of} = {number}\n{}\n", link_lines(link, own_port));
        }
    }
    if let Some(shared) = shared {
        text += &format!("[shared]\n{}\n", shared_lines(shared));
    }
    if *processor != Processor::default() {
        text += &format!("[processor]\n{}\n", processor_lines(processor));
    }
    for (ranks, processor) in &beyond.processor {
        text += &format!("[[processor.beyond]]\nranks = {ranks}\n{}\n", processor_lines(processor));
    }
    if let Some(groups) = groups {
        text += &format!("[groups]\nnodes = {}\n", groups.nodes);
    }
    text.trim_end().to_owned() + "\n"
}

fn shared_lines(shared: &Shared) -> String {
    let mut text = time("latency", shared.latency);
    if shared.overhead > 0.0 {
        text += &time("overhead", shared.overhead);
    }
    text += &bandwidth("bandwidth", shared.byte_time);
    if let Some(single_copy_time) = shared.single_copy_time {
        text += &bandwidth("single_copy_bandwidth", single_copy_time);
    }
    text
}

fn link_lines(link: &Link, own_port: Port) -> String {
    let mut text = time("latency", link.latency);
    if link.group_latency > 0.0 {
        text += &time("group_latency", link.group_latency);
    }
    if link.overhead > 0.0 {
        text += &time("overhead", link.overhead);
    }
    if link.gap > 0.0 {
        text += &time("gap", link.gap);
    }
    text += &bandwidth("bandwidth", link.byte_time);
    if !link.node_byte_time.is_none() {
        text += &bandwidth("node_bandwidth", link.node_byte_time);
    }
    if link.eager_limit < usize::MAX {
        text += &format!("eager_limit = {}\n", link.eager_limit);
    }
    if link.packet < usize::MAX {
        text += &format!("packet = {}\n", link.packet);
    }
    if link.port != own_port {
        text += match link.port {
            Port::Rank => "port = \"rank\"\n",
            Port::Node => "port = \"node\"\n",
            Port::Receiver => "port = \"receiver\"\n",
        };
    }
    text
}

fn processor_lines(processor: &Processor) -> String {
    let kept = (processor.kept < usize::MAX).then(|| format!("kept = {}\n", processor.kept));
    [
        ("reduce_bandwidth", processor.reduce_time),
        ("copy_bandwidth", processor.copy_time),
        ("fresh_bandwidth", processor.fresh_time),
    ]
    .into_iter()
    .filter(|(_, time)| !time.is_none())
    .map(|(name, time)| bandwidth(name, time))
    .chain(kept)
    .collect()
}

fn time(name: &str, seconds: f64) -> String {
    format!("{name} = \"{:.3}us\"\n", 1e6 * seconds)
}

fn bandwidth(name: &str, time: ByteTime) -> String {
    // Three decimals of a megabyte say nothing of a slow one.
    let in_units = |seconds: f64| match seconds < 1e-6 {
        true => format!("\"{:.3}MB/s\"", 1e-6 / seconds),
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
