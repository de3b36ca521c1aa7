"""A reader's rivals as plain JSON values, so that a game goes on exactly after a restart.

The rivals share most of their past. Only what they do not share is kept, with a few plies more, so that plies can
still be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.events import GameKind, Readings
from gateway.reconstruct.follow import Follow, Press
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import node_of, position_of
from gateway.reconstruct.rivals import BACK, Rival
from gateway.record import position_from_fen


def saved(follow: Follow) -> dict[str, Any]:
    """The reader's state; `restored` undoes it."""
    rivals = [*follow.rivals.beam, follow.tip]
    root = _shared(rivals)
    return {
        "root": position_of(root.node).fen(),
        "lingering": root.node.lingering,
        "depth": root.depth,
        "at": root.at,
        "last": follow.rivals.at,
        "rivals": [_rival(rival, root) for rival in rivals],
        "confirmed": follow.confirmed,
        "withhold_after": follow.withhold_after,
        "timed": follow.timed,
        "presses": [[p.side, p.at, p.readings and [p.readings.white, p.readings.black]] for p in follow.presses],
        "shorter_since": follow.shorter_since,
        "last_press": follow.last_press,
        "disputed": follow.disputed,
    }


def restored(state: Mapping[str, Any], game: GameKind, board: Observed) -> Follow:
    """Make the reader again that gave `state`, over a board in the state it was in then."""
    node = node_of(position_from_fen(game, state["root"]))
    node.lingering = state["lingering"]
    follow = Follow(node, board, state["at"], state["depth"])
    root = follow.rivals.restart(node, state["at"], state["depth"])
    known: dict[tuple[Any, ...], Rival] = {(): root}
    rivals = [_grown(root, board, line, known) for line in state["rivals"]]
    follow.rivals.beam, follow.tip = rivals[:-1], rivals[-1]
    follow.rivals.at = state["last"]
    follow.confirmed = state["confirmed"]
    follow.withhold_after = state["withhold_after"]
    follow.timed = state["timed"]
    follow.presses = [Press(side, at, readings and Readings(*readings)) for side, at, readings in state["presses"]]
    follow.shorter_since = state["shorter_since"]
    follow.last_press = state["last_press"]
    follow.disputed = state["disputed"]
    return follow


def _shared(rivals: list[Rival]) -> Rival:
    """The last rival from which all grew, and a few plies further back."""
    root = rivals[0].ancestor(min(rival.depth for rival in rivals))
    for rival in rivals[1:]:
        other = rival.ancestor(root.depth)
        while other is not root and root.parent is not None and other.parent is not None:
            root, other = root.parent, other.parent
    return root.ancestor(root.depth - BACK)


def _rival(rival: Rival, root: Rival) -> dict[str, Any]:
    line = rival.line(root.depth)
    return {
        "cost": rival.cost,
        "hidden": rival.hidden,
        "plies": [
            [step.parent.node.ply_state(step.ply), step.legal, step.source, step.at] for step in line if step.parent
        ],
    }


def _grown(root: Rival, board: Observed, state: Mapping[str, Any], known: dict[tuple[Any, ...], Rival]) -> Rival:
    """The rival of a saved line; what lines share is made once, so that they share it again."""
    rival, path = root, ()  # type: tuple[Rival, tuple[Any, ...]]
    for told, legal, source, at in state["plies"]:
        path = (*path, (str(told), at))
        if path not in known:
            ply = rival.node.ply_from(told)
            node = rival.node.after(ply, legal=legal)
            known[path] = Rival(node, rival, ply, legal, source, at, rival.depth + 1, 0.0)
        rival = known[path]
    rival.cost, rival.hidden = state["cost"], state["hidden"]
    rival.rate = rival.node.contradiction(board)
    return rival
