use super::*;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::schedule_file::lack;

fn algo(attributes: &str, gpus: &[&str]) -> String {
    let gpus = gpus.join("\n");
    format!(
        "<algo name=\"Test 1\" ngpus=\"{}\" nchannels=\"1\" {attributes}>\n{gpus}\n</algo>",
        gpus.matches("<gpu").count()
    )
}

/// A GPU with its numbers of chunks and its threadblocks.
fn gpu(id: usize, chunks: [usize; 3], threadblocks: &[String]) -> String {
    let [input, output, scratch] = chunks;
    format!(
        "<gpu id=\"{id}\" i_chunks=\"{input}\" o_chunks=\"{output}\" s_chunks=\"{scratch}\">\n{}\n</gpu>",
        threadblocks.join("\n")
    )
}

/// A threadblock: its peers (send, recv), its channel, and its steps, such as `r o0 s1 2 after 0 1`.
fn tb(id: usize, ends: [i64; 2], channel: usize, steps: &[&str]) -> String {
    let [send, recv] = ends;
    let mut text = format!("<tb id=\"{id}\" send=\"{send}\" recv=\"{recv}\" chan=\"{channel}\">");
    for (number, step) in steps.iter().enumerate() {
        let words: Vec<&str> = step.split(' ').collect();
        let (kind, source, target, count) = (words[0], words[1], words[2], words[3]);
        let [depid, deps] = if words.len() > 4 { [words[5], words[6]] } else { ["-1"; 2] };
        text.push_str(&format!(
            "\n<step s=\"{number}\" type=\"{kind}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{count}\" \
             depid=\"{depid}\" deps=\"{deps}\" hasdep=\"0\"/>",
            &source[..1],
            &source[1..],
            &target[..1],
            &target[1..]
        ));
    }
    text + "\n</tb>"
}

fn imported(text: &str) -> Imported {
    import(text, None).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

fn refused(text: &str) -> String {
    import(text, None).unwrap_err().to_string()
}

/// An in-place ring on two ranks, with `parts` parts of each block.
fn allgather(parts: usize) -> String {
    let gpu = |rank: usize| {
        let (own, other, peer) =
            (format!("o{}", rank * parts), format!("o{}", (1 - rank) * parts), 1 - rank as i64);
        let send = tb(0, [peer, -1], 0, &[&format!("s {own} {own} {parts}")]);
        let receive = tb(1, [-1, peer], 0, &[&format!("r {other} {other} {parts}")]);
        super::tests::gpu(rank, [0, 2 * parts, 0], &[send, receive])
    };
    algo("coll=\"allgather\" inplace=\"1\" outofplace=\"0\"", &[&gpu(0), &gpu(1)])
}

#[test]
fn an_allgather_in_place_becomes_one_that_is_not() {
    let Imported { text, proved, parts } = imported(&allgather(1));
    let file = proved.file();
    assert_eq!((file.title().as_str(), file.ranks().as_str(), parts), ("allgather msccl_test_1", "2", 1));
    let program = "rank 0 of 2, 2 blocks\n0: send to 1 from send[0]\n1: receive from 1 into recv[1]\n\
                   copy send[0] to recv[0]\nwait 0 1\n";
    assert!(text.contains(program), "{text}");
}

#[test]
fn parts_that_take_the_same_way_travel_together() {
    let whole = imported(&allgather(1)).text;
    assert_eq!(imported(&allgather(4)).text, whole);
    assert_eq!(imported(&allgather(4)).parts, 4);
}

#[test]
fn parts_that_take_the_same_way_one_after_the_other_travel_together() {
    let gpu = |rank: usize| {
        let (own, other, peer) = (2 * rank, 2 * (1 - rank), 1 - rank as i64);
        let steps = |kind: &str, first: usize| [0, 1].map(|part| format!("{kind} o{0} o{0} 1", first + part));
        let [sends, receives] = [steps("s", own), steps("r", other)];
        let send = tb(0, [peer, -1], 0, &[&sends[0], &sends[1]]);
        let receive = tb(1, [-1, peer], 0, &[&receives[0], &receives[1]]);
        super::tests::gpu(rank, [0, 4, 0], &[send, receive])
    };
    let text = algo("coll=\"allgather\" inplace=\"1\" outofplace=\"0\"", &[&gpu(0), &gpu(1)]);
    assert_eq!(imported(&text).text, imported(&allgather(1)).text);
}

/// On three ranks, the first part of each block goes to both other ranks, and the second part goes along the ring.
#[test]
fn parts_that_take_different_ways_are_refused() {
    let gpu = |rank: usize| {
        let [next, previous] = [(rank + 1) % 3, (rank + 2) % 3];
        let step = |kind: &str, chunk: usize, count: usize| format!("{kind} o{chunk} o{chunk} {count}");
        let steps = |steps: &[String], ends: [usize; 2], id: usize| {
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            tb(id, ends.map(|end| end as i64), 0, &steps)
        };
        let ring = [
            step("s", 2 * rank, 2),
            step("r", 2 * previous, 2),
            step("s", 2 * previous + 1, 1),
            step("r", 2 * next + 1, 1),
        ];
        let back = [step("s", 2 * rank, 1), step("r", 2 * next, 1)];
        let threadblocks = [steps(&ring, [next, previous], 0), steps(&back, [previous, next], 1)];
        super::tests::gpu(rank, [0, 6, 0], &threadblocks)
    };
    let text = algo("coll=\"allgather\" inplace=\"1\"", &[&gpu(0), &gpu(1), &gpu(2)]);
    assert!(
        refused(&text).contains("the 2 parts of each rank's block take different ways"),
        "{}",
        refused(&text)
    );
}

/// In each of these texts, the second part of a block goes elsewhere than the first.
#[test]
fn parts_that_end_elsewhere_are_refused() {
    let good = allgather(2);
    let step = |kind: &str, source: usize, target: usize, count: usize| {
        format!(
            "type=\"{kind}\" srcbuf=\"o\" srcoff=\"{source}\" dstbuf=\"o\" dstoff=\"{target}\" cnt=\"{count}\" \
             depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
        )
    };
    let received = step("r", 2, 2, 2);
    let also = |number: usize, step: String| format!("\n<step s=\"{number}\" {step}");
    let exchanged = step("r", 3, 3, 1) + &also(1, step("r", 2, 2, 1));
    let overwritten = received.clone() + &also(1, step("cpy", 2, 3, 1));
    let spoilt = received.clone() + &also(1, step("cpy", 1, 3, 1));
    let one_by_one = step("s", 2, 2, 1) + &also(1, step("s", 3, 3, 1));
    let with = |changes: &[(&str, &str)]| {
        changes.iter().fold(good.clone(), |text, (from, to)| {
            assert!(text.contains(from), "{from}\n{text}");
            text.replacen(from, to, 1)
        })
    };
    let part = "a chunk of part 0 of a block goes where part 1 of a block belongs; in a schedule file a block travels whole";
    let ways = "the 2 parts of each rank's block take different ways";
    assert!(refused(&with(&[(&received, &overwritten)])).contains(part));
    assert!(refused(&with(&[(&received, &spoilt)])).contains(ways));
    let crossed = with(&[(&received, &exchanged), (&step("s", 2, 2, 2), &one_by_one)]);
    assert!(refused(&crossed).contains(part), "{}", refused(&crossed));
}

#[test]
fn a_message_has_as_many_chunks_at_both_ends() {
    let good = allgather(2);
    let text = good.replacen("dstoff=\"2\" cnt=\"2\"", "dstoff=\"2\" cnt=\"1\"", 1);
    assert_ne!(text, good);
    let told = refused(&text);
    assert!(told.contains("line 7, column 1: this step receives 1 chunks, but GPU 1 sends 2"), "{told}");
}

#[test]
fn steps_are_about_a_bounded_number_of_chunks() {
    let steps: Vec<&str> = vec!["cpy i0 s0 65536"; 65];
    let text = algo("coll=\"allreduce\"", &[&gpu(0, [65536, 65536, 65536], &[tb(0, [-1, -1], 0, &steps)])]);
    assert!(
        refused(&text).contains("line 68, column 1: up to here the steps are about more than 4194304 chunks")
    );
}

/// An in-place ring: each chunk is reduced along one way and comes back. Rank 1 does not keep the data that
/// it hands on.
fn allreduce() -> String {
    let gpu = |rank: usize, steps: [&str; 2]| {
        let peer = 1 - rank as i64;
        let threadblocks =
            [0, 1].map(|chunk| tb(chunk, [peer, peer], chunk, &steps[chunk].split(", ").collect::<Vec<_>>()));
        super::tests::gpu(rank, [2, 0, 0], &threadblocks)
    };
    let gpus =
        [gpu(0, ["s i0 i0 1, r i0 i0 1", "rrcs i1 i1 1"]), gpu(1, ["rrcs i0 i0 1", "s i1 i1 1, r i1 i1 1"])];
    algo("coll=\"allreduce\" inplace=\"1\"", &[&gpus[0], &gpus[1]])
}

#[test]
fn reductions_have_the_operands_of_lower_ranks_first() {
    let text = imported(&allreduce()).text;
    assert!(!text.contains("needs commutative"), "{text}");
    assert!(text.contains("reduce recv[1] = send[1] + scratch[1]"), "{text}");
    assert!(text.contains("reduce recv[0] = scratch[0] + send[0]"), "{text}");
}

/// The receiver expects two messages in the reverse order, which is legal because they use different channels.
#[test]
fn channels_may_overtake_each_other() {
    let sender = gpu(
        0,
        [2, 2, 1],
        &[
            tb(0, [1, -1], 0, &["cpy i0 s0 1", "s s0 s0 1", "s i1 o0 1 after 2 0"]),
            tb(1, [1, -1], 1, &["nop i0 i0 0"]),
            tb(2, [-1, 1], 0, &["r i0 o1 1"]),
            tb(3, [-1, -1], 0, &["cpy i0 o0 1"]),
        ],
    );
    let receiver = gpu(
        1,
        [2, 2, 1],
        &[
            tb(0, [0, -1], 0, &["s i0 o1 1"]),
            tb(1, [-1, 0], 0, &["r s0 s0 1", "r i1 o0 1"]),
            tb(2, [-1, -1], 0, &["cpy i1 o1 1"]),
        ],
    );
    imported(&algo("coll=\"alltoall\" inplace=\"0\" outofplace=\"1\"", &[&sender, &receiver]));
}

/// A registered algorithm does the same after it was written to XML and read back.
#[test]
fn registered_algorithms_come_back_as_they_went() {
    let mut count = 0;
    for collective in
        [Collective::Allgather, Collective::Allreduce, Collective::Alltoall, Collective::ReduceScatterBlock]
    {
        for algorithm in collective.algorithms() {
            for size in [2, 3, 5, 6, 8, 12] {
                let problem = Problem::new(size);
                if lack(algorithm, &problem).is_some() || algorithm.serves(size, 0, true).is_err() {
                    continue;
                }
                let programs: Vec<_> = (0..size).map(|rank| algorithm.program(&problem, rank)).collect();
                if programs.iter().any(|program| program.slots > 0) {
                    continue;
                }
                let text = export(algorithm.name, collective, &programs).unwrap();
                let Imported { parts, proved, .. } = imported(&text);
                assert_eq!((parts, proved.file().ranks()), (1, size.to_string()), "{}", algorithm.name);
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn faults_have_their_place() {
    let good = allgather(1);
    assert!(refused("<graph/>").contains("line 1, column 1: expected `<algo ...>`"));
    for (from, to, message) in [
        ("<algo", "<also/><algo", "line 1,"),
        ("</algo>", "", "the root node was opened but never closed"),
        ("allgather", "allsum", "the collective \"allsum\" is not one of allgather, allreduce"),
        ("ngpus=\"2\"", "ngpus=\"3\"", "`ngpus` says 3, but there are 2 elements `gpu`"),
        ("ngpus=\"2\"", "ngpus=\"two\"", "`ngpus` is \"two\", not a number from 0 to 1024"),
        ("o_chunks=\"2\"", "o_chunks=\"3\"", "3 chunks cannot be those of 2 ranks of allgather"),
        ("type=\"s\"", "type=\"send\"", "line 4, column 1: the type \"send\" is not one of s, r, rcs"),
        ("srcbuf=\"o\"", "srcbuf=\"out\"", "the buffer \"out\" is not one of i, o and s"),
        ("cnt=\"1\"", "cnt=\"0\"", "`cnt` is 0"),
        (
            "srcoff=\"0\"",
            "srcoff=\"7\"",
            "line 4, column 1: threadblock 0: chunk 7 is beyond the 2 chunks of buffer `o`",
        ),
        ("send=\"1\"", "send=\"-1\"", "this step sends, but its `tb` says `send=\"-1\"`"),
        ("chan=\"0\"", "", "`tb` has no attribute `chan`"),
        (
            "depid=\"-1\" deps=\"-1\"",
            "depid=\"5\" deps=\"0\"",
            "it waits for step 0 of threadblock 5, which there is not",
        ),
        ("depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"0\"", "deadlock: this step of GPU 0, threadblock 0"),
        ("id=\"1\" i_chunks", "id=\"0\" i_chunks", "expected the GPU with the id 1"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let told = refused(&text);
        assert!(told.contains(message), "{told}");
    }
}

#[test]
fn what_is_wrong_is_not_written() {
    // Rank 0 never receives.
    let text = allgather(1).replacen("type=\"r\"", "type=\"nop\"", 1);
    let told = refused(&text);
    assert!(told.starts_with("line 12: allgather msccl_test_1 on 2 ranks: rank 1"), "{told}");
    assert!(told.contains("unmatched send"), "{told}");
}
