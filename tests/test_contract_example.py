"""The hall contract's worked example: these bytes, exactly these events."""

# The lines are as the contract has them.
# ruff: noqa: E501

from __future__ import annotations

import json
from typing import Any

import pytest
from sitting import replayed

CAPTURE = """\
{"capture":1,"started":"2026-05-01T10:00:00.000Z","gateway":"g","table":{"id":"1","game":"chess","regulations":"fide-blitz","time_control":"180+2","board":{"driver":"dgt"},"clock":{"driver":"board","white_side":"left"}}}
{"t":0.0,"link":"board","state":"up"}
{"t":0.2,"link":"board","dir":"rx","hex":"86004308090a0c0b0a09080707070707070707000000000000000000000000000000000000000000000000000000000000000001010101010101010203040605040302"}
{"t":0.4,"link":"board","dir":"rx","hex":"8d000a00030000030008"}
{"t":2.0,"link":"board","dir":"rx","hex":"8d000a00030000030009"}
{"t":5.0,"link":"board","dir":"rx","hex":"8e00053400"}
{"t":5.3,"link":"board","dir":"rx","hex":"8e00052401"}
{"t":6.1,"link":"board","dir":"rx","hex":"8d000a00030000025813"}
{"t":9.0,"end":true}
"""

EVENTS = """\
{"id":"g.1.1","seq":1,"time":"2026-05-01T10:00:00.000Z","kind":"link","device":"board","state":"up","detail":null}
{"id":"g.1.2","seq":2,"time":"2026-05-01T10:00:00.400Z","kind":"clock","change":"connected","side":null,"white":180,"black":180,"running":"none"}
{"id":"g.1.3","seq":3,"time":"2026-05-01T10:00:02.000Z","kind":"game_started","game":"chess","start_fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1","orientation":"normal","regulations":"fide-blitz","time_control":"180+2","white":null,"black":null,"event":null,"round":null,"reason":"start_position"}
{"id":"g.1.4","seq":4,"time":"2026-05-01T10:00:02.000Z","kind":"clock","change":"started","side":"white","white":180,"black":180,"running":"white"}
{"id":"g.1.5","seq":5,"time":"2026-05-01T10:00:05.300Z","kind":"move","ply":1,"side":"white","notation":"e4","uci":"e2e4","fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1","legal":true,"source":"board","clock":null,"elapsed":3.3}
{"id":"g.1.6","seq":6,"time":"2026-05-01T10:00:06.100Z","kind":"clock","change":"pressed","side":"white","white":178,"black":180,"running":"black"}
{"id":"g.1.7","seq":7,"time":"2026-05-01T10:00:06.100Z","kind":"move_confirmed","ply":1,"clock":{"white":178,"black":180}}
"""

GAME = "1-20260501T100002Z"


def expected_line(text: str) -> bytes:
    """A line of the example with the common keys that it leaves out, where section 4 has them."""
    short: dict[str, Any] = json.loads(text)
    game_id = GAME if short["seq"] > 2 else None
    head = {"v": 1, "id": short.pop("id"), "seq": short.pop("seq"), "time": short.pop("time")}
    line = {**head, "table": "1", "game_id": game_id, **short}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def test_the_worked_example_byte_for_byte() -> None:
    """Keys, order, numbers and stamps are those of the contract."""
    expected = [expected_line(line) for line in EVENTS.splitlines()]

    assert expected == replayed(CAPTURE.encode(), events_only=True)


def test_the_same_bytes_each_time() -> None:
    """A replay knows nothing of the moment at which it is made."""
    assert replayed(CAPTURE.encode()) == replayed(CAPTURE.encode())


@pytest.mark.parametrize("cut", range(1, 5))
def test_chunks_may_split_frames_anywhere(cut: int) -> None:
    """An update that comes in two pieces says the same; the move's time is that of its last byte."""
    whole = '{"t":5.3,"link":"board","dir":"rx","hex":"8e00052401"}\n'
    hexes = "8e00052401"[: 2 * cut], "8e00052401"[2 * cut :]
    split = "".join(f'{{"t":5.3,"link":"board","dir":"rx","hex":"{part}"}}\n' for part in hexes)

    assert replayed(CAPTURE.encode()) == replayed(CAPTURE.replace(whole, split).encode())


def test_what_was_sent_is_a_record() -> None:
    """Lines of what the host sent change nothing."""
    sent = '{"t":0.4,"link":"board","dir":"tx","hex":"42"}\n'
    with_sent = CAPTURE.replace('{"t":2.0', f'{sent}{{"t":2.0')

    assert replayed(CAPTURE.encode()) == replayed(with_sent.encode())
