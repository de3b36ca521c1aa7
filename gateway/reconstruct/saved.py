"""A reader's rivals as plain JSON values, so that a game goes on exactly after a restart.

The rivals share most of their past. Only what they do not share is kept, with a few plies more, so that plies can
still be taken back. What they share is kept once, and is shared again afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.events import GameKind
from gateway.reconstruct.follow import FORGOTTEN, Follow
from gateway.reconstruct.gap import Gap
from gateway.reconstruct.irregular import Suspect
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import node_of, position_of
from gateway.reconstruct.rivals import BACK, Rival
from gateway.record import position_from_fen

KEPT = max(BACK, FORGOTTEN) + 1
"""Plies kept of what all rivals share: as far back as the reader looks."""

_FOLLOW = (
    "confirmed", "withhold_after", "resumed", "deadline", "timed", "shorter_since", "doubted", "rewound", "disputed",
)  # fmt: skip
"""What of the reader is a plain value already."""
_RIVALS = ("at", "running", "firm")
_RIVAL = ("legal", "source", "at", "cost", "rate", "hidden", "unseen", "guessed", "unproved", "back")


def saved(follow: Follow) -> dict[str, Any]:
    """The reader's state; `restored` undoes it."""
    suspect = follow.irregular.suspect
    named = [*follow.rivals.beam, follow.tip]
    named += [rival for rival in (suspect and suspect.rival, follow.turned) if rival is not None]
    root = _shared(named)
    steps = [root, *sorted(_steps(named, root), key=lambda rival: rival.depth)]
    place = {id(rival): number for number, rival in enumerate(steps)}
    return {
        "root": position_of(root.node).fen(),
        "lingering": root.node.lingering,
        "trail": root.node.trail,
        "depth": root.depth,
        "steps": [[*_ply_of(rival, place), *(getattr(rival, name) for name in _RIVAL)] for rival in steps],
        "beam": [place[id(rival)] for rival in follow.rivals.beam],
        "tip": place[id(follow.tip)],
        "turned": follow.turned and place[id(follow.turned)],
        "suspect": suspect
        and [place[id(suspect.rival)], suspect.rival.node.ply_state(suspect.ply), suspect.since, suspect.half],
        "gap": follow.gap and [follow.gap.since, follow.gap.lines, follow.gap.tried],
        "presses": follow.presses.state(),
        "pressed": dict(follow.rivals.last_press),
        **{name: getattr(follow, name) for name in _FOLLOW},
        "rivals": [getattr(follow.rivals, name) for name in _RIVALS],
    }


def restored(state: Mapping[str, Any], game: GameKind, board: Observed) -> Follow:
    """Make the reader again that gave `state`, over a board in the state it was in then."""
    node = node_of(position_from_fen(game, state["root"]))
    node.lingering, node.trail = state["lingering"], state["trail"] and tuple(state["trail"])
    follow = Follow(node, board, 0.0, state["depth"])
    steps = [follow.rivals.restart(node, 0.0, state["depth"])]
    for number, (parent, told, *values) in enumerate(state["steps"]):
        if parent is not None:
            steps.append(_grown(steps[parent], told, values))
        elif number:
            steps.append(Rival(node, None, None, True, "board", 0.0, state["depth"], 0.0))
        # A state of an earlier version may have fewer.
        for name, value in zip(_RIVAL, values, strict=False):
            setattr(steps[-1], name, value)
    follow.rivals.beam, follow.tip = [steps[place] for place in state["beam"]], steps[state["tip"]]
    if state.get("turned") is not None:
        follow.turned = steps[state["turned"]]
    if state["suspect"]:
        place, told, since, half = state["suspect"]
        follow.irregular.suspect = Suspect(steps[place], steps[place].node.ply_from(told), since, half)
    follow.gap = state["gap"] and Gap(*state["gap"])
    follow.presses.restore(state["presses"])
    follow.rivals.last_press = dict(state["pressed"])
    for name in _FOLLOW:
        # A state of an earlier version may not have it.
        setattr(follow, name, state.get(name, getattr(follow, name)))
    for name, value in zip(_RIVALS, state["rivals"], strict=True):
        setattr(follow.rivals, name, value)
    return follow


def _shared(rivals: list[Rival]) -> Rival:
    """The last rival from which all grew, and a few plies further back."""
    root = rivals[0].ancestor(min(rival.depth for rival in rivals))
    for rival in rivals[1:]:
        other = rival.ancestor(root.depth)
        while other is not root and root.parent is not None and other.parent is not None:
            root, other = root.parent, other.parent
    return root.ancestor(root.depth - KEPT)


def _steps(rivals: list[Rival], root: Rival) -> list[Rival]:
    """All rivals on the way from the root to these, each once; and its twins, in which all was taken back."""
    found = {id(step): step for rival in rivals for step in [rival.ancestor(root.depth), *rival.line(root.depth)]}
    return [step for step in found.values() if step is not root]


def _ply_of(rival: Rival, place: Mapping[int, int]) -> list[Any]:
    """Where a rival grew, and by which ply."""
    if rival.parent is None or id(rival.parent) not in place:
        return [None, None]
    return [place[id(rival.parent)], rival.parent.node.ply_state(rival.ply)]


def _grown(parent: Rival, told: Any, values: list[Any]) -> Rival:
    legal, source, at, *_ = values
    ply = parent.node.ply_from(told)
    return Rival(parent.node.after(ply, legal=legal), parent, ply, legal, source, at, parent.depth + 1, 0.0)
