"""Every case of the rules reference, by the real road: its capture, replayed, against what it expects."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from judge import alert_faults, events_of, move_faults

RULES = Path(__file__).parents[2] / "shared" / "rules"
CASES: list[dict[str, Any]] = []
if (RULES / "cases.json").exists():
    CASES = json.loads((RULES / "cases.json").read_text(encoding="utf-8"))["cases"]


@pytest.fixture(scope="module")
def converter() -> ModuleType:
    """The reference's own converter from cases to captures."""
    spec = importlib.util.spec_from_file_location("cases_to_captures", RULES / "cases_to_captures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not CASES, reason="the rules reference is not beside the checkout")
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_case(case: dict[str, Any], converter: ModuleType) -> None:
    """What is expected is raised in time, nothing else of weight is, and the plies stand as they should."""
    started, events = events_of(converter.build(case))

    assert [] == [*alert_faults(case, started, events), *move_faults(case, events)]
