//! The committed TypeScript types of questions and answers match the types of this crate.

use guide_questions::failure::Failure;
use guide_questions::machine::{MOST_RANKS_PER_NODE, MOST_SECONDS};
use guide_questions::own::MOST_CHARACTERS;
use guide_questions::problem::{DRAWN_RANKS, MOST_BYTES, MOST_DRAWN_SEGMENTS};
use guide_questions::question::{Answers, Questions};
use rustcoll::text::LONGEST_TEXT;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use ts_rs::{Config, TS};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guide/src/core/types")
}

/// What the page must know of limits before it asks, as TypeScript.
fn limits() -> String {
    let limits = [
        ("FEWEST_RANKS", *DRAWN_RANKS.start()),
        ("MOST_RANKS", *DRAWN_RANKS.end()),
        ("MOST_SEGMENTS", MOST_DRAWN_SEGMENTS),
        ("MOST_BYTES", MOST_BYTES),
        ("MOST_RANKS_PER_NODE", MOST_RANKS_PER_NODE),
        ("MOST_SECONDS", MOST_SECONDS as usize),
        ("LONGEST_SCHEDULES", MOST_CHARACTERS),
        ("LONGEST_RULES", LONGEST_TEXT),
    ];
    let lines = limits.map(|(name, limit)| format!("export const {name} = {limit};\n"));
    format!("// `tests/types.rs` of guide-questions writes this file. Do not edit it.\n\n{}", lines.concat())
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let file = |path: PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into(), fs::read_to_string(path).unwrap())
    };
    entries.map(|entry| file(entry.unwrap().path())).collect()
}

#[test]
fn the_types_are_up_to_date() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("types");
    let _ = fs::remove_dir_all(&folder);
    let config = Config::new().with_out_dir(&folder);
    Questions::export_all(&config).unwrap();
    Answers::export_all(&config).unwrap();
    Failure::export_all(&config).unwrap();
    fs::write(folder.join("limits.ts"), limits()).unwrap();
    if env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let _ = fs::remove_dir_all(committed());
        fs::create_dir_all(committed()).unwrap();
        for (name, text) in files(&folder) {
            fs::write(committed().join(name), text).unwrap();
        }
    }
    assert_eq!(files(&folder), files(&committed()), "run this test with UPDATE_SNAPSHOTS=1");
}
