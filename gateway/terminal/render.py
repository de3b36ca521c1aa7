"""The hall as a screen of text: the tables, what needs a person, and what has just happened. Pure.

As many tables as fit are drawn as cards with a board; more of them, or less room, make a list with a line each. Signs
and words say the same as the colours, and what is old says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.terminal.cards import CARD_HEIGHT, CARD_WIDTH, card, face, sign, worst
from gateway.terminal.text import Line, Look, beside, wrapped
from gateway.terminal.view import Hall, Table, Told
from gateway.terminal.words import game_text, label, move_text, names, reading, sentence

WIDEST: Final = 54
"""A card that is wider only moves things apart."""
BELOW: Final = 7
"""Lines below the tables, at least: alerts, events, hints."""
MOST_BELOW: Final = 14
"""So many lines below are worth more than larger cards."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What the screen says of itself."""

    title: str
    broker: str
    hints: tuple[str, ...] = ()
    """For the last line, the most useful first."""


def render(hall: Hall, frame: Frame, width: int, height: int, look: Look) -> list[str]:
    """The screen: exactly `height` lines of exactly `width` columns."""
    lines = [_header(hall, frame, width, look), *_tables(hall, width, height - 1 - BELOW, look)]
    room = max(0, height - len(lines) - 1)
    alerts = _alerts(hall, width, max(2, room - max(2, room // 3)), look)
    lines += [*alerts, *_ticker(hall, room - len(alerts))]
    lines += [Line()] * (height - 1 - len(lines))
    lines = [*lines[: height - 1], _hints(frame, width)]
    return [line.fit(width, look.signs.cut).render(look) for line in lines]


# --- around --------------------------------------------------------------------------------------------------------


def _header(hall: Hall, frame: Frame, width: int, look: Look) -> Line:
    signs = look.signs
    tables = len(hall.tables)
    left = Line().add(f" {frame.title}", "strong").add(f"   {tables} table{'' if tables == 1 else 's'}   ")
    found = [alert.severity for _, alert in hall.open_alerts()]
    if hall.blind():
        return left.add(f"{signs.gone} this account is not shown alerts", "link")
    if found:
        for severity, mark, style in (("alert", signs.alert, "alert"), ("notice", signs.notice, "notice")):
            if number := found.count(severity):
                left.add(f" {mark}{number} ", style).add(" ")
    elif tables and hall.trouble is None:
        left.add("all well", "dim")
    offline = [name for name, state in hall.gateways.items() if state != "online"]
    if hall.trouble is not None:
        since = f" {reading(hall.at - hall.trouble_at)}" if hall.trouble_at else ""
        return left.apart(Line().add(f"{signs.gone} no broker{since}: {hall.trouble} ", "link"), width, signs.cut)
    if offline:
        return left.apart(Line().add(f"{signs.gone} gone: {', '.join(offline)} ", "link"), width, signs.cut)
    return left.apart(Line().add(f"{frame.broker}   {_clock(hall.at)} ", "dim"), width, signs.cut)


def _hints(frame: Frame, width: int) -> Line:
    """As many hints as have room, whole."""
    line = Line()
    for hint in frame.hints:
        if line.width + 3 + len(hint) <= width:
            line.add(f" {hint}  ", "dim")
    return line


# --- tables --------------------------------------------------------------------------------------------------------


def _tables(hall: Hall, width: int, height: int, look: Look) -> list[Line]:
    tables = list(hall.tables.values())
    if not tables:
        return [Line(), Line().add(" no table has been heard of yet", "dim"), Line()]
    columns = _columns(len(tables), width, height)
    if columns is None:
        return _list(hall, tables, width, max(3, height), look)
    wide = min(WIDEST, (width + 1) // columns - 1)
    lines = []
    for first in range(0, len(tables), columns):
        cards = [card(hall, table, wide, look) for table in tables[first : first + columns]]
        lines += [beside(row, " ") for row in zip(*cards, strict=True)]
    return lines


def _columns(count: int, width: int, height: int) -> int | None:
    """How many cards go beside each other; None if they do not fit. Fewer of them are wider, if there is height."""
    most = min(count, (width + 1) // (CARD_WIDTH + 1))
    heights = {columns: -(-count // columns) * CARD_HEIGHT for columns in range(1, most + 1)}
    fitting = [columns for columns, needed in heights.items() if needed <= height]
    roomy = [columns for columns in fitting if heights[columns] <= height + BELOW - MOST_BELOW]
    return min(roomy) if roomy else max(fitting, default=None)


def _list(hall: Hall, tables: list[Table], width: int, height: int, look: Look) -> list[Line]:
    """A line each; tables never change place."""
    lines = [Line().add(f"{'':2}{'table':>6} {'game':<16}{'White':>9} {'Black':>9}  last move", "dim")]
    for table in tables:
        mark, style = sign(hall, table, look)
        game = table.game
        line = Line().add(f"{mark:<2}", style).add(f"{table.id:>6}", "strong")
        line.add(f" {game_text(game.game, game.regulations, game.time_control) if game else '':<16}")
        for side in ("white", "black"):
            clock = face(hall, table, side, look)
            line.add(" " * (9 - clock.width)).spans.extend(clock.spans)
            line.add(" ")
        moves = game.moves if game else []
        last = moves[-1] if moves else None
        text = move_text(last.ply, last.side, last.notation, last.legal) if last else ""
        line.add(f" {text:<14}").spans.extend(_remark(hall, table, style).spans)
        lines.append(line)
    if len(lines) > height:
        lines = [*lines[: height - 1], Line().add(f"  and {len(lines) - height + 1} more tables", "dim")]
    return lines


def _remark(hall: Hall, table: Table, style: str) -> Line:
    """The last column of the list."""
    missing, alert, game = hall.missing(table), worst(table), table.game
    if missing or alert is not None:
        return Line().add(missing or label(alert.irregularity if alert else ""), style)
    if game is not None and game.phase == "ended":
        return Line().add(game.result or "")
    return Line().add(names(game.white, game.black) if game else "", "dim")


# --- alerts and events ---------------------------------------------------------------------------------------------


def _alerts(hall: Hall, width: int, height: int, look: Look) -> list[Line]:
    """What is open, then what has gone lately, a line each or more where there is room."""
    rule = look.signs.rule
    heading = Line().add(f"{rule * 2} for the arbiter {rule * width}", "dim").fit(width)
    if hall.trouble is not None or hall.blind():
        return [heading, Line().add(" alerts are not heard", "link")]
    entries = [*_open_entries(hall, look), *_gone_entries(hall)]
    # Sentences are whole while all of them have room.
    whole = [line for entry in entries for line in entry.whole(width)]
    lines = whole if len(whole) < height else [entry.cut(width, look.signs.cut) for entry in entries]
    if not lines:
        return [heading, Line().add(" nothing: no table needs a person", "dim")]
    hidden = len(hall.open_alerts()) - (height - 1)
    if hidden > 0:
        lines = [*lines[: height - 2], Line().add(f"   and {hidden + 1} more", "notice")]
    return [heading, *lines[: height - 1]]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An alert: its mark, its sentence and its age."""

    mark: Line
    text: str
    age: str
    style: str = ""

    def cut(self, width: int, cut: str) -> Line:
        """In one line."""
        return Line([*self.mark.spans]).add(self.text, self.style).apart(self._right, width, cut)

    def whole(self, width: int) -> list[Line]:
        """In as many lines as it takes."""
        first, *rest = wrapped(self.text, max(10, width - self.mark.width - self._right.width - 1)) or [""]
        indent = " " * self.mark.width
        return [
            Line([*self.mark.spans]).add(first, self.style).apart(self._right, width),
            *(Line().add(indent + more, self.style) for more in rest),
        ]

    @property
    def _right(self) -> Line:
        return Line().add(f"{self.age} ", "dim")


def _open_entries(hall: Hall, look: Look) -> Iterator[_Entry]:
    for table, alert in hall.open_alerts():
        style, sign = ("alert", look.signs.alert) if alert.severity == "alert" else ("notice", look.signs.notice)
        mark = Line().add(f" {sign} {table.id} ", style).add(" ")
        going = f" ({alert.attended_by} is going)" if alert.attended_by else ""
        yield _Entry(mark, sentence(table.id, alert.message) + going, reading(hall.age(alert.since)))


def _gone_entries(hall: Hall) -> Iterator[_Entry]:
    for gone in hall.gone_lately():
        lasted = "" if gone.lasted is None else f"after {reading(gone.lasted)}"
        yield _Entry(Line().add(f"   {gone.table}  ", "dim"), f"gone: {gone.message}", lasted, "dim")


def _ticker(hall: Hall, height: int) -> list[Line]:
    """The latest events, the newest at the bottom."""
    told = [each for each in hall.told if each.weight != "small"]
    return [_told(each) for each in told[-height:]] if height > 0 else []


def _told(told: Told) -> Line:
    style = {"alert": "strong", "notice": "strong", "link": "link", "move": "dim"}.get(told.weight, "")
    return Line().add(f" {_clock(told.time)}  {told.table:>3}  ", "dim").add(told.text, style)


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%H:%M:%S}"
