"""The outbox's order, by property: whatever the broker answers, each stream ends in order and complete."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.outbox import LANE_MEMORY, Outbox
from gateway.store import Entry, Lane


def entry(seq: int, table: str = "1") -> Entry:
    return Entry(table, "public", seq, "topic", b"")


def test_lanes_take_turns() -> None:
    """A backlog of one table does not hold up another's event."""
    outbox = Outbox({})
    outbox.add([entry(seq, "slow") for seq in range(1, 50)])
    outbox.add([entry(1, "quick")])

    assert "quick" in [e.table for e in (outbox.next(0.0), outbox.next(0.0)) if e]


def test_only_the_head_of_a_lane_is_in_memory() -> None:
    """What goes beyond is asked from the journal when there is room."""
    outbox = Outbox({})
    outbox.add([entry(seq) for seq in range(1, 1001)])
    for _ in range(LANE_MEMORY):
        taken = outbox.next(0.0)
        assert taken is not None
        outbox.accepted(taken)

    assert [(("1", "public"), LANE_MEMORY + 1)] == list(outbox.wanted())
    assert outbox.backlog == 1000 - LANE_MEMORY


def test_a_refused_lane_waits_and_the_others_go_on() -> None:
    """Nothing of the refused stream is offered until its pause is over; then one at a time."""
    outbox = Outbox({})
    outbox.add([entry(1), entry(2), entry(3)])
    first, second = outbox.next(0.0), outbox.next(0.0)
    assert first is not None and second is not None
    outbox.refused(first, 0.0)
    outbox.accepted(second)
    outbox.add([entry(1, "other")])

    assert entry(1, "other") == outbox.next(0.1)
    assert outbox.next(0.1) is None
    assert outbox.held_up == [("1", "public")]

    outbox.wake(1.5)

    assert entry(1) == outbox.next(1.5)
    assert outbox.next(1.5) is None


@given(st.integers(0, 2**32), st.floats(0, 0.4), st.floats(0, 0.05))
def test_every_stream_ends_complete_and_in_order(seed: int, refuse: float, lose: float) -> None:
    """Refusals and lost connections: the last reception of each event is in order, and none is missing."""
    chance = random.Random(seed)
    journal: dict[Lane, list[Entry]] = {}
    received: dict[Lane, list[int]] = {}
    outbox = Outbox({})
    in_flight: list[Entry] = []
    at = 0.0
    written = 0
    for _ in range(200_000):
        at += 0.01
        action = chance.random()
        if written < 400 and action < 0.3:
            lane = (chance.choice("ab"), "public")
            kept = journal.setdefault(lane, [])
            new = [entry(len(kept) + 1 + i, lane[0]) for i in range(chance.randrange(1, 90))]
            kept += new
            written += len(new)
            outbox.add(new)
        elif action < 0.6 and (taken := outbox.next(at)) is not None:
            in_flight.append(taken)
        elif in_flight and chance.random() < lose:
            in_flight.clear()
            outbox.lost()
        elif in_flight:
            answered = in_flight.pop(0)
            if written < 400 and chance.random() < refuse:
                outbox.refused(answered, at)
            else:
                received.setdefault(answered.lane, []).append(answered.seq)
                outbox.accepted(answered)
        for lane, first in outbox.wanted():
            outbox.fill(lane, [e for e in journal[lane] if e.seq >= first][:50])
        outbox.wake(at)
        if written >= 400 and outbox.backlog == 0:
            break

    assert outbox.backlog == 0
    for lane, kept in journal.items():
        last_seen = {seq: index for index, seq in enumerate(received[lane])}

        assert sorted(last_seen) == [e.seq for e in kept]
        assert sorted(last_seen, key=lambda seq: last_seen[seq]) == [e.seq for e in kept]


@pytest.mark.parametrize("delivered", [0, 3])
def test_a_restart_goes_on_where_the_journal_says(delivered: int) -> None:
    """The first event wanted is the one after the last acknowledged."""
    outbox = Outbox({("1", "public"): (delivered, 5)})

    assert [(("1", "public"), delivered + 1)] == list(outbox.wanted())
    assert outbox.backlog == 5 - delivered
