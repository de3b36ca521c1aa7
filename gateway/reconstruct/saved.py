"""A reader's rivals as plain JSON values, so that a game goes on exactly after a restart.

The rivals share most of their past. Only what they do not share is kept, with a few plies more, so that plies can
still be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gateway.events import GameKind
from gateway.reconstruct.follow import Follow
from gateway.reconstruct.gap import Gap
from gateway.reconstruct.irregular import Suspect
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import node_of, position_of
from gateway.reconstruct.rivals import BACK, Rival
from gateway.record import position_from_fen


def saved(follow: Follow) -> dict[str, Any]:
    """The reader's state; `restored` undoes it."""
    suspect = follow.irregular.suspect
    rivals = [*follow.rivals.beam, follow.tip, *([suspect.rival] if suspect else [])]
    root = _shared(rivals)
    return {
        "root": position_of(root.node).fen(),
        "lingering": root.node.lingering,
        "depth": root.depth,
        "at": root.at,
        "last": follow.rivals.at,
        "running": follow.rivals.running,
        "pressed": dict(follow.rivals.last_press),
        "rivals": [_rival(rival, root) for rival in rivals],
        "suspect": suspect and [suspect.rival.node.ply_state(suspect.ply), suspect.since],
        "presses": follow.presses.state(),
        "gap": follow.gap and asdict(follow.gap),
        **{name: getattr(follow, name) for name in _PLAIN},
    }


_PLAIN = ("confirmed", "withhold_after", "deadline", "timed", "shorter_since", "doubted", "rewound", "disputed")
"""What of a reader is a plain value already."""


def restored(state: Mapping[str, Any], game: GameKind, board: Observed) -> Follow:
    """Make the reader again that gave `state`, over a board in the state it was in then."""
    node = node_of(position_from_fen(game, state["root"]))
    node.lingering = state["lingering"]
    follow = Follow(node, board, state["at"], state["depth"])
    known: dict[tuple[Any, ...], Rival] = {(): follow.tip}
    rivals = [_grown(follow.tip, board, line, known) for line in state["rivals"]]
    if state["suspect"] is not None:
        told, since = state["suspect"]
        rival = rivals.pop()
        follow.irregular.suspect = Suspect(rival, rival.node.ply_from(told), since)
    follow.tip = rivals.pop()
    follow.rivals.beam, follow.rivals.at = rivals, state["last"]
    follow.rivals.running, follow.rivals.last_press = state["running"], dict(state["pressed"])
    follow.rivals.firm = state["confirmed"]
    follow.presses.restore(state["presses"])
    follow.gap = state["gap"] and Gap(**state["gap"])
    for name in _PLAIN:
        setattr(follow, name, state[name])
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
        "flags": [rival.hidden, rival.unseen, rival.guessed],
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
    rival.cost = state["cost"]
    rival.hidden, rival.unseen, rival.guessed = state["flags"]
    rival.rate = rival.node.contradiction(board)
    return rival
