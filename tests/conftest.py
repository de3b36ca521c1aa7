"""What every test may ask for, and how properties are tried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import Mosquitto
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
