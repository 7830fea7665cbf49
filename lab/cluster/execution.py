"""Commands of the system. If a command fails, the user sees its message."""

import contextlib
import shlex
import signal
import subprocess

from cluster.refusal import Refusal


@contextlib.contextmanager
def undisturbed():
    """Delays SIGINT and SIGTERM. Otherwise a process that is just starting, and that `down` does not yet know, could
    change what `down` removes."""
    told = []
    handlers = {number: signal.signal(number, lambda number, _: told.append(number)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in told:
            signal.raise_signal(number)


def execute(*command: str, given: str = "", advice: str = "") -> str:
    with undisturbed():
        finished = subprocess.run(command, input=given, capture_output=True, text=True)
    if finished.returncode != 0:
        said = (finished.stderr or finished.stdout).strip() or f"exit code {finished.returncode}"
        raise Refusal(f"{shlex.join(command)} failed: {said}" + (f"\n{advice}" if advice else ""))
    return finished.stdout


def execute_batch(namespace: str, lines: list[str]) -> None:
    """Runs several commands of `ip` in a namespace, which is much faster than one at a time."""
    execute("ip", "-n", namespace, "-batch", "-", given="\n".join(lines) + "\n")
