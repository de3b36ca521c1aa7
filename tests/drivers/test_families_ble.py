"""Every Bluetooth family through the real driver, against a made BlueZ: what the board says arrives and is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from brokers import until

from gateway.drivers import Ble
from gateway.events import BoardDump, FieldUpdate, FrameRejected, LinkState, Observation
from gateway.link import Link
from gateway.ports import Keeper
from gateway.protocol import squareoff
from gateway.registry import DRIVERS
from gateway.simulate.games import opera
from gateway.simulate.wire_families import FAMILIES, CertaboBoard

ble = pytest.importorskip("gateway.drivers.ble", reason="no Bluetooth driver here")
bluez = pytest.importorskip("gateway.simulate.bluez", reason="no made BlueZ here")

ADDRESS = "AA:BB:CC:DD:EE:01"
CHANNELS = {"squareoff_neo": squareoff.NEO_OCCUPANCY}
"""Where a board speaks on another characteristic than its first."""
PLAYED = [driver for driver in FAMILIES if any(isinstance(match, Ble) for match in DRIVERS[driver].matches)]


@pytest.mark.parametrize("driver", PLAYED)
async def test_it_is_read(driver: str) -> None:
    """Found, connected, subscribed, asked; each position of a game arrives whole, the last one at last."""
    entry = DRIVERS[driver]
    match = next(match for match in entry.matches if isinstance(match, Ble))

    def sensed(pieces: Any) -> dict[str, str]:
        return dict(pieces) if entry.senses == "pieces" else dict.fromkeys(pieces, "?")

    device = bluez.peripheral(match, ADDRESS, match.name)
    board = FAMILIES[driver](sensed(opera().start))
    positions = [sensed(ply.after) for ply in opera().plies]
    observations = [(0.1 + number * 0.01, BoardDump(position)) for number, position in enumerate(positions)]
    simulated = bluez.BleBoard(device, board, CHANNELS.get(driver, match.notify[0]), observations)
    told: list[Observation] = []
    async with bluez.made(device):
        radio = ble.Radio()
        keeper = Keeper(
            "board",
            Link(entry, {None: ("1", "chess")}, options=board.options if isinstance(board, CertaboBoard) else {}),
            lambda: radio.targets(f"ble:{ADDRESS}", None, entry.matches),
            lambda target, hear, lost: radio.port(target, entry.matches, "board", hear, lost),
            lambda heard, at: told.extend(observation for _, observation in heard),
            lambda *_: None,
        )
        running = asyncio.create_task(keeper.run())
        await asyncio.wait_for(simulated.play(), 15.0)
        await until(lambda: positions[-1] == _standing(told))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await radio.close()

    assert LinkState("board", True) == told[0]
    assert not any(isinstance(one, FrameRejected) for one in told)


def _standing(told: list[Observation]) -> dict[str, str]:
    pieces: dict[str, str] = {}
    for one in told:
        if isinstance(one, BoardDump):
            pieces = dict(one.pieces)
        elif isinstance(one, FieldUpdate):
            pieces = {s: p for s, p in {**pieces, one.square: one.piece}.items() if p}
    return pieces
