"""Every case of the rules reference, by the real road: its capture, replayed, against what it expects."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from golden import Golden, told
from judge import alert_faults, events_of, move_faults

from gateway.events import Alert

RULES = Path(__file__).parents[2] / "shared" / "rules"
CASES: list[dict[str, Any]] = []
if (RULES / "cases.json").exists():
    CASES = json.loads((RULES / "cases.json").read_text(encoding="utf-8"))["cases"]


GOLDEN = Golden("cases")
UNSAYABLE = {
    "chess-same-diagram-other-castling-rights-innocent": "its capture starts a game whose moves do not lead there",
    "draughts-threefold": "its capture starts a game whose moves do not lead there",
    "draughts-colours-reversed": "its capture puts the board the normal way round, and says that it is",
}
"""Cases whose captures do not say what the case says; docs/rules.md has the argument, by article."""


@pytest.fixture(scope="module")
def converter() -> ModuleType:
    """The reference's own converter from cases to captures."""
    spec = importlib.util.spec_from_file_location("cases_to_captures", RULES / "cases_to_captures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not CASES, reason="the rules reference is not beside the checkout")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case["id"],
            marks=pytest.mark.skip(reason=UNSAYABLE[case["id"]]) if case["id"] in UNSAYABLE else (),
        )
        for case in CASES
    ],
)
def test_case(case: dict[str, Any], converter: ModuleType) -> None:
    """What is expected is raised in time, nothing else of weight is, and the plies stand as they should."""
    started, events = events_of(converter.build(case))

    assert [] == [*alert_faults(case, started, events), *move_faults(case, events)]
    said = told((n.stamp - started, n.event) for n in events if isinstance(n.event, Alert))

    assert GOLDEN.expected(case["id"], said) == said
