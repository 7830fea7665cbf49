//! Without a feature this does nothing. With `component` it compiles the C shim against Open MPI's headers and
//! generates the bindings to it; with `interpose` alone it generates the bindings, and the C files, which differ from MPI to MPI, are
//! compiled by whoever links the library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "component")]
    component::build();
    #[cfg(all(feature = "interpose", not(feature = "component")))]
    {
        println!("cargo:rerun-if-changed=src/coll_component/shim.h");
        println!("cargo:rerun-if-changed=src/interpose");
        bindings::generate("src/interpose/bindings.h", &[]);
    }
}

#[cfg(any(feature = "component", feature = "interpose"))]
mod bindings {
    use std::path::PathBuf;

    /// Turns what a header names into Rust.
    pub fn generate(header: &str, includes: &[PathBuf]) {
        let arguments = includes.iter().map(|directory| format!("-I{}", directory.display()));
        let bindings = bindgen::Builder::default()
            .header(header)
            .clang_args(arguments)
            .clang_arg("-I.")
            .derive_partialeq(true)
            .allowlist_function("rustcoll_.*")
            .allowlist_type("rustcoll_.*")
            .allowlist_var("RUSTCOLL_.*|MPI_SUCCESS|MPI_ERR_.*|MCA_COLL_BASE_TAG_.*")
            .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
            .generate()
            .expect("bindgen reads the shim's header");
        let target = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("bindings.rs");
        bindings.write_to_file(target).expect("the bindings can be written");
    }
}

#[cfg(feature = "component")]
mod component {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    const SHIM: &str = "src/coll_component";
    const SOURCES: [&str; 9] = [
        "agreement.c",
        "calls.c",
        "component.c",
        "counters.c",
        "module.c",
        "parameters.c",
        "requests.c",
        "services.c",
        "slots.c",
    ];

    pub fn build() {
        println!("cargo:rerun-if-changed={SHIM}");
        println!("cargo:rerun-if-changed=wrapper.h");
        println!("cargo:rerun-if-env-changed=MPICC");
        let includes = include_directories();
        compile_shim(&includes);
        link_open_mpi();
        super::bindings::generate("wrapper.h", &includes);
    }

    /// The directories that Open MPI's compiler wrapper names for `--showme:QUESTION`.
    fn wrapper_directories(question: &str) -> Vec<PathBuf> {
        let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        let answer = match Command::new(&mpicc).arg(format!("--showme:{question}")).output() {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            Ok(output) => panic!("{mpicc} --showme:{question}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                panic!("cannot run {mpicc}: {error}; install Open MPI's development package or set MPICC")
            }
        };
        answer.split_whitespace().map(PathBuf::from).collect()
    }

    /// Open MPI's public and internal header directories, and the stand-in for what packages leave out.
    fn include_directories() -> Vec<PathBuf> {
        let mut directories = wrapper_directories("incdirs");
        directories.extend(directories.clone().iter().map(|directory| directory.join("openmpi")));
        let has_internal =
            directories.iter().any(|directory| directory.join("ompi/mca/coll/coll.h").exists());
        assert!(
            has_internal,
            "no ompi/mca/coll/coll.h in {directories:?}: Open MPI's internal headers are missing"
        );
        directories.push(Path::new(SHIM).join("compat"));
        directories
    }

    /// For the component's unit tests; the archive itself leaves these libraries to whoever links it.
    fn link_open_mpi() {
        for directory in wrapper_directories("libdirs") {
            println!("cargo:rustc-link-search=native={}", directory.display());
        }
        println!("cargo:rustc-link-lib=dylib=mpi");
        println!("cargo:rustc-link-lib=dylib=open-pal");
    }

    fn compile_shim(includes: &[PathBuf]) {
        let mut build = cc::Build::new();
        build.includes(includes).files(SOURCES.map(|source| Path::new(SHIM).join(source)));
        build.define("_GNU_SOURCE", None).std("gnu11").flag_if_supported("-Wno-unused-parameter");
        // Clearing the description of a call must not cost a string instruction, which takes longer than the rest.
        build.flag_if_supported("-mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign");
        build.compile("rustcoll_shim");
    }
}
