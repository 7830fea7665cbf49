import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.generic import Package
except ImportError:  # Spack before 1.0 has it in spack.package
    pass


class Rustcoll(Package):
    """Collective algorithms for MPI that rules choose: a component of Open MPI, or, where the MPI is another, a library that is
    loaded before it; and the command rustcoll."""

    # The source archive of `make dist`, in the folder in which Spack is started.
    manual_download = True

    license("BSD-3-Clause")

    version("@VERSION@", sha256="@SHA256@", url=f"file://{os.getcwd()}/rustcoll-@VERSION@.tar.xz")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("llvm+clang", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("mpi")

    conflicts("^openmpi@:4.0", msg="rustcoll is a component of Open MPI 4.1 and later")

    @property
    def openmpi_plugins(self):
        return join_path(self.spec["openmpi"].prefix.lib, "openmpi")

    @property
    def plugins(self):
        return join_path(self.prefix.lib, "openmpi")

    def setup_build_environment(self, env):
        env.set("CARGO_NET_OFFLINE", "true")
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo"))
        env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)

    def install(self, spec, prefix):
        mpicc = spec["mpi"].mpicc
        if spec.satisfies("^openmpi"):
            folders = [f"PREFIX={prefix}", f"PLUGIN_DIR={self.plugins}", f"OPENMPI_PLUGIN_DIR={self.openmpi_plugins}"]
            make("all", f"MPICC={mpicc}", *folders)
            make("install", *folders)
        else:
            make("cli")
            make("preload", f"PRELOAD_MPICC={mpicc}")
            make("install-cli", "install-preload", f"PREFIX={prefix}")

    def setup_run_environment(self, env):
        if self.spec.satisfies("^openmpi"):
            # Our own folder alone would hide Open MPI's other plug-ins.
            env.prepend_path("OMPI_MCA_mca_base_component_path", self.plugins)
            env.append_path("OMPI_MCA_mca_base_component_path", self.openmpi_plugins)
            env.set("OMPI_MCA_coll_rustcoll_priority", "60")
