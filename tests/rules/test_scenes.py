"""Scenes of every kind, played by the real road: what is expected comes in time, and nothing else of weight."""

from __future__ import annotations

import pytest
import scenes_claims
import scenes_clocks
import scenes_edges
import scenes_more
import scenes_moves
import scenes_pieces
import scenes_ruled
import scenes_swept
import scenes_witnessed
from golden import Golden, told
from staged import Scene

from gateway.events import Alert

SCENES = [
    *scenes_moves.SCENES,
    *scenes_pieces.SCENES,
    *scenes_clocks.SCENES,
    *scenes_more.SCENES,
    *scenes_witnessed.SCENES,
    *scenes_claims.SCENES,
    *scenes_edges.SCENES,
    *scenes_ruled.SCENES,
    *scenes_swept.SCENES,
]

GOLDEN = Golden("scenes")


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_scene(scene: Scene) -> None:
    """No fault is missed, and nobody is accused without one."""
    started, events = scene.played()

    assert [] == scene.faults(started, events)
    said = told((numbered.stamp - started, numbered.event) for numbered in events if isinstance(numbered.event, Alert))

    assert GOLDEN.expected(scene.name, said) == said
