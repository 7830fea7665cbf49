"""Commands of the system, whose failures are told with what they said."""

import contextlib
import shlex
import signal
import subprocess

from cluster.refusal import Refusal


@contextlib.contextmanager
def undisturbed():
    """What is told to end meanwhile ends afterwards: a process that is being started, and that nobody knows yet, would change what is being taken down."""
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
    """Several commands of `ip` in a namespace, which is much quicker than one by one."""
    execute("ip", "-n", namespace, "-batch", "-", given="\n".join(lines) + "\n")
