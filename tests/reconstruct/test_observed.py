"""What stands on the board by the latest reports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.reconstruct.observed import CHESS, DRAUGHTS, NEVER, Geometry, Observed, bits


def stood(pieces: dict[str, str], at: float = 1.0, geometry: Geometry = CHESS) -> Observed:
    board = Observed(geometry)
    board.load(pieces, at)
    return board


def test_a_report_that_says_something_new() -> None:
    """The square holds it, and has changed at that moment."""
    board = stood({"e2": "P"})

    assert board.set("e2", None, 5.0)
    assert ({}, 5.0, 5.0) == (board.pieces(), board.last_change, board.lifted_at[CHESS.index["e2"]])


def test_a_report_that_says_nothing_new() -> None:
    """A board reports changes only: the one before was lost, so the square has changed all the same."""
    board = stood({"e2": "P"})

    assert not board.set("e2", "P", 5.0)
    assert 5.0 == board.changed_at[CHESS.index["e2"]]


def test_without_echo_it_counts_as_none() -> None:
    """What only repeats what is known."""
    board = stood({"e2": "P"})

    assert not board.set("e2", "P", 5.0, echo=False)
    assert 1.0 == board.changed_at[CHESS.index["e2"]]


def test_a_dump_tells_what_differs() -> None:
    """Only those squares have changed."""
    board = stood({"e2": "P", "a1": "R"})
    changed = board.load({"e4": "P", "a1": "R"}, 9.0)

    assert ["e2", "e4"] == sorted(CHESS.squares[bit] for bit in changed)
    assert (1.0, 9.0) == (board.changed_at[CHESS.index["a1"]], board.changed_at[CHESS.index["e4"]])


def test_a_dump_dates_a_landing_by_the_lift() -> None:
    """A piece whose landing was not reported has stood there since it was lifted; where nobody reported its lift
    either, since the dump."""
    board = Observed(CHESS)
    board.load({"e1": "K", "d1": "Q", "a8": "r"}, 0.0, unseen=True)
    board.set("e1", None, 1.0)
    board.set("a8", None, 2.0)
    board.set("a1", "r", 3.0)
    board.load({"e2": "K", "d4": "Q", "a1": "r"}, 9.0)

    assert [1.0, 9.0] == [board.changed_at[CHESS.index[square]] for square in ("e2", "d4")]


def test_an_unseen_dump_dates_nothing() -> None:
    """Nobody knows when these pieces came."""
    board = Observed(CHESS)
    board.load({"e2": "P"}, 9.0, unseen=True)

    assert (NEVER, 9.0, True) == (board.changed_at[CHESS.index["e2"]], board.last_change, board.known)


def test_masks_follow_the_squares() -> None:
    """One for each kind, one for each side, one for what is of unknown kind."""
    board = stood({"e4": "P", "d5": "k", "a1": "?"})
    names = {name: CHESS.names(mask) for name, mask in
             (("white", board.white), ("black", board.black), ("unknown", board.unknown))}  # fmt: skip

    assert {"white": ["e4"], "black": ["d5"], "unknown": ["a1"]} == names
    assert 3 == board.occupied.bit_count()


@pytest.mark.parametrize(
    ("expected", "geometry", "square"),
    [("h8", CHESS, "a1"), ("d5", CHESS, "e4"), ("50", DRAUGHTS, "1"), ("i10", DRAUGHTS, "b1")],
)
def test_the_same_place_on_a_turned_board(expected: str, geometry: Geometry, square: str) -> None:
    """A half turn, and another one back."""
    assert expected == geometry.turned(square)
    assert square == geometry.turned(expected)


def test_a_turned_board_is_read_the_other_way() -> None:
    """With all that is known of its squares."""
    board = stood({"e4": "P"})
    board.set("h1", "R", 7.0)
    board.turn()

    assert {"d5": "P", "a8": "R"} == board.pieces()
    assert 7.0 == board.changed_at[CHESS.index["a8"]]


@pytest.mark.parametrize(
    ("expected", "geometry", "pieces"),
    [
        ("8/8/8/3k4/4P3/8/8/?7", CHESS, {"e4": "P", "d5": "k", "a1": "?"}),
        ("W31,K46,b1:B9", DRAUGHTS, {"31": "w", "46": "W", "9": "b", "b1": "w"}),
        ("W:B", DRAUGHTS, {}),
        ("?1,2,31", DRAUGHTS, {"31": "?", "2": "?", "1": "?"}),
        ("W31:B:?2", DRAUGHTS, {"31": "w", "2": "?"}),
    ],
)
def test_placement(expected: str, geometry: Geometry, pieces: dict[str, str]) -> None:
    """As the contract writes it."""
    assert expected == stood(pieces, geometry=geometry).placement()


def boards(geometry: Geometry) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(sorted(geometry.index)), st.sampled_from([*sorted(geometry.kinds), "?"]))


@pytest.mark.parametrize("geometry", [CHESS, DRAUGHTS], ids=["chess", "draughts"])
@given(data=st.data())
def test_dump_and_updates_lead_to_the_same(geometry: Geometry, data: st.DataObject) -> None:
    """However a position came about, its masks are the same."""
    before, after = data.draw(boards(geometry)), data.draw(boards(geometry))
    by_dump, by_update = stood(before, 1.0, geometry), stood(before, 1.0, geometry)
    by_dump.load(after, 2.0)
    for square in geometry.index:
        by_update.set(square, after.get(square), 2.0, echo=False)

    assert (by_dump.masks, by_dump.unknown, by_dump.occupied, by_dump.pieces()) == (
        by_update.masks, by_update.unknown, by_update.occupied, after,
    )  # fmt: skip


@pytest.mark.parametrize("geometry", [CHESS, DRAUGHTS], ids=["chess", "draughts"])
@given(data=st.data())
def test_a_state_restores_itself(geometry: Geometry, data: st.DataObject) -> None:
    """What stands, since when, and what was excused."""
    board, again = stood(data.draw(boards(geometry)), 1.0, geometry), Observed(geometry)
    board.excused = board.occupied
    again.restore(json.loads(json.dumps(board.state())))

    assert board.state() == again.state()
    assert (board.masks, board.changed_at) == (again.masks, again.changed_at)


def test_bits() -> None:
    """Lowest first."""
    assert [0, 3, 63] == list(bits(1 | 1 << 3 | 1 << 63))
