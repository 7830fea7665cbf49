use crate::algorithms::Collective::*;
use crate::selection::samples::{chosen, notes, read};
use crate::selection::{Call, Rules};

fn errors(text: &str) -> String {
    Rules::parse("file", text).unwrap_err().to_string()
}

#[test]
fn sizes_hold_up_to_the_next_ones() {
    let rules = read(
        "1 # collectives\n2 # allreduce\n2 # sizes\n8 2\n 0 3 0 0\n 4096 4 0 0\n16 3\n 0 3 0 0\n 100 0 0 0\n \
         200 6 0 0\n",
    );
    for ((size, bytes), expected) in [
        // The first communicator size also holds for smaller communicators.
        ((2, 4095), "recursive_doubling"),
        ((8, 4096), "ring"),
        ((15, usize::MAX), "ring"),
        ((16, 99), "recursive_doubling"),
        ((16, 100), "below"),
        ((1000, 200), "rabenseifner"),
    ] {
        let call = Call::new(Allreduce, size, bytes);
        assert_eq!(chosen(&rules, call), expected, "p = {size}, {bytes} bytes");
    }
    assert_eq!(rules.of(Allreduce)[1].origin.to_string(), "file:6:2");
    // Rules of the tuned component do not apply to calls that it does not serve.
    let between = Call { remote: 8, ..Call::new(Allreduce, 16, 100) };
    assert!(rules.explain(&between).iter().all(|one| one.verdict != crate::selection::Verdict::Matches));
    assert_eq!(notes(&rules), [""; 0]);
}

#[test]
fn messages_are_measured_as_open_mpi_does() {
    let file = |collective: usize, size: usize| {
        let (first, second) = if collective == 7 { (6, 8) } else { (1, 2) };
        read(&format!("1 {collective} 1 {size} 2\n0 {first} 0 0\n1000 {second} 0 0\n"))
    };
    for (id, collective, names, first) in [
        (3, Alltoall, ["spread_out", "pairwise"], 143),
        (0, Allgather, ["gather_bcast", "bruck"], 143),
        (9, Gather, ["linear", "binomial"], 143),
        (15, Scatter, ["linear", "binomial"], 143),
        (13, ReduceScatterBlock, ["non_overlapping", "recursive_doubling"], 143),
        (1, Allgatherv, ["gather_bcast", "bruck"], 7000),
        (7, Bcast, ["binomial", "scatter_recursive_doubling_allgather"], 1000),
        (12, ReduceScatter, ["non_overlapping", "recursive_halving"], 1000),
    ] {
        let rules = file(id, 1);
        for (bytes, expected) in [(first - 1, names[0]), (first, names[1])] {
            assert_eq!(chosen(&rules, Call::new(collective, 7, bytes)), expected, "{bytes} bytes");
        }
    }
    // The rule holds for 7 ranks only, so its bound on the total size becomes a bound on the bytes.
    let rules = read("1 3 3 4 1 0 1 0 0 7 2 0 1 0 0 1000 2 0 0 8 1 0 1 0 0");
    assert_eq!(chosen(&rules, Call::new(Alltoall, 7, 142)), "spread_out");
    assert_eq!(chosen(&rules, Call::new(Alltoall, 7, 143)), "pairwise");
}

#[test]
fn options_become_parameters() {
    let rules = read("1 7 1 1 4\n0 6 0 1024\n10 3 0 0\n20 2 1 64\n30 7 9 0\n");
    let native = rules.to_native();
    for expected in [
        "bytes = \"..9\"\nalgorithm = \"binomial\"\nsegment = 1024\n",
        "algorithm = \"chain\"\n\n",
        "algorithm = \"chain\"\nsegment = 64\n",
        "bytes = \"30..\"\nalgorithm = \"knomial\"\nradix = 4\n",
    ] {
        assert!(native.contains(expected), "{expected} in\n{native}");
    }
    let rules = read("rule-file-version-2\n1\n3 1 8 2\n0 4 0 0 5 # requests\n100 4 0 0\n");
    let native = rules.to_native();
    assert!(native.contains("algorithm = \"linear_window\"\nwindow = 5\n"), "{native}");
    assert!(native.contains("algorithm = \"spread_out\"\n"), "{native}");
}

#[test]
fn what_falls_back_in_open_mpi_does_here() {
    let rules = read("1 0 1 1 2 0 3 0 0 1000 5 0 0");
    assert_eq!(chosen(&rules, Call::new(Allgather, 8, 1)), "recursive_doubling");
    assert_eq!(chosen(&rules, Call::new(Allgather, 6, 1)), "bruck");
    assert_eq!(chosen(&rules, Call::new(Allgather, 6, 1000)), "neighbor_exchange");
    assert_eq!(chosen(&rules, Call::new(Allgather, 7, 1000)), "ring");
}

#[test]
fn what_there_is_not_is_noted_and_left_to_open_mpi() {
    let rules = read(
        "6\n7 1 1 3\n0 4 0 0\n10 2 4 0\n20 7 0 64\n3 1 1 1\n0 5 0 0\n8 1 1 2\n0 1 0 0\n8 2 0 0\n5 1 1 1\n0 1 0 0\n\
         6 1 1 2\n0 6 0 0\n8 1 0 0\n14 1 1 1 0 2 0 0",
    );
    assert_eq!(
        notes(&rules),
        [
            "file:3:3: there is no `split_binary_tree` here: bcast leaves these calls to Open MPI",
            "file:4:4: `chain` has one chain here, not 4: bcast leaves these calls to Open MPI",
            "file:5:8: `knomial` has no segments here: 64 is left out",
            "file:7:3: `two_proc` serves two ranks only: the others go to Open MPI",
            "file:10:1: Open MPI compares an element's bytes times the ranks, which no rule here can ask for: these calls of \
             exscan are left to it",
            "file:11:1: Open MPI's tuned component leaves alltoallw to others: these rules mean nothing",
            "file:15:1: Open MPI counts every barrier as 0 bytes and never comes here",
        ]
    );
    for (call, expected) in [
        (Call::new(Bcast, 4, 0), "below"),
        (Call::new(Bcast, 4, 10), "below"),
        (Call::new(Bcast, 4, 20), "knomial"),
        (Call::new(Alltoall, 2, 20), "pairwise"),
        (Call::new(Alltoall, 3, 20), "below"),
        (Call::new(Exscan, 3, 20), "below"),
        (Call::new(Scan, 3, 20), "recursive_doubling"),
        (Call::new(Barrier, 3, 0), "tree"),
    ] {
        assert_eq!(chosen(&rules, call), expected, "{call:?}");
    }
}

/// Open MPI itself reports such a file only in a debugging build.
#[test]
fn a_first_message_size_that_is_not_0_is_reported_with_its_line() {
    assert_eq!(
        errors("1 # collectives\n2 # allreduce\n1\n8 # ranks\n1\n512 3 0 0\n"),
        "file:6:1: the first message size is 512, not 0: because of it Open MPI ignores the whole file without a word"
    );
}

#[test]
fn faults_have_places() {
    for (text, expected) in [
        ("1", "1:1: only 0 of 1 collectives follow: write 0"),
        (
            "1 2 1 8 1\n0 010 0 0\n",
            "2:3: Open MPI takes `010` for octal, because of the leading zero; leave it out",
        ),
        (
            "1 2 1 8 1\n0 0x3 0 0; \n",
            "2:9: `0;` is not a number; Open MPI skips it without a word and takes the next one",
        ),
        ("1 2 1 8 1\n0 -3 0 0\n", "2:3: `-3` is negative"),
        ("1 2 1 8 1\n0 99999999999999999999 0 0\n", "2:3: `99999999999999999999` is too large"),
        ("1 2 1 8 1\n0 8 0 0\n", "2:3: allreduce has no algorithm 8: they are 0 to 7"),
        ("1 22 1 8 1\n0 3 0 0\n", "1:3: there is no collective 22: they are 0 to 21"),
        ("2 2 1 8 1\n0 3 0 0\n2 1 8 1\n0 3 0 0\n", "3:1: allreduce stands twice"),
        ("1 2 1 8 2\n0 3 0 0\n0 4 0 0\n", "3:1: message sizes must ascend: 0 comes after 0"),
        ("1 2 2 8 1\n0 3 0 0\n4 1\n0 4 0 0\n", "3:1: communicator sizes must ascend: 4 comes after 8"),
        (
            "1 2 1 8 1\n0 3 0 0\n3 1\n",
            "3:1: Open MPI does not read what follows: by its first number the file ends here, after 1 collectives",
        ),
        (
            "1 3 1 8 1\n0 4 0 0 64\n",
            "2:9: Open MPI reads a fifth number only if the file begins with `rule-file-version-2`",
        ),
        ("rule-file-version-x\n1 2 1 8 1\n0 3 0 0\n", "1:1: `x` is not a version"),
        (
            "# mine\nrule-file-version-2\n1 2 1 8 1\n0 3 0 0\n",
            "2:1: Open MPI finds the version only at the very beginning of the file",
        ),
        ("0\n", " there are no rules"),
        (
            "4000000000 2 4000000000 3 4000000000\n",
            "2:1: expected a message size, found the end: because of it Open MPI ignores the whole file without a word",
        ),
    ] {
        let errors = errors(text);
        assert_eq!(errors.lines().next(), Some(&format!("file:{expected}")[..]), "{text}");
    }
}

/// Like the file of Summit, which announces one collective more than it has.
#[test]
fn a_file_with_fewer_collectives_than_it_says_is_told_what_to_write() {
    assert_eq!(
        errors("3 # collectives\n2 1 8 1\n0 3 0 0\n3 1 8 1\n0 2 0 0\n"),
        "file:1:1: only 2 of 3 collectives follow: write 2\n\
         file:6:1: expected a collective, found the end: because of it Open MPI ignores the whole file without a word"
    );
}
