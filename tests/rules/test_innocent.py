"""Innocent play raises nothing of the kind whose guard it is."""

from __future__ import annotations

import pytest
from innocent import INNOCENT
from script import Script

from gateway.catalogue import CATALOGUE


@pytest.mark.parametrize(("kind", "guard", "script"), INNOCENT, ids=[f"{kind}: {guard}" for kind, guard, _ in INNOCENT])
def test_guard(kind: str, guard: str, script: Script) -> None:
    """The kind is not raised."""
    assert kind in CATALOGUE

    assert [] == [(at, alert.message) for at, alert in script.alerts() if alert.irregularity == kind]
