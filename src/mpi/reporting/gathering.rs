//! The profiles of all ranks become one when MPI ends: each rank tells what it and the ranks below it in a binomial tree did, and the first
//! rank writes the file.

use super::sampler::take_samples;
use super::watch;
use crate::mpi::messages::tags::profile_tag;
use crate::mpi::messages::transport::{Error, bytes, check, numbers};
use crate::mpi::parameters::settings::profile_file;
use crate::mpi::shared_memory::nodes::identity;
use crate::mpi::shim::bindings::*;
use crate::report::lateness::Samples;
use crate::report::profile::Profile;
use std::ffi::{c_int, c_void};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A rank tells no more words about calls than these, 8 MiB.
const MOST_WORDS: usize = 1 << 20;

/// What some ranks did.
struct Told {
    profile: Profile,
    samples: Samples,
}

/// A rank of a job, and a communicator of all ranks.
struct Member {
    communicator: *const c_void,
    rank: usize,
    size: usize,
}

/// Writes the profile of the job, if there is to be one. All ranks call this when MPI ends, and each rank has ended its collectives.
///
/// # Safety
/// The communicator's handle is that of all ranks of the job.
pub unsafe fn write_profile(communicator: *const c_void, rank: usize, size: usize) {
    let Some(file) = profile_file() else { return };
    let told = Member { communicator, rank, size }.gathered(own());
    if rank == 0
        && let Err(error) = write(Path::new(&file), &told.profile.to_json())
    {
        log::error!("the profile could not be written to {file}: {error}");
    }
}

/// What this rank did.
fn own() -> Told {
    let node = identity();
    let sums = watch::sums().into_iter().map(|(kind, sum)| ((*kind).clone(), sum));
    let profile = Profile::of_rank((watch::rank(), node), watch::running().as_secs_f64(), sums);
    Told { profile, samples: take_samples(node) }
}

/// Replaces a file as a whole: who reads it meanwhile finds the old one or the new one.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut begun = file.as_os_str().to_owned();
    begun.push(".begun");
    let begun = PathBuf::from(begun);
    let written = fs::write(&begun, text).and_then(|()| fs::rename(&begun, file));
    if written.is_err() {
        let _ = fs::remove_file(&begun);
    }
    written
}

impl Told {
    fn merge(&mut self, other: Told) {
        self.profile.merge(other.profile);
        self.samples.merge(other.samples);
        self.profile.judge(&self.samples.complete());
    }
}

impl Member {
    /// What all ranks did, at the first one. What another rank cannot tell is left out.
    fn gathered(&self, mut told: Told) -> Told {
        let lost = |peer, error| {
            log::error!("rank {}: no profile goes to or comes from rank {peer}: error {error}", self.rank)
        };
        told.profile.judge(&told.samples.complete());
        let mut distance = 1;
        while distance < self.size {
            if self.rank & distance != 0 {
                let peer = self.rank - distance;
                self.send(peer, &told).unwrap_or_else(|error| lost(peer, error));
                break;
            }
            let peer = self.rank + distance;
            if peer < self.size {
                self.receive(peer).map_or_else(|error| lost(peer, error), |other| told.merge(other));
            }
            distance *= 2;
        }
        told
    }

    fn send(&self, peer: usize, told: &Told) -> Result<(), Error> {
        let (text, words) = (told.profile.to_json().into_bytes(), told.samples.to_words(MOST_WORDS));
        self.send_elements(peer, &[text.len() as u64, words.len() as u64], &numbers())?;
        self.send_elements(peer, &text, &bytes())?;
        self.send_elements(peer, &words, &numbers())
    }

    fn receive(&self, peer: usize) -> Result<Told, Error> {
        let mut lengths = [0u64; 2];
        self.receive_elements(peer, &mut lengths, &numbers())?;
        let (mut text, mut words) = (vec![0u8; lengths[0] as usize], vec![0u64; lengths[1] as usize]);
        self.receive_elements(peer, &mut text, &bytes())?;
        self.receive_elements(peer, &mut words, &numbers())?;
        let text = String::from_utf8(text).map_err(|_| RUSTCOLL_ERR_INTERN)?;
        let profile = Profile::of_json(&text).map_err(|fault| {
            log::error!("the profile of rank {peer}: {fault}");
            RUSTCOLL_ERR_INTERN
        })?;
        Ok(Told { profile, samples: Samples::of_words(&words).ok_or(RUSTCOLL_ERR_INTERN)? })
    }

    fn send_elements<T>(
        &self,
        peer: usize,
        elements: &[T],
        datatype: &rustcoll_datatype,
    ) -> Result<(), Error> {
        debug_assert_eq!(size_of::<T>(), datatype.size);
        // SAFETY: the elements are of that datatype, and live until the message is sent.
        check(unsafe {
            rustcoll_shim_send_and_wait(
                elements.as_ptr().cast(),
                elements.len(),
                datatype.handle,
                peer as c_int,
                profile_tag(),
                self.communicator,
            )
        })
    }

    fn receive_elements<T>(
        &self,
        peer: usize,
        elements: &mut [T],
        datatype: &rustcoll_datatype,
    ) -> Result<(), Error> {
        debug_assert_eq!(size_of::<T>(), datatype.size);
        // SAFETY: there is room for so many elements of that datatype, all of whose values are legal, until they are received.
        check(unsafe {
            rustcoll_shim_receive_and_wait(
                elements.as_mut_ptr().cast(),
                elements.len(),
                datatype.handle,
                peer as c_int,
                profile_tag(),
                self.communicator,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = std::env::temp_dir().join(format!("rustcoll-profile-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("profile.json");
        for text in ["one", "two"] {
            write(&file, text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(write(&folder.join("none/profile.json"), "three").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
