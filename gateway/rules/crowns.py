"""Crowns and the manner of capturing in draughts.

Serves FMJD A1 3.5 to 3.7, 4.9 to 4.15, 5.4.8, 5.4.10, 5.4.15, 5.4.16. A man that stops on the far row is a king by the
record from then on, crowned or not; a board that cannot see crowns never says anything of them. Both players may crown,
also later. How a capture is shown can be judged only by what was scanned: off unless asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.draughts import Position
from gateway.events import Move, Piece, Side, Square
from gateway.rules import Finding, Situation, Undone
from gateway.rules.history import Played
from gateway.rules.touches import turn_began

SWEPT_UP = 0.5
"""Seconds before the end of a capture in which men are taken up with the moving hand."""
SHOWN = 3
"""Men in a capture from which it must be shown square by square."""


def _position(seen: Situation) -> Position | None:
    """The record's position, if the game is draughts in play on a board that sees crowns."""
    game = seen.game
    if game is None or not seen.playing or not seen.board.known or not seen.link_up:
        return None
    return game.position if isinstance(game.position, Position) else None


def _reads(seen: Situation, square: Square) -> Piece | None:
    return seen.board.piece(seen.board.geometry.index[square])


def _pressed(seen: Situation, played: Played) -> float | None:
    """When the clock was first pressed on a ply."""
    press = seen.history.pressed_on(played)
    return None if press is None else press.at


class UncrownedMan:
    """A man that ended its move on the far row was not crowned by the press (A1 3.5, 5.4.15)."""

    kinds: ClassVar[tuple[str, ...]] = ("uncrowned_man",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether such a man still reads as a man."""
        position, game = _position(seen), seen.game
        if position is None or game is None:
            return
        plies = seen.standing
        for played in plies:
            square, man = played.target, "w" if played.side == "white" else "b"
            if _reads(seen, square) != man or position.piece_at(int(square)) != man.upper():
                continue
            if not _promoted(seen, played) or any(
                p.target == square or p.origin == square for p in plies if p.ply > played.ply
            ):
                continue
            pressed = _pressed(seen, played)
            if pressed is None:
                continue
            reply = next((p for p in plies if p.ply == played.ply + 1), None)
            answered = reply is not None and (
                _pressed(seen, reply) is not None or any(p.ply > reply.ply for p in plies)
            )
            yield Finding(
                "uncrowned_man",
                pressed,
                played.side,
                square,
                facts={"square": square},
                evidence={"squares": [square], "move": played.notation, "pressed_at": round(pressed, 3)},
                wait=0.0 if answered else None,
            )


def _promoted(seen: Situation, played: Played) -> bool:
    before = seen.record.position_at(played.ply - 1)
    after = seen.record.position_at(played.ply)
    assert isinstance(before, Position) and isinstance(after, Position)
    mover, now = before.piece_at(int(played.origin)), after.piece_at(int(played.target))
    return mover in ("w", "b") and now in ("W", "B")


class UncrownedKing:
    """A king by the record that reads as a man made a move, and it was completed (A1 5.4.16).

    Innocent: it was crowned in the same turn; its crown has fallen off, which is only noted.
    """

    kinds: ClassVar[tuple[str, ...]] = ("uncrowned_king_played",)

    def __init__(self) -> None:
        self._crowned: set[Square] = set()
        """Squares of kings that have been seen with their crown."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether the last move was such a one."""
        position, game = _position(seen), seen.game
        if position is None or game is None:
            self._crowned.clear()
            return
        for event in seen.happened:
            if isinstance(event, Move) and event.squares is not None and str(event.squares[0]) in self._crowned:
                self._crowned.remove(str(event.squares[0]))
                self._crowned.add(str(event.squares[-1]))
        names, masks, node = seen.board.geometry.names, seen.board.masks, seen.record.node
        self._crowned.intersection_update(names(node.masks[1] | node.masks[3]))
        self._crowned.update(names(node.masks[1] & masks[1] | node.masks[3] & masks[3]))
        plies = seen.standing
        for played in plies[-2:]:
            before = seen.record.position_at(played.ply - 1)
            assert isinstance(before, Position)
            mover = before.piece_at(int(played.origin))
            pressed = _pressed(seen, played)
            done = pressed if pressed is not None else next((p.at for p in plies if p.ply > played.ply), None)
            key = f"{played.ply}@{played.arrived:.3f}"
            if mover not in ("W", "B") or _reads(seen, played.target) != mover.lower() or done is None:
                continue
            if position.piece_at(int(played.target)) != mover:
                # It has been taken since, and another man stands there.
                continue
            if any(told.kind == "uncrowned_king_played" and told.key == key and not told.open for told in seen.told):
                continue
            yield Finding(
                "uncrowned_king_played",
                done,
                played.side,
                key,
                facts={"origin": played.origin, "square": played.target},
                evidence={"squares": [played.origin, played.target], "before": before.fen()},
                severity="info" if played.target in self._crowned else None,
                undone=Undone(played.ply - 1, before.fen(), by_reply=True),
            )

    def state(self) -> Any:
        """The squares of crowned kings."""
        return sorted(self._crowned)

    def restore(self, state: Any) -> None:
        """Undo `state`."""
        self._crowned = set(state)


class WronglyCrowned:
    """A man of the record reads as a king (A1 4.15: passing the far row in a capture does not crown).

    Innocent: two men stacked while captured ones are collected, so it is judged only once the clock was pressed.
    """

    kinds: ClassVar[tuple[str, ...]] = ("wrongly_crowned",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Which men have a crown."""
        position = _position(seen)
        if position is None:
            return
        node, masks = seen.record.node, seen.board.masks
        for square in seen.board.geometry.names(node.masks[0] & masks[1] | node.masks[2] & masks[3]):
            since = seen.board.changed_at[seen.board.geometry.index[square]]
            if seen.clock.connected and seen.history.last_press(since=since) is None:
                continue
            evidence = {"squares": [square]}
            owner: Side = "white" if node.white >> seen.board.geometry.index[square] & 1 else "black"
            yield Finding("wrongly_crowned", since, owner, square, facts={"square": square}, evidence=evidence)


class LiftedEarly:
    """A captured man was lifted before the capturing piece had reached the end of its path (A1 4.10, 5.4.8).

    Innocent: a man that takes one man (4.16); men taken up with the moving hand at the end.
    """

    kinds: ClassVar[tuple[str, ...]] = ("captures_lifted_early",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether a capture recognised in this step was cleared away too early."""
        game = seen.game
        if game is None or not seen.playing or game.kind != "draughts":
            return
        for played in seen.standing:
            captured = game.record.entries[played.ply - 1].move.captured or ()
            if played.at != seen.at or len(captured) < 2:
                continue
            touches = seen.history.touched_since(turn_began(seen, played))
            arrival = next((t.at for t in reversed(touches) if t.square == played.target and t.now is not None), None)
            if arrival is None:
                continue
            early = [t for t in touches if _taken(t.square, captured) and t.now is None and t.at < arrival - SWEPT_UP]
            if early:
                order = [[t.square, round(t.at, 3)] for t in touches]
                evidence = {"squares": [t.square for t in early], "touches": order}
                yield Finding("captures_lifted_early", arrival, played.side, str(played.ply), evidence=evidence)


def _taken(square: Square, captured: tuple[int, ...]) -> bool:
    return square.isdigit() and int(square) in captured


class NotShown:
    """A long capture was not shown square by square, or cleared away in no order (A1 4.9, 4.11).

    Innocent: a short touch between two scans, so this is off by default.
    """

    kinds: ClassVar[tuple[str, ...]] = ("capture_not_shown_clearly",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether the last capture, cleared away now, was shown."""
        game = seen.game
        plies = [] if game is None or not seen.playing or game.kind != "draughts" else seen.standing
        if game is None or not plies:
            return
        played, move = plies[-1], game.record.entries[plies[-1].ply - 1].move
        captured, path = move.captured or (), move.squares or ()
        if len(captured) < SHOWN or any(_reads(seen, str(square)) is not None for square in captured):
            return
        touches = seen.history.touched_since(turn_began(seen, played))
        lifts = {t.square: t.at for t in touches if t.now is None}
        times = [lifts.get(str(square), played.arrived) for square in captured]
        ordered = times in (sorted(times), sorted(times, reverse=True))
        down = next(
            (t.at for t in reversed(touches) if t.square == played.target and t.now is not None), played.arrived
        )
        landed = [t.square for t in touches if t.now is not None and t.at < down]
        before = seen.record.position_at(played.ply - 1)
        assert isinstance(before, Position)
        if before.piece_at(int(played.origin)) in ("W", "B"):
            # A king may land on any square behind the man: only how often can be asked.
            shown = len(landed) >= len(captured) - 1
        else:
            shown = all(str(square) in landed for square in path[1:-1])
        if shown and ordered:
            return
        evidence = {"squares": list(path), "landed": landed, "lifted": [round(at, 3) for at in times]}
        yield Finding(
            "capture_not_shown_clearly",
            max(times),
            played.side,
            str(played.ply),
            facts={"move": move.notation},
            evidence=evidence,
        )


RULES = (UncrownedMan, UncrownedKing, WronglyCrowned, LiftedEarly, NotShown)
