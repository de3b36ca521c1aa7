"""After the board was away: which few legal plies lead from a position to what stands now."""

from __future__ import annotations

from typing import Any

from gateway.reconstruct.node import Node
from gateway.reconstruct.observed import Observed

LONGEST = 4
"""Plies that a gap may hide (catalogue, `record_gap`)."""
WORK = 4000
"""Positions looked at before giving up: about a quarter of a second on a desktop."""
SPARE = 2
"""Squares by which one of the plies may change more than two: castling four, en passant three."""


def paths(node: Node, board: Observed) -> list[list[Any]]:
    """All shortest lines of 1 to `LONGEST` plies that end in exactly what the board shows; [] if there are none.

    Only pieces that are out of place move: one that went and came back leaves nothing to find.
    """
    budget = [WORK]
    for length in range(1, LONGEST + 1):
        found = list(_search(node, board, length, budget))
        if found or budget[0] <= 0:
            return found
    return []


def _search(node: Node, board: Observed, left: int, budget: list[int]) -> list[list[Any]]:
    misplaced = node.difference(board)
    differing = misplaced.bit_count()
    if left == 0:
        return [] if differing else [[]]
    if differing > 2 * left + SPARE:
        return []
    found: list[list[Any]] = []
    for ply in node.plies(board, misplaced):
        budget[0] -= 1
        if budget[0] < 0:
            return found
        after = node.after(ply)
        found += [[ply, *rest] for rest in _search(after, board, left - 1, budget)]
    return found
