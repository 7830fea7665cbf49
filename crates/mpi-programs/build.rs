//! Finds out which MPI's header the programs are built with: handles and extensions differ.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(mpich_abi, persistent_extension, standard_abi)");
    println!("cargo::rerun-if-env-changed=MPICC");
    let compiler = env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    // The crate mpi-sys finds the library by the same variable, MPICC.
    let shown =
        Command::new(&compiler).args(["-dM", "-E", "-include", "mpi.h", "-x", "c", "/dev/null"]).output();
    let macros = shown.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if macros.contains("#define MPICH_VERSION ") {
        println!("cargo::rustc-cfg=mpich_abi");
    } else if macros.contains("#define MPI_H_ABI") {
        println!("cargo::rustc-cfg=standard_abi");
    }
    if macros.contains("#define OMPI_MAJOR_VERSION 4") {
        println!("cargo::rustc-cfg=persistent_extension");
    }
}
