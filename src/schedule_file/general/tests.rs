use super::super::{ScheduleFile, prove};
use crate::algorithms::{Collective, Problem};
use crate::schedule::Schedule;

pub const RING: &str = "\
rustcoll schedule, version 1
collective allgather
name my_ring

rank any of 2..12 17, size blocks   # as in a ring
let next = (rank + 1) % size
copy send[rank] to recv[rank]
for round in 0..size - 1
  receive from (rank - 1) % size into recv[(rank - round - 1) % size]
  send to next from recv[(rank - round) % size]
  wait
end
";

pub const DOUBLING: &str = "\
rustcoll schedule, version 1
collective allreduce
name my_doubling
rank any of 1 2 4 8 16, 1 blocks
copy send[0] to recv[0]
let distance = 1
while distance < size
  let peer = rank xor distance
  send to peer from recv[0]
  receive from peer into scratch[0]
  wait
  if rank < peer
    reduce recv[0] = recv[0] + scratch[0]
  else
    reduce recv[0] = scratch[0] + recv[0]
  end
  let distance = 2 * distance
end
";

/// A binomial tree, in which messages to several ranks are in flight at the same time.
const TREE: &str = "\
rustcoll schedule, version 1
collective bcast
name my_tree
root any
rank any of 1..9, 1 blocks
let distance = 1
while rank >= distance
  let distance = 2 * distance
end
if rank > 0
  first: receive from rank - distance / 2 into recv[0]
  wait first
end
while rank + distance < size
  down: send to rank + distance from recv[0]
  let distance = 2 * distance
end
wait down

rank 0 of 10, 1 blocks
rank 1 of 10, 1 blocks
";

fn programs(text: &str, size: usize) -> Vec<Schedule> {
    ScheduleFile::read(text).unwrap().listed.programs[&size].clone()
}

fn misread(text: &str) -> String {
    ScheduleFile::read(text).unwrap_err().to_string()
}

#[test]
fn programs_of_all_sizes_are_proved() {
    assert_eq!(prove("ring", RING).unwrap().problems, 2 * 12);
    assert_eq!(prove("doubling", DOUBLING).unwrap().problems, 2 * 5);
    let tree = TREE.split("\nrank 0 of 10").next().unwrap();
    assert_eq!(prove("tree", tree).unwrap().problems, (1..=9).sum::<usize>());
}

#[test]
fn a_ring_is_that_of_the_registry() {
    let ring = Collective::Allgather.algorithm("ring").unwrap();
    let text = programs(RING, 5)[2].to_string();
    let posts = |text: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        lines.map(|(_, post)| post.to_owned()).collect::<Vec<_>>()
    };
    let own = ring.program(&Problem::new(5), 2).to_string();
    assert_eq!(posts(&text)[1..], posts(&own.replace("from send", "from recv"))[1..], "{text}\n{own}");
}

#[test]
fn programs_for_one_number_of_ranks_may_stand_beside_them() {
    assert_eq!(misread(TREE), "line 21, column 1: the program of rank 2 of 10 is missing");
    let twice = TREE.replace("of 10", "of 2");
    assert_eq!(misread(&twice), "line 5, column 1: this is a second program of rank 0 of 2");
}

#[test]
fn a_disproof_names_the_line() {
    let wrong = RING.replace("round - 1)", "round)");
    let told = prove("ring", &wrong).unwrap_err();
    assert!(told.starts_with("ring:") && told.contains("allgather my_ring on 2 ranks"), "{told}");
    let unwaited = RING.replace("  wait\n", "");
    let told = prove("ring", &unwaited).unwrap_err();
    assert!(told.contains("line 10 (rank 0, step"), "{told}");
}

#[test]
fn a_label_that_no_post_has_is_not_awaited() {
    let mistyped = TREE.replace("wait first", "wait frist");
    assert_eq!(
        misread(&mistyped),
        "line 12, column 1: unknown label `frist`; the nearest known one is `first`"
    );
}

#[test]
fn messages_without_blocks_are_not_posted() {
    let text = RING.replace("from recv[(rank - round) % size]", "from recv[0..0]");
    assert_eq!(programs(&text, 3)[0].messages_sent(), 0);
}

#[test]
fn faults_have_their_place() {
    let with = |from: &str, to: &str| {
        let text = RING.replacen(from, to, 1);
        assert_ne!(text, RING, "{from}");
        misread(&text)
    };
    for (from, to, message) in [
        (
            "any of 2..12 17,",
            "any of ,",
            "line 5, column 13: expected a number of ranks from 1 to 131072, found \",\"",
        ),
        (
            "any of 2..12 17,",
            "any of 12..2,",
            "line 5, column 17: expected a number of ranks from 12 to 131072, found \"2\"",
        ),
        ("2..12 17", "2 1..512 17", "line 5, column 15: up to here these are more than 131072 programs"),
        ("size blocks", "size", "line 5, column 27: expected \"blocks\", found the end of the line"),
        (
            "size blocks",
            "sizes blocks",
            "line 5, column 1: unknown name `sizes`; the nearest known one is `size`, for rank 0 of 2",
        ),
        (
            "size blocks",
            "-size blocks",
            "line 5, column 1: the number of blocks is -2, not a number from 0 to 4294967294",
        ),
        ("let next", "let rank", "line 6, column 5: rank has its value from the start, and keeps it"),
        ("for round", "for size", "line 8, column 5: size has its value from the start, and keeps it"),
        ("  wait", "  wait next", "line 11, column 1: unknown label `next`"),
        ("  wait", "  weight", "line 11, column 3: expected \"send\", \"receive\", \"wait\""),
        ("for round", "for while", "line 8, column 5: expected a name, found \"while\""),
        ("\nend\n", "\n", "line 8, column 1: this \"for\" has no \"end\""),
        (
            "\nend\n",
            "\nend\nend\n",
            "line 13, column 1: there is no loop or condition that this could belong to",
        ),
        ("\nend\n", "\nelse\nend\n", "line 12, column 1: expected \"end\", found \"else\""),
        (
            "to recv[rank]",
            "to recv[rank..size + 1]",
            "line 7, column 1: 1 blocks and 3 blocks, for rank 0 of 2",
        ),
        ("% size", "% 0", "line 6, column 1: division by 0: 1 % 0, for rank 0 of 2"),
        ("(rank + 1)", "(rank + 1", "line 6, column 28: expected \")\", found the end of the line"),
        ("send to next", "send to next - 9", "line 10, column 1: the rank is -8, not a number"),
        (
            "recv[rank]",
            "receive[rank]",
            "line 7, column 20: expected \"send\", \"recv\", \"scratch\" or \"shared\"",
        ),
        (
            "for round in 0..size - 1",
            "let round = 0\nwhile 1",
            "more than 4194304 lines are carried out, for rank 0 of 2",
        ),
        (
            "for round in 0..size - 1",
            "if 0 < rank < size - 1",
            "line 8, column 13: a second comparison of one value; write \"0 < x and x < 9\" instead of \"0 < x < 9\"",
        ),
        ("let next", "let next =", "line 6, column 12: expected a number, a name or \"(\""),
        ("  wait", "  a: b", "line 11, column 6: expected \"send\" or \"receive\", found \"b\""),
    ] {
        let told = with(from, to);
        assert!(told.contains(message), "{told}");
    }
    let many = format!("  send to next from recv[rank]{}\n  wait", ", send[rank]".repeat(50));
    let wide = RING.replace("2..12 17", "2").replace("0..size - 1", "0..50000").replace("  wait", &many);
    assert!(misread(&wide).contains("more than 4194304 lines are carried out"));
    let deep = format!("let next = {}1{}", "(".repeat(100), ")".repeat(100));
    assert!(with("let next = (rank + 1) % size", &deep).contains("nested in more than 64"));
    let long = format!("let next = 1{}", " + 1".repeat(300));
    assert!(with("let next = (rank + 1) % size", &long).contains("longer than 1000 bytes"));
    let nested = "if 1\n".repeat(100) + &"end\n".repeat(100);
    assert!(with("let next", &format!("{nested}let next")).contains("in more than 64 loops"));
}
