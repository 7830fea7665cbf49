//! Writes profiles for PGMPITuneLib: they name the cells in which a mock-up is faster than the default.

use crate::chance::chance;
use crate::mock_up::MockUp;
use crate::settings::Setting;
use crate::words::on_one_line;
use crate::{Decision, Limits, Provenance, Tuning};
use std::fmt::Write;

/// A profile of one collective on one number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The file's name. PGMPITuneLib reads all files of a folder that have its suffix, `.prf`.
    pub file: String,
    pub text: String,
}

impl Decision {
    /// Returns the fastest mock-up, if the default is slower than the limits allow.
    pub fn best_mock_up(&self, limits: Limits) -> Option<MockUp> {
        let default = self.default.median()?;
        let measured = self.mock_ups().filter_map(|(mock_up, tried)| Some((mock_up, tried, tried.median()?)));
        let (mock_up, tried, least) = measured.min_by(|(.., one), (.., other)| one.total_cmp(other))?;
        let is_faster = default > limits.factor * least
            && chance(&self.default.launches, &tried.launches) < limits.significance;
        is_faster.then_some(mock_up)
    }
}

/// Returns the profiles of a tuning. If a number of ranks has several placements, the one with the most ranks
/// on a host counts.
pub fn profiles(tuning: &Tuning, limits: Limits) -> Vec<Profile> {
    let settings = tuning.settings_by_ranks();
    settings.iter().filter_map(|setting| profile(setting, &tuning.provenance, limits)).collect()
}

fn profile(setting: &Setting, provenance: &Provenance, limits: Limits) -> Option<Profile> {
    let ranges = setting.stretches(|cell| Some(cell.best_mock_up(limits)?.name));
    let mut names: Vec<&str> = ranges.iter().map(|range| range.held).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let Provenance { machine, library, version, date, .. } = provenance;
    let mut lines = vec![
        "# pgtune profile".to_owned(),
        format!("# Written by rustcoll {version} on {date}."),
        format!("# Machine: {}", on_one_line(machine)),
        format!("# MPI: {}", on_one_line(library)),
        mpi_name(setting),
        format!("{} # ranks", setting.ranks),
        format!("{} # mock-ups", names.len()),
    ];
    lines.extend(names.iter().enumerate().map(|(number, name)| format!("{} {name}", number + 1)));
    lines.push(format!("{} # ranges of bytes", ranges.len()));
    for range in &ranges {
        let number = 1 + names.iter().position(|name| *name == range.held)?;
        lines.push(format!("{} {} {number}", range.bytes.start(), range.bytes.end()));
    }
    let mut text = String::new();
    lines.iter().for_each(|line| writeln!(text, "{line}").expect("a text takes everything"));
    Some(Profile { file: format!("{}_{}.prf", mpi_name(setting), setting.ranks), text })
}

/// Returns the name of MPI's function, such as `MPI_Reduce_scatter_block`.
fn mpi_name(setting: &Setting) -> String {
    let (first, others) = setting.collective.name().split_at(1);
    format!("MPI_{}{others}", first.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, decision};
    use rustcoll::algorithms::Collective;
    use rustcoll::selection::{Call, Rules};

    fn sample() -> Tuning {
        let scatter = |bytes| decision(Collective::Scatter, 4, bytes);
        let block = |bytes| decision(Collective::ReduceScatterBlock, 13, bytes);
        samples::tuning(vec![
            scatter(8).with("rustcoll:scatter_as_bcast", 0.5).with("rustcoll:scatter_as_scatterv", 0.4),
            scatter(16).with("rustcoll:scatter_as_scatterv", 0.7).with("rustcoll:linear", 0.1),
            scatter(64).with("rustcoll:scatter_as_scatterv", 0.95),
            scatter(1024).with("rustcoll:scatter_as_bcast", 0.5),
            block(8).with("rustcoll:reducescatterblock_as_reduce_scatter", 0.5),
            decision(Collective::Bcast, 4, 8).with("rustcoll:linear", 0.5),
        ])
    }

    #[test]
    fn a_profile_has_ranges_of_the_best_mock_ups() {
        let profiles = profiles(&sample(), Limits::default());
        let files: Vec<&str> = profiles.iter().map(|profile| &profile.file[..]).collect();
        assert_eq!(files, ["MPI_Reduce_scatter_block_13.prf", "MPI_Scatter_4.prf"]);
        let expected = "MPI_Scatter\n4 # ranks\n2 # mock-ups\n1 scatter_as_bcast\n2 scatter_as_scatterv\n\
                        2 # ranges of bytes\n0 32 2\n257 1024 1\n";
        assert!(profiles[1].text.ends_with(expected), "{}", profiles[1].text);
        // A profile has no empty lines.
        assert!(profiles[1].text.lines().all(|line| !line.is_empty()));
    }

    #[test]
    fn profiles_are_read_as_they_were_meant() {
        for Profile { file, text } in profiles(&sample(), Limits::default()) {
            Rules::parse(&file, &text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        }
        let block = &profiles(&sample(), Limits::default())[0];
        let rules = Rules::parse("profile", &block.text).unwrap();
        let chosen = |ranks, bytes| {
            let choice = rules.choose(&Call::new(Collective::ReduceScatterBlock, ranks, bytes));
            choice.algorithm().map(|algorithm| algorithm.name)
        };
        assert!(chosen(13, 8).is_some_and(|name| name == "non_overlapping" || name.contains("_as_")));
        assert_eq!([chosen(13, 9), chosen(12, 8)], [None; 2]);
    }
}
