"""Commands: each with what it needs and what it refuses; once is once; nothing is done by halves."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import pytest
from sitting import START, Sitting, standing

from gateway.arbiter import COMMANDS, REMEMBERED, Arbiter, command_from
from gateway.config import BoardConfig, TableConfig
from gateway.errors import UsageError
from gateway.events import Command
from gateway.table import Table

SICILIAN = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
PAWN_UP = "rnbqkbnr/pp1ppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"


def an_arbiter(game: Any = "chess") -> Arbiter:
    regulations = "fmjd-standard" if game == "draughts" else "fide-standard"
    return Arbiter(Table(TableConfig("1", game, BoardConfig("dgt"), regulations=regulations), "g"))


def ask(arbiter: Arbiter, name: str, at: float = 1.0, **arguments: Any) -> tuple[list[str], str | None]:
    """The kinds of the events that followed, and the error."""
    events, reply = arbiter.command(Command(name, None, "a", arguments), at)
    assert reply.ok == (reply.error is None)
    return [numbered.event.kind for numbered in events], reply.error


def playing(moves: str = "e4 c5") -> Arbiter:
    arbiter = an_arbiter()
    assert ask(arbiter, "start_game", moves=moves.split())[1] is None
    return arbiter


# --- what is refused --------------------------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("fly", {}, "command"),
    ("assign", {"colour": "red"}, "colour"),
    ("assign", {"white": 5}, "white"),
    ("assign", {"game": "go"}, "game"),
    ("assign", {"regulations": "fmjd-blitz"}, "regulations"),
    ("assign", {"game": "draughts", "regulations": "fide-blitz"}, "regulations"),
    ("assign", {"time_control": "soon"}, "time_control"),
    ("assign", {"start_fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "start_fen"),
    ("assign", {"scheduled_start": "10:00"}, "scheduled_start"),
    ("assign", {"scheduled_start": "2026-05-01T10:00:00"}, "scheduled_start"),
    ("assign", {"default_time": -1}, "default_time"),
    ("assign", {"seats": "left"}, "seats"),
    ("start_game", {"start_fen": "nonsense"}, "start_fen"),
    ("start_game", {"start_fen": "4k3/8/8/8/8/8/8/8 w - - 0 1"}, "start_fen"),
    ("start_game", {"moves": "e4"}, "moves"),
    ("start_game", {"moves": ["e4", "e4"]}, "moves"),
    ("start_game", {"moves_completed": {"white": 1.5}}, "moves_completed.white"),
    ("start_game", {"moves_completed": {"red": 1}}, "moves_completed"),
    ("start_game", {"record": [1]}, "record"),
    ("set_position", {}, "fen"),
    ("set_position", {"fen": None}, "fen"),
    ("set_position", {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "fen"),
    ("correct", {"moves": []}, "from_ply"),
    ("correct", {"from_ply": 1}, "moves"),
    ("correct", {"from_ply": 0, "moves": []}, "from_ply"),
    ("correct", {"from_ply": 4, "moves": ["e4"]}, "from_ply"),
    ("correct", {"from_ply": True, "moves": []}, "from_ply"),
    ("correct", {"from_ply": 2, "moves": ["c5", "Qh9"]}, "moves"),
    ("end_game", {}, "result"),
    ("end_game", {"result": "2-0"}, "result"),
    ("end_game", {"result": "1-0", "reason": "x" * 501}, "reason"),
    ("acknowledge", {}, "alert_id"),
    ("acknowledge", {"irregularity": "flag_fall"}, "there is no"),
    ("acknowledge", {"irregularity": "flag_fall", "ruling": "maybe"}, "ruling"),
    ("attend", {}, "alert_id"),
    ("attend", {"alert_id": "g.1.a9"}, "there is no"),
    ("suspend", {"reason": "lunch"}, "reason"),
    ("resume", {}, "the game is in play"),
    ("set_orientation", {}, "value"),
    ("set_orientation", {"value": "upside down"}, "value"),
    ("set_white_side", {"value": "normal"}, "value"),
    ("resend", {"stream": "public", "from_seq": 1}, "to_seq"),
    ("resend", {"stream": "private", "from_seq": 1, "to_seq": 2}, "stream"),
    ("resend", {"stream": "public", "from_seq": 3, "to_seq": 2}, "from_seq"),
]


@pytest.mark.parametrize(("name", "arguments", "begins"), BAD, ids=lambda value: str(value)[:40])
def test_refused_with_a_sentence_and_nothing_changes(name: str, arguments: dict[str, Any], begins: str) -> None:
    """The answer names what is wrong; the only event is the refused command."""
    arbiter = playing()
    before = arbiter.table.game.record.state() if arbiter.table.game else None
    kinds, error = ask(arbiter, name, 2.0, **arguments)

    assert ["command"] == kinds
    assert error is not None
    assert error.startswith(begins)
    assert arbiter.table.game is not None
    assert before == arbiter.table.game.record.state()
    assert "play" == arbiter.table.game.phase


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_position", {"fen": SICILIAN}),
        ("correct", {"from_ply": 1, "moves": []}),
        ("end_game", {"result": "1-0"}),
        ("suspend", {}),
        ("resume", {}),
    ],
)
def test_what_needs_a_game(name: str, arguments: dict[str, Any]) -> None:
    """Without one it is refused."""
    assert (["command"], "there is no game at this table") == ask(an_arbiter(), name, **arguments)


@pytest.mark.parametrize(("name", "arguments"), [("set_position", {"fen": SICILIAN}), ("suspend", {}), ("resume", {})])
def test_what_needs_a_game_in_play(name: str, arguments: dict[str, Any]) -> None:
    """A game that is over is not set back or suspended."""
    arbiter = playing()
    ask(arbiter, "end_game", result="1-0")
    kinds, error = ask(arbiter, name, **arguments)

    assert ["command"] == kinds
    assert (error or "").startswith("the game is over")


def test_a_game_cannot_change_its_kind_while_it_is_played() -> None:
    """The next game is assigned when this one is over."""
    arbiter = playing()
    first = ask(arbiter, "assign", game="chess960")[1]
    ask(arbiter, "end_game", result="*")

    assert (first or "").startswith("game")
    assert ask(arbiter, "assign", game="chess960")[1] is None


# --- reading ----------------------------------------------------------------------------------------------------


def test_a_command_is_read() -> None:
    """The head apart from the arguments; a head of null is none."""
    message = {"command": "assign", "id": None, "by": "a", "white": None}

    assert Command("assign", None, "a", {"white": None}) == command_from(message)


@pytest.mark.parametrize("message", [None, [], "end_game", 5])
def test_what_is_no_command(message: Any) -> None:
    """Only an object can be one."""
    with pytest.raises(UsageError):
        command_from(message)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (("q1", "command: found 5; allowed is a text"), {"command": 5, "id": "q1"}),
        ((None, "id: found 7; allowed is a text"), {"command": "end_game", "id": 7, "result": "1-0"}),
        (("q2", "by: found []; allowed is a text"), {"command": "assign", "id": "q2", "by": []}),
    ],
)
def test_a_head_that_is_no_text(expected: tuple[str | None, str], message: dict[str, Any]) -> None:
    """It is refused under its own id, if it has one."""
    events, reply = an_arbiter().command(command_from(message), 1.0)

    assert expected == (reply.id, reply.error)
    assert ["command"] == [numbered.event.kind for numbered in events]


def test_null_is_as_good_as_left_out() -> None:
    """Where it says nothing else."""
    assert ask(an_arbiter(), "start_game", start_fen=None, moves=None, record=None)[1] is None


# --- once is once -----------------------------------------------------------------------------------------------


def test_a_repeated_id_is_answered_alike_and_done_once() -> None:
    """Also when it was refused, and also across a restart."""
    arbiter = playing()
    good, bad = Command("end_game", "x1", None, {"result": "1-0"}), Command("resume", "x2", None, {})
    answers = [arbiter.command(command, 2.0)[1] for command in (good, bad)]
    again = Arbiter(arbiter.table)
    again.restore(json.loads(json.dumps(arbiter.state())))

    for other in (arbiter, again):
        assert [([], answer) for answer in answers] == [other.command(command, 3.0) for command in (good, bad)]


def test_a_thousand_ids_are_remembered() -> None:
    """The oldest is forgotten first."""
    arbiter = an_arbiter()
    for number in range(REMEMBERED + 1):
        arbiter.command(Command("resume", f"x{number}", None, {}), 1.0)
    first, second = (arbiter.command(Command("resume", f"x{number}", None, {}), 1.0)[0] for number in (1, 0))

    assert ([], 1) == (first, len(second))


def test_commands_without_id_are_each_done() -> None:
    """Nobody asked for them to be told apart."""
    sitting = Sitting(placement=None)
    for t in (1.0, 2.0):
        sitting.add(t, command={"command": "start_game"})

    assert [None, None] == [reply["id"] for reply in sitting.replies()]
    assert 2 == len(sitting.events("game_started"))


# --- what they do -----------------------------------------------------------------------------------------------


def test_every_command_is_told_to_the_arbiters() -> None:
    """Who asked for what, and what became of it; after what it did."""
    sitting = Sitting(placement=None)
    sitting.add(1.0, command={"command": "start_game", "id": "k1", "by": "Cleo", "moves": ["e4"]})
    kinds = [event["kind"] for event in sitting.events()]
    (event,) = sitting.events("command")

    assert ["game_started", "move", "move_confirmed", "command"] == kinds[-4:]
    assert ("start_game", "k1", "Cleo", {"moves": ["e4"]}, True, None) == tuple(
        event[key] for key in ("command", "command_id", "by", "arguments", "ok", "error")
    )


def test_start_game_needs_no_board() -> None:
    """The position is `start_fen` plus `moves`; told moves have neither clock nor elapsed."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "start_game", start_fen=SICILIAN, moves=["Nf3", "d7d6"])
    (started,) = sitting.events("game_started")
    moves = sitting.events("move")

    assert ("command", SICILIAN, None) == (started["reason"], started["start_fen"], started["orientation"])
    assert [(1, "Nf3", "command", None, None), (2, "d6", "command", None, None)] == [
        (m["ply"], m["notation"], m["source"], m["clock"], m["elapsed"]) for m in moves
    ]
    assert [1, 2] == [event["ply"] for event in sitting.events("move_confirmed")]


def test_start_game_takes_the_board_as_it_stands() -> None:
    """White to move, castling rights as kings and rooks stand."""
    sitting = Sitting(placement="r3k3/8/8/8/8/8/8/4K2R", clock=None)
    sitting.command(1.0, "start_game")

    assert ["r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"] == [event["start_fen"] for event in sitting.events("game_started")]


def test_an_impossible_board_starts_nothing() -> None:
    """It says why, and what to give instead."""
    sitting = Sitting(placement="8/8/8/8/8/8/8/4K3", clock=None)
    sitting.command(1.0, "start_game")

    assert [] == sitting.events("game_started")
    assert ["the board as it stands is no position: Black has no king. Give start_fen."] == [
        reply["error"] for reply in sitting.replies()
    ]


def test_start_game_with_moves_starts_at_the_assigned_position() -> None:
    """`assign` has said what the next game is."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "assign", start_fen=SICILIAN)
    sitting.command(2.0, "start_game", moves=["Nf3"])

    assert [SICILIAN] == [event["start_fen"] for event in sitting.events("game_started")]


@pytest.mark.parametrize(
    ("expected", "placement"),
    [
        ("rotated", "RNBKQBNR/PPP1PPPP/8/3P4/8/8/pppppppp/rnbkqbnr"),
        ("normal", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"),
        ("normal", "8/8/8/8/8/8/8/8"),
    ],
)
def test_the_first_dump_settles_orientation(expected: str, placement: str) -> None:
    """It lies as it differs less from the game; a tie is normal."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "start_game", moves=["e4"])
    sitting.position(2.0, placement)

    assert [None, expected] == list(dict.fromkeys(p["orientation"] for p in sitting.topic("table/1/position")))


def test_correct_replaces_plies() -> None:
    """From a ply on, with the moves that were really played."""
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3")
    sitting.command(sitting.t + 1, "correct", from_ply=2, moves=["c5", "Nf3"])
    retracted = sitting.events("move_retracted")

    assert [(2, "command")] == [(event["from_ply"], event["reason"]) for event in retracted]
    assert ["e4", "c5", "Nf3"] == sitting.moves()


def test_correct_may_only_add_or_only_take_away() -> None:
    """One past the last ply adds; no moves takes away."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "start_game", moves=["e4"])
    sitting.command(2.0, "correct", from_ply=2, moves=["e5", "Nf3"])
    sitting.command(3.0, "correct", from_ply=3, moves=[])
    sitting.command(4.0, "correct", from_ply=3, moves=[])

    assert ["e4", "e5"] == sitting.moves()
    assert 1 == len(sitting.events("move_retracted"))
    assert all(reply["ok"] for reply in sitting.replies())


def test_set_position_goes_back_or_sets() -> None:
    """What occurred in the record is gone back to; anything else is set beside it, and counts go on."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "start_game", moves=["e4", "c5", "Nf3"])
    sitting.command(2.0, "set_position", fen=SICILIAN)
    sitting.command(3.0, "set_position", fen=SICILIAN)
    sitting.command(4.0, "set_position", fen=PAWN_UP)
    sitting.command(5.0, "correct", from_ply=3, moves=["d4"])
    events = sitting.events("move_retracted", "position_set", "move")[3:]

    assert [("move_retracted", 3), ("position_set", 2), ("move", 3)] == [
        (event["kind"], event.get("from_ply", event.get("ply"))) for event in events
    ]
    assert ["e4", "c5", "d4"] == [move["notation"] for move in standing(sitting.events())]


@pytest.mark.parametrize("commands", [[("set_position", {"fen": AFTER_E4})], [("suspend", {}), ("resume", {})]])
def test_what_the_arbiter_lets_stand_is_confirmed(commands: list[tuple[str, dict[str, Any]]]) -> None:
    """A ply on which nobody had pressed yet needs no press any more, and no record waits for one."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    sitting.touch("-e2 +P@e4")
    for number, (name, arguments) in enumerate(commands):
        sitting.command(6.0 + number, name, **arguments)
    told = [(event["kind"], event["ply"]) for event in sitting.events("move", "move_confirmed", "position_set")]

    assert [("move", 1), ("move_confirmed", 1)] == told


def test_end_game_always_wins() -> None:
    """On a game in play, on a suspended one, and on one that has ended, whose result it supersedes."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "start_game", moves=["f3", "e5", "g4", "Qh4#"])
    sitting.command(2.0, "end_game", result="1/2-1/2", reason="agreed before")
    sitting.command(3.0, "start_game")
    sitting.command(4.0, "suspend")
    sitting.command(5.0, "end_game", result="*")
    ended = sitting.events("game_ended")

    assert [("0-1", "checkmate", None), ("1/2-1/2", "command", "agreed before"), ("*", "command", None)] == [
        (event["result"], event["reason"], event["detail"]) for event in ended
    ]
    assert 2 == len({event["game_id"] for event in ended})


def test_a_corrected_end() -> None:
    """A mate that was none is no end; a result that was told stands, and is said again."""
    sitting = Sitting(placement=None, clock=None)
    sitting.command(1.0, "start_game", moves=["f3", "e5", "g4", "Qh4#"])
    sitting.command(2.0, "correct", from_ply=4, moves=["Qg5"])
    sitting.command(3.0, "end_game", result="1-0")
    sitting.command(4.0, "correct", from_ply=4, moves=["Qf6"])
    phases = [game["phase"] for game in sitting.topic("table/1/game")]

    assert ["setup", "ended", "play", "ended", "ended"] == phases
    assert ["checkmate", "command", "command"] == [event["reason"] for event in sitting.events("game_ended")]


def test_suspend_and_resume() -> None:
    """Nothing that is done to the board meanwhile is play; the game keeps its id."""
    sitting = Sitting()
    sitting.chess("e4 e5")
    sitting.command(sitting.t + 1, "suspend", reason="adjournment", sealed_move="Nf3")
    sitting.clock(sitting.t + 0.5, None)
    sitting.touch("-g1 +N@f3 -f3 +N@g1 -d2 +P@d4 -d4 +P@d2")
    sitting.command(sitting.t + 1, "suspend", reason="adjournment")
    sitting.command(sitting.t + 1, "resume")
    sitting.clock(sitting.t + 0.5, "white")
    sitting.touch("-g1 +N@f3")
    sitting.press("white")
    replies = [reply["ok"] for reply in sitting.replies()]

    assert ["e4", "e5", "Nf3"] == sitting.moves()
    assert [True, False, True] == replies
    assert ["setup", "play", "suspended", "play"] == [
        phase for phase, _ in groupby(game["phase"] for game in sitting.topic("table/1/game"))
    ]
    assert 1 == len({event["game_id"] for event in sitting.events("move")})


def test_assigned_values_are_the_next_games() -> None:
    """They are shown while it is awaited, and a game in play keeps its own."""
    sitting = Sitting()
    sitting.command(0.3, "assign", white="Ann", black="Bob", time_control="300+3", regulations="fide-rapid")
    sitting.chess("e4")
    sitting.command(sitting.t + 0.1, "assign", white="Cleo", time_control="60")
    (started,) = sitting.events("game_started")

    assert ("Ann", "Bob", "300+3", "fide-rapid") == tuple(
        started[key] for key in ("white", "black", "time_control", "regulations")
    )
    assert "Ann" == sitting.topic("table/1/game")[-1]["white"]
    assert '[White "Ann"]' in sitting.topic("table/1/pgn")[-1]


def test_chess960_is_assigned_over_a_board_that_stands() -> None:
    """The squares are the same, so the board need not be read again."""
    sitting = Sitting(placement="nrbqkbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBQKBRN")
    sitting.command(0.3, "assign", game="chess960")
    sitting.clock(1.0, "white")
    (started,) = sitting.events("game_started")

    assert ("chess960", "nrbqkbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBQKBRN w KQkq - 0 1") == (
        started["game"],
        started["start_fen"],
    )


def test_orientation_is_told() -> None:
    """The board is read the other way from now on, and what stands is looked at again."""
    sitting = Sitting(placement="RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr", clock=None)
    sitting.command(1.0, "set_orientation", value="normal")
    sitting.command(2.0, "set_orientation", value="rotated")

    assert ["rotated", "normal", "rotated"] == [p["orientation"] for p in sitting.topic("table/1/position")][1:]
    assert START == sitting.topic("arbiter/1/board")[-1]["physical"]


def test_alerts_are_attended_and_acknowledged() -> None:
    """Others see who goes there; once acknowledged it is over, and not raised again while its cause lasts."""
    sitting = Sitting()
    sitting.chess("e4 e5")
    sitting.clock(sitting.t + 1, None)
    sitting.command(sitting.t + 10, "attend", alert_id="g.1.a1")
    sitting.command(sitting.t + 1, "acknowledge", irregularity="both_clocks_stopped", note="toilet")
    sitting.command(sitting.t + 1, "acknowledge", alert_id="g.1.a1")
    alerts = sitting.events("alert", end=30.0)

    assert ["raised", "updated", "acknowledged"] == [alert["state"] for alert in alerts]
    assert "arbiter" == alerts[1]["evidence"]["attended_by"]
    assert {"g.1.a1"} == {alert["alert_id"] for alert in alerts}
    assert [True, True, False] == [reply["ok"] for reply in sitting.replies()]


def test_draughts_by_command() -> None:
    """PDN in, squares out; two captures that read alike are told apart by their path."""
    sitting = Sitting("draughts", placement=None, clock=None)
    sitting.command(1.0, "start_game", moves=["32-28", "19-23", "28x19", "14x23"])
    sitting.command(2.0, "end_game", result="1-1")
    moves = sitting.events("move")

    assert [([32, 28], []), ([19, 23], []), ([28, 19], [23]), ([14, 23], [19])] == [
        (move["squares"], move["captured"]) for move in moves
    ]
    assert all("uci" not in move for move in moves)
    assert ["1-1"] == [event["result"] for event in sitting.events("game_ended")]


def test_every_command_of_the_contract() -> None:
    """These and no others."""
    assert {
        "assign", "start_game", "set_position", "correct", "end_game", "acknowledge", "suspend", "resume", "attend",
        "set_orientation", "set_white_side", "resend",
    } == set(COMMANDS)  # fmt: skip
