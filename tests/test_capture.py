"""Captures: lines as values, damage told line by line, files that rotate and keep their bound."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.capture import (
    CaptureError,
    CaptureHeader,
    CommandLine,
    End,
    Entry,
    Limits,
    Link,
    Reader,
    Rx,
    State,
    Tx,
    Writer,
    closed,
    compress,
    entry_line,
    header_line,
)
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.registry import DRIVERS

HEADER = (
    '{"capture":1,"started":"2026-05-01T10:00:00.000Z","gateway":"g","table":{"id":"1","game":"chess",'
    '"regulations":"fide-blitz","time_control":"180+2","board":{"driver":"dgt"},'
    '"clock":{"driver":"board","white_side":"left"}}}'
)
TABLE = TableConfig(
    id="1",
    game="chess",
    board=BoardConfig("dgt"),
    clock=ClockConfig(white_side="left"),
    regulations="fide-blitz",
    time_control="180+2",
)
STARTED = 1777629600.0
"""2026-05-01T10:00:00Z"""


def read(data: bytes) -> tuple[list[tuple[int, Entry]], list[tuple[int, str]]]:
    """Return the sound entries and the damage of a capture."""
    damage: list[tuple[int, str]] = []
    reader = Reader(io.BytesIO(data), DRIVERS, lambda number, text: damage.append((number, text)))
    return list(reader), damage


def capture(*lines: str) -> bytes:
    """Return a capture with these lines after a sound header."""
    return "\n".join([HEADER, *lines, ""]).encode()


def test_header() -> None:
    """The header of the contract's worked example."""
    reader = Reader(io.BytesIO(capture()), DRIVERS, lambda *_: None)

    assert CaptureHeader(STARTED, "g", TABLE) == reader.header


def test_every_kind_of_line() -> None:
    """Lines become values, with their numbers; empty lines are passed over."""
    expected = [
        (2, State(0.0, {"phase": "play"})),
        (3, Link(0.0, "board", True)),
        (4, Tx(0.012, "board", b"\x42")),
        (5, Rx(0.14, "board", b"\x86\x00\x43")),
        (6, Rx(0.2, "board", b"\x01", "0000fff1-0000-1000-8000-00805f9b34fb")),
        (8, CommandLine(7.9, {"command": "acknowledge", "id": "x1"})),
        (9, Link(9.5, "board", False, "does not answer")),
        (10, End(60.0)),
    ]
    found, damage = read(
        capture(
            '{"t":0.0,"state":{"phase":"play"}}',
            '{"t":0.0,"link":"board","state":"up"}',
            '{"t":0.012,"link":"board","dir":"tx","hex":"42"}',
            '{"t":0.140,"link":"board","dir":"rx","hex":"860043"}',
            '{"t":0.2,"link":"board","dir":"rx","channel":"0000fff1-0000-1000-8000-00805f9b34fb","hex":"01"}',
            "",
            '{"t":7.9,"command":{"command":"acknowledge","id":"x1"}}',
            '{"t":9.5,"link":"board","state":"down","detail":"does not answer"}',
            '{"t":60.0,"end":true}',
        )
    )

    assert expected == found
    assert [] == damage


SOUND = '{"t":1,"link":"board","state":"up"}'


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        ("not JSON (Expecting value: line 1 column 1 (char 0))", "nonsense"),
        ("not JSON (NaN is no number)", '{"t":NaN,"end":true}'),
        ("not JSON (Unterminated string starting at: line 1 column 31 (char 30))", '{"t":1.5,"link":"board","hex":"86'),
        ("not a JSON object", "[1]"),
        ("a second header", HEADER),
        ("t goes back from 1.0 to 0.5", '{"t":0.5,"link":"board","state":"up"}'),
        ("t: found null; allowed seconds since the start", '{"link":"board","state":"up"}'),
        ('t: found "1"; allowed seconds since the start', '{"t":"1","end":true}'),
        ("t: found true; allowed seconds since the start", '{"t":true,"end":true}'),
        ("t: found -1; allowed seconds since the start", '{"t":-1,"end":true}'),
        ("t: found 1e+300; allowed seconds since the start", '{"t":1e300,"end":true}'),
        ('unknown link "bord"', '{"t":1,"link":"bord","state":"up"}'),
        ('unknown link "clock"', '{"t":1,"link":"clock","state":"up"}'),
        (
            "hex: non-hexadecimal number found in fromhex() arg at position 1",
            '{"t":1,"link":"board","dir":"rx","hex":"8g"}',
        ),
        ("channel: found 5; allowed a UUID", '{"t":1,"link":"board","dir":"rx","hex":"86","channel":5}'),
        ("a state that is not on the second line", '{"t":1,"state":{}}'),
        (
            "neither bytes, nor a link, a command, a state or the end",
            '{"t":1,"link":"board","dir":"sideways","hex":"86"}',
        ),
        ("neither bytes, nor a link, a command, a state or the end", '{"t":1,"command":"acknowledge"}'),
    ],
)
def test_a_damaged_line(expected: str, line: str) -> None:
    """It is told with its number, and the lines around it are played."""
    found, damage = read(capture(SOUND, line, '{"t":2,"end":true}'))

    assert [(3, expected)] == damage
    assert [(2, Link(1.0, "board", True)), (4, End(2.0))] == found


def test_lines_after_the_end() -> None:
    """The end is the end."""
    found, damage = read(capture('{"t":1,"end":true}', '{"t":2,"link":"board","state":"up"}'))

    assert [(2, End(1.0))] == found
    assert [(3, "it comes after the end")] == damage


def test_bytes_that_are_no_text() -> None:
    """A line of zeros, as a power cut leaves it, is damage."""
    found, damage = read(capture(SOUND) + b"\x00\x00\xff\x00")

    assert [(2, Link(1.0, "board", True))] == found
    assert [3] == [number for number, _ in damage]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("line 1: no header", ""),
        ("line 1: not JSON", "nonsense"),
        ("line 1: no header: the key capture is missing", '{"t":0,"link":"board","state":"up"}'),
        ("line 1: capture: found 2; allowed 1", HEADER.replace('"capture":1', '"capture":2')),
        ('line 1: started: found "today"; allowed a time', HEADER.replace("2026-05-01T10:00:00.000Z", "today")),
        ('line 1: started: found "2026-05-01T10:00"', HEADER.replace("2026-05-01T10:00:00.000Z", "2026-05-01T10:00")),
        ("line 1: gateway: found null; allowed the gateway's id", HEADER.replace('"gateway":"g",', "")),
        ('line 1: table.board.driver: found "dgd"; allowed', HEADER.replace("dgt", "dgd")),
        ("line 1: table.odd: found an unknown key", HEADER.replace('"game":"chess"', '"odd":1')),
    ],
)
def test_a_header_that_cannot_be_understood(expected: str, text: str) -> None:
    """Nothing after it would mean anything."""
    with pytest.raises(CaptureError) as caught:
        read(text.encode())

    assert str(caught.value).startswith(expected)


def test_compressed_by_its_first_bytes(tmp_path: Path) -> None:
    """Compression is seen by content, whatever the name."""
    path = tmp_path / "a.capture.jsonl"
    path.write_bytes(gzip.compress(capture(SOUND)))

    assert [(2, Link(1.0, "board", True))] == list(Reader(path, DRIVERS, lambda *_: None))


def test_compressed_and_cut_off() -> None:
    """What can be read is played, and the break is told."""
    lines = [f'{{"t":{n},"link":"board","dir":"rx","hex":"{n:08x}"}}' for n in range(1, 2000)]
    found, damage = read(gzip.compress(capture(*lines))[:-2000])

    assert 0 < len(found) < len(lines)
    assert ["the compressed file is damaged from here on"] == [text.split(" (")[0] for _, text in damage]


ENTRIES = st.one_of(
    st.builds(Rx, st.just(0.0), st.just("board"), st.binary(), st.none() | st.uuids().map(str)),
    st.builds(Tx, st.just(0.0), st.just("board"), st.binary(), st.none() | st.uuids().map(str)),
    st.builds(Link, st.just(0.0), st.just("board"), st.booleans(), st.none() | st.text()),
    st.builds(CommandLine, st.just(0.0), st.dictionaries(st.text(), st.text() | st.integers() | st.none())),
)


@given(st.lists(ENTRIES))
def test_written_and_read_is_itself(entries: list[Entry]) -> None:
    """Lines say all that the values hold."""
    text = header_line(CaptureHeader(STARTED, "g", TABLE)) + "".join(map(entry_line, entries))
    found, damage = read(text.encode())

    assert entries == [entry for _, entry in found]
    assert [] == damage


@given(st.binary())
def test_any_bytes_are_judged(data: bytes) -> None:
    """No bytes after a sound header are more than damage."""
    read(capture() + data)


def writer(folder: Path, at: float = 100.0, **limits: float) -> Writer:
    """Return a writer whose wall clock says STARTED at `at` = 100."""
    return Writer(folder, "g", TABLE, STARTED - 100, at, Limits(**limits))  # type: ignore[arg-type]


def read_files(folder: Path) -> dict[str, list[Entry]]:
    """Return the entries of all captures in a folder; there must be no damage."""

    def refuse(number: int, text: str) -> None:
        raise AssertionError(f"line {number}: {text}")

    return {path.name: [entry for _, entry in Reader(path, DRIVERS, refuse)] for path in sorted(folder.iterdir())}


def test_writer(tmp_path: Path) -> None:
    """Times of the gateway become times of the file."""
    written = writer(tmp_path / "captures")
    written.append(Link(100.0, "board", True))
    written.append(Rx(100.25, "board", b"\x01"))
    written.close(101.5)

    assert {
        "1.20260501T100000Z.capture.jsonl": [Link(0.0, "board", True), Rx(0.25, "board", b"\x01"), End(1.5)]
    } == read_files(tmp_path / "captures")


def test_writer_is_read_while_it_writes(tmp_path: Path) -> None:
    """After a kill no more is missing than the last second."""
    written = writer(tmp_path)
    written.append(Rx(100.5, "board", b"\x01"))
    written.append(Rx(101.5, "board", b"\x02"))

    assert [[Rx(0.5, "board", b"\x01"), Rx(1.5, "board", b"\x02")]] == list(read_files(tmp_path).values())


def test_rotation_by_size_and_age(tmp_path: Path) -> None:
    """A file that is too large or too old is due; the next one begins with the table's state."""
    written = writer(tmp_path, file_bytes=2000, file_s=3600.0)
    assert not written.due(200.0)
    assert written.due(100.0 + 3600.0)
    written.append(Rx(101.0, "board", bytes(1000)))
    assert written.due(101.0)
    written.rotate(110.5, {"ply": 3})
    written.append(Rx(111.0, "board", b"\x02"))
    written.close(112.0)

    assert {
        "1.20260501T100000Z.capture.jsonl": [Rx(1.0, "board", bytes(1000)), End(10.5)],
        "1.20260501T100010Z.capture.jsonl": [State(0.0, {"ply": 3}), Rx(0.5, "board", b"\x02"), End(1.5)],
    } == read_files(tmp_path)
    headers = [json.loads(path.read_text().splitlines()[0])["started"] for path in sorted(tmp_path.iterdir())]
    assert ["2026-05-01T10:00:00.000Z", "2026-05-01T10:00:10.500Z"] == headers


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    """A restart within the same second takes another name."""
    writer(tmp_path).close(100.0)
    writer(tmp_path).close(100.0)

    assert ["1.20260501T100000Z-2.capture.jsonl", "1.20260501T100000Z.capture.jsonl"] == list(read_files(tmp_path))


def test_the_folder_keeps_its_bound(tmp_path: Path) -> None:
    """The oldest files go first; the newest of every table stays, for it may be in use."""
    other = tmp_path / "2.20200101T000000Z.capture.jsonl"
    other.write_bytes(bytes(5000))
    written = writer(tmp_path, folder_bytes=12000)
    for n in range(10):
        written.append(Rx(101.0 + 60 * n, "board", bytes(1000)))
        written.rotate(102.0 + 60 * n, {})
    names = sorted(path.name for path in tmp_path.iterdir())
    total = sum(path.stat().st_size for path in tmp_path.iterdir())

    assert other.name in names
    assert 7000 < total <= 12000 + 400
    assert "1.20260501T100902Z.capture.jsonl" in names[-2:]
    assert "1.20260501T100000Z.capture.jsonl" not in names


def test_a_closed_file_is_compressed(tmp_path: Path) -> None:
    """The oldest first, never the one that is written; what it holds, and its age, stay."""
    written = writer(tmp_path)
    for n in range(3):
        written.append(Rx(101.0 + 60 * n, "board", bytes(1000)))
        written.rotate(102.0 + 60 * n, {})
        os.utime(max(tmp_path.iterdir()), ns=(n, n))
    held = list(read_files(tmp_path).values())
    done = []
    while (path := closed(tmp_path, [written.path])) is not None:
        compress(path)
        done.append(path.name)
        assert not path.exists()
    files = sorted(tmp_path.iterdir())

    assert sorted(done) == done
    assert [f"{name}.gz" for name in done] + [written.path.name] == [path.name for path in files]
    assert held == list(read_files(tmp_path).values())
    assert files[0].stat().st_size < 600


def test_a_file_that_cannot_be_compressed_stays(tmp_path: Path) -> None:
    """A disk without room for the smaller one."""
    written = writer(tmp_path)
    written.close(101.0)
    written.path.with_name(f"{written.path.name}.gz.part").mkdir()
    with pytest.raises(OSError, match="directory"):
        compress(written.path)

    assert written.path.exists()
