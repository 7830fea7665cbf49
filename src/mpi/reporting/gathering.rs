//! When MPI ends, the profiles of all ranks become one: each rank sends what it and the ranks below it in a binomial
//! tree did, and rank 0 writes the file.

use super::parts::{self, own, replace};
use super::sampler::forget;
use crate::mpi::messages::tags::profile_tag;
use crate::mpi::messages::transport::{Error, bytes, check, numbers};
use crate::mpi::parameters::settings::profile_file;
use crate::mpi::shim::bindings::*;
use crate::report::part::{ProfilePart, folder};
use std::ffi::{c_int, c_void};
use std::path::Path;

/// A rank of a job, and a communicator of all ranks.
struct Member {
    communicator: *const c_void,
    rank: usize,
    size: usize,
}

/// Writes the profile of the job, if the user wants one. All ranks call this when MPI ends, after their collectives.
///
/// # Safety
/// The communicator's handle is that of all ranks of the job.
pub unsafe fn write_profile(communicator: *const c_void, rank: usize, size: usize) {
    let Some(file) = profile_file() else { return };
    parts::stop();
    let part = Member { communicator, rank, size }.gathered(own());
    forget();
    if rank == 0 {
        let file = Path::new(&file);
        match replace(file, part.profile.to_json().as_bytes()) {
            Ok(()) if part.profile.ranks() < size => {
                let (ranks, parts) = (part.profile.ranks(), folder(file));
                log::error!(
                    "the profile is of {ranks} of {size} ranks; what others wrote meanwhile stays in {}",
                    parts.display()
                );
            }
            Ok(()) => parts::remove(file),
            Err(error) => log::error!("the profile could not be written to {}: {error}", file.display()),
        }
    }
}

impl Member {
    /// Returns what this rank and the ranks below it did: at rank 0 all ranks. Failed messages are left out.
    fn gathered(&self, mut part: ProfilePart) -> ProfilePart {
        let lost = |peer, error| {
            log::error!("rank {}: no profile goes to or comes from rank {peer}: error {error}", self.rank)
        };
        part.profile.judge(&part.samples.complete());
        let mut distance = 1;
        while distance < self.size {
            if self.rank & distance != 0 {
                let peer = self.rank - distance;
                self.send(peer, &part.to_bytes()).unwrap_or_else(|error| lost(peer, error));
                break;
            }
            let peer = self.rank + distance;
            if peer < self.size {
                self.receive(peer).map_or_else(|error| lost(peer, error), |other| part.merge(other));
            }
            distance *= 2;
        }
        part
    }

    fn send(&self, peer: usize, part: &[u8]) -> Result<(), Error> {
        self.send_elements(peer, &[part.len() as u64], &numbers())?;
        self.send_elements(peer, part, &bytes())
    }

    fn receive(&self, peer: usize) -> Result<ProfilePart, Error> {
        let mut length = [0u64];
        self.receive_elements(peer, &mut length, &numbers())?;
        let mut part = vec![0u8; length[0] as usize];
        self.receive_elements(peer, &mut part, &bytes())?;
        ProfilePart::of_bytes(&part).map_err(|fault| {
            log::error!("the profile of rank {peer}: {fault}");
            RUSTCOLL_ERR_INTERN
        })
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
