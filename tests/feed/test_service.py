"""The whole feed: a real broker in, files, HTTP and pushes out; killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from standin import Lichess
from test_relay import Hall, parsed

from gateway.cli import feed as command
from gateway.config import MqttConfig
from gateway.errors import ConfigError
from gateway.feed.service import Feed
from gateway.feed.settings import FeedConfig, load
from gateway.mqtt_client import end

FEED = """
import argparse, sys
from gateway.cli import feed
parser = argparse.ArgumentParser()
feed.add_arguments(parser)
sys.exit(feed.run(parser.parse_args()))
"""

CONFIG = """
[mqtt]
host = "127.0.0.1"
port = {port}

[feed]
dir = "{dir}/out"
state_dir = "{dir}/state"
delay = {delay}
listen = "127.0.0.1:0"
"""


class Process:
    """A feed that can be killed and started again."""

    def __init__(self, directory: Path, config: str) -> None:
        self.directory = directory
        (directory / "feed.toml").write_text(config)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self.directory / "log").open("ab")
        arguments = [sys.executable, "-c", FEED, "-c", str(self.directory / "feed.toml")]
        self._process = subprocess.Popen(arguments, stderr=log, stdout=log, env=os.environ | {"NO_COLOR": "1"})
        log.close()

    def end(self, number: int = signal.SIGTERM) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(10)

    @property
    def log(self) -> str:
        return (self.directory / "log").read_text()

    @property
    def url(self) -> str:
        said = [line for line in self.log.splitlines() if "the files are served" in line]
        return said[-1].rpartition("url=")[2].strip()


class Published(Hall):
    """Publishes what `Hall` tells to a broker."""

    def __init__(self, **names: str) -> None:
        self.out: list[tuple[str, bytes, bool]] = []
        published = self

        class Recorder:
            def hear(self, table: str, topic: str, data: bytes, now: float, retained: bool = False) -> list[bytes]:
                payload = json.loads(data)
                # The feed's delay goes by the real time.
                payload["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - START + published.began))
                published.out.append((f"hall/table/{table}/{topic}", json.dumps(payload).encode(), topic == "game"))
                return []

        self.began = time.time() - 3600
        super().__init__(Recorder(), **names)  # type: ignore[arg-type]

    async def send(self, port: int) -> None:
        async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5) as client:
            for topic, payload, retain in self.out:
                await client.publish(topic, payload, qos=1, retain=retain)
        self.out.clear()


START = 1777629600.0
"""`test_relay.T0`."""


async def until(condition: Any, timeout_s: float = 15) -> None:
    end = time.monotonic() + timeout_s
    while True:
        try:
            if condition():
                return
        except (OSError, IndexError):
            pass
        assert time.monotonic() < end, f"not in {timeout_s} s"
        await asyncio.sleep(0.05)


def fetched(url: str, tag: str | None = None) -> tuple[int, Any, bytes]:
    """Status, headers, body."""
    request = urllib.request.Request(url, headers={} if tag is None else {"If-None-Match": tag})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def moves(path: Path) -> list[str]:
    return [" ".join(node.san() for node in game.mainline()) for game in parsed(path.read_text())]


async def test_from_broker_to_files(tmp_path: Path, mosquitto: Any) -> None:
    """Files follow; after kill -9 it goes on with what it missed; a correction reaches file and HTTP."""
    feed = Process(tmp_path, CONFIG.format(port=mosquitto.port, dir=tmp_path, delay=0))
    feed.start()
    hall = Published(round="1", white="A", black="B")
    live = tmp_path / "out/live/games.pgn"
    try:
        await until(lambda: "connected" in feed.log)
        hall.topic(0, game_id=None)
        await hall.send(mosquitto.port)
        await until(lambda: [""] == moves(live))
        hall.start(1)
        hall.move(2, "e4")
        hall.topic(2)
        await hall.send(mosquitto.port)
        await until(lambda: ["e4"] == moves(live))
        feed.end(signal.SIGKILL)
        hall.move(3, "e5")
        hall.topic(3)
        await hall.send(mosquitto.port)
        feed.start()
        await until(lambda: ["e4 e5"] == moves(live))
        status, headers, body = fetched(feed.url + "live/games.pgn")
        assert (200, live.read_bytes()) == (status, body)
        assert ("application/x-chess-pgn; charset=utf-8", "no-cache") == (
            headers["Content-Type"],
            headers["Cache-Control"],
        )
        tag = headers["ETag"]
        assert 304 == fetched(feed.url + "live/games.pgn", tag)[0]
        hall.retract(4, 2, "command")
        hall.move(4, "c5")
        hall.topic(4)
        await hall.send(mosquitto.port)
        await until(lambda: ["e4 c5"] == moves(live))
        assert live.read_bytes() == fetched(feed.url + "live/games.pgn", tag)[2]
        for path in ("nothing", "../state/heard.jsonl", "%2e%2e/feed.toml", "/etc/passwd"):
            assert 404 == fetched(feed.url + path)[0]
        assert b'href="/games/round-1/game-12.pgn"' in fetched(feed.url)[2]
        assert 0 == feed.end()
    finally:
        feed.end(signal.SIGKILL)
    assert "missing" not in feed.log


async def test_what_waits_is_in_no_file(tmp_path: Path, mosquitto: Any) -> None:
    """With a delay of an hour and a minute nothing of an hour ago is seen, not by HTTP either; it is on disk."""
    feed = Process(tmp_path, CONFIG.format(port=mosquitto.port, dir=tmp_path, delay=60))
    feed.start()
    hall = Published(round="1")
    hall.began += 600
    try:
        await until(lambda: "connected" in feed.log)
        hall.start(1)
        hall.move(2, "e4")
        hall.topic(2)
        await hall.send(mosquitto.port)
        await until(lambda: b'"e4"' in (tmp_path / "state/heard.jsonl").read_bytes())
        await asyncio.sleep(1.5)
        assert b"game" not in fetched(feed.url)[2].lower().replace(b"<title>games", b"")
    finally:
        feed.end(signal.SIGKILL)
    assert [] == list((tmp_path / "out").iterdir())


async def test_push_to_lichess(tmp_path: Path, mosquitto: Any) -> None:
    """The round goes out, in full; the token is nowhere in the log."""
    lichess = Lichess()
    (tmp_path / "token").write_text(f"{lichess.token}\n")
    extra = f'[feed.lichess]\ntoken_file = "token"\nurl = "{lichess.url}"\n[feed.lichess.rounds]\n"1" = "AbCdEfGh"\n'
    feed = Process(tmp_path, CONFIG.format(port=mosquitto.port, dir=tmp_path, delay=0) + extra)
    feed.start()
    hall = Published(round="1", white="A", black="B")
    try:
        await until(lambda: "connected" in feed.log)
        hall.start(1)
        hall.move(2, "e4")
        await hall.send(mosquitto.port)
        await until(lambda: "g1" in lichess.games)
    finally:
        feed.end(signal.SIGKILL)
        lichess.stop()

    assert "e4" == lichess.games["g1"].end().san()
    assert lichess.token not in feed.log


# --- settings -----------------------------------------------------------------------------------------------------


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Each with its path, what was found and what is allowed; the delay has no default."""
    path = tmp_path / "feed.toml"
    path.write_text(
        '[mqtt]\nhots = "x"\n[feed]\nmoves = "all"\nstate_dir = "/srv/feed/state"\ndir = "/srv/feed"\n'
        '[feed.lichess]\nurl = "http://lichess.org"\n'
    )
    with pytest.raises(ConfigError) as found:
        load(path)

    assert [
        "mqtt.hots",
        "feed.moves",
        "feed.delay",
        "feed.state_dir",
        "feed.lichess.token_file",
        "feed.lichess.rounds",
        "feed.lichess.url",
    ] == [mistake.removeprefix(f"{path}: ").partition(":")[0] for mistake in found.value.mistakes]


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`feed --check` says what the file means, and starts nothing."""
    path = tmp_path / "feed.toml"
    path.write_text('[feed]\ndir = "/srv/feed"\ndelay = 15\n')
    parser = command.argparse.ArgumentParser()
    command.add_arguments(parser)

    assert 0 == command.run(parser.parse_args(["--check", "-c", str(path)]))
    assert [
        f"{path}: in order",
        "hears hall/table/ at localhost:1883",
        "tells confirmed moves 15 minutes late; files in /srv/feed, state in /var/lib/board-gateway-feed",
        "serves no HTTP",
    ] == capsys.readouterr().out.splitlines()


# --- keeping and giving up ----------------------------------------------------------------------------------------


class Bench:
    """A feed without a broker, on a clock that is set by hand."""

    def __init__(self, tmp_path: Path) -> None:
        self.at = START
        self.config = FeedConfig(MqttConfig(), tmp_path / "out", 0, state_dir=tmp_path / "state", keep_days=7)
        self.feed = Feed(self.config, lambda: self.at)

    def hear(self, table: str, topic: str, data: bytes, now: float, retained: bool = False) -> list[bytes]:
        self.feed._hear(f"hall/table/{table}/{topic}", data, retained)
        return []


async def test_old_rounds_are_given_up(tmp_path: Path) -> None:
    """After a week their files are still there, and nothing else; a round of which one game goes on is whole."""
    bench = Bench(tmp_path)
    for table, number, at in (("1", "1", 0), ("2", "2", 0), ("3", "2", 5 * 86400)):
        hall = Hall(bench, table=table, round=number)  # type: ignore[arg-type]
        hall.start(at, f"g{table}")
        hall.event(at, "game_ended", f"g{table}", result="1-0", reason="command", detail=None)
    bench.at += 8 * 86400
    await bench.feed._show()
    bench.feed._tend()
    await bench.feed._show()

    assert ["games/round-1", "games/round-2", "live"] == sorted(
        {path.parent.relative_to(bench.config.dir).as_posix() for path in bench.config.dir.rglob("*.pgn")}
    )
    again = Feed(bench.config, lambda: bench.at)
    assert ["g2", "g3"] == [game.id for game in again._relay.games()]


async def test_full_disk_stops_nothing(tmp_path: Path) -> None:
    """What cannot be written is tried again, and what cannot be kept is told once."""
    bench = Bench(tmp_path)
    hall = Hall(bench, round="1")  # type: ignore[arg-type]
    (bench.config.dir / "games").write_text("in the way")
    hall.start(0)
    await bench.feed._show()
    (bench.config.dir / "games").unlink()
    await bench.feed._show()

    assert (bench.config.dir / "games/round-1/game-12.pgn").exists()


async def test_a_cancellation_that_is_lost_does_not_keep_the_feed_alive() -> None:
    """As Python 3.11 may lose one while a connection is made; another ends it."""

    async def deaf_once() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(60)

    task = asyncio.create_task(deaf_once())
    await asyncio.sleep(0)
    await asyncio.wait_for(end(task), 5)

    assert task.cancelled()
