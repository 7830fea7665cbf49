//! The known defects that `make check-mutations` inserts must fit the sources.

use std::fs;
use std::path::Path;

#[test]
fn every_known_defect_fits_the_sources() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = crate_folder.join("../..");
    let patches: Vec<_> = fs::read_dir(crate_folder.join("mutations")).unwrap().collect();
    assert!(patches.len() > 10, "there are known defects");
    for patch in patches {
        let patch = patch.unwrap().path();
        let text = fs::read_to_string(&patch).unwrap();
        for of_file in text.split("\n--- a/").skip(1) {
            let (file, hunks) = of_file.split_once('\n').unwrap();
            let source = fs::read_to_string(root.join(file)).unwrap();
            for hunk in hunks.split("\n@@ ").skip(1) {
                let old = before(hunk);
                assert!(source.contains(&old), "{}: {file} has not\n{old}", patch.display());
            }
        }
    }
}

/// Returns the lines that a hunk replaces, with their context.
fn before(hunk: &str) -> String {
    let lines = hunk.lines().skip(1).filter(|line| !line.starts_with('+'));
    lines.map(|line| line.get(1..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
