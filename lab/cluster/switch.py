"""Starts the switch, and talks to it over its control socket."""

import os
import socket
import subprocess
import time

from cluster import programs
from cluster.execution import undisturbed
from cluster.laboratory import NAMESPACES, Lab
from cluster.quantities import Network
from cluster.refusal import Refusal

SECONDS_TO_ANSWER = 5
SECONDS_TO_START = 10


class NoAnswer(Refusal):
    pass


def _settings(network: Network) -> list[str]:
    return [str(network.latency), repr(network.nanoseconds_per_byte()), str(network.gap)]


def start(lab: Lab, hosts: int, network: Network) -> None:
    """Starts the switch as a process of the lab's launch namespace, where `down` finds it."""
    namespaces = [str(NAMESPACES / lab.namespace(host)) for host in range(1, hosts + 1)]
    launch = str(NAMESPACES / lab.launch_namespace)
    command = ["nsenter", f"--net={launch}", str(programs.switch()), str(lab.control), *_settings(network), *namespaces]
    with open(lab.switch_log, "w", encoding="utf-8") as log, undisturbed():
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Refusal(f"the switch ended: {lab.switch_log.read_text(encoding='utf-8').strip()}")
        try:
            status(lab)
            return
        except NoAnswer:
            time.sleep(0.02)
    raise Refusal(f"the switch did not start within {SECONDS_TO_START} seconds")


def _request(lab: Lab, request: str) -> str:
    own_end = lab.state / f"answer-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.settimeout(SECONDS_TO_ANSWER)
        try:
            client.bind(str(own_end))
            client.sendto(request.encode(), str(lab.control))
            return client.recv(4096).decode()
        except OSError as error:
            silence = f"the switch of the lab {lab.name!r} does not answer ({error})"
            raise NoAnswer(f"{silence}; `{lab.command} down` cleans up") from None
        finally:
            own_end.unlink(missing_ok=True)


def status(lab: Lab) -> dict[str, float]:
    return {key: float(value) for key, value in (line.split() for line in _request(lab, "status").splitlines())}


def set_network(lab: Lab, network: Network) -> None:
    _request(lab, " ".join(["set", *_settings(network)]))


def hosts(lab: Lab) -> int:
    if not lab.state.is_dir():
        raise Refusal(f"the lab {lab.name!r} is not up; start it as in `{lab.command} up 4 --latency 1ms --bandwidth 100Mbit/s`")
    return int(status(lab)["hosts"])
