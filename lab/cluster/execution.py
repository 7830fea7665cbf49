"""Commands of the system, whose failures are told with what they said."""

import shlex
import subprocess

from cluster.refusal import Refusal


def execute(*command: str, given: str = "", advice: str = "") -> str:
    finished = subprocess.run(command, input=given, capture_output=True, text=True)
    if finished.returncode != 0:
        said = (finished.stderr or finished.stdout).strip() or f"exit code {finished.returncode}"
        raise Refusal(f"{shlex.join(command)} failed: {said}" + (f"\n{advice}" if advice else ""))
    return finished.stdout


def execute_batch(namespace: str, lines: list[str]) -> None:
    """Several commands of `ip` in a namespace, which is much quicker than one by one."""
    execute("ip", "-n", namespace, "-batch", "-", given="\n".join(lines) + "\n")
