//! Initializes and finalizes MPI, and describes its errors.

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::ptr;

use crate::communicator::Communicator;

/// Whether this MPI has components with variables that control them, as Open MPI has.
pub const HAS_COMPONENTS: bool = cfg!(not(any(mpich_abi, standard_abi)));

/// A return code other than `MPI_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub c_int);

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut text: [c_char; mpi_sys::MPI_MAX_ERROR_STRING as usize] =
            [0; mpi_sys::MPI_MAX_ERROR_STRING as usize];
        let mut length = 0;
        // SAFETY: the buffer is as long as MPI demands and stays zero-terminated.
        let text = unsafe {
            mpi_sys::MPI_Error_string(self.0, text.as_mut_ptr(), &mut length);
            CStr::from_ptr(text.as_ptr())
        };
        write!(formatter, "{} (code {})", text.to_string_lossy(), self.0)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// A message was longer than its receive buffer.
    pub const TRUNCATED: Error = Error(mpi_sys::MPI_ERR_TRUNCATE as c_int);
}

/// Turns a return code into a result.
pub fn check(code: c_int) -> Result<(), Error> {
    match code {
        0 => Ok(()),
        code => {
            let mut class = code;
            // SAFETY: only writes the class.
            unsafe { mpi_sys::MPI_Error_class(code, &mut class) };
            Err(Error(class))
        }
    }
}

/// MPI and its tool interface, initialized. Drop everything made through MPI before this.
#[derive(Debug)]
pub struct Environment(());

impl Environment {
    /// Initializes MPI for one thread.
    pub fn new() -> Result<Self, Error> {
        let mut provided = 0;
        // SAFETY: MPI allows null for the arguments of main, and the tool interface may be initialized at any time.
        unsafe {
            check(mpi_sys::MPI_Init(ptr::null_mut(), ptr::null_mut()))?;
            check(mpi_sys::MPI_T_init_thread(mpi_sys::RSMPI_THREAD_SINGLE, &mut provided))?;
        }
        Ok(Environment(()))
    }

    /// Returns the MPI library's name and version.
    pub fn library(&self) -> Result<String, Error> {
        const LONGEST: usize = mpi_sys::MPI_MAX_LIBRARY_VERSION_STRING as usize;
        let mut text: [c_char; LONGEST] = [0; LONGEST];
        let mut length = 0;
        // SAFETY: the buffer is as long as MPI demands.
        check(unsafe { mpi_sys::MPI_Get_library_version(text.as_mut_ptr(), &mut length) })?;
        // SAFETY: MPI terminates the text with a zero.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// `MPI_COMM_WORLD`
    pub fn world(&self) -> Result<Communicator, Error> {
        // SAFETY: reads a constant.
        Communicator::predefined(unsafe { mpi_sys::RSMPI_COMM_WORLD })
    }

    /// `MPI_COMM_SELF`
    pub fn itself(&self) -> Result<Communicator, Error> {
        // SAFETY: reads a constant.
        Communicator::predefined(unsafe { mpi_sys::RSMPI_COMM_SELF })
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return abort();
        }
        // SAFETY: called once, after everything made through MPI was dropped.
        unsafe {
            mpi_sys::MPI_T_finalize();
            mpi_sys::MPI_Finalize();
        }
    }
}

/// Ends all processes of the job. If one rank stopped alone, the others would wait for it.
pub fn abort() {
    // SAFETY: may be called at any time after the initialization.
    unsafe { mpi_sys::MPI_Abort(mpi_sys::RSMPI_COMM_WORLD, 1) };
}

/// Ends this process from any thread; the launcher then ends the job.
pub fn kill() -> ! {
    std::process::exit(3)
}
