"""The command line."""

import argparse
import os
import signal
import sys

from cluster import jobs, lifecycle, requirements, switch
from cluster.check import check
from cluster.laboratory import DEFAULT_NAME, MAXIMUM_HOSTS, Lab
from cluster.quantities import Network, bandwidth, duration, format_duration
from cluster.refusal import Refusal

DESCRIPTION = "An emulated cluster on one Linux machine: hosts with a latency, a bandwidth per port and a gap per message."
MOST_RANKS_PER_HOST = 64
# Beyond this part of the latency, the mean lateness of frames is not small.
MOST_LATE = 0.1


def count(what: str, text: str, most: int) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise Refusal(f"{what} {text!r}: a number from 1 to {most} is expected")
    return int(text)


def hosts_and_ranks(arguments) -> tuple[int, int]:
    return count("hosts", arguments.hosts, MAXIMUM_HOSTS), count("ranks per host", arguments.ranks_per_host, MOST_RANKS_PER_HOST)


def network(arguments) -> Network:
    return Network(
        duration("latency", arguments.latency), bandwidth("bandwidth", arguments.bandwidth), duration("gap", arguments.gap)
    )


def up(lab: Lab, arguments) -> int:
    hosts = count("hosts", arguments.hosts, MAXIMUM_HOSTS)
    asked = network(arguments)
    requirements.require(requirements.TO_EMULATE)
    lifecycle.up(lab, hosts, asked)
    print(f"{hosts} hosts are up: {asked}")
    return 0


def set_network(lab: Lab, arguments) -> int:
    asked = network(arguments)
    requirements.require(requirements.TO_EMULATE)
    lifecycle.set_network(lab, asked)
    print(f"the network has changed: {asked}")
    return 0


def incredible(now: dict[str, float]) -> list[str]:
    """Returns why times that were measured since the network was set are not credible."""
    reasons = []
    if now["undelivered"] > 0:
        reasons.append(f"{now['undelivered']:.0f} frames were not delivered")
    if now["mean_lateness_ns"] > MOST_LATE * now["latency_ns"]:
        late, latency = format_duration(now["mean_lateness_ns"]), format_duration(now["latency_ns"])
        reasons.append(f"frames left the switch {late} late on average, with a latency of {latency}")
    return reasons


def status(lab: Lab, arguments) -> int:
    requirements.require({})
    if not lab.state.is_dir():
        print(f"the lab {lab.name!r} is not up")
        return 1
    now = switch.status(lab)
    current = Network(int(now["latency_ns"]), round(8e9 / now["per_byte_ns"]), int(now["gap_ns"]))
    print(f"{now['hosts']:.0f} hosts are up: {current}")
    print(f"{now['frames']:.0f} frames, {now['wire_bytes']:.0f} bytes on the wire, {now['undelivered']:.0f} frames undelivered")
    mean, largest = format_duration(now["mean_lateness_ns"]), format_duration(now["largest_lateness_ns"])
    print(f"frames left the switch {mean} late on average, {largest} at most")
    reasons = incredible(now) if arguments.credible else []
    if reasons:
        print(f"lab: times are not credible: {'; '.join(reasons)}", file=sys.stderr)
    return 1 if reasons else 0


def run(lab: Lab, arguments) -> int:
    hosts, ranks_per_host = hosts_and_ranks(arguments)
    if not arguments.program:
        raise Refusal("no program: after the ranks per host come options of mpirun, then --, then the program and its arguments")
    requirements.require(requirements.TO_EMULATE | requirements.TO_RUN_JOBS)
    jobs.run(lab, hosts, ranks_per_host, arguments.options, arguments.program)
    return 0


def down(lab: Lab, _arguments) -> int:
    requirements.require({"ip": "iproute2"})
    print(f"the lab {lab.name!r} {'is down' if lifecycle.down(lab) else 'was not up'}")
    return 0


def check_accuracy(_lab: Lab, _arguments) -> int:
    requirements.require(requirements.TO_EMULATE | requirements.TO_RUN_JOBS | requirements.TO_CHECK)
    return 0 if check() else 1


class Parser(argparse.ArgumentParser):
    """Turns faults of the command line into refusals, like all other faults."""

    def error(self, message):
        raise Refusal(f"{message}; {' '.join(self.format_usage().split())}")


def parser() -> Parser:
    result = Parser(prog="lab/lab", description=DESCRIPTION, allow_abbrev=False)
    result.add_argument(
        "--name", default=os.environ.get("RUSTCOLL_LAB", DEFAULT_NAME),
        help=f"which lab, where there are several at a time (default: $RUSTCOLL_LAB, or {DEFAULT_NAME})",
    )
    commands = result.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)

    def command(name, action, explanation, **more):
        added = commands.add_parser(name, help=explanation, description=explanation, allow_abbrev=False, **more)
        added.set_defaults(action=action)
        return added

    def network_options(to):
        to.add_argument("--latency", required=True, help="from port to port, as in 1ms")
        to.add_argument("--bandwidth", required=True, help="of each port, in each direction, as in 100Mbit/s")
        to.add_argument("--gap", default="0", help="for which a message occupies a port beside its bytes, as in 300us (default: 0)")

    starting = command("up", up, "start the hosts")
    starting.add_argument("hosts", metavar="HOSTS", help=f"how many, at most {MAXIMUM_HOSTS}")
    network_options(starting)
    network_options(command("set", set_network, "change the network under running hosts"))
    asking = command("status", status, "say what is up, and how late the switch was")
    asking.add_argument(
        "--credible", action="store_true",
        help="end with 1 if frames were lost, or were late by more than a tenth of the latency on average",
    )
    running = command(
        "run", run, "run an MPI job", usage="lab/lab run HOSTS RANKS_PER_HOST [mpirun options] -- PROGRAM [ARGUMENTS]"
    )
    running.add_argument("hosts", metavar="HOSTS")
    running.add_argument("ranks_per_host", metavar="RANKS_PER_HOST")
    running.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTIONS", help="of mpirun")
    command("down", down, "end the hosts and all that runs on them")
    command("check", check_accuracy, "start some hosts, and compare what is measured on them with what was asked for")
    return result


def split_program(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the first `--` and those after it, so that neither side sees the other's options."""
    if "--" not in arguments:
        return arguments, []
    place = arguments.index("--")
    return arguments[:place], arguments[place + 1 :]


def end_in_order() -> None:
    """On SIGTERM, takes down what a command has begun to start."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def main() -> int:
    end_in_order()
    own, program = split_program(sys.argv[1:])
    try:
        arguments = parser().parse_args(own)
        if program and arguments.action is not run:
            raise Refusal("only `run` takes a program after --")
        arguments.program = program
        return arguments.action(Lab(arguments.name), arguments)
    except Refusal as refusal:
        print(f"lab: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
