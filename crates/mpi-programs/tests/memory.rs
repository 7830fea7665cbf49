//! Temporary memory: how much a collective may take, how much a communicator keeps, and what happens without memory.

mod common;

use common::{Job, SHARED_MEMORY_FROM, compiled, mpirun, run};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("memory"))
}

/// Shared memory is off, because calls over it need little temporary memory.
fn run_program(ranks: usize, test: &str, options: &[&str]) -> Job {
    let messages = ["--mca", "coll_rustcoll_shared_memory", "off"];
    run(mpirun(ranks).args(messages).args(options).arg(program()).arg(test))
}

/// Returns the numbers that the program says it keeps.
fn numbers_kept(job: &Job) -> Vec<i64> {
    let line = job.text.lines().find_map(|line| line.strip_prefix("kept: ")).expect("the program says so");
    line.split(' ').map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn a_call_above_the_limit_is_refused() {
    let ring = ["--mca", "coll_rustcoll_allreduce_algorithm", "ring"];
    let job = run_program(3, "limit", &[["--mca", "coll_rustcoll_scratch_limit", "64"], ring].concat());
    job.assert(job.success, "the program failed");
    job.assert_contains("rank 2 of 3, communicator 0: allreduce by ring needs ");
    job.assert_contains(" bytes of temporary memory at some rank; the limit is 65536");
    // Without the limit the calls succeed, and the program notices.
    let job = run_program(3, "limit", &["--mca", "coll_rustcoll_scratch_limit", "2147483647"]);
    job.assert(!job.success, "nothing must be refused");
}

/// If only the root refused the call, it would take the other ranks' messages for those of the next call.
#[test]
fn a_call_that_only_its_root_has_no_room_for_is_refused_by_all() {
    for (algorithm, shared_memory) in [("linear", "off"), ("binomial", "off"), ("single_copy", "on")] {
        let parameters = [
            ("coll_rustcoll_shared_memory", shared_memory),
            ("coll_rustcoll_shared_memory_size", "65536"),
            ("coll_rustcoll_scratch_limit", "4"),
            ("coll_rustcoll_reduce_algorithm", algorithm),
        ];
        let parameters = parameters.iter().flat_map(|&(name, value)| ["--mca", name, value]);
        let job = run(mpirun(4).args(parameters).arg(program()).arg("root"));
        job.assert(job.success, &format!("the program failed with {algorithm}"));
        job.assert(job.count(&format!("reduce by {algorithm} needs ")) == 4, "all ranks say so");
    }
}

/// When this rank learns how much it needs, other ranks already rely on it.
#[test]
fn blocks_of_exchanged_lengths_go_past_the_limit_and_say_so() {
    let binomial = ["--mca", "coll_rustcoll_gatherv_algorithm", "binomial"];
    let job =
        run_program(4, "exchange", &[["--mca", "coll_rustcoll_scratch_limit", "64"], binomial].concat());
    job.assert(job.success, "the program failed");
    job.assert_contains("the limit is 65536, but the ranks have begun");
}

#[test]
fn a_call_that_gets_no_memory_leaves_nothing_behind() {
    let job = run_program(3, "shortage", &["--mca", "coll_rustcoll_scratch_kept", "none"]);
    job.assert(job.success, "the program failed");
    job.assert_contains(" bytes of temporary memory; there is not so much");
    job.assert_contains("allreduce failed at this rank, but other ranks may have gone on");
}

#[test]
fn no_more_memory_is_kept_than_allowed() {
    for (kept, expected) in [("1024", "little kept"), ("none", "little kept"), ("1048576", "much kept")] {
        let job = run_program(3, "kept", &["--mca", "coll_rustcoll_scratch_kept", kept]);
        job.assert(job.success, "the program failed");
        job.assert_contains(expected);
    }
    run_program(3, "kept", &[]).assert_contains("little kept");
}

#[test]
fn freed_requests_keep_no_more_memory_together_than_allowed() {
    // In whole vectors, rounded: four copies of two thirds are three.
    for (kept, expected) in [("none", 0), ("10240", 1), ("1048576", 3)] {
        let job = run_program(3, "requests", &["--mca", "coll_rustcoll_scratch_kept", kept]);
        job.assert(job.success, "the program failed");
        job.assert_contains(&format!("copies kept: {expected}"));
    }
}

/// Bytes that a communicator takes of a rank beside those of Open MPI. The bounds are 2 KiB before its first call, and after
/// it 6 KiB and 256 bytes for each rank of the node: then the communicator remembers a call.
#[test]
fn a_communicator_takes_little_memory_and_less_before_its_first_call() {
    const RANKS: usize = 2;
    let kept = |components: &str| {
        let mut command = mpirun(RANKS);
        command.env_remove(SHARED_MEMORY_FROM).env("OMPI_MCA_coll", components);
        let job = run(command.arg(program()).arg("duplicates"));
        job.assert(job.success, "the program failed");
        <[i64; 2]>::try_from(numbers_kept(&job)).expect("two numbers")
    };
    let (with, without) =
        (kept("rustcoll,tuned,basic,libnbc,self,inter"), kept("tuned,basic,libnbc,self,inter"));
    let [before, after] = [0, 1].map(|call| with[call] - without[call]);
    assert!(before <= 2 << 10, "{before} bytes before the first call");
    assert!(after <= (6 << 10) + 256 * RANKS as i64, "{after} bytes after the first call");
    assert!(after > before, "the first call makes what the communicator keeps of its calls");
}

/// A remembered call or a plan would be hundreds of bytes, and a part of shared memory 64 KiB of address space.
#[test]
fn freed_communicators_keep_no_memory() {
    for shared_memory in ["on", "off"] {
        let job = run(mpirun(2)
            .args(["--mca", "coll_rustcoll_shared_memory", shared_memory])
            .arg(program())
            .arg("freed"));
        job.assert(job.success, "the program failed");
        let kept = numbers_kept(&job);
        job.assert(kept[0] <= 64 && kept[1] < 4096, &format!("{kept:?} bytes kept for each communicator"));
    }
}
