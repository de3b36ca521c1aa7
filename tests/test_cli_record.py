"""`record`: a board on any kind of port becomes a capture that `replay` plays without complaint."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gateway.events import ClockTimes
from gateway.simulate.games import opera
from gateway.simulate.habits import BLITZ, Habits
from gateway.simulate.pty import Terminal, serve
from gateway.simulate.wire import wire_board


def record(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "gateway", "record", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@contextmanager
def playing(driver: str = "dgt") -> Iterator[str]:
    """The path of a board on which a game is played, too fast for people."""
    terminal = Terminal(opera(), 1, BLITZ, Habits(), driver=driver, speed=40.0)
    thread = threading.Thread(target=serve, args=([terminal],))
    thread.start()
    try:
        yield terminal.path
    finally:
        thread.join(30.0)
        terminal.close()


@contextmanager
def terminal_server() -> Iterator[str]:
    """A generic board that is reached over TCP; it says one thing by itself."""
    board = wire_board("generic", "chess", dict(opera().start))
    clock = ClockTimes(180.0, 180.0, None)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve_one() -> None:
        connection, _ = listener.accept()
        # Who hangs up with something unread resets the connection.
        with connection, suppress(ConnectionError):
            while data := connection.recv(4096):
                connection.sendall(board.take(data) + board.sense(clock))

    thread = threading.Thread(target=serve_one)
    thread.start()
    yield f"socket://127.0.0.1:{listener.getsockname()[1]}"
    thread.join(10.0)
    listener.close()


def replay(path: Path) -> list[dict[str, object]]:
    """The events of a capture, which must be whole."""
    command = [sys.executable, "-m", "gateway", "replay", "--events", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert ("", os.EX_OK) == (done.stderr, done.returncode)

    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("driver", "name"), [("dgt", "it.capture.jsonl"), ("generic", "it.capture.jsonl.gz")])
def test_a_game_is_recorded_and_replayed(tmp_path: Path, driver: str, name: str) -> None:
    """Header, what was asked and said, the link's state, and the end; then the events of a game."""
    path = tmp_path / name
    with playing(driver) as port:
        done = record(
            "--driver", driver, "--port", port, "-o", path, "--seconds", 6, "--time-control", "180+2"
        )  # fmt: skip
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header, *lines = [json.loads(line) for line in raw.splitlines()]
    events = replay(path)

    assert os.EX_OK == done.returncode
    assert "0 refused" in done.stderr
    assert {"driver": driver, "port": port} == {key: header["table"]["board"][key] for key in ("driver", "port")}
    assert "180+2" == header["table"]["time_control"]
    assert {"t", "end"} == lines[-1].keys()
    assert [("board", "up")] == [(line["link"], line["state"]) for line in lines if "state" in line]
    assert {"rx", "tx"} == {line["dir"] for line in lines if "dir" in line}
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)
    assert {"link", "game_started", "move"} <= {event["kind"] for event in events}


def test_a_board_behind_a_terminal_server(tmp_path: Path) -> None:
    """`socket://HOST:PORT` is a port like any other."""
    path = tmp_path / "it.capture.jsonl"
    with terminal_server() as port:
        done = record("--driver", "generic", "--port", port, "-o", path, "--seconds", 2)

    assert os.EX_OK == done.returncode
    assert ["link", "clock"] == [event["kind"] for event in replay(path)]


def test_nothing_answers(tmp_path: Path) -> None:
    """A board that is not there is waited for; without any the exit code says so."""
    done = record("--driver", "dgt", "--port", tmp_path / "none", "-o", tmp_path / "it.capture.jsonl", "--seconds", 1)

    assert os.EX_UNAVAILABLE == done.returncode
    assert "is not there" in done.stderr
    assert "no device has answered" in done.stderr


def test_a_capture_is_not_written_over(tmp_path: Path) -> None:
    """It may be the evidence of yesterday's quarrel."""
    path = tmp_path / "it.capture.jsonl"
    path.write_text("evidence")
    done = record("--driver", "dgt", "--port", "/dev/null", "-o", path)

    assert (os.EX_USAGE, f"{path} is there already\n") == (done.returncode, done.stderr)
    assert "evidence" == path.read_text()


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    """They are those of the configuration, and so are the answers."""
    path = tmp_path / "it.capture.jsonl"
    done = record("--driver", "dgt", "--port", "/dev/null", "-o", path, "--time-control", "fast", "--game", "draughts")

    assert os.EX_CONFIG == done.returncode
    assert 'table.time_control: found "fast"' in done.stderr
    assert not path.exists()
