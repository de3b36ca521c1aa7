"""What an arbiter may ask of a table (contract, section 5): checked first, carried out whole or not at all.

A command is done once: a repeated id gets the same reply and nothing else happens.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from gateway.errors import UsageError
from gateway.events import Command, CommandDone, GameEnded, GameKind, Numbered, Reply
from gateway.game import Game
from gateway.reconstruct.phase import as_it_stands
from gateway.record import GamePosition, Record, notate, parse, position_from_fen
from gateway.table import Table
from gateway.time_control import TimeControl

REMEMBERED = 1000
"""Command ids whose replies are kept for each table."""
LONGEST_TEXT = 500
"""Characters that a name, a reason or a note may have."""

HEAD = ("command", "id", "by")
"""What every command has; the rest are its arguments."""

RESULTS = {
    "chess": ("1-0", "0-1", "1/2-1/2", "*"),
    "chess960": ("1-0", "0-1", "1/2-1/2", "*"),
    "draughts": ("2-0", "0-2", "1-1", "0-0", "*"),
}

Arguments = Mapping[str, Any]
Check = Callable[[str, Any], None]


def command_from(message: Any) -> Command:
    """Read a command's JSON object.

    A `command`, `id` or `by` that is no text is left among the arguments, where it will be refused.

    Raises:
        UsageError: it is no object.
    """
    if not isinstance(message, dict):
        raise UsageError("a command is a JSON object with `command`, `id` and `by`")
    head = {key: value for key in HEAD if isinstance(value := message.get(key), str)}
    arguments = {
        key: value for key, value in message.items() if key not in head and not (key in HEAD and value is None)
    }
    return Command(head.get("command"), head.get("id"), head.get("by"), arguments)


class Arbiter:
    """The commands of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.replies: OrderedDict[str, Reply] = OrderedDict()

    def command(self, command: Command, at: float) -> tuple[list[Numbered], Reply]:
        """Carry out a command at `at`; return what followed, and the answer."""
        known = self.replies.get(command.id) if command.id is not None else None
        if known is not None:
            return [], known
        replies: list[Reply] = []
        events = self.table.step(at, lambda: replies.append(self._carry_out(command)))
        if command.id is not None:
            self.replies[command.id] = replies[0]
            while len(self.replies) > REMEMBERED:
                self.replies.popitem(last=False)
        return events, replies[0]

    def _carry_out(self, command: Command) -> Reply:
        error = None
        try:
            _check_head(command.arguments)
            takes, action = _known(command.name)
            action(self.table, _checked(command.arguments, takes), command.by)
        except UsageError as refused:
            error = str(refused)
        self.table.emit(
            CommandDone(command.name, command.id, command.by, dict(command.arguments), error is None, error)
        )
        return Reply(command.id, error is None, error)

    def state(self) -> list[list[Any]]:
        """The remembered replies as plain JSON values."""
        return [[reply.id, reply.ok, reply.error] for reply in self.replies.values()]

    def restore(self, state: list[list[Any]]) -> None:
        """Undo `state`."""
        self.replies = OrderedDict((item[0], Reply(*item)) for item in state)


# --- arguments --------------------------------------------------------------------------------------------------


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise UsageError(f"{name}: found {value!r:.60}; allowed is a text of at most {LONGEST_TEXT} characters")


def _text_or_null(name: str, value: Any) -> None:
    if value is not None:
        _text(name, value)


def _count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"{name}: found {value!r:.60}; allowed is a whole number, 0 or more")


def _one_of(*allowed: str) -> Check:
    def check(name: str, value: Any) -> None:
        if value not in allowed:
            raise UsageError(f"{name}: found {value!r:.60}; allowed is {', '.join(allowed)}")

    return check


def _moves(name: str, value: Any) -> None:
    if not isinstance(value, list) or len(value) > 2000 or not all(isinstance(move, str) for move in value):
        raise UsageError(f"{name}: found {value!r:.60}; allowed is a list of moves in SAN, UCI or PDN")


def _counts(*allowed: str) -> Check:
    """An object of whole numbers, of any names or of these."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict) or (allowed and not set(value) <= set(allowed)):
            names = f" named {' and '.join(allowed)}" if allowed else ""
            raise UsageError(f"{name}: found {value!r:.60}; allowed is an object of whole numbers{names}")
        for key, count in value.items():
            _count(f"{name}.{key}", count)

    return check


def _control(name: str, value: Any) -> None:
    _text(name, value)
    try:
        TimeControl.parse(value)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error


def _moment(name: str, value: Any) -> None:
    if value is not None:
        moment(name, value)


def moment(name: str, value: Any) -> float:
    """An RFC 3339 time as seconds since 1970.

    Raises:
        UsageError: it is none.
    """
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}: found {value!r:.60}; allowed is a time such as 2026-05-01T10:00:00Z") from error
    if found.tzinfo is None:
        raise UsageError(f"{name}: found {value!r:.60}; allowed is a time with its zone, such as 2026-05-01T10:00:00Z")
    return found.timestamp()


def _check_head(arguments: Arguments) -> None:
    for key in HEAD:
        if key in arguments:
            raise UsageError(f"{key}: found {arguments[key]!r:.60}; allowed is a text")


def _checked(arguments: Arguments, takes: Mapping[str, Check]) -> Arguments:
    """The arguments that were given; null is as good as left out where it says nothing else."""
    given = {}
    for name, value in arguments.items():
        check = takes.get(name)
        if check is None:
            raise UsageError(f"{name} is no argument of this command; allowed: {', '.join(takes) or 'none'}")
        if value is not None or check in NULLABLE:
            check(name, value)
            given[name] = value
    return given


NULLABLE = (_text_or_null, _moment)
"""Where null says that nothing is known, or nothing any more."""


def _need(arguments: Arguments, name: str) -> Any:
    if name not in arguments:
        raise UsageError(f"{name} is missing")
    return arguments[name]


# --- what they do -----------------------------------------------------------------------------------------------

Action = Callable[[Table, Arguments, str | None], None]

STATES = {"setup": "not begun", "play": "in play", "suspended": "suspended", "ended": "over"}


def _game(table: Table, *phases: str) -> Game:
    if table.game is None:
        raise UsageError("there is no game at this table")
    if phases and table.game.phase not in phases:
        needed = " or ".join(STATES[phase] for phase in phases)
        raise UsageError(f"the game is {STATES[table.game.phase]}; this needs one that is {needed}")
    return table.game


def _position(kind: GameKind, name: str, fen: str) -> GamePosition:
    try:
        position = position_from_fen(kind, fen)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    fault = position.fault()
    if fault:
        raise UsageError(f"{name}: {fault}")
    return position


def _line(position: GamePosition, moves: list[str]) -> list[str]:
    """Check that `moves` can be played from `position`, before anything changes."""
    for number, text in enumerate(moves, 1):
        try:
            position = notate(position, parse(position, text)).after
        except ValueError as error:
            raise UsageError(f"moves: number {number}: {error}") from error
    return moves


def _assign(table: Table, arguments: Arguments, by: str | None) -> None:
    kind = arguments.get("game", table.game_kind)
    regulations = arguments.get("regulations", table.regulations)
    if (
        "game" in arguments
        and "regulations" not in arguments
        and (kind == "draughts") != (table.game_kind == "draughts")
    ):
        regulations = "fmjd-standard" if kind == "draughts" else "fide-standard"
    if regulations.startswith("fmjd") != (kind == "draughts"):
        raise UsageError(f"regulations: found {regulations} for {kind}; fide goes with chess, fmjd with draughts")
    if kind != table.game_kind and table.game and table.game.phase in ("play", "suspended"):
        raise UsageError("game: cannot be changed while a game is in play")
    changed = dict(arguments)
    if arguments.get("start_fen") is not None:
        _position(kind, "start_fen", arguments["start_fen"])
    if arguments.get("scheduled_start") is not None:
        changed["scheduled_start"] = moment("scheduled_start", arguments["scheduled_start"])
    table.assign({**changed, "game": kind, "regulations": regulations})


def _start_game(table: Table, arguments: Arguments, by: str | None) -> None:
    moves = arguments.get("moves", [])
    start_fen = arguments.get("start_fen")
    if start_fen is not None:
        position = _position(table.game_kind, "start_fen", start_fen)
    elif moves or not table.board.known:
        position = Record(table.game_kind, table.assigned.start_fen).start
    else:
        try:
            position = as_it_stands(table.game_kind, table.board.pieces())
        except ValueError as error:
            raise UsageError(f"the board as it stands is no position: {error}; give start_fen") from error
        fault = position.fault()
        if fault:
            raise UsageError(f"the board as it stands is no position: {fault} Give start_fen.")
    _line(position, moves)
    game = table.new_game(
        position.fen(), moves_completed=arguments.get("moves_completed"), counted=arguments.get("record")
    )
    table.start_by_command(game, moves)


def _set_position(table: Table, arguments: Arguments, by: str | None) -> None:
    game = _game(table, "play", "suspended")
    position = _position(game.kind, "fen", _need(arguments, "fen"))
    table.emit_all(game.set_position(position, table.at))


def _correct(table: Table, arguments: Arguments, by: str | None) -> None:
    game = _game(table)
    from_ply, moves = _need(arguments, "from_ply"), _need(arguments, "moves")
    last = game.record.ply
    if not 1 <= from_ply <= last + 1:
        raise UsageError(f"from_ply: found {from_ply}; allowed is 1 to {last + 1}")
    _line(game.record.position_at(from_ply - 1), moves)
    if from_ply <= last:
        table.emit_all(game.retract(from_ply, "command"))
    table.emit_all(game.told(moves, table.at))
    table.end_again()


def _end_game(table: Table, arguments: Arguments, by: str | None) -> None:
    game = _game(table)
    result = _need(arguments, "result")
    if result not in RESULTS[game.kind]:
        raise UsageError(f"result: found {result!r:.60}; allowed is {', '.join(RESULTS[game.kind])}")
    table.end(GameEnded(result, "command", arguments.get("reason")))


def _acknowledge(table: Table, arguments: Arguments, by: str | None) -> None:
    if "alert_id" not in arguments and "irregularity" not in arguments:
        raise UsageError("alert_id or irregularity is missing")
    table.emit_all(
        table.watch.acknowledge(
            arguments.get("alert_id"),
            arguments.get("irregularity"),
            ruling=arguments.get("ruling"),
            note=arguments.get("note"),
            by=by,
            at=table.at,
        )
    )


def _attend(table: Table, arguments: Arguments, by: str | None) -> None:
    table.emit_all(table.watch.attend(_need(arguments, "alert_id"), by=by, at=table.at))


def _suspend(table: Table, arguments: Arguments, by: str | None) -> None:
    game = _game(table, "play", "suspended")
    reason, sealed_move = arguments.get("reason", "interruption"), arguments.get("sealed_move")
    if game.phase == "suspended" and game.suspension == reason and sealed_move is None:
        raise UsageError("the game is suspended already")
    game.suspend(reason, sealed_move)


def _resume(table: Table, arguments: Arguments, by: str | None) -> None:
    game = _game(table, "suspended")
    table.emit_all(game.resume(arguments.get("sealed_move"), table.at))


def _set_orientation(table: Table, arguments: Arguments, by: str | None) -> None:
    table.set_orientation(_need(arguments, "value"))


def _set_white_side(table: Table, arguments: Arguments, by: str | None) -> None:
    table.clock.set_white_side(_need(arguments, "value"), table.orientation)


def _resend(table: Table, arguments: Arguments, by: str | None) -> None:
    """The journal answers; here only whether the question makes sense."""
    _need(arguments, "stream")
    first, last = _need(arguments, "from_seq"), _need(arguments, "to_seq")
    if not 1 <= first <= last:
        raise UsageError(f"from_seq, to_seq: found {first} and {last}; allowed is 1 <= from_seq <= to_seq")


_SUSPENSION: Mapping[str, Check] = {"reason": _one_of("adjournment", "interruption"), "sealed_move": _text}

COMMANDS: Mapping[str, tuple[Mapping[str, Check], Action]] = {
    "assign": (
        {
            "white": _text_or_null,
            "black": _text_or_null,
            "round": _text_or_null,
            "event": _text_or_null,
            "game": _one_of("chess", "chess960", "draughts"),
            "time_control": _control,
            "regulations": _one_of(
                "fide-standard", "fide-rapid", "fide-blitz", "fmjd-standard", "fmjd-rapid", "fmjd-blitz"
            ),
            "start_fen": _text_or_null,
            "scheduled_start": _moment,
            "default_time": _count,
            "seats": _one_of("normal", "rotated"),
            "sealed_move": _text_or_null,
        },
        _assign,
    ),
    "start_game": (
        {
            "start_fen": _text,
            "moves": _moves,
            "moves_completed": _counts("white", "black"),
            "record": _counts(),
        },
        _start_game,
    ),
    "set_position": ({"fen": _text}, _set_position),
    "correct": ({"from_ply": _count, "moves": _moves}, _correct),
    "end_game": ({"result": _text, "reason": _text_or_null}, _end_game),
    "acknowledge": (
        {
            "alert_id": _text,
            "irregularity": _text,
            "ruling": _one_of("upheld", "dismissed"),
            "note": _text_or_null,
        },
        _acknowledge,
    ),
    "attend": ({"alert_id": _text}, _attend),
    "suspend": (_SUSPENSION, _suspend),
    "resume": (_SUSPENSION, _resume),
    "set_orientation": ({"value": _one_of("auto", "normal", "rotated")}, _set_orientation),
    "set_white_side": ({"value": _one_of("auto", "left", "right")}, _set_white_side),
    "resend": (
        {"stream": _one_of("public", "arbiter"), "from_seq": _count, "to_seq": _count},
        _resend,
    ),
}
"""Every command: its arguments with their checks, and what it does."""


def _known(name: str | None) -> tuple[Mapping[str, Check], Action]:
    if name is None or name not in COMMANDS:
        raise UsageError(f"command: found {name!r:.60}; allowed is {', '.join(COMMANDS)}")
    return COMMANDS[name]
