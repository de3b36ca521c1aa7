"""One game: what is told of it, how it ends, and that a restart changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.clock import Clock
from gateway.events import GameEnded, Readings
from gateway.game import Game
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import geometry
from gateway.record import Record, position_from_fen

STALEMATE = "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"
KINGS = "8/8/3k4/8/8/3K4/4P3/8 w - - 0 1"


def a_game(fen: str | None = None, kind: Any = "chess", *, timed: bool = False) -> Game:
    """A game in play over a board on which its start stands."""
    record = Record(kind, fen)
    board = Observed(geometry(kind))
    board.load(record.start.pieces(), 0.0, unseen=True)
    game = Game(record, board, 0.0, "fide-blitz", "180+2")
    game.begin("1-x", "2026.05.01", timed=timed)
    game.follow.changed(0.0)
    return game


def touch(game: Game, at: float, *touches: tuple[str, str | None]) -> None:
    for square, piece in touches:
        game.board.set(square, piece, at)
        game.follow.changed(at)


def kinds(events: list[Any]) -> list[str]:
    return [event.kind for event in events]


def test_told_plies_are_confirmed_at_once() -> None:
    """They are the arbiter's: each is published and certain, with neither clock nor time."""
    game = a_game()
    events = game.told(["e4", "e7e5"], 1.0)

    assert ["move", "move_confirmed", "move", "move_confirmed"] == kinds(events)
    assert [("command", None, None)] * 2 == [(e.move.source, e.move.clock, e.move.elapsed) for e in game.record.entries]


def test_told_plies_that_cannot_be_played() -> None:
    """The caller checks first; what came before the bad one stands."""
    game = a_game()

    with pytest.raises(ValueError, match="e4"):
        game.told(["e4", "e4"], 1.0)
    assert 1 == game.record.ply


def test_a_position_that_occurred_is_gone_back_to() -> None:
    """The later plies are taken off; the same again changes nothing."""
    game = a_game()
    game.told(["e4", "e5", "Nf3"], 1.0)
    position = game.record.position_at(1)
    events = game.set_position(position, 2.0)

    assert [("move_retracted", 2, "command")] == [(e.kind, e.from_ply, e.reason) for e in events]  # type: ignore[union-attr]
    assert [] == game.set_position(position, 3.0)


def test_a_position_that_did_not_occur_is_set() -> None:
    """The record goes on from it; the next ply counts on."""
    game = a_game()
    game.told(["e4", "e5"], 1.0)
    fen = "rnbqkbnr/pppp1ppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    events = game.set_position(position_from_fen("chess", fen), 2.0)

    assert [("position_set", 2, fen)] == [(e.kind, e.ply, e.fen) for e in events]  # type: ignore[union-attr]
    assert 3 == game.told(["d4"], 3.0)[0].ply  # type: ignore[union-attr]


def test_elapsed_counts_from_the_ply_before() -> None:
    """The first counts from the start of the clock; a ply that was taken back does not count."""
    game = a_game()
    clock = Clock("left")
    game.clock_started = 10.0
    found: list[Any] = []
    for at, touches in (
        (13.5, (("e2", None), ("e4", "P"))),
        (17.0, (("e7", None), ("e5", "p"))),
        (19.0, (("e5", None), ("e7", "p"))),
        (25.0, (("c7", None), ("c5", "p"))),
    ):
        touch(game, at, *touches)
        found += game.conclude(at, clock)
    moves = [event for event in found if event.kind == "move"]

    assert [("e4", 3.5), ("e5", 3.5), ("c5", 11.5)] == [(move.notation, move.elapsed) for move in moves]


def test_elapsed_is_unknown_without_a_clock() -> None:
    """Nobody knows when the first player began to think."""
    game = a_game()
    touch(game, 5.0, ("e2", None), ("e4", "P"))

    assert [None] == [event.elapsed for event in game.conclude(5.0, Clock("left")) if event.kind == "move"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("expected", "fen", "kind", "touches"),
    [
        (("0-1", "checkmate"), "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", "chess",
         (("d8", None), ("h4", "q"))),
        (("1/2-1/2", "stalemate"), STALEMATE, "chess", (("f1", None), ("f7", "Q"))),
        (("2-0", "no_pieces"), "W:W32:B28", "draughts", (("32", None), ("23", "w"), ("28", None))),
        (("2-0", "no_moves"), "W:W46,47:B36", "draughts", (("46", None), ("41", "w"))),
    ],
)  # fmt: skip
def test_ends_that_the_position_makes(
    expected: tuple[str, str], fen: str, kind: Any, touches: tuple[tuple[str, str | None], ...]
) -> None:
    """After a second of rest, or at once when the ply is confirmed."""
    game = a_game(fen, kind)
    touch(game, 5.0, *touches)
    game.conclude(5.4, Clock("left"))
    ended, due = game.ending(5.5)

    assert (None, 6.0) == (ended, due)
    assert (GameEnded(*expected, None), None) == game.ending(6.0)  # type: ignore[arg-type]


def test_no_end_while_the_board_says_otherwise() -> None:
    """A piece that is lifted again has not mated yet."""
    game = a_game(STALEMATE)
    touch(game, 5.0, ("f1", None), ("f7", "Q"))
    game.conclude(5.4, Clock("left"))
    touch(game, 5.6, ("f7", None))

    assert (None, None) == game.ending(9.0)


def test_an_end_that_was_told_needs_no_board() -> None:
    """The last ply came by command, and is certain."""
    game = a_game()
    game.told(["f3", "e5", "g4", "Qh4"], 1.0)

    assert (GameEnded("0-1", "checkmate", None), None) == game.ending(1.0)


def test_suspended_and_resumed() -> None:
    """The record stands; a sealed move is kept until it is said anew."""
    game = a_game()
    game.told(["e4"], 1.0)
    game.suspend("adjournment", "e5")
    suspended = game.phase
    game.resume(None, 5.0)

    assert ("suspended", "play", "e5", 5.0) == (suspended, game.phase, game.assigned.sealed_move, game.resumed_at)
    assert 1 == game.record.ply


def test_kings_that_walk_to_the_centre_are_no_plies() -> None:
    """What a kings' signal looked like on its way is taken off; what was confirmed stays."""
    game = a_game(KINGS)
    game.told(["e4"], 1.0)
    touch(game, 3.0, ("d6", None), ("e5", "k"))
    game.conclude(4.0, Clock("left"))

    assert 2 == game.record.ply
    assert [("move_retracted", 2)] == [(e.kind, e.from_ply) for e in game.drop_signal()]  # type: ignore[union-attr]
    assert [] == game.drop_signal()


def test_ended_and_reopened() -> None:
    """The result is that of the last word."""
    game = a_game()
    game.end(GameEnded("1-0", "command", "flag"))
    first = game.phase, game.result, game.reason
    game.reopen()

    assert ("ended", "1-0", "command") == first
    assert ("play", None, None) == (game.phase, game.result, game.reason)


@pytest.mark.parametrize("kind", ["chess", "chess960", "draughts"])
def test_a_state_restores_itself(kind: Any) -> None:
    """In the middle of a ply, with one confirmed and one not."""
    fen = {"chess": None, "chess960": "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"}.get(kind)
    game = a_game(fen, kind, timed=True)
    first = game.position
    assert first.turn == "white"
    game.told(["32-28"] if kind == "draughts" else ["g3"], 1.0)
    touch(game, 2.0, *(("19", None), ("23", "b")) if kind == "draughts" else (("b7", None), ("b6", "p")))
    game.conclude(2.5, Clock("left"))
    game.follow.pressed("black", 3.0, Readings(1.0, 2.0))
    game.end(GameEnded("*", "command", "why"))
    state = json.loads(json.dumps(game.state()))
    again = Game.restore(state, game.board)

    assert state == json.loads(json.dumps(again.state()))
    assert (game.ended, game.record.ply, game.position.fen()) == (again.ended, again.record.ply, again.position.fen())
