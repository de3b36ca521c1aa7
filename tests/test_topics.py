"""Retained topics: when each is first known, what changes it, and how often it may be said."""

from __future__ import annotations

from typing import Any

import pytest
from sitting import START, STARTED, Sitting

ORDER = ["link", "position", "clock", "game", "pgn", "pdn", "alerts", "board"]


def seconds(payload: dict[str, Any]) -> float:
    """When a payload was made, since the capture started."""
    minutes, rest = payload["time"][14:-1].split(":")
    return round(int(minutes) * 60 + float(rest), 3)


def names(sitting: Sitting, t: float | None = None) -> list[str]:
    """The retained topics that were printed, or those of one moment."""
    told = [line for line in sitting.told() if line["retain"]]
    if t is not None:
        told = [line for line in told if isinstance(line["payload"], dict) and seconds(line["payload"]) == t]
    return [line["topic"].rpartition("/")[2] for line in told]


def test_what_is_known_without_a_device() -> None:
    """A table whose board is up, and which has said nothing: no clock, no board, no text of a game."""
    sitting = Sitting(placement=None, clock=None)

    assert ["link", "position", "game", "alerts"] == names(sitting)
    assert [{"v": 1, "time": STARTED, "fen": None, "turn": None, "orientation": None}] == sitting.topic(
        "table/1/position"
    )


def test_topics_that_change_together_keep_the_contracts_order() -> None:
    """Events first, then retained topics as section 3 lists them."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    lines = [line for line in sitting.told() if isinstance(line["payload"], dict) and seconds(line["payload"]) == 1.0]
    retained = [line["topic"].rpartition("/")[2] for line in lines if line["retain"]]

    assert ["game_started", "clock", "position", "clock", "game"] == [
        line["topic"].rpartition("/")[2] for line in lines
    ]
    assert retained == sorted(retained, key=ORDER.index)


def test_nothing_is_said_twice() -> None:
    """A report that changes nothing is no reason to publish."""
    sitting = Sitting(clock=None)
    before = len(sitting.told())
    sitting.position(1.0, START)

    assert before == len(sitting.told(end=4.0))


@pytest.mark.parametrize(("expected", "running"), [([1.0, 2.0, 3.0, 4.0], "white"), ([1.0, 1.4, 1.8, 2.2], None)])
def test_clock_readings_come_once_a_second_while_one_runs(expected: list[float], running: str | None) -> None:
    """Reports may come more often; what is held back comes when its second is over."""
    sitting = Sitting()
    if running is None:
        sitting.readings = {"white": 100.0, "black": 100.0}
    for step in range(20):
        t = round(1.0 + 0.4 * step, 3)
        sitting.clock(t, running)
        if running is None:
            sitting.readings["white"] += 5
    found = [seconds(payload) for payload in sitting.topic("table/1/clock")]

    assert expected == found[1:5]


def test_a_press_is_not_held_back() -> None:
    """A change of state comes at once."""
    sitting = Sitting()
    for t, running in ((1.0, "white"), (1.3, "black"), (1.5, "white")):
        sitting.clock(t, running)

    assert [0.2, 1.0, 1.3, 1.5] == [seconds(payload) for payload in sitting.topic("table/1/clock")]


def test_the_link_is_said_every_ten_seconds_at_most() -> None:
    """The time of the last frame may wait; a device that goes away may not."""
    sitting = Sitting(clock=None)
    for step in range(30):
        sitting.say(1.0 + step, "battery 50")
    sitting.down(33.0)
    payloads = sitting.topic("table/1/link")

    assert [0.0, 10.0, 20.0, 30.0, 33.0] == [seconds(payload) for payload in payloads]
    assert ["up", "up", "up", "up", "down"] == [payload["board"] for payload in payloads]
    assert {50} == {payload["battery"] for payload in payloads[1:]}


def test_the_text_of_the_game_is_written_once_a_second_at_most() -> None:
    """Moves in a scramble share a text; the end of the game does not wait."""
    sitting = Sitting(clock=None)
    sitting.chess("e4 e5 d4 d5", pause=0.0)
    sitting.command(sitting.t + 0.1, "end_game", result="1/2-1/2")
    lines = sitting.told()
    texts = [line["payload"] for line in lines if line["topic"] == "hall/table/1/pgn"]
    moves = [line for line in lines if line["topic"] == "hall/table/1/event/move"]

    assert 4 == len(moves)
    assert len(texts) < 4
    assert "1. e4 e5 2. d4 d5 1/2-1/2" in texts[-1]
    assert lines.index(next(line for line in reversed(lines) if line["topic"].endswith("/pgn"))) < lines.index(
        next(line for line in lines if line["topic"].endswith("/reply"))
    )


def test_the_game_topic_is_the_game_so_far() -> None:
    """Whoever subscribes late knows all of it."""
    sitting = Sitting()
    sitting.command(0.3, "assign", white="Ann", black="Bob", round="3", event="Club")
    sitting.chess("e4 e5 Nf3")
    game = sitting.topic("table/1/game")[-1]

    assert ("play", "Ann", "Bob", "Club", "3") == tuple(
        game[key] for key in ("phase", "white", "black", "event", "round")
    )
    assert [("e4", True), ("e5", True), ("Nf3", True)] == [(m["notation"], m["confirmed"]) for m in game["moves"]]
    assert ["ply", "side", "notation", "uci", "legal", "confirmed", "clock", "elapsed"] == list(game["moves"][0])
    assert (None, None) == (game["result"], game["reason"])


def test_draughts_has_a_pdn_and_squares() -> None:
    """The same topics in the other game's words."""
    sitting = Sitting("draughts")
    sitting.draughts("32-28 19-23 28x19")
    game = sitting.topic("table/1/game")[-1]

    assert "1. 32-28" in sitting.topic("table/1/pdn")[-1]
    assert [] == sitting.topic("table/1/pgn")
    assert [([32, 28], []), ([19, 23], []), ([28, 19], [23])] == [(m["squares"], m["captured"]) for m in game["moves"]]
    assert "uci" not in game["moves"][0]


def test_what_stands_and_where_it_differs() -> None:
    """The arbiters' board follows every touch; squares are sorted."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    sitting.lift(2.0, "g1")
    sitting.lift(2.2, "e1")
    boards = sitting.topic("arbiter/1/board")

    assert ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1B1R", ["e1", "g1"]] == [
        boards[-1]["physical"],
        boards[-1]["differs"],
    ]


def test_draughts_squares_are_numbers_and_light_squares_names() -> None:
    """A man on a light square is seen, too."""
    sitting = Sitting("draughts")
    sitting.clock(1.0, "white")
    sitting.touch("-31 +w@b1")
    boards = sitting.topic("arbiter/1/board")

    assert [31, "b1"] == boards[-1]["differs"]


def test_a_piece_of_unknown_kind() -> None:
    """An occupancy board knows only that something stands there."""
    sitting = Sitting(occupancy=True)

    assert ["????????/????????/8/8/8/8/????????/????????"] == [
        board["physical"] for board in sitting.topic("arbiter/1/board")
    ]


def test_alerts_open_now() -> None:
    """What is raised is in the list with its own keys, until it is cleared."""
    sitting = Sitting()
    sitting.chess("e4 e5")
    sitting.clock(sitting.t + 2.0, None)
    sitting.clock(sitting.t + 20.0, "white")
    lists = [payload["alerts"] for payload in sitting.topic("arbiter/1/alerts", end=10.0)]
    raised = sitting.events("alert", end=10.0)

    assert [[], ["both_clocks_stopped"], []] == [[alert["irregularity"] for alert in alerts] for alerts in lists]
    assert [
        "alert_id", "irregularity", "severity", "side", "ply", "since", "articles", "message", "evidence"
    ] == list(lists[1][0])  # fmt: skip
    assert raised[0]["id"] == raised[0]["alert_id"] == lists[1][0]["alert_id"]


def test_a_clock_with_a_port_of_its_own() -> None:
    """Its link is told by events and in the topic; none at all is no fault."""
    own = Sitting(clock=None, clock_driver=None)
    own.header["table"]["clock"] = {"driver": "none"}
    del own.header["table"]["clock_driver"]

    assert ["unconfigured"] == [payload["clock"] for payload in own.topic("table/1/link")]
