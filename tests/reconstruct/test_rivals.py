"""The beam of rival games: what is believed, for how much, and what is given up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.reconstruct.observed import CHESS, Observed
from gateway.reconstruct.phase import node_of
from gateway.reconstruct.rivals import BEAM, QUIET, Rivals
from gateway.record import START_FEN, position_from_fen


class Watched:
    """A board and its rivals."""

    def __init__(self, fen: str = START_FEN["chess"]) -> None:
        position = position_from_fen("chess", fen)
        self.board = Observed(CHESS)
        self.board.load(position.pieces(), 0.0, unseen=True)
        self.rivals = Rivals(node_of(position), self.board, 0.0)

    def touch(self, *touches: tuple[float, str, str | None]) -> Watched:
        for at, square, piece in touches:
            self.rivals.advance(at)
            self.board.set(square, piece, at)
            self.rivals.changed()
        return self

    def best(self) -> list[str]:
        return [rival.ply.uci() for rival in self.rivals.best.line()]


def test_what_the_board_shows_is_the_best() -> None:
    """At the very update that shows it."""
    watched = Watched().touch((1.0, "e2", None))
    before = watched.best()

    assert ([], ["e2e4"]) == (before, watched.touch((1.3, "e4", "P")).best())


def test_no_ply_is_invented() -> None:
    """A piece that is lifted and put back was not moved."""
    watched = Watched().touch((1.0, "e2", None), (1.5, "e2", "P"))

    assert [] == watched.best()
    assert 0.0 == watched.rivals.best.rate


def test_disagreement_costs_while_it_lasts() -> None:
    """A quarter of a square for a piece in the hand; after a while a long think says nothing new."""
    watched = Watched().touch((1.0, "e2", None))
    costs = []
    for at in (1.0, 2.0, 1.0 + QUIET, 60.0):
        watched.rivals.advance(at)
        costs.append(round(watched.rivals.best.cost, 6))

    assert [0.0, 0.25, 0.25 * QUIET, 0.25 * QUIET] == costs


def test_rivals_that_meet_are_one() -> None:
    """Two orders of the same plies lead to one position."""
    watched = Watched().touch((1.0, "g1", None), (1.0, "f3", "N"), (1.1, "g8", None), (1.1, "f6", "n"))
    keys = [rival.node.key for rival in watched.rivals.beam]

    assert len(keys) == len(set(keys))


def test_the_taker_may_be_taken_unseen() -> None:
    """The board shows only the queen where two pawns were."""
    fen = "rnbqkbnr/ppp2ppp/8/3pp3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3"
    watched = Watched(fen).touch((1.0, "e4", None), (1.1, "d8", None), (1.2, "d5", "q"))

    assert ["e4d5", "d8d5"] == watched.best()


def test_a_press_speaks_against_those_who_have_not_moved() -> None:
    """By their reading nobody had anything to press for."""
    watched = Watched().touch((1.0, "e2", None), (1.3, "e4", "P"))
    idle = next(rival for rival in watched.rivals.beam if rival.depth == 0)
    before = idle.cost
    watched.rivals.pressed("white", 2.0)

    assert idle.cost > before + 0.5
    assert ["e2e4"] == watched.best()


def test_what_is_confirmed_is_given_up_by_nobody() -> None:
    """Readings without it are gone."""
    watched = Watched().touch((1.0, "e2", None), (1.3, "e4", "P"))
    watched.rivals.confirm(watched.rivals.best)

    assert {"e2e4"} == {rival.ancestor(1).ply.uci() for rival in watched.rivals.beam}


@pytest.mark.parametrize("steps", [1, 7])
def test_the_next_change_is_foretold(steps: int) -> None:
    """Until then the best stays the best, however often one looks."""
    watched = Watched().touch((1.0, "e2", None), (1.3, "e4", "P"), (1.6, "e4", None))
    due = watched.rivals.next_change()
    if due is None:
        due = 1.0 + QUIET
    best = watched.rivals.best
    for step in range(steps):
        watched.rivals.advance(1.6 + (due - 0.001 - 1.6) * (step + 1) / steps)

        assert best is watched.rivals.best


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(CHESS.index)), st.sampled_from([None, *"PNBRQKpnbrqk"])), max_size=40))
def test_the_beam_is_bounded(touches: list[tuple[str, str | None]]) -> None:
    """Whatever is put on the board; the best is the cheapest, and nobody lives on credit."""
    watched = Watched()
    for index, (square, piece) in enumerate(touches):
        watched.touch((0.1 * index, square, piece))
        scores = [rival.score for rival in watched.rivals.beam]

        assert 1 <= len(scores) <= BEAM
        assert scores == sorted(scores)
        assert min(scores) >= 0
