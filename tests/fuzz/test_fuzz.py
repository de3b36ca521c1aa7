"""Whatever comes in from outside: no crash, no hang, no growth. `scripts/fuzz` goes on where this stops."""

from __future__ import annotations

import gzip
import json
import random
import string
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import targets
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gateway.arbiter import COMMANDS, RESULTS
from gateway.registry import DRIVERS

sys.path.insert(0, str(Path(__file__).parents[1] / "protocol"))

from shorthand import samples

few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))

EXAMPLE = (Path(__file__).parents[2] / "systemd" / "config.toml").read_text()
HEADER = {
    "capture": 1,
    "started": "2026-05-01T10:00:00.000Z",
    "gateway": "g",
    "table": {"id": "1", "game": "chess", "board": {"driver": "dgt"}},
}


def frames(driver: str) -> st.SearchStrategy[bytes]:
    """Frames that are right, noise, and right ones with a byte changed."""
    right = st.sampled_from([sample.frames for sample in samples(driver)])

    def changed(drawn: tuple[bytes, int, int]) -> bytes:
        frame, at, value = drawn
        at %= len(frame)
        return frame[:at] + bytes([value]) + frame[at + 1 :]

    broken = st.tuples(right, st.integers(0, 500), st.integers(0, 255)).map(changed)
    return st.lists(right | broken | st.binary(max_size=40), max_size=12).map(b"".join)


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_link_and_its_table(driver: str) -> None:
    """Through decoder, dialogue, reconstruction, rules and topics."""

    @few
    @given(data=frames(driver), game=st.integers(0, 2))
    def check(data: bytes, game: int) -> None:
        number = targets.NAMES.index(driver)
        targets.decoders(bytes([number]) + data)
        targets.table(bytes([number, game]) + data)

    check()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_link_does_not_grow(driver: str) -> None:
    """128 KB of nonsense, of unfinished frames and of the longest lengths leaves nothing behind."""
    chance = random.Random(driver)
    begun = [sample.frames[: max(1, len(sample.frames) // 2)] for sample in samples(driver)]
    for stream in (
        chance.randbytes(1 << 15),
        b"".join(chance.choice(begun) for _ in range(1000))[: 1 << 15],
        b"\xff" * (1 << 15),
        b"a" * (1 << 15),
    ):
        for _, link in targets.links(driver):
            entry = targets.weight(link.entry)
            began = time.process_time()
            targets.drive(link, stream)

            assert targets.weight(link) - entry < 64 * 1024
            assert time.process_time() - began < 5


lines: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
entries = st.fixed_dictionaries(
    {"t": st.floats(0, 400) | lines},
    optional={
        "link": st.sampled_from(["board", "clock"]) | lines,
        "dir": st.sampled_from(["rx", "tx"]) | lines,
        "hex": st.binary(max_size=70).map(bytes.hex) | lines,
        "state": st.sampled_from(["up", "down"]) | lines,
        "channel": lines,
        "command": lines,
        "end": st.booleans() | lines,
    },
)


@many
@given(body=st.lists(entries, max_size=8), noise=st.binary(max_size=30), packed=st.booleans())
@example(body=[{"t": 1, "state": {}}], noise=b"", packed=False)
def test_a_capture(body: list[Any], noise: bytes, packed: bool) -> None:
    """Lines of all kinds and none, compressed, cut."""
    text = "\n".join(json.dumps(line) for line in [HEADER, *body]).encode() + noise
    targets.captures(gzip.compress(text)[: -len(noise) or None] if packed else text)


@many
@given(data=st.binary(max_size=200))
def test_bytes(data: bytes) -> None:
    """Plain noise, everywhere."""
    for target in targets.TARGETS.values():
        target(data)


@many
@given(
    at=st.integers(0, len(EXAMPLE)),
    cut=st.integers(0, 30),
    put=st.text(string.printable, max_size=12) | st.sampled_from(["[[table]]\n", "[", '"', "= -1\n", "x = {}\n"]),
)
def test_a_configuration(at: int, cut: int, put: str) -> None:
    """The example with something cut out and something put in."""
    targets.configuration((EXAMPLE[:at] + put + EXAMPLE[at + cut :]).encode())


SENSIBLE = (
    *("e4", "e2e4", "chess", "draughts", "public", "180+2", "2026-05-01T10:00:00Z", "-", "", "fide-rapid", "rotated"),
    *("8/8/8/8/8/8/8/8 w - - 0 1", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", *RESULTS["chess"]),
)


def arguments(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What the command takes, with values that may or may not be right."""
    sensible = st.sampled_from(SENSIBLE)
    value = sensible | st.integers(-2, 5) | st.lists(sensible, max_size=3) | lines
    return st.dictionaries(st.sampled_from(list(COMMANDS[name][0]) or ["x"]) | st.text(max_size=5), value, max_size=5)


command = st.sampled_from(sorted(COMMANDS)).flatmap(
    lambda name: arguments(name).map(lambda given: {"command": name, "id": "i", "by": "b", **given})
)


@many
@given(asked=st.lists(command | lines, max_size=6))
def test_commands(asked: list[Any]) -> None:
    """One after the other at one table, ids all different and all the same."""
    targets.commands(b"\n".join(json.dumps(each).encode() for each in asked))
    numbered = [{**each, "id": str(n)} if isinstance(each, dict) else each for n, each in enumerate(asked)]
    targets.commands(b"\n".join(json.dumps(each).encode() for each in numbered))


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 60_000,
        b'{"a":' * 12_000,
        b'{"command":"correct","id":"1","by":"b","from_ply":1,"moves":[' + b'"e4",' * 10_000 + b'"e4"]}',
        b'{"command":"resend","id":"1","by":"b","stream":"public","from_seq":1,"to_seq":' + b"9" * 4000 + b"}",
        b'{"command":"assign","id":"1","by":"b","white":"\\ud800"}',
        b'{"command":"assign","id":"1","by":"b","time_control":"' + b"1/" * 20_000 + b'"}',
    ],
    ids=["nested lists", "nested objects", "moves", "a number", "half a character", "a time control"],
)
def test_a_large_command(text: bytes) -> None:
    """As large as the topic takes, in a moment."""
    began = time.process_time()
    targets.commands(text)

    assert time.process_time() - began < 2
