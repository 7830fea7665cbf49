//! Checks the book: SUMMARY.md has every chapter, and all links lead to existing places, also in the repository's
//! other texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

const SUMMARY: &str = "SUMMARY.md";

struct Link {
    /// The chapter and the line of the link.
    place: String,
    /// The target, as a path in the folder; for a link without a path, the chapter itself.
    path: String,
    /// The heading in the target, if the link names one.
    anchor: Option<String>,
}

#[test]
fn the_summary_has_every_chapter_once() {
    let mut sorted: Vec<String> = links_of(SUMMARY).into_iter().map(|link| link.path).collect();
    sorted.sort();
    let chapters: Vec<String> = chapters().into_iter().filter(|name| name != SUMMARY).collect();
    assert_eq!(sorted, chapters);
}

#[test]
fn links_lead_to_chapters_headings_and_files() {
    let links: Vec<Link> = chapters().iter().flat_map(|chapter| links_of(chapter)).collect();
    assert!(links.len() > 50, "links are found: {}", links.len());
    let wrong: Vec<String> =
        links.iter().filter_map(|link| Some(format!("{}: {}", link.place, fault(link)?))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_of_the_repository_lead_to_files_and_headings() {
    for name in
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SAFETY.md", "machines/README.md"]
    {
        let file = root().join(name);
        let text = fs::read_to_string(&file).expect(name);
        for (line, target) in targets(&text) {
            let (path, anchor) = split(&target);
            let path = if path.is_empty() { file.clone() } else { file.with_file_name(path) };
            assert!(path.exists(), "{name}:{line}: there is no {}", path.display());
            if let Some(anchor) = anchor {
                assert!(has_heading(&path, anchor), "{name}:{line}: there is no heading for {target}");
            }
        }
    }
}

/// In a batch job, Slurm sets SLURM_NTASKS for all of its tasks, and `srun` starts as many unless `-n` says how many.
#[test]
fn launchers_of_slurm_say_how_many_ranks() {
    let pages = chapters().into_iter().chain(["../machines/README.md".to_owned()]);
    let texts = pages.map(|page| fs::read_to_string(docs().join(page)).expect("a page"));
    let launchers: Vec<String> = texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.contains("--launcher \"srun "))
        .collect();
    assert!(launchers.len() > 1, "launchers are found: {launchers:?}");
    for line in launchers {
        assert!(line.contains(" -n {ranks} "), "{line}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn docs() -> PathBuf {
    root().join("docs")
}

/// Returns the paths of all texts in the folder and its subfolders.
fn chapters() -> Vec<String> {
    let mut chapters = Vec::new();
    let mut folders = vec![docs()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                let path = path.strip_prefix(docs()).expect("it is in the folder");
                chapters.push(path.to_string_lossy().into_owned());
            }
        }
    }
    chapters.sort();
    chapters
}

/// Returns a path that a chapter names, relative to the book's folder.
fn seen_from_the_book(chapter: &str, path: &str) -> String {
    let folder = Path::new(chapter).parent().expect("a chapter is in a folder");
    let mut seen = PathBuf::new();
    for part in folder.join(path).components() {
        if part != Component::ParentDir || !seen.pop() {
            seen.push(part);
        }
    }
    seen.to_string_lossy().into_owned()
}

fn links_of(chapter: &str) -> Vec<Link> {
    let text = fs::read_to_string(docs().join(chapter)).expect("a chapter");
    let link = |(line, target): (usize, String)| {
        let (path, anchor) = split(&target);
        let path = if path.is_empty() { chapter.to_owned() } else { seen_from_the_book(chapter, path) };
        Link { place: format!("docs/{chapter}:{line}"), path, anchor: anchor.map(str::to_owned) }
    };
    targets(&text).into_iter().map(link).collect()
}

/// Returns why a link leads nowhere.
fn fault(link: &Link) -> Option<String> {
    let Link { path, anchor, .. } = link;
    if path.starts_with("../") || path.starts_with('/') {
        return Some(format!("{path} is not in the book; name it without a link"));
    }
    let file = docs().join(path);
    if !file.exists() {
        return Some(format!("there is no docs/{path}"));
    }
    let anchor = anchor.as_ref()?;
    (!has_heading(&file, anchor)).then(|| format!("docs/{path} has no heading for #{anchor}"))
}

/// Returns the targets of a text's links that are not on the web, with their line numbers.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose(text) {
        for piece in without_code(line).split("](").skip(1) {
            let target = piece.split([')', ' ']).next().unwrap_or_default();
            if !target.contains("://") {
                targets.push((number, target.to_owned()));
            }
        }
    }
    targets
}

fn split(target: &str) -> (&str, Option<&str>) {
    target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)))
}

fn has_heading(file: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let headings: BTreeSet<String> = prose(&text)
        .filter_map(|(_, line)| line.strip_prefix('#'))
        .map(|heading| as_anchor(heading.trim_start_matches('#').trim()))
        .collect();
    headings.contains(anchor)
}

/// Returns a heading's name in addresses.
fn as_anchor(heading: &str) -> String {
    let is_kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
    heading.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-")
}

/// Returns the lines of a text with their numbers, without blocks of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence && !line.starts_with("    ")).then_some((index + 1, line))
    })
}

/// Returns a line without its pieces of code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[test]
fn what_is_wrong_with_links_is_found() {
    let text = "[a](x.md#b) `[c](d)` [e](https://f)\n```text\n[g](h)\n```\n![i](j.png \"k\")\n    [l](m)\n";
    assert_eq!(targets(text), [(1, "x.md#b".to_owned()), (5, "j.png".to_owned())]);
    let fault_of = |path: &str, anchor: Option<&str>| {
        fault(&Link { place: String::new(), path: path.into(), anchor: anchor.map(str::to_owned) })
    };
    assert_eq!(fault_of("rules.md", Some("the-measure-of-bytes")), None);
    assert_eq!(fault_of("rules.md", Some("nothing")).unwrap(), "docs/rules.md has no heading for #nothing");
    assert_eq!(fault_of("nothing.md", None).unwrap(), "there is no docs/nothing.md");
    assert!(fault_of("../README.md", None).unwrap().contains("not in the book"));
    assert_eq!(seen_from_the_book("decisions/README.md", "../rules.md"), "rules.md");
    assert_eq!(seen_from_the_book("rules.md", "../README.md"), "../README.md");
}
