"""Golden captures: each file under fixtures/ replays to the events beside it, byte for byte."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from sitting import standing

FIXTURES = Path(__file__).parent / "fixtures"


def _renew() -> ModuleType:
    """The script that makes the fixtures."""
    spec = importlib.util.spec_from_file_location("renew", FIXTURES / "renew.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RENEW = _renew()
CAPTURES = RENEW.all_captures()
NOTES = (FIXTURES / "README.md").read_text()


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name.partition('.')[0]}"


@pytest.mark.parametrize("path", CAPTURES, ids=_name)
def test_a_capture_replays_to_the_events_beside_it(path: Path) -> None:
    """Nothing of the past is told in another way than it was; renew.py makes the events anew where it should be."""
    assert RENEW.expected_beside(path).read_bytes() == RENEW.events_of(path.read_bytes())


@pytest.mark.parametrize("path", CAPTURES, ids=_name)
def test_the_notes_say_what_the_hands_did(path: Path) -> None:
    """The moves that stand in the expected events are those of the notes, which no program wrote."""
    events = [json.loads(line) for line in RENEW.expected_beside(path).read_text().splitlines()]
    section = NOTES.split(f"### {_name(path)}\n")[1].split("\n### ")[0]
    moves = section.split("```text\n")[1].split("```")[0]

    assert moves.split() == [move["notation"] for move in standing(events)]


@pytest.mark.parametrize("name", RENEW.CAPTURES)
def test_a_simulated_capture_is_the_one_that_the_script_makes(name: str) -> None:
    """Bytes of a fixed seed; a change of the simulator shows here."""
    assert RENEW.renewed_capture(name) == (FIXTURES / f"{name}.capture.jsonl").read_bytes()


def test_there_are_some() -> None:
    """Both games, Chess960, and one in which much goes wrong."""
    assert {"dgt/chess-blitz", "dgt/chess960-blitz", "dgt/draughts-blitz", "dgt/chess-irregular"} <= {
        _name(path) for path in CAPTURES
    }
