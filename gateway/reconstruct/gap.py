"""After the board was away: which few legal plies lead from a position to what stands now."""

from __future__ import annotations

from typing import Any

from gateway.reconstruct.node import Node
from gateway.reconstruct.observed import Observed

LONGEST = 4
"""Plies that a gap may hide (catalogue, `record_gap`)."""
WORK = 4000
"""Positions looked at before giving up: about a quarter of a second on a desktop."""
REACH = 4
"""Squares that one ply changes at most (castling)."""


def paths(node: Node, board: Observed) -> list[list[Any]]:
    """All shortest lines of 1 to `LONGEST` plies that end in exactly what the board shows; [] if there are none."""
    budget = [WORK]
    for length in range(1, LONGEST + 1):
        found = list(_search(node, board, length, budget))
        if found or budget[0] <= 0:
            return found
    return []


def _search(node: Node, board: Observed, left: int, budget: list[int]) -> list[list[Any]]:
    differing = node.difference(board).bit_count()
    if left == 0:
        return [] if differing else [[]]
    if differing > 2 * left + REACH - 2:
        return []
    found: list[list[Any]] = []
    for ply in node.plies(board):
        budget[0] -= 1
        if budget[0] < 0:
            return found
        after = node.after(ply)
        found += [[ply, *rest] for rest in _search(after, board, left - 1, budget)]
    return found
