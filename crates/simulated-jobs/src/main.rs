//! Runs jobs of simulated ranks in hostile orders. Each job, a *history*, is a function of its seed. The
//! library's real code (`src/mpi`) runs over a simulated MPI. Each rank is a process, and only one of them
//! runs at a time. The program draws which rank runs next, and which message arrives.
//!
//! ```text
//! simulated-jobs              runs the histories of the seeds from 0 to 9999
//! simulated-jobs 5..8         those of the seeds 5, 6 and 7
//! simulated-jobs 5..          those from 5 on, without end
//! simulated-jobs found        short ones in which something was wrong once
//! simulated-jobs 5            shows that of the seed 5, and runs it; what the library logs is shown (RUSTCOLL_LOG=debug: more of it)
//! ```

mod arguments;
mod board;
mod datatypes;
mod describe;
mod device;
mod draw;
mod duplication;
mod exit;
mod faults;
mod found;
mod generate;
mod history;
mod job;
mod judge;
mod mapped;
mod memory;
mod network;
mod operation;
mod order;
mod parameters;
mod places;
mod process;
mod program;
mod rank;
mod seeds;
mod shim;
mod shrink;
mod workers;

use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use parameters::Parameter;
use rustcoll::selection::Rules;
use seeds::Seeds;

/// The number of the first short collective of a communicator that shares memory, unless a history sets it. By default, few
/// histories have enough calls.
const SHARED_MEMORY_FROM: i32 = 5;

#[global_allocator]
static MEMORY: memory::RefusingAllocator = memory::RefusingAllocator;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let seeds = match Seeds::read(argument.as_deref().unwrap_or("0..10000")) {
        Ok(seeds) => seeds,
        Err(fault) => {
            eprintln!("simulated-jobs: {fault}");
            return ExitCode::from(2);
        }
    };
    // Data that all ranks read is loaded before the fork.
    let parameters = Parameter::all();
    let from = parameters.iter().find(|parameter| parameter.name == "shared_memory_from");
    from.expect("the library has this parameter").set(SHARED_MEMORY_FROM);
    Rules::built_in();
    if let Seeds::One(seed) = seeds {
        println!("{}", seeds.history(seed, &parameters));
        shim::IS_SHOWN.store(true, Relaxed);
    }
    match workers::run(seeds, &parameters) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
