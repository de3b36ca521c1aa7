"""Lines of styled text of an exact width. What comes from a broker is shown, and never obeyed, by the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

Style = Literal["", "dim", "strong", "alert", "notice", "link"]

SGR: Final[dict[str, str]] = {
    "dim": "38;5;246",
    "strong": "1",
    # The signal colours of the arbiters' page (Okabe-Ito), nearest of 256. No green: most tables are well.
    "alert": "1;38;5;16;48;5;166",
    "notice": "38;5;227",
    "link": "38;5;74",
}
"""How each style is asked for; a square of a board is given as such parameters itself."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the terminal can show."""

    colour: bool = True
    unicode: bool = True

    @property
    def signs(self) -> Signs:
        return UNICODE if self.unicode else ASCII


@dataclass(frozen=True, slots=True)
class Signs:
    """Marks that say the same as the colours."""

    alert: str
    notice: str
    gone: str
    running: str
    cut: str
    rule: str


UNICODE: Final = Signs("▲", "●", "✕", "▸", "…", "─")
ASCII: Final = Signs("!", "*", "x", ">", "~", "-")


@dataclass(slots=True)
class Line:
    """One line as spans of text and how each looks."""

    spans: list[tuple[str, str]] = field(default_factory=list)

    def add(self, text: object, style: str = "") -> Line:
        """Append text; return the line itself."""
        self.spans.append((shown(str(text)), style))
        return self

    @property
    def width(self) -> int:
        return sum(width_of(text) for text, _ in self.spans)

    def fit(self, width: int, cut: str = "") -> Line:
        """The line in exactly so many columns; `cut` marks where something had to go."""
        cut = cut if width_of(cut) < width < self.width else ""
        room = width - width_of(cut)
        kept = Line()
        for text, style in self.spans:
            part = _head(text, room)
            room -= width_of(part)
            kept.spans.append((part, style))
            if part != text:
                break
        kept.spans.append((cut, "dim"))
        kept.spans.append((" " * (width - kept.width), ""))
        return kept

    def apart(self, right: Line, width: int, cut: str = "") -> Line:
        """The line with another one at the right end."""
        left = self.fit(max(0, width - right.width - 1), cut)
        return Line([*left.spans, (" ", ""), *right.spans]).fit(width, cut)

    def render(self, look: Look) -> str:
        """The characters for the terminal."""
        if not look.colour:
            return "".join(text for text, _ in self.spans)
        return "".join(_sgr(text, style) for text, style in self.spans if text)


def beside(columns: Iterable[Line], gap: str) -> Line:
    """Lines next to each other, as one."""
    spans: list[tuple[str, str]] = []
    for column in columns:
        spans += [*([(gap, "")] if spans else []), *column.spans]
    return Line(spans)


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, broken at spaces."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def shown(text: str) -> str:
    """The text with everything left out that a terminal would take for an order."""
    return "".join(character if character.isprintable() else "?" for character in text)


def width_of(text: str) -> int:
    """Columns that the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _head(text: str, width: int) -> str:
    while text and width_of(text) > width:
        text = text[:-1]
    return text


def _sgr(text: str, style: str) -> str:
    parameters = SGR.get(style, style)
    return f"\x1b[{parameters}m{text}\x1b[0m" if parameters else text
