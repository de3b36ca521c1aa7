"""Families of scenes (`grids.py`): what is told of each is kept, so that no limit moves unnoticed."""

from __future__ import annotations

import pytest
from golden import Golden, told
from grids import GRIDS
from staged import Scene

from gateway.events import OTHER, Alert

GOLDEN = Golden("grids")


@pytest.mark.parametrize("scene", GRIDS, ids=[scene.name for scene in GRIDS])
def test_grid(scene: Scene) -> None:
    """Nothing else is said than last time."""
    started, events = scene.played()
    said = told((numbered.stamp - started, numbered.event) for numbered in events if isinstance(numbered.event, Alert))
    brief = [line[:6] for line in said]

    assert GOLDEN.expected(scene.name, brief) == brief


@pytest.mark.parametrize("name", [s.name for s in GRIDS if s.name.endswith(", nobody moves, standard, mirrored")])
def test_colours(name: str) -> None:
    """What is told of Black is what is told of White who does the same."""
    white = GOLDEN.known[name.removesuffix(", mirrored")]
    expected = [[*line[:3], OTHER.get(line[3]), *line[4:]] for line in white]

    assert expected == GOLDEN.known[name]


def test_names_differ() -> None:
    """Two scenes of one name would be held against the same words."""
    assert len(GRIDS) == len({scene.name for scene in GRIDS})
