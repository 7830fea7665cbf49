"""The processes in network namespaces, regardless of who started them."""

import os
import signal
import time

from cluster.execution import execute
from cluster.refusal import Refusal

SECONDS_TO_END = 20
PAUSE = 0.02


def running(namespaces: list[str]) -> list[int]:
    listed = [process for namespace in namespaces for process in execute("ip", "netns", "pids", namespace).split()]
    return [int(process) for process in listed if int(process) != os.getpid()]


def await_end(namespaces: list[str], seconds: float) -> list[int]:
    """Returns the processes that still run after so many seconds."""
    deadline = time.monotonic() + seconds
    while (left := running(namespaces)) and time.monotonic() < deadline:
        time.sleep(PAUSE)
    return left


def end(namespaces: list[str]) -> None:
    """Kills the processes repeatedly, because a process that has not yet ended may start others."""
    deadline = time.monotonic() + SECONDS_TO_END
    while processes := running(namespaces):
        if time.monotonic() > deadline:
            raise Refusal(f"processes {' '.join(map(str, processes))} do not end")
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(PAUSE)
