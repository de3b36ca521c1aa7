"""What rules remember outlives a restart: as plain JSON, and the same again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from clocked import Played, Scene

from gateway.rules import Remembers

MIDDLE = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"


def a_game() -> Scene:
    """Moves, increments, a clock that is stopped, changed and started."""
    scene = Scene(control="40/5400+30:1800+30").clock(0, 5400, 5400, None)
    Played(scene, 5400, 30).start(1).plies("e2e4", "e7e5", "g1f3", "b8c6", "f1b5")
    scene.clock(40, 5474, 5441, None).clock(60, 5474, 5700, None)
    return scene.clock(70, 5474, 5700, "black").until(75)


def a_flag() -> Scene:
    """A flag, and moves after it."""
    scene = Scene("fide-standard", "5400", "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 60").ticking(0, 4, 5, 60, "white")
    scene.clock(5, 0, 60, "white", flags=("white",)).ply(9, "e1", "e2")
    return scene.clock(9.5, 0, 60, "black", flags=("white",)).until(12)


def a_wrong_start() -> Scene:
    """King and queen changed, and play goes on."""
    scene = Scene(fen="rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1", started=False)
    return scene.clock(0, 5400, 5400, None).clock(5, 5400, 5400, "white").until(20)


def an_adjournment() -> Scene:
    """Adjourned, resumed with another move than the sealed one."""
    scene = Scene(fen=MIDDLE).clock(0, 3000, 2900, None).command("suspend", reason="adjournment", sealed_move="f1b5")
    return scene.command("resume").ply(5, "f1", "c4").until(8)


def an_end() -> Scene:
    """Mate, and pieces moved after it."""
    scene = Scene(fen="6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 40").clock(0, 3000, 3000, "white").ply(4.7, "a1", "a8")
    return scene.clock(5.3, 3025, 3000, "black").ply(9, "f7", "f6").until(20)


def a_draw() -> Scene:
    """A draw agreed too early."""
    scene = Scene(fen=MIDDLE, minimum_moves=30).clock(0, 3000, 2900, "white").until(5)
    return scene.command("end_game", result="1/2-1/2", reason="agreed").until(10)


@pytest.mark.parametrize("play", [a_game, a_flag, a_wrong_start, an_adjournment, an_end, a_draw])
def test_what_is_remembered_survives(play: Callable[[], Scene]) -> None:
    """Each rule's state goes through JSON into a new one of its kind, which then says the same."""
    for rule in play().table.watch._all():
        if not isinstance(rule, Remembers):
            continue
        state = json.loads(json.dumps(rule.state()))
        other = type(rule)()
        assert isinstance(other, Remembers)
        other.restore(state)

        assert state == json.loads(json.dumps(other.state())), type(rule).__name__
