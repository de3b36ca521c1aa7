"""Scenes of every kind, played by the real road: what is expected comes in time, and nothing else of weight."""

from __future__ import annotations

import pytest
import scenes_claims
import scenes_clocks
import scenes_more
import scenes_moves
import scenes_pieces
import scenes_witnessed
from staged import Scene

SCENES = [
    *scenes_moves.SCENES,
    *scenes_pieces.SCENES,
    *scenes_clocks.SCENES,
    *scenes_more.SCENES,
    *scenes_witnessed.SCENES,
    *scenes_claims.SCENES,
]


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_scene(scene: Scene) -> None:
    """No fault is missed, and nobody is accused without one."""
    assert [] == scene.faults()
