"""Events as MQTT messages: where they go, and what is in them."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events import (
    Alert,
    ArbiterEvent,
    ClockChanged,
    Event,
    GameEnded,
    LinkChanged,
    Move,
    MoveConfirmed,
    Numbered,
    PublicEvent,
    Readings,
    Reply,
    Stream,
)
from gateway.publish import encode, event_message, event_payload, plain, reply_message, rfc3339

COMMON = ["v", "id", "seq", "time", "table", "game_id", "kind"]


def numbered(event: Event, stream: Stream = "public") -> Numbered:
    return Numbered("pi-a.12.481", 481, 1795946657.25, "12", "12-20261129T100000Z", stream, event)


def move(**values: object) -> Move:
    known: dict[str, object] = {
        "ply": 1,
        "side": "white",
        "notation": "e4",
        "uci": "e2e4",
        "squares": None,
        "captured": None,
        "fen": "-",
        "legal": True,
        "source": "board",
        "clock": Readings(180.0, 179.5),
        "elapsed": 3.25,
    }
    return Move(**{**known, **values})  # type: ignore[arg-type]


def test_a_public_event_goes_under_table() -> None:
    """Its topic names the table and the kind; it is not retained."""
    message = event_message("hall", numbered(LinkChanged("board", "up", None)))

    assert ("hall/table/12/event/link", False) == (message.topic, message.retain)


def test_an_arbiters_event_goes_under_arbiter() -> None:
    """What spectators may not know has a branch of its own."""
    alert = Alert("a", "flag_fall", "raised", "alert", "white", 3, ("6.9",), "!", {})
    message = event_message("club", numbered(alert, "arbiter"))

    assert "club/arbiter/12/event/alert" == message.topic


def test_no_kind_goes_to_both() -> None:
    """Alerts and commands are the arbiter's, all else is public."""
    assert {"alert", "command"} == {event.kind for event in get_args(ArbiterEvent)}
    assert not set(get_args(ArbiterEvent)) & set(get_args(PublicEvent))


def test_keys_in_the_contracts_order() -> None:
    """The common keys come first, then the event's own, and none is left out when it is unknown."""
    event = ClockChanged("disconnected", None, None, None, "none")

    assert [*COMMON, *(field.name for field in fields(event))] == list(event_payload(numbered(event)))


def test_a_chess_move_has_uci_and_no_squares() -> None:
    """Either game has its own keys."""
    payload = event_payload(numbered(move()))
    keys = ["ply", "side", "notation", "uci", "fen", "legal", "source", "clock", "elapsed"]

    assert [*COMMON, *keys] == list(payload)


def test_a_draughts_move_has_squares_and_no_uci() -> None:
    """The whole path and what was taken; nothing taken is an empty list."""
    payload = event_payload(numbered(move(uci=None, squares=(32, 28), captured=())))

    assert "uci" not in payload
    assert ([32, 28], []) == (payload["squares"], payload["captured"])


def test_seconds_are_numbers() -> None:
    """Whole ones have no fraction, others are to the millisecond; unknown is null."""
    assert {"white": 180, "black": 179.5} == event_payload(numbered(move()))["clock"]
    assert [3, 0.123, None, True] == [plain(value) for value in (3.0, 0.12345, None, True)]
    assert event_payload(numbered(MoveConfirmed(1, None)))["clock"] is None


def test_compact_utf8() -> None:
    """No blanks, and letters as they are."""
    assert '{"name":"Łódź","n":[1,2]}'.encode() == encode({"name": "Łódź", "n": (1, 2)})


@pytest.mark.parametrize(
    ("expected", "stamp"),
    [
        ("1970-01-01T00:00:00.000Z", 0.0),
        ("2026-11-29T10:04:17.250Z", 1795946657.25),
        ("2026-11-29T10:04:18.000Z", 1795946657.9996),
        ("2026-11-29T10:04:17.001Z", 1795946657.0006),
    ],
)
def test_times(expected: str, stamp: float) -> None:
    """RFC 3339 in UTC, always with three digits of milliseconds, rounded."""
    assert expected == rfc3339(stamp)


@given(st.floats(0, 4e9), st.floats(0, 10))
def test_times_as_text_keep_their_order(stamp: float, later: float) -> None:
    """What is not earlier never reads as earlier."""
    assert rfc3339(stamp) <= rfc3339(stamp + later)


def test_a_reply_where_it_is_asked_for() -> None:
    """The table's own topic, or the one that the sender gave; never retained."""
    reply = Reply("x1", False, "there is no game at this table")
    own, asked = reply_message("hall", "12", reply), reply_message("hall", "12", reply, "arbiters/7")

    assert ("hall/arbiter/12/reply", "arbiters/7") == (own.topic, asked.topic)
    assert {"id": "x1", "ok": False, "error": "there is no game at this table"} == json.loads(own.payload)
    assert not own.retain


def test_a_result_is_text() -> None:
    """A game's end has result, reason and the command's own words."""
    payload = event_payload(numbered(GameEnded("1/2-1/2", "command", "agreed")))

    assert ("1/2-1/2", "command", "agreed") == (payload["result"], payload["reason"], payload["detail"])
