"""From rival games to the record: what is shown at once, what waits, what is certain and what is taken back."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hands import random_game
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sitting import Sitting

from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import Alert, GameStarted, Move, MoveRetracted, Numbered
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
