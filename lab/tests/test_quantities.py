import unittest

from cluster.quantities import Network, bandwidth, duration, format_bandwidth, format_duration
from cluster.refusal import Refusal


class Quantities(unittest.TestCase):
    def test_durations_are_nanoseconds(self):
        examples = [("1ms", 10**6), ("300us", 300_000), ("0.5 ms", 500_000), ("20ns", 20), ("2s", 2 * 10**9), ("0", 0)]
        for text, nanoseconds in examples:
            self.assertEqual(duration("latency", text), nanoseconds, text)

    def test_bandwidths_are_bits_per_second(self):
        for text, bits in [("100Mbit/s", 10**8), ("1Gbit/s", 10**9), ("2.5 Mbit/s", 2_500_000), ("1500kbit/s", 1_500_000)]:
            self.assertEqual(bandwidth("bandwidth", text), bits, text)

    def test_a_byte_takes_eight_bits_of_the_bandwidth(self):
        self.assertEqual(Network(0, 100_000_000, 0).nanoseconds_per_byte(), 80.0)

    def test_what_was_written_reads_the_same_again(self):
        for nanoseconds in [1, 999, 300_000, 10**6, 10**9]:
            self.assertEqual(duration("latency", format_duration(nanoseconds)), nanoseconds)
        for bits in [10**6, 10**8, 2 * 10**9]:
            self.assertEqual(bandwidth("bandwidth", format_bandwidth(bits)), bits)

    def assert_refused(self, reader, text, *words):
        with self.assertRaises(Refusal) as refused:
            reader("quantity", text)
        for word in ("quantity", repr(text), *words):
            self.assertIn(word, str(refused.exception))

    def test_a_duration_without_a_unit_is_refused_with_the_units(self):
        self.assert_refused(duration, "1", "a unit is missing", "us, µs, ms", "1ms")

    def test_unknown_units_are_refused_by_name(self):
        self.assert_refused(duration, "1min", "'min'")
        self.assert_refused(duration, "1e3ms", "not a number with a unit")
        self.assert_refused(bandwidth, "100MB/s", "'MB/s'", "Mbit/s")

    def test_what_is_no_number_is_refused(self):
        for text in ["", "ms", "-1ms", "1,5ms", "nan ms", "²ms", "1 ms."]:
            self.assert_refused(duration, text, "not a number with a unit")

    def test_quantities_beyond_the_switch_are_refused_with_the_bounds(self):
        self.assert_refused(duration, "11s", "longer than 10 s")
        for text in ["0Mbit/s", "999kbit/s", "11Gbit/s"]:
            self.assert_refused(bandwidth, text, "between 1 Mbit/s and 10 Gbit/s")
