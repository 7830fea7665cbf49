//! Runs the histories of many seeds, one at a time on each processor.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::board;
use crate::exit::exit;
use crate::job;
use crate::parameters::Parameter;
use crate::seeds::Seeds;
use crate::shim;
use crate::shrink::shrink;

/// How often the number of histories is printed.
const INTERVAL: Duration = Duration::from_secs(10);

/// How often the program checks whether workers have ended.
const LOOK: Duration = Duration::from_millis(50);

struct Tally {
    next: AtomicU64,
    done: AtomicU64,
    is_wrong: AtomicBool,
}

/// Runs the histories until one is wrong, and prints that one. Returns whether all were right.
pub fn run(seeds: Seeds, parameters: &[Parameter]) -> bool {
    let (first, end) = seeds.range();
    let tally = tally();
    tally.next.store(first, Relaxed);
    let processors = thread::available_parallelism().map_or(1, |number| number.get());
    let workers = (processors as u64).min(end.saturating_sub(first));
    let mut children: Vec<libc::pid_t> =
        (0..workers as usize).map(|processor| fork(processor, seeds, tally, parameters)).collect();
    let start = Instant::now();
    let mut told = 1;
    while !children.is_empty() {
        thread::sleep(LOOK);
        children.retain(|&child| is_running(child, tally));
        if start.elapsed() > told * INTERVAL {
            told += 1;
            eprintln!("{} histories in {} s", tally.done.load(Relaxed), start.elapsed().as_secs());
        }
    }
    let is_right = !tally.is_wrong.load(Relaxed);
    let verdict = if is_right { "nothing is wrong in them" } else { "something is wrong in the last one" };
    println!("{} histories in {} s; {verdict}.", tally.done.load(Relaxed), start.elapsed().as_secs());
    is_right
}

fn tally() -> &'static Tally {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping disturbs no other memory, is zero, and is never given back.
    unsafe {
        let base = libc::mmap(ptr::null_mut(), size_of::<Tally>(), access, flags, -1, 0);
        assert!(base != libc::MAP_FAILED, "there is memory for what the workers share");
        &*base.cast::<Tally>()
    }
}

fn fork(processor: usize, seeds: Seeds, tally: &Tally, parameters: &[Parameter]) -> libc::pid_t {
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        0 => {
            stay_on(processor);
            // SAFETY: the process will end with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            board::make();
            work(seeds, tally, parameters);
            exit(0)
        }
        child if child > 0 => child,
        _ => panic!("no process can be forked: {}", std::io::Error::last_os_error()),
    }
}

/// Pins the process to one processor, because ranks that take turns are fastest there.
fn stay_on(processor: usize) {
    // SAFETY: the set may be zero, and the kernel only reads it. The process may run on any processor.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

fn work(seeds: Seeds, tally: &Tally, parameters: &[Parameter]) {
    let (_, end) = seeds.range();
    while !tally.is_wrong.load(Relaxed) {
        let seed = tally.next.fetch_add(1, Relaxed);
        if seed >= end {
            return;
        }
        let history = seeds.history(seed, parameters);
        let wrong = job::run(&history, parameters);
        tally.done.fetch_add(1, Relaxed);
        let Some(wrong) = wrong else { continue };
        if tally.is_wrong.swap(true, Relaxed) {
            return;
        }
        println!("In the history of the seed {seed} something is wrong: {wrong}");
        let (shortest, wrong) = shrink(&history, wrong, parameters);
        println!("A shorter history:\n{shortest}What is wrong in it: {wrong}\nWhat the library logs in it:");
        shim::IS_SHOWN.store(true, Relaxed);
        job::run(&shortest, parameters);
    }
}

/// Whether a worker still runs. Notes a fault if it did not end with exit code 0.
fn is_running(child: libc::pid_t, tally: &Tally) -> bool {
    let mut status = 0;
    // SAFETY: there is room for the status.
    let ended = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
    if ended == child && status != 0 {
        eprintln!("a worker ended by itself, with the status {status}");
        tally.is_wrong.store(true, Relaxed);
    }
    ended == 0
}
