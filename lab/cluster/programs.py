"""The lab's programs in C, compiled when their sources are newer."""

from pathlib import Path

from cluster.execution import execute
from cluster.laboratory import PROGRAMS, SOURCES


def _compiled(result: str, source: str, *command: str) -> Path:
    path, origin = PROGRAMS / result, SOURCES / source
    if not path.exists() or path.stat().st_mtime < origin.stat().st_mtime:
        PROGRAMS.mkdir(parents=True, exist_ok=True)
        # A running program's file cannot be written, but it can be replaced.
        unfinished = path.with_suffix(".unfinished")
        execute(*command, "-O2", "-o", str(unfinished), str(origin))
        unfinished.replace(path)
    return path


def switch() -> Path:
    return _compiled("switch", "switch.c", "gcc")


def idle_library() -> Path:
    return _compiled("idle.so", "idle.c", "gcc", "-fPIC", "-shared")


def probe() -> Path:
    return _compiled("probe", "probe.c", "mpicc")
