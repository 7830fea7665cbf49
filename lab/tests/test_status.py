import unittest

from cluster.commands import incredible


class Status(unittest.TestCase):
    def test_times_are_credible_unless_frames_are_lost_or_late(self):
        def reasons(undelivered, lateness, latency=1e6):
            return incredible({"undelivered": undelivered, "mean_lateness_ns": lateness, "latency_ns": latency})

        self.assertEqual(reasons(0, 3e4), [])
        self.assertEqual(reasons(0, 4e4, 1e7), [])
        self.assertEqual(reasons(2, 0), ["2 frames were not delivered"])
        self.assertEqual(reasons(0, 1e5, 2e5), ["frames left the switch 100 us late on average, with a latency of 200 us"])
        self.assertEqual(len(reasons(1, 1e6)), 2)
