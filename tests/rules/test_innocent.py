"""Innocent play raises nothing of the kind whose guard it is."""

from __future__ import annotations

import pytest
from golden import Golden, told
from innocent import INNOCENT
from script import Script

from gateway.catalogue import CATALOGUE
from gateway.events import Alert

GOLDEN = Golden("innocent")


@pytest.mark.parametrize(("kind", "guard", "script"), INNOCENT, ids=[f"{kind}: {guard}" for kind, guard, _ in INNOCENT])
def test_guard(kind: str, guard: str, script: Script) -> None:
    """The kind is not raised."""
    assert kind in CATALOGUE

    assert [] == [(at, alert.message) for at, alert in script.alerts() if alert.irregularity == kind]
    said = told((at, numbered.event) for at, numbered in script.out if isinstance(numbered.event, Alert))

    assert GOLDEN.expected(f"{kind}: {guard}", said) == said
