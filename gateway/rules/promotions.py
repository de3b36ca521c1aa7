"""A pawn was exchanged for a piece that the board cannot read (FIDE 3.7.5.1).

Most likely it is a good queen with a bad chip: the record takes it for one, and the arbiter may look.
"""

from __future__ import annotations

from collections.abc import Iterator

from gateway.rules import Finding, Situation


def unread_promotion(seen: Situation) -> Iterator[Finding]:
    """Whether the clock was pressed on a promotion whose piece has no name."""
    played = seen.standing[-1] if seen.standing else None
    if played is None or "=" not in played.notation or seen.pieces.get(played.target) != "?":
        return
    press = seen.history.pressed_on(played)
    if press is not None:
        yield Finding(
            "promotion_piece_wrong",
            press.at,
            played.side,
            f"{played.ply} unread",
            facts={"square": played.target, "piece": "an unreadable piece"},
            evidence={"squares": [played.target], "reading": "unreadable piece"},
            severity="info",
        )
