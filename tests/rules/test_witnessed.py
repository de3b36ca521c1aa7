"""Every kind of the catalogue is raised in a scene, and held back in another or by a row of innocent play."""

from __future__ import annotations

import pytest
from innocent import INNOCENT
from test_scenes import SCENES

from gateway.catalogue import CATALOGUE

RAISED = {expected.partition("@")[0] for scene in SCENES for expected in scene.expected.split()}
HELD_BACK = {kind for kind, _, _ in INNOCENT} | {kind for scene in SCENES for kind in scene.must_not.split()}


@pytest.mark.parametrize("kind", sorted(CATALOGUE))
def test_kind(kind: str) -> None:
    """Both are played; whether they go as they should, the scenes themselves judge."""
    assert kind in RAISED
    assert kind in HELD_BACK


def test_scenes_name_kinds() -> None:
    """A misspelt kind would be held back for ever."""
    assert set(CATALOGUE) == RAISED | HELD_BACK
