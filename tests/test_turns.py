"""One thread for all tables: whoever has much to do does not hold up the others."""

from __future__ import annotations

import asyncio
import time

from brokers import until

from gateway.turns import SLICE_S, Turns


def stand_still(seconds: float) -> None:
    """As the whole process does when the machine has no time for it."""
    time.sleep(seconds)


async def test_two_tables_work_by_turns() -> None:
    """A table that comes later does not wait until the one before has done everything."""
    turns, done = Turns(), []

    def worker(name: str, steps: int) -> None:
        left = iter(range(steps, 0, -1))

        def work() -> bool:
            done.append(name)
            return next(left) > 1

        turns.ask(work)

    worker("behind", 6)
    worker("quick", 2)
    await until(lambda: len(done) >= 8)

    assert ["behind", "quick"] * 2 + ["behind"] * 4 == done


async def test_the_loop_goes_on_between_slices() -> None:
    """What the event loop has to do waits for a slice, and not for all the work."""
    turns, steps = Turns(), 0

    def work() -> bool:
        nonlocal steps
        steps += 1
        time.sleep(SLICE_S / 2)
        return steps < 20

    turns.ask(work)
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert 0 < steps < 6


async def test_when_it_was_listened_is_never_said_too_late() -> None:
    """After a stop of any length, what is read first may have come during it."""
    turns = Turns()
    listening = asyncio.create_task(turns.listen())
    await asyncio.sleep(0.25)
    before = asyncio.get_running_loop().time()
    stand_still(0.5)

    assert before - 0.2 < turns.listened_at() <= before

    await asyncio.sleep(0.25)

    assert turns.listened_at() > before + 0.5

    listening.cancel()
