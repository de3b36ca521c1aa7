"""A restart in the middle of anything: the same games are weighed, and the same is concluded."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hands import random_game

from gateway import capture
from gateway.arbiter import Arbiter
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import BoardDump, FieldUpdate, LinkState, Numbered
from gateway.protocol.certabo import START
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, OCCUPANCY, Board, BoardModel, Trace, drawn_board
from gateway.simulate.habits import BLITZ, Habits
from gateway.simulate.hand import Performance, Players
from gateway.table import Table


def a_trace(game: Any, seed: int, model: BoardModel) -> Trace:
    """An untidy blitz game."""
    rng = Random(seed)
    score = random_game(game, rng, 16)
    players = Players(score, BLITZ, Habits().noisy(5), rng)
    end = players.play(3.0)
    performance = Performance(dict(score.start), players.acts, [players.truth], end + 5.0)
    return Board(drawn_board(model, rng), performance, game, rng).trace(ClockModel(180, 2))


def a_table(game: Any) -> Table:
    regulations = "fmjd-blitz" if game == "draughts" else "fide-blitz"
    return Table(TableConfig("1", game, BoardConfig("dgt"), ClockConfig(), regulations, "180+2"), "g")


def heard(table: Table, timed: tuple[float, Any]) -> list[Numbered]:
    """An observation, after the timers that are due before it."""
    at, observation = timed
    found: list[Numbered] = []
    while table.deadline is not None and table.deadline <= at:
        found += table.tick(table.deadline)
    return found + table.observe(observation, at)


@pytest.mark.parametrize("game", ["chess", "chess960", "draughts"])
@pytest.mark.parametrize("model", [CLASSIC, OCCUPANCY], ids=["pieces", "occupancy"])
def test_a_restart_after_any_observation(game: Any, model: BoardModel) -> None:
    """What follows is what would have followed, to the last stamp."""
    trace = a_trace(game, 11, model)
    table = a_table(game)
    states, parts = [], []
    for timed in trace.observations:
        states.append(json.loads(json.dumps(table.state())))
        parts.append(heard(table, timed))
    wrong = []
    for index in range(0, len(states), 9):
        again = a_table(game)
        again.restore(states[index])
        expected = [numbered for part in parts[index : index + 40] for numbered in part]
        found = [n for timed in trace.observations[index : index + 40] for n in heard(again, timed)]
        if expected != found:
            wrong.append(index)

    assert [] == wrong


def test_a_game_whose_first_ply_may_be_taken_back() -> None:
    """Two readings begin where the game does: one in which nothing was played, one in which all was taken back."""
    table = a_table("chess")
    table.observe(LinkState("board", True), 0.0)
    table.observe(BoardDump(START), 0.1)
    carried = [(1.0, "e2", None), (1.3, "e4", "P"), (4.0, "e4", None), (4.3, "e2", "P"), (4.6, "g1", None)]
    states = []
    for at, square, piece in carried:
        heard(table, (at, FieldUpdate(square, piece)))
        states.append(json.loads(json.dumps(table.state())))
    for state in states:
        again = a_table("chess")
        again.restore(state)

        assert state == json.loads(json.dumps(again.state()))


def test_a_state_is_plain_json() -> None:
    """Written and read it is itself, and a table that restored it writes the same."""
    trace = a_trace("chess", 12, CLASSIC)
    table, again = a_table("chess"), a_table("chess")
    for timed in trace.observations:
        heard(table, timed)
    state = json.loads(json.dumps(table.state()))
    again.restore(state)

    assert state == json.loads(json.dumps(again.state()))
    assert Arbiter(again).state() == []
    assert capture.State(0.0, state).state == state
