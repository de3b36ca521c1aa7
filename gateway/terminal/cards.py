"""One table as a card: players and clocks around a small board, the moves below it, or beside it where it is wide."""

from __future__ import annotations

from gateway.terminal.squares import rows
from gateway.terminal.text import Line, Look, beside
from gateway.terminal.view import Alert, Hall, Move, Table
from gateway.terminal.words import ENDED, Weight, game_text, move_text, reading

CARD_WIDTH = 19
"""Ten squares of a draughts board, the last one narrower: four such cards fit into 80 columns."""
CARD_HEIGHT = 15
ROWS = 10
RECENT = 40
"""Plies that are looked at for showing the latest."""
BESIDE = 38
"""A card so wide has its moves beside the board."""


def card(hall: Hall, table: Table, width: int, look: Look) -> list[Line]:
    """The card, `CARD_HEIGHT` lines."""
    moves = table.game.moves if table.game else []
    board = _board(table, look)
    below = CARD_HEIGHT - 3 - len(board)
    if width >= BESIDE:
        board_width = max(line.width for line in board)
        turns = [Line().add(text, "dim") for text in _turns(moves[:-1])[-len(board) :]]
        turns = [Line()] * (len(board) - len(turns)) + turns
        board = [beside((line.fit(board_width), turn), "  ") for line, turn in zip(board, turns, strict=True)]
        past: list[Line] = []
    else:
        past = _past(moves[:-1], width, below - 2)
    lines = [_title(hall, table, width, look), _player(hall, table, "black", width, look)]
    lines += [*board, _player(hall, table, "white", width, look), *past, _last(table, width)]
    lines += [Line()] * (CARD_HEIGHT - 1 - len(lines))
    lines = [line.fit(width) for line in lines]
    return [*lines, _state(hall, table, look).fit(width, look.signs.cut)]


def worst(table: Table) -> Alert | None:
    """The gravest alert that is open, of these the oldest."""
    alerts = table.alerts.alerts if table.alerts else []
    return min(alerts, key=lambda alert: (alert.severity != "alert", alert.since), default=None)


def sign(hall: Hall, table: Table, look: Look) -> tuple[str, Weight]:
    """The mark that a table bears, and its style."""
    alert = worst(table)
    if hall.missing(table):
        return look.signs.gone, "link"
    if alert is not None:
        return (look.signs.alert, "alert") if alert.severity == "alert" else (look.signs.notice, "notice")
    return "", ""


def face(hall: Hall, table: Table, side: str, look: Look) -> Line:
    """One side's clock: a mark if it runs, grey if it should and does not."""
    clock = table.clock
    if clock is None:
        return Line().add("no clock", "dim")
    seconds = clock.white if side == "white" else clock.black
    runs = clock.running == side
    if side in clock.flags:
        return Line().add(f" {look.signs.alert}{reading(seconds)} ", "alert")
    if hall.missing(table) or (runs and hall.stale(table)):
        return Line().add(f"{look.signs.running if runs else ''}{reading(seconds)}", "dim")
    return Line().add(f"{look.signs.running if runs else ''}{reading(seconds)}", "strong" if runs else "")


# --- parts -------------------------------------------------------------------------------------------------------


def _title(hall: Hall, table: Table, width: int, look: Look) -> Line:
    game = table.game
    mark, style = sign(hall, table, look)
    word = {"alert": " come ", "notice": " look", "link": " gone"}.get(style, "")
    right = Line().add(f"{' ' if style == 'alert' else ''}{mark}{word}", style)
    text = game_text(game.game, game.regulations, game.time_control) if game else ""
    if len(table.id) + 1 + len(text) + 1 + right.width > width:
        text = text.partition(" ")[0]
    return Line().add(table.id, "strong").add(f" {text}", "dim").apart(right, width)


def _player(hall: Hall, table: Table, side: str, width: int, look: Look) -> Line:
    game = table.game
    name = (game.white if side == "white" else game.black) if game else None
    clock = face(hall, table, side, look)
    runs = table.clock is not None and table.clock.running == side
    left = Line().add(name or side.capitalize(), "strong" if runs else "")
    return left.apart(clock, width, look.signs.cut)


def _board(table: Table, look: Look) -> list[Line]:
    """What stands on the board; where nobody may know that, the game."""
    draughts = table.game is not None and table.game.game == "draughts"
    placement = table.board.physical if table.board else None
    if placement is None and table.position is not None and table.position.fen is not None:
        fen = table.position.fen
        placement = fen.partition(":")[2] if draughts else fen.partition(" ")[0]
    if placement is None:
        return [Line().add("no board yet", "dim")] + [Line()] * (ROWS - 1)
    moves = table.game.moves if table.game else []
    # A piece in the hand differs from the game too; it matters only when somebody is called.
    wrong = {str(square) for square in table.board.differs} if table.board and worst(table) else set()
    return rows(placement, draughts, _squares(moves[-1]) if moves else (), wrong, look)


def _squares(move: Move) -> tuple[str, ...]:
    if move.squares:
        return str(move.squares[0]), str(move.squares[-1])
    return (move.uci[:2], move.uci[2:4]) if move.uci else ()


def _text(move: Move, numbered: bool = True) -> str:
    text = move_text(move.ply, move.side, move.notation, move.legal)
    return text if numbered or move.side == "white" else text.rpartition("...")[2]


def _past(moves: list[Move], width: int, lines: int) -> list[Line]:
    """The moves before the last one, as many as there is room for, the latest at the end."""
    found: list[str] = []
    for text in reversed(_turns(moves)):
        if found and len(text) + 1 + len(found[0]) <= width:
            found[0] = f"{text} {found[0]}"
        elif len(found) < lines:
            found.insert(0, text)
        else:
            break
    return [Line().add(text, "dim") for text in found]


def _turns(moves: list[Move]) -> list[str]:
    """The latest moves, those of both sides together."""
    turns: list[str] = []
    for move in moves[-RECENT:]:
        if move.side == "white" or not turns:
            turns.append(_text(move))
        else:
            turns[-1] += f" {_text(move, numbered=False)}"
    return turns


def _last(table: Table, width: int) -> Line:
    """The last move, and whether it is certain."""
    moves = table.game.moves if table.game else []
    if not moves:
        return Line().add("no move yet", "dim")
    move = moves[-1]
    word = "not legal" if not move.legal else "" if move.confirmed else "seen"
    return Line().add(_text(move), "strong").apart(Line().add(word, "dim" if move.legal else "notice"), width)


def _state(hall: Hall, table: Table, look: Look) -> Line:
    """What the table is at, if it is not simply playing."""
    missing, age, game = hall.missing(table), hall.stale(table), table.game
    if missing:
        return Line().add(f"{look.signs.gone} {missing}", "link")
    if age is not None and table.clock_live:
        return Line().add(f"clock of {reading(age)} ago", "dim")
    if game is None or game.phase == "play":
        return Line()
    if game.phase == "ended":
        return Line().add(f"{game.result} {ENDED.get(game.reason or '', game.reason or '')}", "strong")
    return Line().add({"setup": "setting up"}.get(game.phase, game.phase), "dim")
