use super::*;
use rustcoll::algorithms::registered;
use rustcoll::schedule_file::file_of;
use rustcoll::verify::problems;

fn refused(json: &str) -> String {
    import(json, None).unwrap_err().to_string()
}

fn of_two(rank_0: &str, rank_1: &str) -> String {
    format!(
        r#"{{"version": 1, "collective": "bcast", "name": "mine", "programs": [
            {{"rank": 0, "ranks": 2, "blocks": 1, "steps": [{rank_0}]}},
            {{"rank": 1, "ranks": 2, "blocks": 1, "steps": [{rank_1}]}}]}}"#
    )
}

const SEND: &str =
    r#"{"send": {"post": 0, "to": 1, "from": [{"buffer": "recv", "first": 0}]}}, {"wait": {"posts": [0]}}"#;
const RECEIVE: &str = r#"{"receive": {"post": 0, "from": 0, "into": [{"buffer": "recv", "first": 0}]}}, {"wait": {"posts": [0]}}"#;

#[test]
fn every_algorithm_comes_back_from_json_as_it_was() {
    let mut files = 0;
    for algorithm in registered() {
        for problem in [2, 5, 8].into_iter().flat_map(|size| problems(algorithm, size)) {
            let Ok(text) = file_of(algorithm, algorithm.contract(), &problem) else { continue };
            let json = json(&ScheduleFile::read(&text).unwrap());
            assert!(is_begun(&json));
            let imported = import(&json, None).unwrap_or_else(|refusal| panic!("{refusal}\n{json}"));
            let without_empty_lines = text.replace("\n\n", "\n");
            assert_eq!(imported.text, without_empty_lines, "{}", algorithm.name);
            files += 1;
        }
    }
    assert!(files > 1000, "{files}");
}

#[test]
fn it_may_have_another_name() {
    let imported = import(&of_two(SEND, RECEIVE), Some("theirs")).unwrap();
    assert_eq!(imported.proved.file().title(), "bcast theirs");
    assert_eq!(imported.proved.problems, 1);
}

#[test]
fn faults_have_the_place_in_the_json() {
    let without_wait = SEND.replace(r#"[0]}}"#, r#"[1]}}"#);
    let cases = [
        ("{".to_owned(), "EOF while parsing an object at line 1 column 1"),
        (of_two(SEND, RECEIVE).replace("\"name\"", "\"nam\""), "unknown field `nam`, expected one of"),
        (of_two(SEND, RECEIVE).replace("\"version\": 1", "\"version\": 2"), "version 2 is not known"),
        (of_two(SEND, RECEIVE).replace("mine", "mine\\nroot any"), "name: expected one line without #"),
        (
            of_two(SEND, RECEIVE).replace("mine", "Mine"),
            "name (name Mine): a name has up to 40 small letters",
        ),
        (of_two(SEND, RECEIVE).replace("\"rank\": 1", "\"rank\": 0"), "a second program of rank 0 of 2"),
        (of_two(SEND, RECEIVE).replace("recv\"", "got\""), "unknown variant `got`, expected one of `send`"),
        (
            of_two(SEND, RECEIVE).replace("\"first\": 0", "\"first\": 4294967295"),
            "steps[0] (0: send to 1 from",
        ),
        (
            of_two(SEND, RECEIVE).replace("\"first\": 0", "\"first\": 0, \"count\": 0"),
            "steps[0] (0: send to 1",
        ),
        (of_two(&without_wait, RECEIVE), "programs[0].steps[1] (rank 0, step 1): wait 1"),
        (
            r#"{"version": 1, "collective": "bcast", "name": "mine", "programs": []}"#.into(),
            "programs: expected at least one program",
        ),
        (of_two(SEND, ""), "programs[0].steps[0]: bcast mine on 2 ranks, root 0: "),
    ];
    for (json, expected) in cases {
        let refusal = refused(&json);
        assert!(refusal.contains(expected), "{refusal}\nfor {expected}");
    }
}

#[test]
fn steps_of_loops_have_places_too() {
    let looped = format!(r#"{{"repeat": {{"times": 2, "steps": [{{"step": {SEND_ONCE}}}]}}}}"#);
    let refusal = refused(&of_two(&looped, RECEIVE));
    assert!(refusal.contains("programs[0].steps[0].repeat.steps[0]"), "{refusal}");
    let nested = looped.replace(SEND_ONCE, &looped);
    let refusal = refused(&of_two(&nested, RECEIVE));
    assert!(refusal.contains("programs[0].steps[0].repeat.steps[0] (repeat 2 times): expected"), "{refusal}");
}

const SEND_ONCE: &str = r#"{"send": {"post": 0, "to": 1, "from": [{"buffer": "recv", "first": 0}]}}"#;
