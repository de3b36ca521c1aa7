"""PDN: games of international draughts as text, read and written.

Written as PDN 3.0 asks (https://pdn.fmjd.org): tags, GameType 20, hyphen for quiet plies and ``x`` for captures, the
mover's clock after its ply as ``{[%clk 1:20:03]}``, results in points (``2-0``). Read with tolerance for what programs
have written since 1995: blanks within a ply, missing tags, both ways of writing results, ``%clock`` for both players,
variations (skipped), remarks, and the score of a match in place of a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.draughts import Ply, Position

LINE: Final = 80
"""Longest line of movetext, where a comment does not force a longer one."""

_RESULTS: Final = {"1-0": "2-0", "0-1": "0-2", "1/2-1/2": "1-1", "2-0": "2-0", "0-2": "0-2", "1-1": "1-1", "0-0": "0-0"}

_TOKEN: Final = re.compile(
    r"""
      \[\s*(?P<tag>\w+)\s+"(?P<value>(?:[^"\\]|\\.)*)"\s*\]
    | \{(?P<comment>[^}]*)\}
    | (?:;|(?<![^\n])%)[^\n]*               # remarks to the end of the line
    | (?P<open>\()
    | (?P<close>\))
    | (?P<result>(?:1/2-1/2|[012]-[012])(?![\d/])|\*)
    | \d+\.+
    | (?P<ply>\d{1,2}(?:\s*[-x:]\s*\d{1,2})+)
    | \$\d+ | [.!?]+ | \\n                   # annotations; some exports hold a line's end as two characters
    | (?P<unknown>\S+?(?=[\s{(\[;)]|$))
    """,
    re.VERBOSE,
)
_CLOCK: Final = re.compile(r"\[%clo?c?k\s+([^\]]*)\]")
_READING: Final = re.compile(r"([wb]?)(\d+):(\d\d):(\d\d(?:\.\d+)?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PdnMove:
    """A ply with what is written beside it."""

    ply: Ply
    clock: float | None = None
    """The mover's clock after the ply, in seconds."""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class PdnGame:
    """One game."""

    tags: Mapping[str, str] = field(default_factory=dict)
    start: Position = field(default_factory=Position.start)
    moves: tuple[PdnMove, ...] = ()
    result: str = "*"
    """``2-0``, ``0-2``, ``1-1``, ``0-0`` or ``*``."""
    fault: str | None = None
    """Why reading stopped before the end of the game; None: all was read."""


# --- reading ----------------------------------------------------------------------------------------------------


def read(text: str) -> Iterator[PdnGame]:
    """Read the games of a file, one after the other. Never raises: see `PdnGame.fault`."""
    reader = _Reader()
    depth = 0
    for token in _TOKEN.finditer(text.removeprefix("\ufeff")):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "value" and (reader.in_moves or token["tag"] in reader.tags):
            # A game without a result, or without moves, ends where tags begin again; so does an unclosed variation.
            depth = 0
            yield reader.game()
            reader = _Reader()
            reader.take(token)
        elif not depth:
            reader.take(token)
            if reader.result is not None:
                yield reader.game()
                reader = _Reader()
    if reader.in_moves or reader.tags:
        yield reader.game()


class _Reader:
    """Takes the tokens of one game."""

    def __init__(self) -> None:
        self.tags: dict[str, str] = {}
        self.result: str | None = None
        self.in_moves = False
        self.fault: str | None = None
        self.start = self.position = Position.start()
        self.moves: list[PdnMove] = []

    def take(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "value":
                self.tags[token["tag"]] = re.sub(r"\\(.)", r"\1", token["value"])
            case "comment" if self.moves and self.fault is None:
                self._remark(token["comment"])
            case "result":
                self._begin()
                self.result = _RESULTS.get(token["result"], "*")
            case "ply":
                self._begin()
                text = re.sub(r"\s", "", token["ply"])
                if text == self.tags.get("Result"):
                    self.result = "*"
                elif self.fault is None:
                    self._play(text)
            case "unknown":
                self._begin()
                self.fault = self.fault or f"{token['unknown']!r} after ply {len(self.moves)} cannot be read"

    def game(self) -> PdnGame:
        self._begin()
        result = self.result or _RESULTS.get(self.tags.get("Result", ""), "*")
        return PdnGame(self.tags, self.start, tuple(self.moves), result, self.fault)

    def _begin(self) -> None:
        """The tags are over: set up the board."""
        if self.in_moves:
            return
        self.in_moves = True
        game_type = self.tags.get("GameType", "20").split(",")[0].strip()
        if game_type != "20":
            self.fault = f"GameType {game_type} is not international draughts (20)"
        elif "FEN" in self.tags:
            try:
                self.start = self.position = Position.from_fen(self.tags["FEN"])
            except ValueError as error:
                self.fault = str(error)

    def _play(self, text: str) -> None:
        try:
            ply = self.position.parse(text)
        except ValueError as error:
            self.fault = f"ply {len(self.moves) + 1}: {error}"
            return
        self.moves.append(PdnMove(ply))
        self.position = self.position.after(ply)

    def _remark(self, comment: str) -> None:
        last = self.moves[-1]
        clock = last.clock
        mover = "wb"[self.position.turn == "white"]
        for command in _CLOCK.finditer(comment):
            for side, hours, minutes, seconds in _READING.findall(command[1]):
                if side.lower() in ("", mover):
                    clock = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        words = " ".join([last.comment, *re.sub(r"\[%[^\]]*\]", " ", comment).split()]).strip()
        self.moves[-1] = PdnMove(last.ply, clock, words)


# --- writing ----------------------------------------------------------------------------------------------------


def write(game: PdnGame) -> str:
    """The game as PDN. `Result`, `GameType` and, off the usual start, `FEN` and `SetUp` are set from the game."""
    tags = {**game.tags, "Result": game.result, "GameType": "20"}
    if game.start != Position.start():
        tags |= {"SetUp": "1", "FEN": game.start.fen()}
    plies = []
    position = game.start
    for move in game.moves:
        plies.append((position.notation(move.ply), move.clock, move.comment))
        position = position.after(move.ply)
    return f"{tag_pairs(tags)}\n\n{movetext(plies, game.start.turn == 'black', 1, game.result)}\n"


def tag_pairs(tags: Mapping[str, str]) -> str:
    """Tags as PGN and PDN write them, a line each."""
    return "\n".join(f'[{name} "{_quoted(value)}"]' for name, value in tags.items())


def movetext(
    plies: Iterable[tuple[str, float | None, str]], black_first: bool, number: int, result: str, closing: str = ""
) -> str:
    """Moves as PGN and PDN write them.

    Args:
        plies: notation, the mover's clock in seconds, comment ("" for none).
        black_first: whether Black made the first of them.
        number: number of the first move.
        result: what ends the text.
        closing: a comment before it ("" for none).
    """
    words: list[str] = []
    must_number = True
    for index, (notation, clock, comment) in enumerate(plies, start=2 * number - 1 + black_first):
        black = index % 2 == 0
        if must_number or not black:
            words.append(f"{(index + 1) // 2}{'...' if black else '.'}")
        words.append(notation)
        remarks = _comment(([] if clock is None else [clock_command(clock)]) + comment.split())
        words += remarks
        must_number = bool(remarks)
    return _wrapped([*words, *_comment(closing.split()), result])


def _comment(words: list[str]) -> list[str]:
    """The words in braces; braces cannot be nested nor escaped."""
    if not words:
        return []
    words = [word.replace("{", "(").replace("}", ")") for word in words]
    words[0] = "{" + words[0]
    words[-1] += "}"
    return words


def clock_command(seconds: float) -> str:
    """``[%clk h:mm:ss]``; begun seconds are left out, as clocks show them."""
    whole = max(0, int(seconds))
    return f"[%clk {whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}]"


def _quoted(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def _wrapped(words: Iterable[str]) -> str:
    lines: list[str] = []
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > LINE:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])
