//! Runs the targets of `fuzz/` on their seeds, and on small mutations of the seeds.

#[path = "../src/random.rs"]
mod random;
#[path = "../fuzz/targets.rs"]
mod targets;

use random::{Random, mutate};
use rustcoll::report::profile::Profile;
use rustcoll::schedule_file::ScheduleFile;
use rustcoll::selection::{LONGEST_TEXT, Rules};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ALPHABET: &[u8] = b"0123456789KB.,;:<>=\"'()[]{}#-+*/_ \n\\anr";

/// Mutations end after this time at the latest, so a slow machine tries fewer.
const LONGEST_RUN: Duration = Duration::from_secs(3);
const MUTATIONS: usize = 3000;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "fuzz", "corpus", target].iter().collect();
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn fuzz(name: &str) {
    let (_, target) = targets::ALL.into_iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    seeds.iter().for_each(|seed| target(seed));
    let (mut random, start) = (Random(name.len() as u64), Instant::now());
    for round in 0..MUTATIONS {
        let mut text = seeds[round % seeds.len()].clone();
        for _ in 0..1 + random.below(4) {
            mutate(&mut text, ALPHABET, &mut random);
        }
        target(&text);
        if start.elapsed() > LONGEST_RUN {
            break;
        }
    }
}

#[test]
fn native_files() {
    fuzz("native");
}

#[test]
fn lines() {
    fuzz("line");
}

#[test]
fn expressions() {
    fuzz("expression");
}

#[test]
fn files_of_the_tuned_component() {
    fuzz("tuned");
}

#[test]
fn files_of_open_mpi_6() {
    fuzz("open_mpi");
}

#[test]
fn files_of_mpich() {
    fuzz("mpich");
}

#[test]
fn profiles_of_pgmpitunelib() {
    fuzz("pgmpi");
}

#[test]
fn schedule_files() {
    fuzz("schedule_file");
}

#[test]
fn profiles_of_jobs() {
    fuzz("profile");
}

/// Seeds of foreign formats must be of their format, and some must be valid.
#[test]
fn seeds_are_read() {
    let others = ["line", "expression", "schedule_file", "profile"];
    for (name, _) in targets::ALL.into_iter().filter(|(name, _)| !others.contains(name)) {
        let read = seeds(name).iter().filter(|seed| Rules::read(name, seed).is_ok()).count();
        assert!(read > 0, "no seed of {name} is right");
    }
    for seed in seeds("schedule_file") {
        ScheduleFile::read(&String::from_utf8(seed).unwrap()).unwrap();
    }
    for seed in seeds("profile") {
        Profile::of_json(&String::from_utf8(seed).unwrap()).unwrap();
    }
}

/// If read carelessly, each of these would take minutes, the whole stack or the whole memory.
#[test]
fn long_foreign_files_are_refused_in_time() {
    let filled = |start: &str, piece: &str| {
        start.to_owned() + &piece.repeat((LONGEST_TEXT - start.len()) / piece.len())
    };
    for text in [
        filled("", "1 "),
        filled("", "9999999999 "),
        filled("1 2 1 8 999999999 ", "0 3 0 0 "),
        filled("1 2 1 8 999999999 ", "0 3 0 0 5\n"),
        filled("1 2 999999999 ", "1 1 0 3 0 0 "),
        filled("1\n", "x "),
        filled("", "{\"a\":"),
        filled("{", "\"a\":{},"),
        filled("{\"collective=bcast\":{", "\"comm_size<9=no\":{},"),
        filled("{\"collective=bcast\":{", "\"any\":{\"any\":{\"algorithm=MPIR_Bcast_intra_binomial\":{}}},"),
        filled("{\"collectives\":", "["),
        filled("{\"collectives\":{\"bcast\":[", "{\"rules\":[{\"alg\":6}]},"),
        filled("{\"collectives\":{\"bcast\":[{\"rules\":[", "{\"alg\":6},"),
        filled("{\"collectives\":{\"bcast\":[{\"rules\":[{", "\"alg\":6,"),
        filled("MPI_Bcast\n4\n999999999\n", "1 default\n"),
        filled("MPI_Bcast\n4\n1\n1 default\n999999999\n", "1 2 1\n"),
        filled("// ", "{"),
    ] {
        let start = Instant::now();
        assert!(Rules::parse("file", &text).is_err(), "{}", &text[..60]);
        assert!(start.elapsed() < Duration::from_secs(20), "{:?} for {}", start.elapsed(), &text[..60]);
    }
    let huge = vec![b'1'; 100 << 20];
    assert!(Rules::read("file", &huge).unwrap_err().to_string().contains("longer than 1048576 bytes"));
    for content in [&b"1 2 \0"[..], b"{\"collectives\":\xff}", b"MPI_Bcast\0"] {
        assert!(Rules::read("file", content).unwrap_err().to_string().ends_with("this is not text"));
    }
}
