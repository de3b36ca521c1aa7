"""The generic text protocol: what was built reads as what was meant; long lines; what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import UsageError
from gateway.events import (
    Battery,
    BoardDump,
    ClockAbsent,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    GameKind,
    Identity,
    Senses,
)
from gateway.protocol import Reject, generic
from gateway.protocol.squares import SQUARES

LETTERS: dict[str, str] = {"chess": "PNBRQKpnbrqk?", "draughts": "wbWB?"}


def told(line: bytes, game: GameKind = "chess") -> list[Any]:
    """What a fresh decoder makes of a line."""
    return [observation for _, observation in generic.Generic(game).feed(line, 0.0)]


@given(st.sampled_from(("chess", "draughts")), st.data())
def test_position(game: GameKind, data: Any) -> None:
    """Any placement of either game."""
    pieces = data.draw(st.dictionaries(st.sampled_from(SQUARES[game]), st.sampled_from(LETTERS[game])))

    assert [BoardDump(pieces)] == told(generic.build_position(pieces, game), game)


SECONDS = st.floats(0, 100000, allow_nan=False)
SIDES = st.sampled_from(("left", "right"))


@given(
    st.builds(
        ClockTimes,
        left=SECONDS,
        right=SECONDS,
        running=st.none() | SIDES,
        lever=st.none() | SIDES,
        flags=st.frozensets(SIDES),
        counter=st.none() | st.integers(0, 999),
        left_is_white=st.just(True),
    )
)
def test_clock(times: ClockTimes) -> None:
    """Any clock that can be told."""
    assert [times] == told(generic.build_clock(times))


def test_small_ones() -> None:
    """Everything else."""
    hello = [Identity("name", "diy"), Senses(False), Identity("serial", "7")]
    assert hello == told(generic.build_hello("diy", pieces=False, serial="7"))
    assert [Identity("name", "diy"), Senses(True)] == told(generic.build_hello("diy"))
    assert [FieldUpdate("e2", None)] == told(generic.build_lift("e2"))
    assert [FieldUpdate("e4", "?")] == told(generic.build_place("e4", "?"))
    assert [ClockAbsent()] == told(generic.build_clock_off())
    assert [Battery(7)] == told(generic.build_battery(7))


def test_what_cannot_be_said() -> None:
    """Both sides running; White on the right."""
    times = ClockTimes(1, 1, "both")
    for wrong in (times, replace(times, running=None, left_is_white=False)):
        with pytest.raises(UsageError):
            generic.build_clock(wrong)


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_endless_line(size: int) -> None:
    """It is thrown away as it comes, up to its end, and holds no more memory than a line may have."""
    decoder = generic.Generic()
    heard = []
    stream = b"lift e2 " * 1000 + b"\nlift e4\n"
    for start in range(0, len(stream), size):
        heard += [observation for _, observation in decoder.feed(stream[start : start + size], 0.0)]
        assert decoder._framer.pending <= generic.LONGEST_LINE

    refused = [observation for observation in heard if isinstance(observation, FrameRejected)]
    assert FrameRejected(Reject.SIZE, generic.LONGEST_LINE) == refused[0]
    assert 8001 == sum(rejected.size for rejected in refused)
    assert FieldUpdate("e4", None) == heard[-1]


class TestDialogue:
    """A board need not answer."""

    DUMP = BoardDump({})

    def test_opening(self) -> None:
        """Who is there, and what stands?"""
        assert [b"hello?\nposition?\n"] == generic.GenericDialogue().opened(0.0)

    def test_board_that_does_not_answer(self) -> None:
        """It is asked once more into a silence, then left alone until it speaks."""
        dialogue = generic.GenericDialogue()
        dialogue.opened(0.0)

        assert [b"position?\n"] == dialogue.tick(2.0)
        assert dialogue.deadline is None
        dialogue.heard(None, FieldUpdate("e2", None), 9.0)
        assert 11.0 == dialogue.deadline

    def test_board_that_answers(self) -> None:
        """It is asked whenever it is silent."""
        dialogue = generic.GenericDialogue()
        dialogue.opened(0.0)
        dialogue.tick(2.0)
        dialogue.heard(None, self.DUMP, 2.1)
        for at in (4.1, 6.1, 8.1):
            assert [b"position?\n"] == dialogue.tick(at)
        assert 10.1 == dialogue.deadline

    def test_refused_line(self) -> None:
        """It may have been an update; but a noisy line is not flooded."""
        dialogue = generic.GenericDialogue()
        dialogue.opened(0.0)
        dialogue.tick(2.0)
        dialogue.heard(None, self.DUMP, 2.1)
        dialogue.heard(None, FrameRejected(Reject.UNKNOWN, 3), 2.2)

        assert 3.0 == dialogue.deadline
        assert [] == dialogue.tick(2.9)
        assert [b"position?\n"] == dialogue.tick(3.0)
