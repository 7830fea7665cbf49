# What Spack's own recipe of Open MPI leaves out: the internal headers, with which components are compiled.

try:
    from spack_repo.builtin.packages.openmpi.package import Openmpi as BuiltinOpenmpi
except ImportError:  # Spack before 1.0
    from spack.pkg.builtin.openmpi import Openmpi as BuiltinOpenmpi


class Openmpi(BuiltinOpenmpi):
    __doc__ = BuiltinOpenmpi.__doc__

    def configure_args(self):
        return super().configure_args() + ["--with-devel-headers"]
