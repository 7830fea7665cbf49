//! Parts of a job's profile, each with what some ranks did. Ranks send them when MPI ends, and write them to
//! files while the job runs.

use super::lateness::Samples;
use super::profile::Profile;
use crate::text::content::beside;
use std::path::{Path, PathBuf};

/// The first bytes of a part: what it is, and the version of its format.
const HEAD: &[u8; 16] = b"rustcoll part 1\n";

/// The most words about calls in a part, 8 MiB.
const MOST_WORDS: usize = 1 << 20;

/// The extension of the files of parts.
const EXTENSION: &str = "part";

/// The most ranks of a job that write parts.
const MOST_WRITERS: usize = 256;

/// What some ranks of a job did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfilePart {
    /// How many ranks the job has.
    pub of: u64,
    /// The calls of these ranks.
    pub profile: Profile,
    /// Calls of which some ranks are not known yet.
    pub samples: Samples,
}

/// The folder for the parts of a job whose profile goes to `file`.
pub fn folder(file: &Path) -> PathBuf {
    beside(file, ".parts")
}

/// The name of a rank's file in that folder.
pub fn file_name(rank: usize) -> String {
    format!("rank-{rank}.{EXTENSION}")
}

/// Whether a file is a part, by its extension.
pub fn is_part(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == EXTENSION)
}

/// Whether a rank writes parts. At most `MOST_WRITERS` of `ranks` do, evenly spaced.
pub fn writes(rank: usize, ranks: usize) -> bool {
    rank.is_multiple_of(ranks.div_ceil(MOST_WRITERS).max(1))
}

impl ProfilePart {
    /// Adds other ranks. Judges each call of which all ranks are known now.
    pub fn merge(&mut self, other: ProfilePart) {
        self.of = self.of.max(other.of);
        self.profile.merge(other.profile);
        self.samples.merge(other.samples);
        self.profile.judge(&self.samples.complete());
    }

    /// Returns the bytes of the part: the head; three words with the number of the job's ranks, the length of
    /// the profile's text and the number of words of the samples; that text; those words. A word has 8 bytes,
    /// the lowest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (text, words) = (self.profile.to_json(), self.samples.to_words(MOST_WORDS));
        let numbers = [self.of, text.len() as u64, words.len() as u64];
        let mut bytes = HEAD.to_vec();
        bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        bytes.extend(text.as_bytes());
        bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
        bytes
    }

    /// Decodes bytes of [`ProfilePart::to_bytes`]. The error tells why they are no part.
    pub fn of_bytes(bytes: &[u8]) -> Result<ProfilePart, String> {
        let rest = bytes.strip_prefix(HEAD).ok_or("this is no part of a profile that this version reads")?;
        let (of, text, samples) = pieces(rest).ok_or("this part of a profile is damaged or not complete")?;
        Ok(ProfilePart { of, profile: Profile::of_json(text)?, samples })
    }
}

/// Splits what is behind the head; `None` if the lengths do not fit.
fn pieces(bytes: &[u8]) -> Option<(u64, &str, Samples)> {
    let (numbers, rest) = bytes.split_at_checked(3 * size_of::<u64>())?;
    let &[of, length, number] = words(numbers)?.as_slice() else { return None };
    let (text, rest) = rest.split_at_checked(length.try_into().ok()?)?;
    let words = words(rest).filter(|words| words.len() as u64 == number)?;
    Some((of, std::str::from_utf8(text).ok()?, Samples::of_words(&words)?))
}

/// Returns bytes as words; `None` if a word is not complete.
fn words(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, []) = bytes.as_chunks() else { return None };
    Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::lateness::{Sample, Visit};
    use super::super::profile::row_hash;
    use super::super::profile::tests::kind;
    use super::super::{CallKind, Sum};
    use super::*;
    use crate::algorithms::Collective;
    use std::time::Duration;

    fn part(rank: u32, milliseconds: u64) -> ProfilePart {
        let kind: CallKind = kind(Collective::Allreduce, 8);
        let row = row_hash(&kind);
        let time = Some(Duration::from_millis(milliseconds));
        let visit = Visit { rank, is_root: false, came: 0, took: milliseconds * 1_000_000 };
        let sample =
            Sample { size: 2, collective: Collective::Allreduce, row, node: None, visits: vec![visit] };
        let mut samples = Samples::default();
        samples.add((3, 9), sample);
        let profile = Profile::of_rank((rank, 5), 1.0, [(kind, Sum { calls: 1, bytes: 8, time })]);
        ProfilePart { of: 2, profile, samples }
    }

    #[test]
    fn what_is_written_is_read() {
        for part in [part(0, 3), ProfilePart::default()] {
            assert_eq!(ProfilePart::of_bytes(&part.to_bytes()), Ok(part));
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_refused() {
        let bytes = part(0, 3).to_bytes();
        for length in 0..bytes.len() {
            assert!(ProfilePart::of_bytes(&bytes[..length]).is_err(), "{length}");
        }
        let mut other = bytes.clone();
        other[14] = b'2';
        assert!(ProfilePart::of_bytes(&other).unwrap_err().contains("that this version reads"));
    }

    #[test]
    fn waiting_is_found_when_all_ranks_of_a_call_are_known() {
        let mut whole = part(0, 3);
        whole.merge(part(1, 1));
        assert_eq!((whole.of, whole.profile.ranks()), (2, 2));
        let row = whole.profile.rows.values().next().unwrap();
        assert!((row.waiting().unwrap() - 0.002).abs() < 1e-9);
    }

    #[test]
    fn few_ranks_write() {
        for ranks in [1, 2, 255, 256, 257, 1000, 100_000] {
            let writers = (0..ranks).filter(|&rank| writes(rank, ranks)).count();
            assert!((ranks.min(MOST_WRITERS / 2)..=MOST_WRITERS).contains(&writers), "{ranks}: {writers}");
        }
    }
}
