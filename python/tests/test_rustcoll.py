"""What the module does, and that the page about it does as it says."""

import contextlib
import io
import math
import os
import pathlib
import re
import tempfile
import threading
import time
import unittest

import rustcoll
from rustcoll import recv, scratch, send

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMORY = pathlib.Path("/proc/self/statm")
PAGE = (ROOT / "docs/python.md").read_text()


def chain(ranks, waits=True):
    """A broadcast in which each rank sends to the next one."""
    bcast = rustcoll.Schedule("bcast", ranks, name="my_chain", root="any")
    for rank in range(ranks):
        program = bcast[rank]
        if rank > 0:
            post = program.receive(rank - 1, recv[0])
            if waits:
                program.wait(post)
        if rank + 1 < ranks:
            program.send(rank + 1, recv[0])
    return bcast


def alltoall(ranks):
    """All messages at once."""
    exchange = rustcoll.Schedule("alltoall", ranks, name="my_exchange")
    for rank in range(ranks):
        program = exchange[rank]
        program.copy(send[rank], recv[rank])
        for distance in range(1, ranks):
            to, source = (rank + distance) % ranks, (rank - distance) % ranks
            program.receive(source, recv[source])
            program.send(to, send[to])
    return exchange


def memory():
    """The bytes of memory that this process takes."""
    return int(MEMORY.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Schedules(unittest.TestCase):
    def test_a_right_one_is_proved_for_each_root(self):
        self.assertEqual(chain(5).verify(), 5)

    def test_a_wrong_one_says_where(self):
        with self.assertRaisesRegex(rustcoll.Wrong, r"schedule:\d+: bcast my_chain on 3 ranks, root 0: rank 1, step 1: recv\[0\] is read while"):
            chain(3, waits=False).verify()

    def test_reductions_copies_and_scratch(self):
        allreduce = rustcoll.Schedule("allreduce", 2, name="exchange")
        for rank in range(2):
            program = allreduce[rank]
            program.receive(1 - rank, scratch[0])
            program.send(1 - rank, send[0])
            program.wait()
            left, right = (send, scratch) if rank == 0 else (scratch, send)
            program.reduce(left[0], right[0], recv[0])
        self.assertEqual(allreduce.verify(), 2)
        self.assertEqual(allreduce.cost(), {"rounds": 1, "messages": 1, "blocks": 1, "reduced": 1, "read": 0})

    def test_a_file_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "my.sched"
            chain(4).save(path)
            self.assertEqual(path.read_text(), str(chain(4)))
            self.assertEqual(rustcoll.verify(path.read_text()), 4)

    def test_what_is_registered_is_right(self):
        self.assertEqual(rustcoll.verify(rustcoll.registered("allgather", "ring", 6)), 2)
        with self.assertRaisesRegex(rustcoll.Wrong, "allgather has no algorithm `rong`"):
            rustcoll.registered("allgather", "rong", 6)
        for algorithm, ranks, reason in (
            ("neighbor_exchange", 5, "cannot serve this: the number of ranks is odd"),
            ("inter_leaders", 4, "cannot serve this: the communicator has but one group"),
            ("ring", 0, "ranks 0: expected a number from 1 up"),
        ):
            with self.subTest(algorithm), self.assertRaisesRegex(rustcoll.Wrong, reason):
                rustcoll.registered("allgather", algorithm, ranks)

    def test_a_chain_takes_as_long_as_its_messages_together(self):
        self.assertAlmostEqual(chain(5).time(8, (1e-6, 0, 0)), 4e-6)
        names = [name for name, _ in rustcoll.compare("bcast", 5, 8, (1e-6, 0, 0))]
        self.assertIn("binomial", names)

    def test_a_changed_schedule_is_proved_anew(self):
        bcast = chain(3)
        for _ in range(2):
            self.assertAlmostEqual(bcast.time(8, (1e-6, 0, 0)), 2e-6)
        bcast[0].send(2, recv[0])
        with self.assertRaisesRegex(rustcoll.Wrong, "unmatched send"):
            bcast.time(8, (1e-6, 0, 0))

    def test_other_threads_go_on_meanwhile(self):
        bcast = chain(512)
        for name, work in (
            ("verify", bcast.verify),
            ("time", lambda: bcast.time(8, (1e-6, 0, 0))),
            ("compare", lambda: rustcoll.compare("bcast", 256, 8, (1e-6, 0, 0))),
        ):
            thread = threading.Thread(target=work)
            thread.start()
            turns = 0
            while thread.is_alive():
                time.sleep(0.001)
                turns += 1
            with self.subTest(name):
                self.assertGreater(turns, 5)

    @unittest.skipUnless(MEMORY.exists(), "only Linux tells how much memory there is")
    def test_a_schedule_is_kept_once_however_often_it_is_priced(self):
        exchange = alltoall(48)
        expected = exchange.time(8, (1e-6, 0, 0))
        before = memory()
        for _ in range(40):
            self.assertEqual(exchange.time(8, (1e-6, 0, 0)), expected)
        self.assertLess(memory() - before, 4 << 20)

    def test_what_is_wrong_can_be_drawn(self):
        for schedule in (chain(3), chain(3, waits=False)):
            self.assertEqual(schedule.draw().count("marker-end"), 2)
        self.assertEqual(chain(3)._repr_svg_(), chain(3).draw())

    def test_what_makes_no_sense_is_refused(self):
        for wrong in (lambda: recv[2:2], lambda: recv[0:4:2], lambda: chain(3)[3]):
            self.assertRaises(IndexError, wrong)
        for wrong in (lambda: recv[-1], lambda: recv[2:]):
            self.assertRaises((OverflowError, TypeError), wrong)
        with self.assertRaisesRegex(rustcoll.Wrong, "unknown collective `brodcast`; known are allgather"):
            rustcoll.Schedule("brodcast", 3)
        for wrong, reason in (
            (lambda: rustcoll.Schedule("bcast", 0), "ranks 0: expected a number from 1 up"),
            (lambda: rustcoll.compare("bcast", 0, 8, (1e-6, 0, 0)), "ranks 0: expected a number from 1 up"),
            (lambda: rustcoll.compare("bcast", 4, 8, (1e-6, 0, 0), 0), "ranks_per_node 0: expected a number from 1 up"),
            (lambda: rustcoll.compare("bcast", 4, 8, (1e-6, -1, 0)), r"machine \(0.000001, -1, 0\): expected three finite numbers"),
            (lambda: rustcoll.compare("bcast", 4, 8, (1e-6, 0, math.nan)), "machine .* NaN"),
            (lambda: rustcoll.compare("neighbor_allgather", 4, 8, (1e-6, 0, 0)), "neighbor_allgather has no price: it depends on who"),
        ):
            with self.subTest(reason), self.assertRaisesRegex(rustcoll.Wrong, reason):
                wrong()
        with self.assertRaises(FileNotFoundError):
            chain(3).time(8, "nowhere.toml")

    def test_what_has_no_cost_says_why(self):
        def two(write):
            bcast = rustcoll.Schedule("bcast", 2)
            for rank in range(2):
                write(bcast[rank], 1 - rank)
            return bcast

        for write, reason in (
            (lambda program, peer: program.receive(peer, recv[0]), r"rank 0, step 1: deadlock; .* waits for receive of recv\[0\] from rank 1"),
            (lambda program, peer: program.await_slot(peer, 0), "rank 0, step 0: slot 0 is none of 0"),
            (lambda program, peer: program.send(5, recv[0]), "rank 0, step 0: there is no rank 5 among 2 ranks"),
            (lambda program, peer: program.wait(7), "rank 0, step 0: wait for post 7, which is not posted"),
        ):
            with self.subTest(reason), self.assertRaisesRegex(rustcoll.Wrong, reason):
                two(write).cost()


class Page(unittest.TestCase):
    def test_it_does_as_it_says(self):
        os.chdir(ROOT)
        os.makedirs("build", exist_ok=True)
        blocks = re.findall(r"^```(python|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        names, printed = {}, io.StringIO()
        for kind, text in blocks:
            if kind == "text":
                self.assertEqual(printed.getvalue(), text)
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(text.replace("opened.save(\"", "opened.save(\"build/"), names)


if __name__ == "__main__":
    unittest.main()
