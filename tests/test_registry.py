"""The registry: its entries hold together, and what is printed from it is fresh."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.drivers import Ble, Hid, Usb
from gateway.registry import DRIVERS, Entry, udev_rules

RULES = Path(__file__).parents[1] / "systemd/70-board-gateway.rules"
ENTRIES = pytest.mark.parametrize("entry", DRIVERS.values(), ids=DRIVERS)


@ENTRIES
def test_makes_what_it_promises(entry: Entry) -> None:
    """A decoder and a dialogue for every game, with the options' defaults."""
    for game in entry.games:
        assert entry.family.decoder({None: game}, {}).feed(b"", 0.0) == []
        dialogue = entry.family.dialogue({None: game}, {})
        assert dialogue is None or dialogue.deadline is None


@ENTRIES
def test_options(entry: Entry) -> None:
    """Defaults are allowed; a wrong type, too small a number and an unknown name are mistakes, all told at once."""
    assert [] == entry.mistakes({option.name: option.default for option in entry.options})
    wrong = {option.name: object() for option in entry.options}
    assert len(entry.options) + 1 == len(entry.mistakes({**wrong, "colour": "red"}))
    small = {option.name: type(option.default)(option.lowest - 1) for option in entry.options if option.lowest}
    assert len(small) == len(entry.mistakes(small))


def test_option_types() -> None:
    """A whole number will do for seconds, true will not."""
    assert [] == DRIVERS["dgt"].mistakes({"dump_s": 10})
    assert ["dump_s: True found, float wanted"] == DRIVERS["dgt"].mistakes({"dump_s": True})


def test_udev_rules_are_fresh() -> None:
    """The file is what the registry prints."""
    assert udev_rules() == RULES.read_text()


def test_udev_rules() -> None:
    """Only what tells a device apart becomes a rule."""
    dgt = DRIVERS["dgt"]
    matches = (Usb(0x1234, 0x00AB), Usb(0x0403, 0x6001, generic=True), Hid(0x2D80), Ble("x", "s", ("n",), "w"))
    rules = [line for line in udev_rules([replace(dgt, matches=matches)]).splitlines() if line.startswith("SUBSYSTEM")]

    assert 2 == len(rules)
    assert 'SUBSYSTEM=="tty", ATTRS{idVendor}=="1234", ATTRS{idProduct}=="00ab", GROUP="dialout"' in rules[0]
    assert 'SUBSYSTEM=="hidraw", ATTRS{idVendor}=="2d80", GROUP="dialout", MODE="0660"' in rules[1]


def _udev_can_verify() -> bool:
    """From systemd 254 on."""
    if not shutil.which("udevadm"):
        return False
    return subprocess.run(["udevadm", "verify", "--help"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _udev_can_verify(), reason="no udevadm verify here")
def test_udev_accepts_the_rules() -> None:
    """No syntax error."""
    subprocess.run(["udevadm", "verify", "--no-summary", str(RULES)], check=True)
