//! Checks what scripts find and say that prepare the build, without any MPI.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scripts").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// Runs a script of `scripts/` with such variables. Returns whether it succeeds, and what it prints on both outputs.
fn run(script: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(format!("{ROOT}/scripts/{script}"));
    let output =
        command.current_dir(ROOT).envs(variables.iter().copied()).output().expect("a script that runs");
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).expect("UTF-8"))
}

/// An Open MPI 5 with a PMIx of its own. Its hwloc and libevent are elsewhere: pkg-config knows where, the compiler does not.
fn open_mpi(name: &str) -> PathBuf {
    let folder = folder(name);
    let path = folder.display();
    write(
        &folder.join("bin/mpicc"),
        &format!("#!/bin/sh\n[ \"$1\" = --showme:incdirs ] && echo {path}/include\n"),
    );
    write(
        &folder.join("bin/pkg-config"),
        &format!("#!/bin/sh\n[ \"$1\" = --cflags-only-I ] && echo -I{path}/$2/include\n"),
    );
    for header in [
        "include/openmpi/ompi/mca/coll/coll.h",
        "include/openmpi/opal/mca/pmix/pmix-internal.h",
        "include/pmix.h",
        "pmix/include/pmix.h",
        "hwloc/include/hwloc.h",
        "libevent/include/event2/event.h",
    ] {
        write(&folder.join(header), "");
    }
    folder
}

/// Returns what `internal-headers` prints for an Open MPI.
fn internal_headers(open_mpi: &Path) -> (bool, String) {
    let programs = open_mpi.join("bin").display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").expect("a path"));
    run("internal-headers", &[("MPICC", &format!("{programs}/mpicc")), ("PATH", &path)])
}

#[test]
fn headers_that_internal_ones_include_are_found() {
    let folder = open_mpi("found");
    let (is_found, options) = internal_headers(&folder);
    assert!(is_found, "{options}");
    let path = folder.display();
    let expected = format!(
        "-I{path}/include/openmpi -I{ROOT}/src/coll_component/compat -I{path}/include -I{path}/hwloc/include \
         -I{path}/libevent/include\n"
    );
    assert_eq!(options, expected);
}

#[test]
fn a_header_that_internal_ones_include_is_named_if_it_is_missing() {
    for header in ["hwloc/include/hwloc.h", "libevent/include/event2/event.h"] {
        let folder = open_mpi("missing");
        fs::remove_file(folder.join(header)).expect("the header");
        let (is_found, message) = internal_headers(&folder);
        let name = header.split_once("include/").expect("a header's name").1;
        assert!(!is_found && message.starts_with(&format!("no {name}: ")), "{message}");
    }
}

#[test]
fn a_compiler_wrapper_that_does_not_exist_is_named() {
    for mpicc in ["/usr/bin/no-mpicc", "mpicc.none"] {
        let (succeeds, message) = run("prerequisites", &[("MPICC", mpicc), ("CARGO_NET_OFFLINE", "true")]);
        assert!(
            !succeeds && message.contains(&format!("MPICC={mpicc}: there is no such command")),
            "{message}"
        );
    }
}

#[test]
fn another_target_in_cargos_configuration_is_refused() {
    let home = folder("cargo").display().to_string();
    let run = || run("own-target", &[("CARGO_HOME", &home)]);
    assert_eq!(run(), (true, String::new()));
    write(&Path::new(&home).join("config.toml"), "[build]\ntarget = \"x86_64-unknown-linux-gnu\"\n");
    let (succeeds, message) = run();
    assert!(!succeeds && message.contains("build.target to \"x86_64-unknown-linux-gnu\""), "{message}");
}
