"""Tests that need root. `make check-lab` runs them."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from cluster.laboratory import SOURCES, Lab

FIRST, SECOND = Lab("testfirst"), Lab("testsecond")
NETWORK = ["--latency", "1ms", "--bandwidth", "100Mbit/s"]


def lab(of, *arguments):
    command = [sys.executable, str(SOURCES / "lab"), "--name", of.name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class Lifecycle(unittest.TestCase):
    def setUp(self):
        for each in (FIRST, SECOND):
            self.addCleanup(lab, each, "down")

    def up(self, of, hosts=2):
        self.assert_says(lab(of, "up", str(hosts), *NETWORK), 0, f"{hosts} hosts are up: latency 1 ms, 100 Mbit/s per port")

    def assert_says(self, finished, code, *words):
        said = finished.stdout + finished.stderr
        self.assertEqual(finished.returncode, code, said)
        for word in words:
            self.assertIn(word, said)

    def assert_gone(self, of):
        self.assertEqual(of.namespaces(), [])
        self.assertFalse(of.state.exists())

    def runs(self, process):
        """Whether a process runs. A zombie does not: its new parent may take a while to reap it."""
        try:
            state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        except FileNotFoundError:
            return False
        return state.rpartition(")")[2].split()[0] != "Z"

    def await_end(self, processes):
        """Waits for the end of processes, because they leave their namespace before they end."""
        deadline = time.monotonic() + 20
        while left := [process for process in processes if self.runs(process)]:
            self.assertLess(time.monotonic(), deadline, left)
            time.sleep(0.01)

    def processes(self, of):
        listed = subprocess.run(["ip", "netns", "pids", of.launch_namespace], capture_output=True, text=True, check=True)
        return [int(process) for process in listed.stdout.split()]

    def test_a_lab_comes_up_once_and_goes_down_as_often_as_asked(self):
        self.up(FIRST)
        self.assert_says(lab(FIRST, "up", "2", *NETWORK), 2, "already up", "`lab/lab --name testfirst down` ends it")
        self.assert_says(lab(FIRST, "status"), 0, "2 hosts are up", "0 frames undelivered")
        switch = self.processes(FIRST)
        self.assert_says(lab(FIRST, "down"), 0, "is down")
        self.assert_gone(FIRST)
        self.await_end(switch)
        self.assert_says(lab(FIRST, "down"), 0, "was not up")
        self.assert_says(lab(FIRST, "status"), 1, "is not up")

    def test_two_labs_are_up_at_a_time(self):
        self.up(FIRST)
        self.up(SECOND)
        self.assert_says(lab(FIRST, "down"), 0, "is down")
        self.assert_says(lab(SECOND, "run", "2", "1", "--", "hostname"), 0, "h1", "h2")

    def test_jobs_have_the_hosts_that_there_are(self):
        self.assert_says(lab(FIRST, "run", "2", "1", "--", "hostname"), 2, "is not up")
        self.up(FIRST)
        self.assert_says(lab(FIRST, "run", "3", "1", "--", "hostname"), 2, "3 hosts are asked for", "has 2")
        self.assertEqual(sorted(lab(FIRST, "run", "2", "2", "--", "hostname").stdout.split()), ["h1", "h1", "h2", "h2"])

    def test_a_job_ends_with_its_exit_code(self):
        self.up(FIRST)
        self.assert_says(lab(FIRST, "run", "1", "1", "--", "sh", "-c", "exit 3"), 3)

    def test_a_running_network_changes(self):
        self.up(FIRST)
        changed = lab(FIRST, "set", "--latency", "2ms", "--bandwidth", "10Mbit/s", "--gap", "300us")
        self.assert_says(changed, 0, "the network has changed")
        self.assert_says(lab(FIRST, "status"), 0, "latency 2 ms, 10 Mbit/s per port, a gap of 300 us per message")

    def test_after_a_crash_of_the_switch_commands_say_so_and_down_cleans_up(self):
        self.up(FIRST)
        for process in self.processes(FIRST):
            os.kill(process, signal.SIGKILL)
        for command in [["status"], ["set", *NETWORK], ["run", "1", "1", "--", "hostname"]]:
            self.assert_says(lab(FIRST, *command), 2, "does not answer", "`lab/lab --name testfirst down` cleans up")
        self.assert_says(lab(FIRST, "up", "2", *NETWORK), 2, "was not taken down")
        self.assert_says(lab(FIRST, "down"), 0, "is down")
        self.assert_gone(FIRST)

    def test_what_a_killed_start_left_behind_is_cleaned_up(self):
        FIRST.create_state()
        subprocess.run(["ip", "netns", "add", FIRST.namespace(1)], check=True)
        self.assert_says(lab(FIRST, "down"), 0, "is down")
        self.assert_gone(FIRST)

    def test_a_start_that_fails_leaves_nothing_behind(self):
        subprocess.run(["ip", "netns", "add", FIRST.namespace(2)], check=True)
        self.assert_says(lab(FIRST, "up", "2", *NETWORK), 2, "File exists")
        self.assert_gone(FIRST)

    def test_a_job_under_way_ends_with_the_lab(self):
        self.up(FIRST)
        command = [sys.executable, str(SOURCES / "lab"), "--name", FIRST.name, "run", "2", "1", "--", "sleep", "60"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
            while job.poll() is None and not FIRST.sessions.joinpath("ompi.h2.0").exists():
                time.sleep(0.05)
            self.assert_says(lab(FIRST, "down"), 0, "is down")
            self.assertNotEqual(job.wait(timeout=20), 0)
        self.assert_gone(FIRST)

    def test_a_start_that_is_told_to_end_leaves_nothing_behind(self):
        command = [sys.executable, str(SOURCES / "lab"), "--name", FIRST.name, "up", "60", *NETWORK]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as start:
            while start.poll() is None and len(FIRST.namespaces()) < 3:
                time.sleep(0.01)
            start.terminate()
            self.assertEqual(start.wait(timeout=60), 128 + signal.SIGTERM)
        self.assert_gone(FIRST)

    def test_what_a_killed_job_left_behind_does_not_run_beside_the_next_one(self):
        self.up(FIRST)
        subprocess.run(["ip", "netns", "exec", FIRST.namespace(2), "sh", "-c", "sleep 60 >/dev/null 2>&1 &"], check=True)
        self.assert_says(lab(FIRST, "run", "2", "1", "--", "hostname"), 0, "ending 1 processes", "h1", "h2")
        self.assert_says(lab(FIRST, "run", "1", "1", "--", "hostname"), 0, "h1")
