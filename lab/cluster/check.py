"""Checks that the emulated network is as requested, as seen by an MPI job."""

import subprocess

from cluster import lifecycle, programs
from cluster.laboratory import SOURCES, Lab
from cluster.quantities import Network, format_bandwidth, format_duration
from cluster.refusal import Refusal

HOSTS = 4
LATENCY = 1_000_000
GAP = 1_000_000
BANDWIDTH = 100_000_000
SECONDS_PER_JOB = 60

# What Open MPI and TCP add to a message in ns, and the headers of packets of a long message as a factor.
SOFTWARE_PER_MESSAGE = 300_000
HEADERS = 1.10


def measure(lab: Lab) -> dict[str, float]:
    run = [str(SOURCES / "lab"), "--name", lab.name, "run", str(HOSTS), "1", "--", str(programs.probe())]
    try:
        finished = subprocess.run(run, capture_output=True, text=True, timeout=SECONDS_PER_JOB)
    except subprocess.TimeoutExpired:
        raise Refusal(f"the job did not end within {SECONDS_PER_JOB} seconds") from None
    if finished.returncode != 0:
        raise Refusal(f"the job failed with exit code {finished.returncode}: {finished.stderr.strip()}")
    return {key: float(value) for key, value in (line.split() for line in finished.stdout.splitlines())}


def within(what: str, measured: float, least: float, most: float, show) -> bool:
    holds = least <= measured <= most
    print(f"{what}: {show(measured)}, expected {show(least)} to {show(most)}: {'good' if holds else 'NOT as asked'}")
    return holds


def compare(network: Network, measured: dict[str, float]) -> bool:
    # A message occupies both its ports at the same time, so the gap counts once.
    least_latency = network.latency + network.gap
    least_bandwidth = network.bandwidth / HEADERS
    results = [
        within("latency", measured["latency_ns"], 0.99 * least_latency, least_latency + SOFTWARE_PER_MESSAGE, format_duration),
        within("gap", measured["gap_ns"], 0.97 * network.gap, network.gap + SOFTWARE_PER_MESSAGE, format_duration),
    ]
    # A port handles one message after the other, but sends and receives at once.
    least_of_everybody = network.latency + (HOSTS - 1) * network.gap
    most_of_everybody = least_of_everybody + (HOSTS - 1) * SOFTWARE_PER_MESSAGE
    results.append(within("all to all", measured["everybody_ns"], 0.99 * least_of_everybody, most_of_everybody, format_duration))
    # With a gap, each frame of a long message counts as a message.
    if not network.gap:
        bandwidth = 8e9 / measured["per_byte_ns"]
        results.append(within("bandwidth", bandwidth, least_bandwidth, network.bandwidth, format_bandwidth))
    return all(results)


def check() -> bool:
    """Starts its own lab, so a running one is not disturbed."""
    own = Lab("check")
    without_gap, with_gap = Network(LATENCY, BANDWIDTH, 0), Network(LATENCY, BANDWIDTH, GAP)
    lifecycle.up(own, HOSTS, without_gap)
    try:
        print(f"{HOSTS} hosts, {without_gap}")
        good = compare(without_gap, measure(own))
        lifecycle.set_network(own, with_gap)
        print(f"{HOSTS} hosts, {with_gap}")
        good = compare(with_gap, measure(own)) and good
    finally:
        lifecycle.down(own)
    print("The emulated network is as asked for." if good else "The emulated network is NOT as asked for.")
    return good
