"""A hall's bad day in short, with real parts: a disk that is full, a broker that hangs, is slow or refuses."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from brokers import Mosquitto, subscribed, until
from hall import Board, Process
from test_daemon import events, prove


@pytest.fixture
def daemon(mosquitto: Mosquitto, tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path, mosquitto.port)
    yield process
    process.kill()


@pytest_asyncio.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path / "board-1")
    made.start()
    yield made
    await made.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes of its own, where we may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path) -> None:
    """Leave not a byte."""
    with contextlib.suppress(OSError), (disk / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


async def test_kill_9_on_a_full_disk_uses_no_number_twice(
    daemon: Process, mosquitto: Mosquitto, board: Board, small_disk: Path
) -> None:
    """What was told from memory is lost to the journal; its numbers are not, and the hall never hears two of one."""
    daemon.state.symlink_to(small_disk)
    daemon.configure({"1": board.name})
    board.playing = True
    async with subscribed(mosquitto.port) as subscriber:
        for _ in range(2):
            daemon.start()
            await until(lambda: board.asked, 30)
            await until(lambda n=len(board.played): len(board.played) > n + 3, 30)
            fill(small_disk)
            await until(lambda: "kept in memory" in daemon.log.read_text(), 30)
            await until(lambda n=len(board.played): len(board.played) > n + 5, 30)
            daemon.kill()
            daemon.log.unlink()
            (small_disk / "filling").unlink()
            await until(lambda: not board.asked)
        daemon.start()
        await until(lambda: board.asked, 30)
        await until(lambda n=len(board.played): len(board.played) > n + 3, 30)
        board.playing = False
        await asyncio.sleep(1.0)

    # Acknowledgements were not written either: what went before the full disk is told again.
    prove(events(subscriber), in_order=False, whole=False)

    assert "events that were told are not in the journal" in daemon.log.read_text()
