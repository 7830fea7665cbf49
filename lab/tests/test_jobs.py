import unittest
from pathlib import Path
from unittest import mock

from cluster import jobs
from cluster.check import compare
from cluster.commands import split_program
from cluster.laboratory import Lab
from cluster.quantities import Network


class Jobs(unittest.TestCase):
    def test_options_end_at_the_first_pair_of_dashes(self):
        own, program = ["run", "2", "1", "--mca", "a", "b"], ["p", "--", "x"]
        self.assertEqual(split_program([*own, "--", *program]), (own, program))
        self.assertEqual(split_program(["down"]), (["down"], []))

    def test_a_job_starts_on_the_first_host_with_slots_on_all(self):
        with mock.patch("cluster.programs.idle_library", return_value=Path("/lib/idle.so")):
            agent, host, command = jobs.command(Lab("x"), 2, 3, ["--mca", "a", "b c"], ["./program", "it's"])
        self.assertEqual((Path(agent).name, host), ("agent", "h1"))
        self.assertIn("--host h1:3,h2:3 -np 6 --map-by ppr:3:node", command)
        self.assertIn("--mca a 'b c' ./program 'it'\"'\"'s'", command)

    def test_ranks_of_one_host_share_memory(self):
        self.assertEqual(self.parameter("btl", 1), "tcp,self")
        self.assertEqual(self.parameter("btl", 2), "tcp,vader,self")

    def test_parameters_of_the_user_go_before_those_of_the_lab(self):
        with mock.patch.dict("os.environ", OMPI_MCA_btl="tcp,self"):
            self.assertEqual(self.parameter("btl", 2), "tcp,self")

    def parameter(self, name, ranks_per_host):
        return jobs._environment(Lab("x"), ranks_per_host)[f"OMPI_MCA_{name}"]


class Comparison(unittest.TestCase):
    GOOD = {"latency_ns": 1_080_000, "gap_ns": 60_000, "per_byte_ns": 84.0, "everybody_ns": 1_300_000}

    def compare(self, gap=0, **measured):
        with mock.patch("builtins.print"):
            return compare(Network(1_000_000, 100_000_000, gap), {**self.GOOD, **measured})

    def test_what_was_asked_for_with_the_cost_of_software_is_good(self):
        self.assertTrue(self.compare())
        self.assertTrue(self.compare(gap=1_000_000, latency_ns=2_100_000, gap_ns=1_050_000, everybody_ns=4_300_000))

    def test_every_deviation_is_found(self):
        for measured in [
            {"latency_ns": 980_000}, {"latency_ns": 1_400_000}, {"gap_ns": 400_000}, {"per_byte_ns": 70.0}, {"per_byte_ns": 95.0}, {"everybody_ns": 2_000_000},
        ]:
            self.assertFalse(self.compare(**measured), measured)

    def test_a_gap_that_is_not_there_is_found(self):
        self.assertFalse(self.compare(gap=1_000_000, latency_ns=2_100_000, gap_ns=60_000, everybody_ns=4_300_000))
        self.assertFalse(self.compare(gap=1_000_000, latency_ns=1_100_000, gap_ns=1_050_000, everybody_ns=4_300_000))

    def test_ports_that_stand_idle_while_messages_wait_are_found(self):
        measured = {"gap": 1_000_000, "latency_ns": 2_100_000, "gap_ns": 1_050_000}
        self.assertTrue(self.compare(**measured, everybody_ns=4_300_000))
        self.assertFalse(self.compare(**measured, everybody_ns=6_000_000))
