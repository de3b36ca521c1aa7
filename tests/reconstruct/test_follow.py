"""From rival games to the record: what is shown at once, what waits, what is certain and what is taken back."""

from __future__ import annotations

from random import Random
from typing import Any

import chess
import pytest
from hands import random_game
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sitting import Sitting, from_position

from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import Alert, BoardDump, ClockTimes, FieldUpdate, GameStarted, Move, MoveRetracted, Numbered
from gateway.record import position_from_fen
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, OCCUPANCY, Board, BoardModel, drawn_board
from gateway.simulate.habits import BLITZ, RAPID, TIDY, Habits, Pace
from gateway.simulate.hand import Performance, Players
from gateway.simulate.score import draughts_name
from gateway.table import Table

# --- when it is told --------------------------------------------------------------------------------------------


def test_a_ply_is_shown_at_the_update_that_completes_it() -> None:
    """No settling time: the pawn has arrived, and the move is there."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    sitting.touch("-e2 +P@e4")
    (move,) = sitting.events("move")

    assert sitting.t == float(move["time"][17:-1])


def test_a_piece_that_could_go_on_waits_for_at_most_300_ms() -> None:
    """And counts from its arrival all the same."""
    sitting = Sitting()
    sitting.chess("e4 e5", pause=2.0)
    begun = sitting.t
    sitting.touch("-f1 +B@c4")
    sitting.t += 3.0
    move = sitting.events("move")[-1]

    assert ("Bc4", round(begun + 1.3, 3)) == (move["notation"], float(move["time"][17:-1]))
    assert move["elapsed"] == pytest.approx(begun + 1.0 - float(sitting.events("move")[1]["time"][17:-1]))


def test_the_press_ends_the_waiting() -> None:
    """Nobody presses in the middle of a slide."""
    sitting = Sitting()
    sitting.chess("e4 e5", pause=2.0)
    sitting.touch("-f1 +B@c4")
    sitting.press("white", 0.1)

    assert ["Bc4", 3] == [sitting.moves()[-1], sitting.events("move_confirmed")[-1]["ply"]]
    assert sitting.t == float(sitting.events("move")[-1]["time"][17:-1])


# --- what is certain --------------------------------------------------------------------------------------------


def test_a_press_confirms_with_its_reading() -> None:
    """With the increment, as the clock shows it."""
    sitting = Sitting()
    sitting.chess("e4", pause=2.0)
    (confirmed,) = sitting.events("move_confirmed")

    assert {"white": sitting.readings["white"], "black": 180} == confirmed["clock"]


def test_a_reply_confirms_without_one() -> None:
    """Nobody pressed: no reading is invented."""
    sitting = Sitting(clock=None)
    sitting.chess("e4 e5 Nf3", pause=2.0)

    assert [(1, None), (2, None)] == [(event["ply"], event["clock"]) for event in sitting.events("move_confirmed")]


def test_a_forgotten_press() -> None:
    """The reply confirms it, and the next press is the opponent's own."""
    sitting = Sitting()
    sitting.chess("e4 e5", pause=2.0)
    sitting.touch("-g1 +N@f3")
    sitting.t += 3.0
    sitting.touch("-b8 +n@c6")
    sitting.t += 3.0
    sitting.touch("-f1 +B@b5")
    sitting.press("white")

    assert ["e4", "e5", "Nf3", "Nc6", "Bb5"] == sitting.moves()
    assert [1, 2, 3, 4, 5] == [event["ply"] for event in sitting.events("move_confirmed")]


def test_nothing_is_played_with_the_clocks_stopped() -> None:
    """What is moved about then is a look at the game."""
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3 Nc6", pause=2.0)
    sitting.clock(sitting.t + 1.0, None)
    sitting.t += 5.0
    sitting.touch("-f1 +B@b5 -a7 +p@a6 -b5 +B@a4 -g8 +n@f6", 0.8)

    assert ["e4", "e5", "Nf3", "Nc6"] == sitting.moves()
    assert [] == sitting.events("move_retracted")


def frozen(*turned: bool) -> list[str]:
    """A flag has fallen and the clock stands; plies are made after it, on each of which the lever is turned or not."""
    table = Table(TableConfig("1", "chess", BoardConfig("dgt"), ClockConfig(), "fide-blitz", "180"), "g")
    found = table.observe(BoardDump(position_from_fen("chess", chess.STARTING_FEN).pieces()), 0.0)
    left = ClockTimes(3.0, 90.0, "left", "left")
    found += table.observe(left, 1.0)
    found += table.observe(ClockTimes(0.0, 90.0, None, "left", flags=frozenset({"left"})), 4.0)
    board, at, lever = chess.Board(), 5.0, "left"
    for ply, (move, turn) in enumerate(zip(("e2e4", "e7e5", "g1f3", "b8c6"), turned, strict=True)):
        piece = board.piece_at(chess.parse_square(move[:2]))
        assert piece is not None
        found += table.observe(FieldUpdate(move[:2], None), at)
        found += table.observe(FieldUpdate(move[2:], piece.symbol()), at + 0.6)
        board.push_uci(move)
        if turn:
            lever = "right" if ply % 2 == 0 else "left"
            flags = frozenset({"left"})
            found += table.observe(ClockTimes(0.0, 90.0, None, lever, flags=flags), at + 1.2)  # type: ignore[arg-type]
        at += 3.0
    return [numbered.event.notation for numbered in found if isinstance(numbered.event, Move)]


def test_who_turns_the_lever_of_a_fallen_clock_plays_on() -> None:
    """They have not noticed; the record goes on with them, and the rules say that they play after a flag."""
    assert ["e4", "e5", "Nf3", "Nc6"] == frozen(True, True, True, True)


@pytest.mark.parametrize("turned", [(False, False, False, False), (True, False, False, True)])
def test_without_the_lever_it_is_a_look_at_the_game(turned: tuple[bool, ...]) -> None:
    """Turned once it says nothing."""
    assert [] == frozen(*turned)


def test_the_press_that_gives_a_move_back() -> None:
    """A capture is taken back after a minute; the opponent presses, so that another move can be made."""
    board = chess.Board("4k3/5ppp/1p6/2p5/4N3/5N2/5PPP/4K3 w - - 0 20")
    sitting = from_position(board.fen())
    sitting.chess("Nxc5", board)
    sitting.t += 40.0
    sitting.touch("-c5 +N@e4", 0.25)
    sitting.touch("+p@c5", 0.8)
    sitting.touch("-e4", 0.25)
    sitting.press("black", 0.45)
    sitting.touch("+N@d2", 1.05)
    sitting.press("white")

    assert ["Ned2"] == sitting.moves()


def test_a_move_taken_back_with_the_clocks_stopped() -> None:
    """Nothing is said while they stand; it is told when the clock of whoever moves again is started."""
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3 Nc6")
    sitting.t += 1.0
    sitting.clock(sitting.t, None)
    sitting.touch("-c6 +n@b8", 1.0)
    sitting.t += 2.0
    stood = sitting.moves(end=0.0)
    sitting.clock(sitting.t, "black")

    assert ["e4", "e5", "Nf3", "Nc6"] == stood
    assert ["e4", "e5", "Nf3"] == sitting.moves()
    assert [(4, "takeback")] == [(event["from_ply"], event["reason"]) for event in sitting.events("move_retracted")]


def test_a_position_looked_at_with_the_clocks_stopped_is_no_takeback() -> None:
    """The piece is put back where it was before, and the clock of the side to move in the record is started."""
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3 Nc6")
    sitting.t += 1.0
    sitting.clock(sitting.t, None)
    sitting.touch("-c6 +n@b8 -b8 +n@c6", 1.0)
    sitting.clock(sitting.t + 1.0, "white")

    assert [] == sitting.events("move_retracted")
    assert ["e4", "e5", "Nf3", "Nc6"] == sitting.moves()


@pytest.mark.parametrize("clock", [180, None])
def test_a_captured_pawn_laid_where_it_could_have_gone(clock: float | None) -> None:
    """Its own square stays taken by another pawn, so nobody has moved, however long it lies there."""
    sitting = Sitting(clock=clock)
    board = sitting.chess("e4 d5 exd5 c5 dxc6 a6")
    sitting.touch("-b7 +p@h5 -c6 +P@b7", 0.4)
    sitting.t += 3.0
    sitting.touch("-h5")
    board.push_san("cxb7")
    if clock:
        sitting.press("white")

    assert ["e4", "d5", "exd5", "c5", "dxc6", "a6", "cxb7"] == sitting.moves()
    assert [] == sitting.events("move_retracted")
    assert [] == sitting.alerts()


# --- whole games ------------------------------------------------------------------------------------------------


def sat(
    game: Any, seed: int, plies: int, pace: Pace, habits: Habits, model: BoardModel
) -> tuple[list[str], list[Numbered]]:
    """The plies that were played at a board, and all that was concluded."""
    rng = Random(seed)
    score = random_game(game, rng, plies)
    players = Players(score, pace, habits, rng)
    end = players.play(3.0)
    performance = Performance(dict(score.start), players.acts, [players.truth], end + 5.0)
    trace = Board(drawn_board(model, rng), performance, game, rng).trace(ClockModel(pace.base, pace.increment))
    regulations = "fmjd-rapid" if game == "draughts" else "fide-rapid"
    control = f"{pace.base:.0f}+{pace.increment:.0f}"
    table = Table(TableConfig("1", game, BoardConfig("dgt"), ClockConfig(), regulations, control), "g")
    table.assign({"game": game, "regulations": regulations, "start_fen": score.start_fen})
    found: list[Numbered] = []
    for at, observation in trace.observations:
        while table.deadline is not None and table.deadline <= at:
            found += table.tick(table.deadline)
        found += table.observe(observation, at)
    while table.deadline is not None and table.deadline <= trace.end:
        found += table.tick(table.deadline)
    return [ply.name for ply in score.plies], found


def standing(events: list[Numbered]) -> list[str]:
    """The plies that stand, named as the score names them."""
    plies: list[Move] = []
    for numbered in events:
        match numbered.event:
            case Move() as move:
                plies.append(move)
            case MoveRetracted(from_ply=first):
                plies = [move for move in plies if move.ply < first]
            case GameStarted():
                plies = []
    return [
        move.uci if move.uci is not None else draughts_name(move.squares[0], move.squares[-1], move.captured or ())  # type: ignore[index]
        for move in plies
    ]


GAMES = ["chess", "chess960", "draughts"]
UNSHRUNK = (Phase.explicit, Phase.generate)
"""A smaller seed is no simpler game."""


@pytest.mark.parametrize(
    ("game", "model"),
    [(game, CLASSIC) for game in GAMES] + [(game, OCCUPANCY) for game in ("chess", "draughts")],
    ids=lambda value: value if isinstance(value, str) else value.senses,
)
@settings(max_examples=5, deadline=None, derandomize=True, phases=UNSHRUNK)
@given(seed=st.integers(0, 10**6))
def test_a_tidy_game_comes_back_as_itself(game: Any, model: BoardModel, seed: int) -> None:
    """Lifted, taken away, set down, pressed: every ply, none wrong in between, and nobody is troubled."""
    played, events = sat(game, seed, 40, RAPID, TIDY, model)
    if model is OCCUPANCY:
        # Such a board cannot know to what a pawn was promoted.
        played = [name[:4] + "q" if len(name) == 5 and name[4].isalpha() else name for name in played]
    retracted = {numbered.event.reason for numbered in events if isinstance(numbered.event, MoveRetracted)}
    alerts = [n.event for n in events if isinstance(n.event, Alert) and n.event.severity != "info"]

    assert played == standing(events)
    # In Chess960 the king's half of a castling may be a ply of its own until the rook follows.
    assert retracted <= ({"slide"} if game == "chess960" else set())
    assert [] == alerts


@pytest.mark.parametrize("game", GAMES)
@settings(max_examples=5, deadline=None, derandomize=True, phases=UNSHRUNK)
@given(seed=st.integers(0, 10**6))
def test_a_blitz_game_of_ordinary_hands(game: Any, seed: int) -> None:
    """Slides, hovering, adjusting, quick replies, victims in the hand: the same plies in the end."""
    played, events = sat(game, seed, 40, BLITZ, Habits(), CLASSIC)

    assert played == standing(events)
