//! The parameters to find: the times of a machine that are more than 0.

use rustcoll::cost::machine::at_stage;
use rustcoll::cost::simulation::{Charge, Charged, Level};
use rustcoll::cost::{ByteTime, Link, Machine, Processor, Shared, Stages};
use std::fmt;

/// A time of a machine, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    pub what: Charged,
    /// 0 holds for few ranks, 1 beyond the first number of ranks that the machine lists, and so on.
    pub stage: usize,
    /// Index of the number of bytes, among those for which the machine has a time.
    pub knot: usize,
}

/// The times to find. All others keep the values of the start.
const WANTED: [Charged; 25] = [
    Charged::Latency(Level::Between),
    Charged::Crossing,
    Charged::Overhead(Level::Between),
    Charged::ReceiveOverhead(Level::Between),
    Charged::RepeatedOverhead(Level::Between),
    Charged::Transfer(Level::Between),
    Charged::Exchange(Level::Between),
    Charged::NodeTransfer(Level::Between),
    Charged::Gap(Level::Between),
    Charged::Latency(Level::Within),
    Charged::Overhead(Level::Within),
    Charged::ReceiveOverhead(Level::Within),
    Charged::RepeatedOverhead(Level::Within),
    Charged::Transfer(Level::Within),
    Charged::Exchange(Level::Within),
    Charged::NodeTransfer(Level::Within),
    Charged::Gap(Level::Within),
    Charged::Fresh,
    Charged::Copy,
    Charged::Reduction,
    Charged::Flag,
    Charged::FlagOverhead,
    Charged::Reading,
    Charged::NodeReading,
    Charged::SingleCopy,
];

/// The table of the machine that has a time.
enum Table {
    Between,
    Within,
    Shared,
    Processor,
}

impl Table {
    fn of(what: Charged) -> Table {
        match what {
            Charged::Crossing => Table::Between,
            Charged::Latency(level)
            | Charged::Overhead(level)
            | Charged::ReceiveOverhead(level)
            | Charged::RepeatedOverhead(level)
            | Charged::Transfer(level)
            | Charged::Exchange(level)
            | Charged::NodeTransfer(level)
            | Charged::Gap(level) => match level {
                Level::Between => Table::Between,
                Level::Within => Table::Within,
            },
            Charged::Flag
            | Charged::FlagOverhead
            | Charged::Reading
            | Charged::NodeReading
            | Charged::SingleCopy => Table::Shared,
            Charged::Copy | Charged::Reduction | Charged::Fresh => Table::Processor,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Table::Between => "between",
            Table::Within => "within",
            Table::Shared => "shared",
            Table::Processor => "processor",
        }
    }

    /// Returns how many stages there are beyond the first one.
    fn beyond(self, machine: &Machine) -> usize {
        match self {
            Table::Between => machine.beyond.between.len(),
            Table::Within => machine.beyond.within.len(),
            Table::Shared => machine.beyond.shared.len(),
            Table::Processor => machine.beyond.processor.len(),
        }
    }

    fn stage(self, stages: Stages) -> usize {
        match self {
            Table::Between => stages.between,
            Table::Within => stages.within,
            Table::Shared => stages.shared,
            Table::Processor => stages.processor,
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Parameter { what, stage, knot } = *self;
        write!(formatter, "{}", Table::of(what).name())?;
        if stage > 0 {
            write!(formatter, ".beyond[{stage}]")?;
        }
        let name = match what {
            Charged::Latency(_) | Charged::Flag => "latency",
            Charged::Crossing => "group_latency",
            Charged::Overhead(_) | Charged::FlagOverhead => "overhead",
            Charged::ReceiveOverhead(_) => "receive_overhead",
            Charged::RepeatedOverhead(_) => "repeated_overhead",
            Charged::Transfer(_) | Charged::Reading => "bandwidth",
            Charged::Exchange(_) => "exchange_bandwidth",
            Charged::NodeTransfer(_) | Charged::NodeReading => "node_bandwidth",
            Charged::Gap(_) => "gap",
            Charged::Copy => "copy_bandwidth",
            Charged::Reduction => "reduce_bandwidth",
            Charged::Fresh => "fresh_bandwidth",
            Charged::SingleCopy => "single_copy_bandwidth",
        };
        write!(formatter, ".{name}")?;
        if knot > 0 { write!(formatter, "[{}]", knot + 1) } else { Ok(()) }
    }
}

impl Parameter {
    /// Returns all parameters that are more than 0.
    pub fn all(machine: &Machine) -> Vec<Parameter> {
        let stages = |what| (0..=Table::of(what).beyond(machine)).map(move |stage| (what, stage));
        let knots = |(what, stage)| {
            let knots = times(machine, what, stage).knots().len();
            (0..knots).map(move |knot| Parameter { what, stage, knot })
        };
        let all = WANTED.into_iter().flat_map(stages).flat_map(knots);
        all.filter(|parameter| parameter.value(machine) > 0.0).collect()
    }

    /// In seconds.
    pub fn value(self, machine: &Machine) -> f64 {
        times(machine, self.what, self.stage).knots()[self.knot].1
    }

    pub fn set(self, machine: &mut Machine, seconds: f64) {
        let times = times(machine, self.what, self.stage);
        let times = times.map(|knot, time| if knot == self.knot { seconds } else { time });
        set_times(machine, self.what, self.stage, times);
    }

    /// Returns the parameter of the first stage since which this time has not changed on the machine.
    pub fn first_alike(self, machine: &Machine) -> Parameter {
        let at = |stage| times(machine, self.what, stage);
        let alike = (0..self.stage).rev().take_while(|&stage| at(stage) == at(self.stage));
        Parameter { stage: alike.last().unwrap_or(self.stage), ..self }
    }

    /// Returns the parameters of the stage before and of the knot before. Their values are likely to be similar.
    pub fn neighbours(self) -> impl Iterator<Item = Parameter> {
        let stage_before = self.stage.checked_sub(1).map(|stage| Parameter { stage, ..self });
        let knot_before = self.knot.checked_sub(1).map(|knot| Parameter { knot, ..self });
        stage_before.into_iter().chain(knot_before)
    }

    /// Returns the parameters that a charge depends on, and the seconds that each contributes.
    pub fn of_charge(
        charge: Charge,
        machine: &Machine,
        stages: Stages,
    ) -> impl Iterator<Item = (Parameter, f64)> {
        let Charge { what, bytes, amount } = charge;
        let stage = Table::of(what).stage(stages);
        let times = if WANTED.contains(&what) { times(machine, what, stage) } else { ByteTime::NONE };
        times.shares(bytes).into_iter().filter_map(move |(knot, share)| {
            let seconds = amount * share * times.knots()[knot].1;
            (seconds > 0.0).then_some((Parameter { what, stage, knot }, seconds))
        })
    }
}

/// Returns how long something takes: once, or for each byte.
fn times(machine: &Machine, what: Charged, stage: usize) -> ByteTime {
    let link = |level| link(machine, level, stage);
    let stated = |seconds: Option<f64>| seconds.map_or(ByteTime::NONE, ByteTime::from);
    let processor = || at_stage(&machine.processor, &machine.beyond.processor, stage);
    // What the machine does not state follows from other times.
    let shared = |time: fn(&Shared) -> ByteTime| {
        let stated = machine.shared.as_ref().map(|first| at_stage(first, &machine.beyond.shared, stage));
        stated.map_or(ByteTime::NONE, time)
    };
    match what {
        Charged::Latency(level) => link(level).latency.into(),
        Charged::Crossing => link(Level::Between).group_latency.into(),
        Charged::Overhead(level) => link(level).overhead.into(),
        Charged::ReceiveOverhead(level) => stated(link(level).receive_overhead),
        Charged::RepeatedOverhead(level) => stated(link(level).repeated_overhead),
        Charged::Transfer(level) => link(level).byte_time,
        Charged::Exchange(level) => link(level).exchange_byte_time,
        Charged::NodeTransfer(level) => link(level).node_byte_time,
        Charged::Gap(level) => link(level).gap.into(),
        Charged::Copy => processor().copy_time,
        Charged::Reduction => processor().reduce_time,
        Charged::Fresh => processor().fresh_time,
        Charged::Flag => shared(|shared| shared.latency.into()),
        Charged::FlagOverhead => shared(|shared| shared.overhead.into()),
        Charged::Reading => shared(|shared| shared.byte_time),
        Charged::NodeReading => shared(|shared| shared.node_byte_time),
        Charged::SingleCopy => shared(Shared::time_of_single_copies),
    }
}

fn set_times(machine: &mut Machine, what: Charged, stage: usize, times: ByteTime) {
    match what {
        Charged::Latency(level) => link_mut(machine, level, stage).latency = times.at(0.0),
        Charged::Crossing => link_mut(machine, Level::Between, stage).group_latency = times.at(0.0),
        Charged::Overhead(level) => link_mut(machine, level, stage).overhead = times.at(0.0),
        Charged::ReceiveOverhead(level) => {
            link_mut(machine, level, stage).receive_overhead = Some(times.at(0.0))
        }
        Charged::RepeatedOverhead(level) => {
            link_mut(machine, level, stage).repeated_overhead = Some(times.at(0.0))
        }
        Charged::Transfer(level) => link_mut(machine, level, stage).byte_time = times,
        Charged::Exchange(level) => link_mut(machine, level, stage).exchange_byte_time = times,
        Charged::NodeTransfer(level) => link_mut(machine, level, stage).node_byte_time = times,
        Charged::Gap(level) => link_mut(machine, level, stage).gap = times.at(0.0),
        Charged::Copy => processor_mut(machine, stage).copy_time = times,
        Charged::Reduction => processor_mut(machine, stage).reduce_time = times,
        Charged::Fresh => processor_mut(machine, stage).fresh_time = times,
        Charged::Flag => shared_mut(machine, stage).latency = times.at(0.0),
        Charged::FlagOverhead => shared_mut(machine, stage).overhead = times.at(0.0),
        Charged::Reading => shared_mut(machine, stage).byte_time = times,
        Charged::NodeReading => shared_mut(machine, stage).node_byte_time = times,
        Charged::SingleCopy => shared_mut(machine, stage).single_copy_time = Some(times),
    }
}

fn link(machine: &Machine, level: Level, stage: usize) -> &Link {
    let (first, beyond) = match level {
        Level::Between => (&machine.between, &machine.beyond.between),
        Level::Within => (&machine.within, &machine.beyond.within),
    };
    at_stage(first, beyond, stage)
}

fn link_mut(machine: &mut Machine, level: Level, stage: usize) -> &mut Link {
    let (first, beyond) = match level {
        Level::Between => (&mut machine.between, &mut machine.beyond.between),
        Level::Within => (&mut machine.within, &mut machine.beyond.within),
    };
    at_stage_mut(first, beyond, stage)
}

fn shared_mut(machine: &mut Machine, stage: usize) -> &mut Shared {
    let first = machine.shared.as_mut().expect("what is to be found is stated at the start");
    at_stage_mut(first, &mut machine.beyond.shared, stage)
}

fn processor_mut(machine: &mut Machine, stage: usize) -> &mut Processor {
    at_stage_mut(&mut machine.processor, &mut machine.beyond.processor, stage)
}

fn at_stage_mut<'machine, T>(
    first: &'machine mut T,
    beyond: &'machine mut [(usize, T)],
    stage: usize,
) -> &'machine mut T {
    match stage.checked_sub(1) {
        None => first,
        Some(stage) => &mut beyond[stage].1,
    }
}
