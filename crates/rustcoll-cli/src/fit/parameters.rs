//! What is to be found: the numbers of a machine, all of them positive.

use rustcoll::cost::simulation::{Charge, Charged, Level};
use rustcoll::cost::{ByteTime, Link, Machine, Processor};
use std::fmt;

/// A number of a machine. The stage is 0 for what holds for few ranks, 1 for what holds beyond the first number of ranks, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// Of messages.
    Link { level: Level, stage: usize, of: OfLink },
    /// The time for a byte that is copied, at a knot.
    Copy { stage: usize, knot: usize },
    /// The same of one that is reduced.
    Reduction { stage: usize, knot: usize },
    /// The time for a byte of fresh memory.
    Fresh { stage: usize },
}

/// A number of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfLink {
    /// Latency.
    Latency,
    /// How much longer a message is under way between groups.
    GroupLatency,
    /// Overhead.
    Overhead,
    /// The time for a byte at a knot.
    ByteTime(usize),
}

/// Which of a machine's stages hold in a job.
#[derive(Clone, Copy, Debug)]
pub struct Stages {
    /// Of messages between nodes.
    pub between: usize,
    /// Of messages within a node.
    pub within: usize,
    /// Of the processor.
    pub processor: usize,
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (table, stage, what, knot) = match *self {
            Parameter::Link { level, stage, of } => {
                let table = match level {
                    Level::Between => "between",
                    Level::Within => "within",
                };
                match of {
                    OfLink::Latency => (table, stage, "latency", 0),
                    OfLink::GroupLatency => (table, stage, "group_latency", 0),
                    OfLink::Overhead => (table, stage, "overhead", 0),
                    OfLink::ByteTime(knot) => (table, stage, "bandwidth", knot),
                }
            }
            Parameter::Copy { stage, knot } => ("processor", stage, "copy_bandwidth", knot),
            Parameter::Reduction { stage, knot } => ("processor", stage, "reduce_bandwidth", knot),
            Parameter::Fresh { stage } => ("processor", stage, "fresh_bandwidth", 0),
        };
        write!(formatter, "{table}")?;
        if stage > 0 {
            write!(formatter, ".beyond[{stage}]")?;
        }
        write!(formatter, ".{what}")?;
        if knot > 0 { write!(formatter, "[{}]", knot + 1) } else { Ok(()) }
    }
}

impl Stages {
    /// Those of a job with so many ranks, and so many on a node.
    pub fn of(machine: &Machine, ranks: usize, on_node: usize) -> Stages {
        let beyond = &machine.beyond;
        Stages {
            between: exceeded(&beyond.between, ranks.div_ceil(machine.ranks_per_node)),
            within: exceeded(&beyond.within, on_node),
            processor: exceeded(&beyond.processor, on_node),
        }
    }
}

fn exceeded<T>(beyond: &[(usize, T)], ranks: usize) -> usize {
    beyond.iter().filter(|(most, _)| ranks > *most).count()
}

impl Parameter {
    /// All that are more than 0.
    pub fn all(machine: &Machine) -> Vec<Parameter> {
        let mut all = Vec::new();
        let levels =
            [(Level::Between, machine.beyond.between.len()), (Level::Within, machine.beyond.within.len())];
        for (level, stages) in levels {
            for stage in 0..=stages {
                let knots = link(machine, level, stage).byte_time.knots().len();
                let of = [OfLink::Latency, OfLink::GroupLatency, OfLink::Overhead]
                    .into_iter()
                    .chain((0..knots).map(OfLink::ByteTime));
                all.extend(of.map(|of| Parameter::Link { level, stage, of }));
            }
        }
        for stage in 0..=machine.beyond.processor.len() {
            let Processor { copy_time, reduce_time, .. } = processor(machine, stage);
            all.push(Parameter::Fresh { stage });
            all.extend((0..copy_time.knots().len()).map(|knot| Parameter::Copy { stage, knot }));
            all.extend((0..reduce_time.knots().len()).map(|knot| Parameter::Reduction { stage, knot }));
        }
        all.retain(|parameter| parameter.value(machine) > 0.0);
        all
    }

    /// In seconds.
    pub fn value(self, machine: &Machine) -> f64 {
        match self {
            Parameter::Link { level, stage, of } => {
                let link = link(machine, level, stage);
                match of {
                    OfLink::Latency => link.latency,
                    OfLink::GroupLatency => link.group_latency,
                    OfLink::Overhead => link.overhead,
                    OfLink::ByteTime(knot) => link.byte_time.knots()[knot].1,
                }
            }
            Parameter::Copy { stage, knot } => processor(machine, stage).copy_time.knots()[knot].1,
            Parameter::Reduction { stage, knot } => processor(machine, stage).reduce_time.knots()[knot].1,
            Parameter::Fresh { stage } => processor(machine, stage).fresh_time.at(1.0),
        }
    }

    /// Changes it.
    pub fn set(self, machine: &mut Machine, seconds: f64) {
        let at =
            |time: ByteTime, knot: usize| time.map(|number, old| if number == knot { seconds } else { old });
        match self {
            Parameter::Link { level, stage, of } => {
                let link = link_mut(machine, level, stage);
                match of {
                    OfLink::Latency => link.latency = seconds,
                    OfLink::GroupLatency => link.group_latency = seconds,
                    OfLink::Overhead => link.overhead = seconds,
                    OfLink::ByteTime(knot) => link.byte_time = at(link.byte_time, knot),
                }
            }
            Parameter::Copy { stage, knot } => {
                let processor = processor_mut(machine, stage);
                processor.copy_time = at(processor.copy_time, knot);
            }
            Parameter::Reduction { stage, knot } => {
                let processor = processor_mut(machine, stage);
                processor.reduce_time = at(processor.reduce_time, knot);
            }
            Parameter::Fresh { stage } => processor_mut(machine, stage).fresh_time = seconds.into(),
        }
    }

    /// The one that is most like it: that of the stage before, or else of the knot before. It is likely to be about as large.
    pub fn neighbours(self) -> Vec<Parameter> {
        let earlier = |number: usize| number.checked_sub(1);
        match self {
            Parameter::Link { level, stage, of } => {
                let before = earlier(stage).map(|stage| Parameter::Link { level, stage, of });
                let knot_before = match of {
                    OfLink::ByteTime(knot) => {
                        earlier(knot).map(|knot| Parameter::Link { level, stage, of: OfLink::ByteTime(knot) })
                    }
                    _ => None,
                };
                before.into_iter().chain(knot_before).collect()
            }
            Parameter::Fresh { stage } => {
                earlier(stage).map(|stage| Parameter::Fresh { stage }).into_iter().collect()
            }
            Parameter::Copy { stage, knot } => {
                let before = earlier(stage).map(|stage| Parameter::Copy { stage, knot });
                before.into_iter().chain(earlier(knot).map(|knot| Parameter::Copy { stage, knot })).collect()
            }
            Parameter::Reduction { stage, knot } => {
                let before = earlier(stage).map(|stage| Parameter::Reduction { stage, knot });
                before
                    .into_iter()
                    .chain(earlier(knot).map(|knot| Parameter::Reduction { stage, knot }))
                    .collect()
            }
        }
    }

    /// Those that a charge depends on, and the seconds that each makes up of it.
    pub fn of_charge(charge: Charge, machine: &Machine, stages: Stages) -> Vec<(Parameter, f64)> {
        let Charge { what, bytes, amount } = charge;
        let of_link = |level, of| {
            let stage = match level {
                Level::Between => stages.between,
                Level::Within => stages.within,
            };
            Parameter::Link { level, stage, of }
        };
        let at_knots = |time: ByteTime, parameter: &dyn Fn(usize) -> Parameter| {
            let shares = time.shares(bytes).into_iter().filter(|(_, share)| *share > 0.0);
            shares.map(|(knot, share)| (parameter(knot), amount * share * time.knots()[knot].1)).collect()
        };
        let stage = stages.processor;
        match what {
            Charged::Latency(level) => {
                let parameter = of_link(level, OfLink::Latency);
                vec![(parameter, amount * parameter.value(machine))]
            }
            Charged::Overhead(level) => {
                let parameter = of_link(level, OfLink::Overhead);
                vec![(parameter, amount * parameter.value(machine))]
            }
            Charged::Transfer(level) => {
                let stage = match level {
                    Level::Between => stages.between,
                    Level::Within => stages.within,
                };
                at_knots(link(machine, level, stage).byte_time, &|knot| {
                    of_link(level, OfLink::ByteTime(knot))
                })
            }
            Charged::Copy => {
                at_knots(processor(machine, stage).copy_time, &|knot| Parameter::Copy { stage, knot })
            }
            Charged::Reduction => {
                at_knots(processor(machine, stage).reduce_time, &|knot| Parameter::Reduction { stage, knot })
            }
            Charged::Crossing => {
                let parameter = of_link(Level::Between, OfLink::GroupLatency);
                vec![(parameter, amount * parameter.value(machine))]
            }
            Charged::Fresh => {
                let parameter = Parameter::Fresh { stage };
                vec![(parameter, amount * parameter.value(machine))]
            }
            Charged::Gap(_) | Charged::Reading | Charged::Flag => Vec::new(),
        }
    }
}

fn link(machine: &Machine, level: Level, stage: usize) -> &Link {
    let (first, beyond) = match level {
        Level::Between => (&machine.between, &machine.beyond.between),
        Level::Within => (&machine.within, &machine.beyond.within),
    };
    stage.checked_sub(1).map_or(first, |beyond_stage| &beyond[beyond_stage].1)
}

fn link_mut(machine: &mut Machine, level: Level, stage: usize) -> &mut Link {
    let (first, beyond) = match level {
        Level::Between => (&mut machine.between, &mut machine.beyond.between),
        Level::Within => (&mut machine.within, &mut machine.beyond.within),
    };
    match stage.checked_sub(1) {
        None => first,
        Some(stage) => &mut beyond[stage].1,
    }
}

fn processor(machine: &Machine, stage: usize) -> &Processor {
    let beyond = &machine.beyond.processor;
    stage.checked_sub(1).map_or(&machine.processor, |stage| &beyond[stage].1)
}

fn processor_mut(machine: &mut Machine, stage: usize) -> &mut Processor {
    match stage.checked_sub(1) {
        None => &mut machine.processor,
        Some(stage) => &mut machine.beyond.processor[stage].1,
    }
}
