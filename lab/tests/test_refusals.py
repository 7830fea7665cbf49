import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from cluster import requirements
from cluster.laboratory import SOURCES, Lab
from cluster.refusal import Refusal

NETWORK = ["--latency", "1ms", "--bandwidth", "100Mbit/s"]


def lab(*arguments, **environment):
    command = [sys.executable, str(SOURCES / "lab"), "--name", "refusals", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


class CommandLine(unittest.TestCase):
    def assert_refused(self, arguments, *words):
        finished = lab(*arguments)
        self.assertEqual((finished.returncode, finished.stdout), (2, ""), finished.stderr)
        for word in words:
            self.assertIn(word, finished.stderr)
        self.assertNotIn("Traceback", finished.stderr)

    def test_without_a_command_the_usage_is_told(self):
        self.assert_refused([], "COMMAND", "usage")

    def test_unknown_commands_are_refused_with_those_there_are(self):
        self.assert_refused(["start"], "'start'", "up", "down", "check")

    def test_a_number_of_hosts_must_be_one_that_the_switch_takes(self):
        for hosts in ["0", "255", "-1", "four", "1.5", "²", ""]:
            self.assert_refused(["up", *NETWORK, "--", hosts] if hosts == "-1" else ["up", hosts, *NETWORK])
        self.assert_refused(["up", "255", *NETWORK], "hosts '255'", "from 1 to 254")
        self.assert_refused(["up", "0", *NETWORK], "hosts '0'", "from 1 to 254")

    def test_a_network_without_latency_or_bandwidth_is_refused(self):
        self.assert_refused(["up", "4"], "--latency, --bandwidth")
        self.assert_refused(["set", "--latency", "1ms"], "--bandwidth")

    def test_quantities_without_unit_are_refused(self):
        self.assert_refused(["up", "4", "--latency", "1", "--bandwidth", "100Mbit/s"], "latency '1'", "a unit is missing")
        self.assert_refused(["up", "4", *NETWORK, "--gap", "300"], "gap '300'", "a unit is missing")
        self.assert_refused(["set", "--latency", "1ms", "--bandwidth", "100"], "bandwidth '100'", "a unit is missing")

    def test_a_job_without_a_program_is_refused(self):
        self.assert_refused(["run", "4", "1"], "no program", "--")
        self.assert_refused(["run", "4", "1", "hostname"], "no program")

    def test_a_job_on_no_hosts_or_ranks_is_refused(self):
        self.assert_refused(["run", "0", "1", "--", "hostname"], "hosts '0'")
        self.assert_refused(["run", "4", "many", "--", "hostname"], "ranks per host 'many'")

    def test_only_jobs_take_a_program(self):
        self.assert_refused(["down", "--", "hostname"], "only `run` takes a program")

    def test_names_that_could_collide_are_refused(self):
        for name in ["", "a-h1", "A", "../x", "a" * 17]:
            with self.assertRaises(Refusal, msg=name) as refused:
                Lab(name)
            self.assertIn(repr(name), str(refused.exception))


class Machine(unittest.TestCase):
    def refusal(self, commands):
        with self.assertRaises(Refusal) as refused:
            requirements.require(commands)
        return str(refused.exception)

    def test_users_without_root_are_told_so(self):
        with mock.patch("os.geteuid", return_value=1000):
            self.assertIn("need root; run this command with sudo", self.refusal({}))

    def test_a_kernel_without_tap_devices_is_refused_with_a_way_out(self):
        with mock.patch.object(requirements, "TUN", Path("/dev/net/there-is-none")):
            self.assertIn("/dev/net/there-is-none does not exist; try modprobe tun", self.refusal({}))

    def test_missing_commands_are_named_with_their_packages_once(self):
        with mock.patch.dict(os.environ, PATH="/there-is-none"):
            refusal = self.refusal(requirements.TO_EMULATE | requirements.TO_RUN_JOBS)
        self.assertIn("ip, tc, sysctl, nsenter, unshare, gcc, mpirun not found", refusal)
        self.assertIn("apt-get install iproute2 procps util-linux gcc libc6-dev openmpi-bin", refusal)

    def test_all_that_is_missing_is_told_at_once(self):
        with mock.patch("os.geteuid", return_value=1000), mock.patch.dict(os.environ, PATH="/there-is-none"):
            refusal = self.refusal(requirements.TO_EMULATE)
        self.assertIn("sudo", refusal)
        self.assertIn("iproute2", refusal)

    def test_the_command_refuses_a_machine_without_tools(self):
        with tempfile.TemporaryDirectory() as empty:
            finished = lab("up", "2", *NETWORK, PATH=empty)
        self.assertEqual(finished.returncode, 2, finished.stderr)
        self.assertIn("this machine cannot emulate a cluster", finished.stderr)
        self.assertIn("apt-get install", finished.stderr)
