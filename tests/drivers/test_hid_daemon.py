"""A table whose board is named `hid:SERIAL`: served by the daemon, gone when it is pulled, back under another name."""

from __future__ import annotations

import asyncio
import os
import shutil
import tty
from pathlib import Path

import pytest
from brokers import Mosquitto, subscribed

from gateway.config import BoardConfig, Config, MqttConfig, TableConfig
from gateway.daemon import Daemon
from gateway.drivers import hid

SYSFS = "DRIVER=hid\nHID_ID=0003:00002D80:00008001\nHID_NAME=A board\nHID_UNIQ=A1\n"


class Plugged:
    """A terminal that stands for the device, and what sysfs says of it."""

    def __init__(self, root: Path, name: str) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.link, self.folder = root / "dev" / name, root / "sys" / name / "device"
        self.link.parent.mkdir(exist_ok=True)
        self.folder.mkdir(parents=True)
        self.link.symlink_to(os.ttyname(slave))
        os.close(slave)
        (self.folder / "uevent").write_text(SYSFS)
        os.set_blocking(self.master, False)

    def pull(self) -> None:
        os.close(self.master)
        self.link.unlink()
        shutil.rmtree(self.folder.parent)


async def test_a_hid_board_is_served(mosquitto: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of its link follows the cable, whatever name the kernel gives it."""
    monkeypatch.setattr(hid.targets, "__defaults__", (tmp_path / "sys", tmp_path / "dev"))
    table = TableConfig("1", "chess", BoardConfig("chessnut", "hid:A1"))
    mqtt = MqttConfig(host="127.0.0.1", port=mosquitto.port)
    board = Plugged(tmp_path, "hidraw3")
    report = bytes([0x01, 0x24]) + bytes(36)

    async def talk() -> None:
        while True:
            with os.fdopen(os.dup(board.master), "wb", buffering=0) as device:
                device.write(report)
            await asyncio.sleep(0.1)

    daemon = Daemon(Config("g", tmp_path / "state", 24, mqtt, (table,)))
    (tmp_path / "state").mkdir()
    async with subscribed(mosquitto.port, "hall/table/1/event/link") as subscriber:
        await daemon.start()
        talking = asyncio.create_task(talk())
        await subscriber.until(lambda s: [p["state"] for p in s.payloads("hall")][-1:] == ["up"])
        talking.cancel()
        board.pull()
        await subscriber.until(lambda s: [p["state"] for p in s.payloads("hall")][-1:] == ["down"])
        board = Plugged(tmp_path, "hidraw5")
        talking = asyncio.create_task(talk())
        await subscriber.until(lambda s: [p["state"] for p in s.payloads("hall")][-1:] == ["up"], 20)
        talking.cancel()
        await daemon.shut_down()
        board.pull()
