"""Two games as real boards and clocks sent them: nobody's simulator, nobody's idea of a hand.

The recordings have no host times. The clock's messages, about one a second, are their only time base: a message's time
is the number of clock messages so far, and updates between two of them are spread evenly in that second.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from sitting import replayed, standing

RECORDINGS = Path(__file__).parents[2] / "shared" / "data" / "recordings"
CLOCK = 0x8D
HEADER: dict[str, Any] = {
    "capture": 1,
    "started": "2026-05-01T10:00:00.000Z",
    "gateway": "g",
    "table": {
        "id": "1",
        "game": "chess",
        "regulations": "fide-blitz",
        "board": {"driver": "dgt"},
        "clock": {"driver": "board"},
    },
}

pytestmark = pytest.mark.skipif(
    not (RECORDINGS / "dgt_serial_game2.b64lines").exists(), reason="the recordings are not beside the checkout"
)


def timed(frames: list[bytes]) -> Iterator[tuple[float, bytes]]:
    """Frames with the times that the clock gives them."""
    seconds, between = 0, list[bytes]()
    for frame in [*frames, None]:
        if frame is not None and frame[0] != CLOCK:
            between.append(frame)
            continue
        for place, other in enumerate(between, 1):
            yield round(seconds + place / (len(between) + 1), 3), other
        between.clear()
        if frame is not None:
            seconds += 1
            yield float(seconds), frame


def played(name: str, time_control: str) -> list[dict[str, Any]]:
    """All that is told of a recording: events and retained topics."""
    frames = [base64.b64decode(line) for line in (RECORDINGS / f"{name}.b64lines").read_text().split()]
    header = {**HEADER, "table": {**HEADER["table"], "time_control": time_control}}
    lines: list[dict[str, Any]] = [header, {"t": 0.0, "link": "board", "state": "up"}]
    lines += [{"t": t, "link": "board", "dir": "rx", "hex": frame.hex()} for t, frame in timed(frames)]
    lines.append({"t": lines[-1]["t"] + 10, "end": True})
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return [json.loads(line) for line in replayed(text)]


def events_of(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line["payload"] for line in told if "/event/" in line["topic"]]


@pytest.fixture(scope="module")
def game2() -> list[dict[str, Any]]:
    return played("dgt_serial_game2", "180+2")


@pytest.fixture(scope="module")
def game3() -> list[dict[str, Any]]:
    return played("dgt_serial_game3", "300+5")


def moves2() -> list[str]:
    text = (RECORDINGS / "dgt_serial_game2.moves.uci").read_text()
    return [word for word in text.split() if word[0].isalpha()]


def moves3() -> list[str]:
    game = chess.pgn.read_game(io.StringIO((RECORDINGS / "dgt_serial_game3.moves.pgn").read_text()))
    assert game is not None
    return [move.uci() for move in game.mainline_moves()]


def test_moves_of_game_2(game2: list[dict[str, Any]]) -> None:
    """Exactly the recorded moves, all of them legal."""
    moves = standing(events_of(game2))

    assert moves2() == [move["uci"] for move in moves]
    assert all(move["legal"] for move in moves)


def test_moves_of_game_3(game3: list[dict[str, Any]]) -> None:
    """Exactly the recorded moves, all of them legal."""
    moves = standing(events_of(game3))

    assert moves3() == [move["uci"] for move in moves]
    assert all(move["legal"] for move in moves)


@pytest.mark.parametrize(("expected", "name"), [(["rotated"], "game2"), (["normal"], "game3")])
def test_orientation(expected: list[str], name: str, request: pytest.FixtureRequest) -> None:
    """Game 2 was played on a board that lay the other way round."""
    events = events_of(request.getfixturevalue(name))

    assert expected == [event["orientation"] for event in events if event["kind"] == "game_started"]


@pytest.mark.parametrize(("white", "name"), [("right", "game2"), ("left", "game3")])
def test_clock_readings(white: str, name: str, request: pytest.FixtureRequest) -> None:
    """Every reading is the one that an independent reader of the same bytes found, and has its player."""
    told = request.getfixturevalue(name)
    text = (RECORDINGS / f"dgt_serial_{name}.decoded.jsonl").read_text()
    clocks = [message for message in map(json.loads, text.splitlines()) if "left_clock" in message]
    black = "left" if white == "right" else "right"
    expected = [tuple(_seconds(clock[f"{side}_clock"]) for side in (white, black)) for clock in clocks]
    found = [line["payload"] for line in told if line["topic"] == "hall/table/1/clock"]
    confirmed = [event["clock"] for event in events_of(told) if event["kind"] == "move_confirmed" and event["clock"]]

    assert _runs(expected) == _runs([(clock["white"], clock["black"]) for clock in found])
    assert {(clock["white"], clock["black"]) for clock in confirmed} <= set(expected)


def _seconds(clock: dict[str, Any]) -> int:
    return int(clock["hours"] * 3600 + clock["minutes"] * 60 + clock["seconds"])


def _runs(values: list[Any]) -> list[Any]:
    """Without what is only said again."""
    return [value for value, _ in groupby(values)]


@pytest.mark.parametrize("name", ["game2", "game3"])
def test_plies_are_confirmed_in_order(name: str, request: pytest.FixtureRequest) -> None:
    """Each once; the last may be without a press."""
    events = events_of(request.getfixturevalue(name))
    plies = [event["ply"] for event in events if event["kind"] == "move_confirmed"]
    last = standing(events)[-1]["ply"]

    assert [*range(1, len(plies) + 1)] == plies
    assert last - len(plies) <= 1


@pytest.mark.parametrize(("expected", "name"), [([], "game2"), (["flag_fall"], "game3")])
def test_alerts(expected: list[str], name: str, request: pytest.FixtureRequest) -> None:
    """Two ordinary blitz games: Black's flag falls in one of them, and nobody did anything wrong."""
    events = events_of(request.getfixturevalue(name))
    raised = [event for event in events if event["kind"] == "alert" and event["state"] == "raised"]

    assert expected == [alert["irregularity"] for alert in raised if alert["severity"] != "info"]


def test_the_kings_of_game_3(game3: list[dict[str, Any]]) -> None:
    """White won, as the kings show."""
    ended = [event for event in events_of(game3) if event["kind"] == "game_ended"]

    assert [("1-0", "kings_signal")] == [(event["result"], event["reason"]) for event in ended]


def test_no_result_in_game_2(game2: list[dict[str, Any]]) -> None:
    """Nobody showed anything before the recording ends: the gateway invents no result."""
    assert [] == [event for event in events_of(game2) if event["kind"] == "game_ended"]
