"""Durations and bandwidths as users write them."""

import re
from dataclasses import dataclass

from cluster.refusal import Refusal

NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
BITS_PER_SECOND = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}

LONGEST = 10 * NANOSECONDS["s"]
# Below SLOWEST the kernel's shaper rounds too coarsely. Above FASTEST a switch in user space no longer limits the
# bandwidth.
SLOWEST = BITS_PER_SECOND["Mbit/s"]
FASTEST = 10 * BITS_PER_SECOND["Gbit/s"]


def _quantity(what: str, text: str, units: dict[str, int], example: str) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-zA-Zµ/]*)", text)
    if not match:
        raise Refusal(f"{what} {text!r}: not a number with a unit; right would be {example}")
    number, unit = match.groups()
    if unit not in units:
        fault = f"unknown unit {unit!r}" if unit else "a unit is missing"
        raise Refusal(f"{what} {text!r}: {fault}; units are {', '.join(units)}, as in {example}")
    return round(float(number) * units[unit])


def duration(what: str, text: str) -> int:
    """Returns nanoseconds. Zero needs no unit."""
    nanoseconds = 0 if text == "0" else _quantity(what, text, NANOSECONDS, "1ms")
    if nanoseconds > LONGEST:
        raise Refusal(f"{what} {text!r} is longer than {format_duration(LONGEST)}")
    return nanoseconds


def bandwidth(what: str, text: str) -> int:
    """Returns bits per second."""
    bits_per_second = _quantity(what, text, BITS_PER_SECOND, "100Mbit/s")
    if not SLOWEST <= bits_per_second <= FASTEST:
        raise Refusal(f"{what} {text!r} is not between {format_bandwidth(SLOWEST)} and {format_bandwidth(FASTEST)}")
    return bits_per_second


def _format(value: float, units: dict[str, int], smallest: str) -> str:
    fitting = [unit for unit, size in units.items() if value >= size] or [smallest]
    unit = max(fitting, key=units.get)
    return f"{value / units[unit]:.4g} {unit}"


def format_duration(nanoseconds: float) -> str:
    return _format(nanoseconds, {unit: size for unit, size in NANOSECONDS.items() if unit != "µs"}, "ns")


def format_bandwidth(bits_per_second: float) -> str:
    return _format(bits_per_second, BITS_PER_SECOND, "bit/s")


@dataclass(frozen=True)
class Network:
    """The properties that all ports of the switch share: nanoseconds, and bits per second."""

    latency: int
    bandwidth: int
    gap: int

    def nanoseconds_per_byte(self) -> float:
        return 8e9 / self.bandwidth

    def __str__(self) -> str:
        gap = f"a gap of {format_duration(self.gap)} per message" if self.gap else "no gap"
        return f"latency {format_duration(self.latency)}, {format_bandwidth(self.bandwidth)} per port, {gap}"
