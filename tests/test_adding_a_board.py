"""The contribution road is followed as it is written: its made-up board is added, and reads what it should."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

from gateway.drivers import SerialSettings, Usb
from gateway.protocol import chunks
from gateway.registry import _CHESS, Entry
from gateway.simulate.games import opera

GUIDE = (Path(__file__).parents[1] / "docs/adding-a-board.md").read_text()
PYTHON, LINE = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
[FRAMES] = re.findall(r"```text\n(.*?)```", GUIDE, re.S)


@pytest.fixture
def board() -> ModuleType:
    """The protocol file of step 2."""
    module = ModuleType("towerboard")
    exec(compile(PYTHON, "towerboard.py", "exec"), module.__dict__)
    return module


def test_the_road(board: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """File, line and table of frames fit together."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "protocol"))
    shorthand = importlib.import_module("shorthand")

    monkeypatch.setattr(shorthand, "FRAMES", tmp_path)
    (tmp_path / "towerboard.txt").write_text(FRAMES)
    names = {"Entry": Entry, "Usb": Usb, "SerialSettings": SerialSettings, "_CHESS": _CHESS, "towerboard": board}
    [entry] = eval(f"[{LINE.strip()}\n]", names)
    samples = list(shorthand.samples("towerboard"))

    assert 3 == len(samples)
    for sample in samples:
        for size in (1, 3, 100):
            decoder = sample.decoder(entry)
            heard = [told for chunk in chunks(sample.frames, size) for told in sample.read(decoder, chunk)]
            assert list(sample.meaning) == heard
    assert samples[0].frames == board.build_position(opera().start)


def test_its_dialogue(board: ModuleType) -> None:
    """It asks when the port is open."""
    dialogue = board.dialogue({None: "chess"}, {})
    dialogue.opened(0.0)

    assert [board.ASK_POSITION] == dialogue.tick(dialogue.deadline)
