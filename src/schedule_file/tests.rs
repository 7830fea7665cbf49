use super::general::tests::{DOUBLING, RING};
use super::proof::Disproof;
use super::*;
use crate::algorithms::{Problem, registered};
use crate::random::{Random, mutate};
use crate::verify::problems;

/// A bcast along a chain of three ranks.
const CHAIN: &str = "\
rustcoll schedule, version 1
collective bcast
name my_chain
root any   # by renumbering
source nobody 2026

rank 0 of 3, 1 blocks
0: send to 1 from recv[0]
wait 0

rank 2 of 3, 1 blocks
0: receive from 1 into recv[0]
wait 0

rank 1 of 3, 1 blocks
0: receive from 0 into recv[0]
wait 0
1: send to 2 from recv[0]
wait 1
";

fn misread(text: &str) -> String {
    ScheduleFile::read(text).unwrap_err().to_string()
}

/// Returns for how many problems the file is proved.
fn proved(text: &str) -> Result<usize, Box<Disproof>> {
    ScheduleFile::read(text).unwrap().prove().map(|proved| proved.problems)
}

/// Returns the line and the message of the first disproof.
fn disproof(text: &str) -> (usize, String) {
    let disproof = proved(text).unwrap_err();
    (disproof.lines[0].line, disproof.violation.to_string())
}

#[test]
fn a_right_file_is_proved_for_all_that_it_claims() {
    let file = ScheduleFile::read(CHAIN).unwrap();
    let Listed { collective, root, .. } = file.listed;
    assert_eq!((collective, &*file.name, root), (Collective::Bcast, "my_chain", Root::Any));
    assert_eq!(file.source.as_deref(), Some("nobody 2026"));
    assert_eq!(proved(CHAIN), Ok(3));
    assert_eq!(proved(&CHAIN.replace("root any", "root 0")), Ok(1));
    assert_eq!(proved(&format!("{CHAIN}\nrank 0 of 1, 1 blocks\n")), Ok(4));
}

#[test]
fn a_fault_of_the_head_is_named_with_its_place() {
    let with = |from: &str, to: &str| misread(&CHAIN.replace(from, to));
    let first = "a schedule file begins with \"rustcoll schedule, version 1\"";
    assert_eq!(misread(""), format!("line 1, column 1: {first}"));
    assert_eq!(misread("\n  collective bcast"), format!("line 2, column 3: {first}"));
    let version = "version \"2\" is not known: this reads \"rustcoll schedule, version 1\"";
    assert_eq!(with("version 1", "version 2"), format!("line 1, column 1: {version}"));
    let nearest =
        |what, found, known| format!("unknown {what} `{found}`; the nearest known one is `{known}`");
    assert_eq!(with("name", "nam"), format!("line 3, column 1: {}", nearest("key", "nam", "name")));
    let collective = nearest("collective", "bcats", "bcast");
    assert_eq!(with("bcast", "bcats"), format!("line 2, column 12: {collective}"));
    assert_eq!(with("source", "name"), "line 5, column 1: a second line with name");
    assert_eq!(with("name my_chain", ""), "line 7, column 1: the head does not say which name");
    assert_eq!(with("collective bcast", ""), "line 7, column 1: the head does not say which collective");
    let name = "a name has up to 40 small letters, digits and underscores, and begins with a letter";
    assert_eq!(with("my_chain", "my-chain"), format!("line 3, column 6: {name}"));
    assert_eq!(
        with("my_chain", "chain"),
        "line 3, column 6: rustcoll itself has a bcast algorithm named chain"
    );
    assert_eq!(with("any", "first"), "line 4, column 6: expected the number of a rank, or \"any\"");
    assert_eq!(with("any", "3"), "line 7, column 1: there is no root 3 among 3 ranks");
    assert_eq!(with("collective bcast", "collective scan"), "line 4, column 6: scan has no root");
    assert_eq!(with("source nobody 2026", "needs commutative"), "line 5, column 7: bcast has no operator");
    assert_eq!(with("source nobody 2026", "needs luck"), "line 5, column 7: expected \"commutative\"");
    let edges = "neighbor_alltoall depends on the neighbours of each rank, which a file cannot describe";
    assert_eq!(with("bcast", "neighbor_alltoall"), format!("line 2, column 12: {edges}"));
}

#[test]
fn so_is_one_of_the_programs() {
    let with = |from: &str, to: &str| misread(&CHAIN.replace(from, to));
    assert_eq!(
        with("rank 2 of 3, 1 blocks\n0: receive", "rank 2 of 3, 1 blocks\n0: get"),
        "line 12, column 4: expected \"send\" or \"receive\", found \"get\""
    );
    assert_eq!(
        with("rank 2 of 3", "rank 1 of 3"),
        "line 15, column 1: this is a second program of rank 1 of 3"
    );
    assert_eq!(with("rank 2 of 3", "rank 3 of 3"), "line 11, column 1: there is no rank 3 among 3 ranks");
    assert_eq!(
        misread(&format!("{CHAIN}\nrank 3 of 3, 1 blocks\n")),
        "line 21, column 1: there is no rank 3 among 3 ranks"
    );
    assert_eq!(
        misread(&format!("{CHAIN}\nrank 0 of 0, 1 blocks\n")),
        "line 21, column 1: there is no rank 0 among 0 ranks"
    );
    assert_eq!(
        with("rank 1 of 3", "rank 1 of 4"),
        "line 11, column 1: the program of rank 1 of 3 is missing"
    );
    let long = "rank 0 of 2, 1 blocks\nrepeat 3000000 times\ncopy recv[0] to scratch[0]\nend\n";
    assert!(misread(&format!("{CHAIN}{long}")).contains("loops of at most"));
    let head = "rustcoll schedule, version 1\ncollective bcast\nname long\n";
    let program =
        |rank| format!("rank {rank} of 9, 1 blocks\nrepeat 1000000 times\ncopy recv[0] to scratch[0]\nend\n");
    let all: String = (0..9).map(program).collect();
    assert_eq!(
        misread(&format!("{head}{all}")),
        "line 20, column 1: with this program, all of them have more than 4194304 steps together"
    );
    let wide = |rank| {
        let copies = format!("0: send to 1 from {}recv[0]\n", "recv[0], ".repeat(9));
        format!("rank {rank} of 5, 1 blocks\nrepeat 100000 times\n{copies}end\n")
    };
    let all: String = (0..5).map(wide).collect();
    assert_eq!(
        misread(&format!("{head}{all}")),
        "line 20, column 1: with this program, all of them have more than 4194304 ranges of blocks in messages together"
    );
    let lengths = "rustcoll schedule, version 1\ncollective gatherv\nname my\n\
                   rank 0 of 1, 1 blocks\ncopy send[0] to scratch[0]\n";
    assert!(
        misread(lengths)
            .starts_with("line 4, column 1: this program has scratch blocks or slots, but in gatherv")
    );
}

#[test]
fn a_wrong_program_is_shown_by_its_line() {
    let with = |from: &str, to: &str| disproof(&CHAIN.replace(from, to));
    assert_eq!(
        with("wait 0\n1: send to 2 from recv[0]\nwait 1", "1: send to 2 from recv[0]\nwait 0 1"),
        (17, "rank 1, step 1: recv[0] is read while post 0 receives it".into())
    );
    let (line, fault) = with("1: send to 2 from recv[0]\nwait 1\n", "");
    assert_eq!((line, fault.contains("unmatched receive")), (12, true), "{fault}");
    let (line, fault) = with("0: send to 1 from recv[0]\nwait 0\n", "");
    assert_eq!((line, fault.contains("unmatched receive")), (14, true), "{fault}");
}

#[test]
fn a_step_of_a_loop_is_shown_where_it_stands() {
    let text = "\
rustcoll schedule, version 1
collective bcast
name my_loop
rank 0 of 2, 1 blocks
repeat 2 times
0: send to 1 from recv[0]
wait 0
end
rank 1 of 2, 1 blocks
0: receive from 0 into recv[0]
wait 0
1: receive from 0 into scratch[0]
";
    assert_eq!(disproof(text), (12, "rank 1, step 2: post 1 is never waited for".into()));
    let text = text.replace("1: receive from 0 into scratch[0]\n", "");
    let disproof = proved(&text).unwrap_err();
    let place = FaultyLine { line: 6, rank: 0, step: Some((2, "1: send to 1 from recv[0]".into())) };
    assert_eq!(disproof.lines, [place]);
    let told = disproof.told("here", "bcast my_loop", |place| format!("line {}", place.line));
    assert!(told.starts_with("here: bcast my_loop on 2 ranks, root 0: rank 0, step 2: "), "{told}");
    assert!(told.ends_with("\n  line 6 (rank 0, step 2): 1: send to 1 from recv[0]"), "{told}");
}

#[test]
fn all_steps_of_a_deadlock_are_shown() {
    let text = "\
rustcoll schedule, version 1
collective barrier
name my_barrier
rank 0 of 2, 1 blocks
0: receive from 1 into scratch[0]
wait 0
1: send to 1 from scratch[0]
wait 1
rank 1 of 2, 1 blocks
0: receive from 0 into scratch[0]
wait 0
1: send to 0 from scratch[0]
wait 1
";
    let disproof = proved(text).unwrap_err();
    let lines: Vec<usize> = disproof.lines.iter().map(|line| line.line).collect();
    assert_eq!(lines, [6, 11], "{}", disproof.violation);
}

#[test]
fn operands_keep_their_order_unless_the_file_needs_an_operator_that_commutes() {
    let text = "\
rustcoll schedule, version 1
collective allreduce
name my_allreduce
rank 0 of 2, 1 blocks
0: send to 1 from send[0]
1: receive from 1 into scratch[0]
wait 0 1
reduce recv[0] = scratch[0] + send[0]
rank 1 of 2, 1 blocks
0: send to 0 from send[0]
1: receive from 0 into scratch[0]
wait 0 1
reduce recv[0] = send[0] + scratch[0]
";
    let (line, fault) = disproof(text);
    assert_eq!((line, fault.contains("out of order")), (4, true), "{fault}");
    let commuting = text.replace("name my_allreduce", "name my_allreduce\nneeds commutative");
    assert_eq!(proved(&commuting), Ok(2), "in place, too");
}

/// For another root, ranks are renumbered, and blocks where they belong to ranks. Operands are then out of
/// order.
#[test]
fn programs_for_any_root_are_proved_for_each() {
    let for_any_root = |collective: Collective, name| {
        let text = file_of(collective.algorithm(name).unwrap(), collective, &Problem::new(5)).unwrap();
        proved(&text.replace("root 0", "root any"))
    };
    for collective in [Collective::Scatter, Collective::Gather, Collective::Scatterv, Collective::Gatherv] {
        assert_eq!(for_any_root(collective, "linear"), Ok(10), "{collective:?}");
    }
    for (collective, name) in
        [(Collective::Scatter, "binomial"), (Collective::Gather, "binomial"), (Collective::Reduce, "knomial")]
    {
        assert_eq!(for_any_root(collective, name), Ok(10), "{name}");
    }
    let disproof = for_any_root(Collective::Reduce, "binomial_in_order").unwrap_err();
    assert_eq!(disproof.root, Some(1));
    assert!(disproof.violation.to_string().contains("out of order"), "{}", disproof.violation);
}

/// Slots that lie together have the numbers of blocks, so they are renumbered with them.
#[test]
fn slots_that_lie_together_serve_any_root() {
    let file = |collective: &str, root: &str, leaf: fn(usize) -> String| {
        let leaves =
            [1, 2].map(|rank| format!("rank {rank} of 3, 3 blocks, 3 slots together\n{}", leaf(rank)));
        format!(
            "rustcoll schedule, version 1\ncollective {collective}\nname mine\nroot any\n\
             rank 0 of 3, 3 blocks, 3 slots together\n{root}{}",
            leaves.concat()
        )
    };
    let gather = file(
        "gather",
        "copy send[0] to recv[0]\nawait 0 of 1, 1 times\nawait 0 of 2, 1 times\n\
         copy shared1[1] to recv[1]\ncopy shared2[2] to recv[2]\n",
        |rank| format!("copy send[{rank}] to shared{rank}[{rank}]\nnotify 0\n"),
    );
    let scatter =
        file("scatter", "copy send[0] to recv[0]\ncopy send[0..3] to shared0[0..3]\nnotify 0\n", |rank| {
            format!("await 0 of 0, 1 times\ncopy shared0[{rank}] to recv[{rank}]\n")
        });
    for text in [gather, scatter] {
        assert_eq!(proved(&text), Ok(6), "{text}");
    }
}

#[test]
fn no_text_makes_it_fail() {
    let mut random = Random(7);
    for text in [
        CHAIN.to_owned(),
        file_of(Collective::Allreduce.algorithm("ring").unwrap(), Collective::Allreduce, &Problem::new(4))
            .unwrap(),
        RING.replace("2..12 17", "2..3"),
        DOUBLING.replace(" 4 8 16", ""),
    ] {
        for _ in 0..3000 {
            let mut mutated = text.clone().into_bytes();
            (0..1 + random.below(3)).for_each(|_| mutate(&mut mutated, b"0123456789[]:. +-%", &mut random));
            if let Ok(file) = ScheduleFile::read(&String::from_utf8_lossy(&mutated)) {
                let _ = file.prove();
            }
        }
    }
    let wide = CHAIN.replace("1 blocks", "4000000000 blocks");
    assert_eq!(
        misread(&wide),
        "line 7, column 1: with this program, all of them have more than 4194304 blocks together"
    );
}

/// A file that was written can be read, and is as right as the registered algorithm.
#[test]
fn every_algorithm_that_can_be_written_is_proved() {
    let mut written = 0;
    let of_all =
        registered().flat_map(|algorithm| algorithm.collectives.iter().map(move |&one| (algorithm, one)));
    for (algorithm, collective) in of_all {
        for problem in [1, 2, 5, 8].into_iter().flat_map(|size| problems(algorithm, size)) {
            let Ok(text) = file_of(algorithm, collective, &problem) else { continue };
            let file = ScheduleFile::read(&text).unwrap_or_else(|misread| panic!("{misread}:\n{text}"));
            let proved = file.prove();
            assert!(proved.is_ok(), "{collective:?} {} {problem:?}: {proved:?}", algorithm.name);
            written += 1;
        }
    }
    assert!(written > 1000, "{written}");
}

#[test]
fn what_a_file_has_no_words_for_is_refused() {
    let refused = |collective: Collective, name, problem: Problem| {
        file_of(collective.algorithm(name).unwrap(), collective, &problem).unwrap_err()
    };
    assert_eq!(
        refused(Collective::NeighborAlltoall, "linear", Problem::new(4)),
        "neighbor_alltoall linear cannot be written as a file: it depends on the neighbours of each rank"
    );
    let in_place = Problem { in_place: true, ..Problem::new(4) };
    assert_eq!(
        refused(Collective::Allgather, "ring", in_place),
        "allgather ring cannot be written as a file: programs in files are for calls that are not in place"
    );
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let refused = |name, ranks| {
        let algorithm = Collective::Allgather.algorithm(name).unwrap();
        file_of(algorithm, Collective::Allgather, &Problem::new(ranks)).unwrap_err()
    };
    for (name, ranks, most) in [("sparbit", 128, "1048576 bytes"), ("ring", 1200, "4194304 steps")] {
        let expected =
            format!("allgather {name} cannot be written as a file: it would have more than {most}");
        assert_eq!(refused(name, ranks), expected);
    }
}
