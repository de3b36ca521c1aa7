"""Files that are never half, and what is kept for a restart."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway.feed import files
from gateway.feed.files import BESIDE, Folder
from gateway.feed.kept import Kept

WRITER = """
import sys
from pathlib import Path
from gateway.feed.files import Folder
folder = Folder(Path(sys.argv[1]))
print("ready", flush=True)
number = 0
while True:
    number += 1
    folder.show({f"round/{name}.pgn": f"{number}\\n" * 20000 + "end\\n" for name in range(3)})
"""


def test_kill_in_the_middle_of_a_write(tmp_path: Path) -> None:
    """Whenever it is killed, every file is whole: one number all through, and its end."""
    chance = random.Random(1)
    for _ in range(12):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(chance.uniform(0.01, 0.15))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        for path in tmp_path.rglob("*.pgn"):
            lines = path.read_text().splitlines()
            assert (20001, "end", 2) == (len(lines), lines[-1], len(set(lines)))
    assert list(tmp_path.rglob("*.pgn"))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_death_at_each_step(tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file is there until the new one is, and a reader of ``*.pgn`` never finds a third."""
    folder = Folder(tmp_path)
    folder.show({"a.pgn": "old\n"})

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*((files.os, "fsync") if step == "fsync" else (Path, "replace")), die)
    with pytest.raises(KeyboardInterrupt):
        folder.show({"a.pgn": "new\n"})
    monkeypatch.undo()

    assert "old\n" == (tmp_path / "a.pgn").read_text()
    assert ["a.pgn"] == [path.name for path in tmp_path.glob("*.pgn")]
    assert (tmp_path / f"a.pgn{BESIDE}").exists()
    Folder(tmp_path).show({"a.pgn": "new\n"})
    assert ["a.pgn"] == [path.name for path in tmp_path.iterdir()]


def test_only_what_has_changed_is_written(tmp_path: Path) -> None:
    """And what is not shown any more is removed, unless it is let be."""
    folder = Folder(tmp_path)
    assert ["a.pgn", "b.pgn"] == folder.show({"a.pgn": "1", "b.pgn": "2"})
    assert ["b.pgn"] == folder.show({"a.pgn": "1", "b.pgn": "3"})
    assert ["b.pgn"] == folder.show({"a.pgn": "1"})
    folder.let(["a.pgn"])
    assert [] == folder.show({})

    assert ["a.pgn"] == [path.name for path in tmp_path.iterdir()]


def test_kept_lines(tmp_path: Path) -> None:
    """They come back in order; what is not wanted goes, and so does a torn end."""
    kept = Kept(tmp_path)
    kept.add([b"one", b"two"])
    kept.add([b"three"])
    kept.close()
    with kept.path.open("ab") as file:
        file.write(b"torn")
    again = Kept(tmp_path)
    assert [b"one", b"two", b"three", b"torn"] == again.lines()
    again.only(lambda line: line not in (b"two", b"torn"))
    again.add([b"four"])

    assert [b"one", b"three", b"four"] == again.lines()
    again.close()
