"""What every test may ask for, and how properties are tried."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from brokers import Mosquitto
from hall import Board, Process
from hypothesis import HealthCheck, settings

# How fast a shared machine is today says nothing of the code: no test is timed, properties least of all.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    """A running broker without access list."""
    directory = tmp_path / "broker"
    directory.mkdir()
    broker = Mosquitto(directory)
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def daemon(mosquitto: Mosquitto, tmp_path: Path) -> Iterator[Process]:
    """A gateway of its own process, not yet started."""
    process = Process(tmp_path, mosquitto.port)
    yield process
    process.kill()


@pytest_asyncio.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    """A board on a pseudo-terminal."""
    made = Board(tmp_path / "board-1")
    made.start()
    yield made
    await made.stop()
