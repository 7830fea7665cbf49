//! Without a feature this does nothing. With `mpi` it generates the bindings to the interface of the C shims, for which no MPI is
//! needed: the C files differ from MPI to MPI, and whoever links the library compiles them. With `component` that is done here
//! with those of the Open MPI component, for unit tests.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "mpi")]
    bindings::generate();
    #[cfg(feature = "component")]
    component::link();
}

#[cfg(feature = "mpi")]
mod bindings {
    use std::path::PathBuf;

    const INTERFACE: &str = "src/mpi/shim.h";

    pub fn generate() {
        println!("cargo:rerun-if-changed={INTERFACE}");
        let bindings = bindgen::Builder::default()
            .header(INTERFACE)
            .derive_partialeq(true)
            .allowlist_item("(rustcoll|RUSTCOLL)_.*")
            .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
            .generate()
            .expect("bindgen reads the shim's header");
        let target = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("bindings.rs");
        bindings.write_to_file(target).expect("the bindings can be written");
    }
}

#[cfg(feature = "component")]
mod component {
    use std::process::Command;

    pub fn link() {
        println!("cargo:rerun-if-changed=src/coll_component");
        println!("cargo:rerun-if-changed=src/mpi");
        println!("cargo:rerun-if-env-changed=MPICC");
        let folder = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
        let headers = printed(&mut Command::new("scripts/internal-headers"));
        let mut compile = Command::new("scripts/compile-shim");
        printed(compile.args(["coll_component", &folder]).args(headers.split_whitespace()));
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=static:+whole-archive=rustcoll_shim");
        let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        for folder in printed(Command::new(mpicc).arg("--showme:libdirs")).split_whitespace() {
            println!("cargo:rustc-link-search=native={folder}");
        }
        println!("cargo:rustc-link-lib=dylib=mpi");
        println!("cargo:rustc-link-lib=dylib=open-pal");
    }

    fn printed(command: &mut Command) -> String {
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("folders and options are UTF-8")
    }
}
