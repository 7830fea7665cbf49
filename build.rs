//! Generates what the features need; without a feature, nothing. `mpi` needs the bindings to the interface of the C
//! shims, but no MPI: the shims differ from MPI to MPI, and `scripts/link-component` and `scripts/link-preload` compile
//! them. `component`, which is for unit tests, needs the compiled shim of the Open MPI component.

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

    pub fn generate() {
        let bindings = bindgen::Builder::default()
            .header("wrapper.h")
            .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()))
            .derive_partialeq(true)
            .allowlist_item("(rustcoll|RUSTCOLL)_.*")
            .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
            .generate()
            .expect("bindgen reads wrapper.h");
        let target = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("bindings.rs");
        bindings.write_to_file(target).expect("the bindings can be written");
    }
}

#[cfg(feature = "component")]
mod component {
    use std::fs;
    use std::process::Command;

    const SHIM: &str = "src/coll_component";
    /// The file of compiler flags. Its second line holds a flag that not every compiler knows.
    const FLAGS: &str = "scripts/shim-flags";

    pub fn link() {
        for path in [SHIM, "src/mpi", FLAGS] {
            println!("cargo:rerun-if-changed={path}");
        }
        println!("cargo:rerun-if-env-changed=MPICC");
        let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        compile(&mpicc);
        for folder in printed(Command::new(mpicc).arg("--showme:libdirs")).split_whitespace() {
            println!("cargo:rustc-link-search=native={folder}");
        }
        println!("cargo:rustc-link-lib=dylib=mpi");
        println!("cargo:rustc-link-lib=dylib=open-pal");
    }

    fn compile(mpicc: &str) {
        let files =
            fs::read_dir(SHIM).expect("the folder of the shim").map(|entry| entry.expect("an entry").path());
        let flags = fs::read_to_string(FLAGS).expect("the flags of the shim");
        let (flags, optional) = flags.split_once('\n').expect("two lines of flags");
        let headers = printed(&mut Command::new("scripts/internal-headers"));
        cc::Build::new()
            .compiler(mpicc)
            .no_default_flags(true)
            .include("src/mpi")
            .flags(flags.split_whitespace().chain(headers.split_whitespace()))
            .flag_if_supported(optional.trim())
            .files(files.filter(|path| path.extension().is_some_and(|extension| extension == "c")))
            .link_lib_modifier("+whole-archive")
            .compile("rustcoll_shim");
    }

    fn printed(command: &mut Command) -> String {
        let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("folders and options are UTF-8")
    }
}
