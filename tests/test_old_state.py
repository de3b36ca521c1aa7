"""After an upgrade: a saved state that this version cannot read costs the game's past, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from pathlib import Path

from brokers import Mosquitto, subscribed, until
from hall import Board, Process

from gateway.store import Store


def spoil(path: Path) -> None:
    """Write a state as another version might have."""
    store = Store(path, check=False)
    saved = json.loads(store.states()["1"])
    for key in ("game", "board", "watch"):
        saved["station"]["table"][key] = {"of": "another version"}
    store.write([], {"1": json.dumps(saved).encode()}, {})
    store.close()


async def test_the_table_comes_up_and_numbers_go_on(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """It is said, `seq` has no gap and no reuse, and the next plies are followed."""
    daemon, board = Process(tmp_path, mosquitto.port), Board(tmp_path / "board", pause_s=0.1)
    board.start()
    daemon.configure({"1": board.name})
    board.playing = True
    try:
        async with subscribed(mosquitto.port, "hall/table/1/event/#") as subscriber:
            daemon.start()
            await subscriber.until(lambda s: len(s.payloads("hall/table/1/event/move")) > 3, 30)
            board.playing = False
            await asyncio.sleep(0.5)
            daemon.signal(signal.SIGTERM)
            assert 0 == daemon.wait(10)
            spoil(daemon.state / "journal.sqlite3")
            before = len(subscriber.messages)
            daemon.start()
            await until(lambda: board.asked, 30)
            board.playing = True
            await subscriber.until(lambda s: len(s.messages) > before + 3, 30)
        told = subscriber.payloads("hall/table/1/event/")
    finally:
        daemon.kill()
        with contextlib.suppress(OSError):
            await board.stop()

    assert list(range(1, len(told) + 1)) == sorted({event["seq"] for event in told})
    assert "of no use to this version" in daemon.log.read_text()
