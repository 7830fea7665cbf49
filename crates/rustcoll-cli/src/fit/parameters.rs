//! What is to be found: positive numbers that make a machine.

use crate::measured::Row;
use rustcoll::cost::{Link, Machine, Port, Processor};
use std::fmt::Write;

/// The numbers of a machine, none of them 0; those that are left out are 0.
#[derive(Clone, Debug)]
pub struct Parameters {
    ranks_per_node: usize,
    /// Of messages between nodes, and within them if that is another matter.
    links: Vec<[Option<f64>; 3]>,
    /// Times for each byte that is reduced and copied.
    processor: [Option<f64>; 2],
}

/// Guesses from which the search begins, besides latency and bandwidth: part of the latency, and of the time for a byte.
const OVERHEAD: f64 = 0.05;
const WORK: f64 = 0.02;

impl Parameters {
    /// A first guess: what is fast with few ranks and few bytes is latency, what is slow with many bytes is bandwidth.
    pub fn guessed(rows: &[Row]) -> Parameters {
        let ranks_per_node = rows.iter().filter_map(|row| row.ranks_per_node).max().unwrap_or(1);
        let fewest = rows.iter().map(|row| row.ranks).min().unwrap_or(2);
        let simplest = rows.iter().filter(|row| row.ranks == fewest);
        let latency = simplest.clone().map(|row| row.seconds).fold(f64::INFINITY, f64::min);
        let byte_times = simplest.filter(|row| row.bytes > 0).map(|row| row.seconds / row.bytes as f64);
        let byte_time = byte_times.fold(f64::INFINITY, f64::min).min(1.0);
        let link = [Some(latency), Some(byte_time), Some(OVERHEAD * latency)];
        let levels = if ranks_per_node > 1 { 2 } else { 1 };
        Parameters { ranks_per_node, links: vec![link; levels], processor: [Some(WORK * byte_time); 2] }
    }

    /// The machine that they make.
    pub fn machine(&self) -> Machine {
        let hockney = Machine::hockney(0.0, 0.0, 0.0);
        let link = |[latency, byte_time, overhead]: [Option<f64>; 3], link: Link| Link {
            latency: latency.unwrap_or(0.0),
            byte_time: byte_time.unwrap_or(0.0),
            overhead: overhead.unwrap_or(0.0),
            ..link
        };
        let [reduce_time, copy_time] = self.processor.map(|time| time.unwrap_or(0.0));
        Machine {
            ranks_per_node: self.ranks_per_node,
            between: link(self.links[0], hockney.between),
            within: link(self.links[self.links.len() - 1], hockney.within),
            shared: None,
            processor: Processor { reduce_time, copy_time },
        }
    }

    /// The logarithms of those that are not left out.
    pub fn logarithms(&self) -> Vec<f64> {
        self.slots().into_iter().flatten().map(f64::ln).collect()
    }

    /// The same with other values, given by their logarithms.
    pub fn at(&self, logarithms: &[f64]) -> Parameters {
        let mut values = logarithms.iter().map(|logarithm| logarithm.exp());
        let mut changed = self.clone();
        for value in changed.slots_mut().flatten() {
            *value = values.next().unwrap_or(*value);
        }
        changed
    }

    /// The positions of those that may be left out: all but latencies and bandwidths.
    pub fn optional(&self) -> impl Iterator<Item = usize> + use<> {
        let of_links = 3 * self.links.len();
        (0..of_links).filter(|position| position % 3 == 2).chain(of_links..of_links + self.processor.len())
    }

    /// The same without one.
    pub fn without(&self, position: usize) -> Parameters {
        let mut changed = self.clone();
        if let Some(slot) = changed.slots_mut().nth(position) {
            *slot = None;
        }
        changed
    }

    fn slots(&self) -> Vec<Option<f64>> {
        self.links.iter().flatten().chain(&self.processor).copied().collect()
    }

    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Option<f64>> {
        self.links.iter_mut().flatten().chain(&mut self.processor)
    }
}

/// A machine's file, as far as such parameters go.
pub fn to_toml(machine: &Machine) -> String {
    let Machine { ranks_per_node, within, between, processor, .. } = machine;
    let mut text = String::new();
    let mut add = |line: String| writeln!(text, "{line}").expect("a text takes everything");
    if *ranks_per_node > 1 {
        add(format!("ranks_per_node = {ranks_per_node}\n"));
    }
    let levels = [("between", between), ("within", within)];
    for (name, link) in levels.into_iter().take(if *ranks_per_node > 1 { 2 } else { 1 }) {
        add(format!("[{name}]"));
        add(format!("latency = \"{:.3}us\"", 1e6 * link.latency));
        add(bandwidth("bandwidth", link.byte_time));
        if link.overhead > 0.0 {
            add(format!("overhead = \"{:.3}us\"", 1e6 * link.overhead));
        }
        if link.port == Port::Rank && name == "between" {
            add("port = \"rank\"".into());
        }
        add(String::new());
    }
    if *processor != Processor::default() {
        add("[processor]".into());
    }
    for (name, time) in [("reduce_bandwidth", processor.reduce_time), ("copy_bandwidth", processor.copy_time)]
    {
        if time > 0.0 {
            add(bandwidth(name, time));
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn bandwidth(name: &str, byte_time: f64) -> String {
    format!("{name} = \"{:.3}MB/s\"", 1e-6 / byte_time)
}
