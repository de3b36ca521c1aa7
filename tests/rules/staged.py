"""Short scenes at a board, written in a line, played from a capture and judged as the cases of the reference are.

Words of a scene, each `TIME:WHAT`, in order: ``-e2`` a lift, ``+P@e4`` a placing, ``w``, ``b``, ``0`` White's or
Black's clock runs or none, ``set=W,B,RUNS`` a clock that shows these readings (``set=W,B,RUNS,N``: and a count of
moves), ``flag=w`` a fallen flag,
``!NAME=KEY~VALUE,...`` a command (a value alone is an irregularity), ``down``, ``up`` the board's link,
``board=PLACEMENT`` what stands then. Between the words the clock reports every second, and at a press it gives the
increment, as a real one does.

What is expected is written ``KIND@TIME/SIDE``, the side `w`, `b` or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judge import alert_faults, events_of

from gateway.events import Numbered
from gateway.record import START_FEN
from gateway.time_control import TimeControl

CHESS, DRAUGHTS = START_FEN["chess"], START_FEN["draughts"]
USUAL = {
    "fide-standard": "5400+30",
    "fide-rapid": "900+10",
    "fide-blitz": "180+2",
    "fmjd-standard": "4800+60",
    "fmjd-rapid": "900+5",
    "fmjd-blitz": "300+3",
}
STARTED = "2026-05-01T10:00:00.000Z"
SIDE = {"w": "white", "b": "black", "0": "none"}
OTHER = {"white": "black", "black": "white"}


@dataclass
class Scene:
    """A table, what is done at it, and what is to be said of it."""

    name: str
    words: str
    expected: str = ""
    must_not: str = ""
    fen: str = CHESS
    regulations: str = ""
    control: str = ""
    shown: str = ""
    """The control that the clock was set to, if it is another one."""
    senses: str = "pieces"
    tail: float = 5.0
    first: tuple[float, float] | None = None
    """What the clock shows first, if not the base."""
    begin: bool = True
    """The arbiter has started the game; else the board stands as it does, and nothing was said."""
    polled: bool = True
    """The clock reports every second, and not only what is written."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """More of `start_game`."""
    assign: Mapping[str, Any] = field(default_factory=dict)
    then: tuple[Mapping[str, Any], ...] = ()
    """Commands at the beginning."""
    rules: Mapping[str, Any] = field(default_factory=dict)
    quiet: tuple[str, ...] = ()
    """Kinds that are not judged."""
    chess960: bool = False

    @property
    def game(self) -> str:
        return "draughts" if ":" in self.fen else "chess960" if self.chess960 else "chess"

    def played(self) -> tuple[float, list[Numbered]]:
        """Play it; when it began, and all events."""
        return events_of(self.capture())

    def faults(self, started: float, events: list[Numbered]) -> list[str]:
        """What is missing of what was played, too much, or at the wrong time."""
        case = {
            "context": {"already_raised": self.quiet},
            "expect": [_expected(text) for text in self.expected.split()],
            "must_not": self.must_not.split(),
        }
        return alert_faults(case, started, events)

    def capture(self) -> list[dict[str, Any]]:
        """The lines of a capture."""
        return _Capture(self).lines


def _expected(text: str) -> dict[str, Any]:
    kind, _, rest = text.partition("@")
    at, _, side = rest.partition("/")
    return {"irregularity": kind, "at": float(at), "side": SIDE.get(side)}


def _argument(key: str, text: str) -> Any:
    """A FEN is written with low lines, moves with a plus between them."""
    if key == "fen":
        return text.replace("_", " ")
    if key == "moves":
        return text.split("+")
    return int(text) if text.isdigit() else text


class _Capture:
    """The lines of one scene as they grow."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        regulations = scene.regulations or ("fmjd-standard" if scene.game == "draughts" else "fide-standard")
        control = scene.control or USUAL[regulations]
        self.clock = TimeControl.parse(scene.shown or control)
        table = {
            "id": "1",
            "game": scene.game,
            "regulations": regulations,
            "time_control": control,
            "board": {"driver": "generic"},
            "clock": {"driver": "board", "white_side": "left"},
            "rules": dict(scene.rules),
        }
        self.lines: list[dict[str, Any]] = [{"capture": 1, "started": STARTED, "gateway": "g", "table": table}]
        base = float(self.clock.base or 0)
        white, black = scene.first or (base, base)
        self.left = {"white": float(white), "black": float(black)}
        self.running, self.since, self.ticked = "none", 0.0, 0.0
        self.begun = False
        self._open()
        last = 0.0
        for word in scene.words.split():
            time, _, what = word.partition(":")
            last = float(time)
            self._tick(last)
            self._word(last, what)
        self._tick(last + scene.tail)
        self.lines.append({"t": last + scene.tail, "end": True})
        # A scene may begin before the arbiter's first commands are through.
        self.lines.sort(key=lambda line: line.get("t", -1.0))

    def _open(self) -> None:
        scene = self.scene
        self.lines.append({"t": 0.0, "link": "board", "state": "up"})
        self._say(0.0, f"hello case senses={scene.senses}")
        placement = scene.fen.partition(":")[2] if scene.game == "draughts" else scene.fen.split()[0]
        self._say(0.0, "position " + self._seen(placement))
        if scene.assign:
            self._command(0.001, "assign", **scene.assign)
        if scene.begin:
            self._command(0.002, "start_game", **{"start_fen": scene.fen, **scene.start})
        for each in scene.then:
            self._command(0.003, **each)

    def _seen(self, placement: str) -> str:
        if self.scene.senses == "pieces":
            return placement
        if self.scene.game != "draughts":
            return "".join("?" if letter.isalpha() else letter for letter in placement)
        squares = sorted(int(item.lstrip("WBK")) for part in placement.split(":") for item in part.split(","))
        return "?" + ",".join(map(str, squares))

    def _word(self, at: float, what: str) -> None:
        name, _, rest = what.partition("=")
        if what[0] == "-":
            self._say(at, f"lift {what[1:]}")
        elif what[0] == "+":
            piece, _, square = what[1:].partition("@")
            self._say(at, f"place {piece if self.scene.senses == 'pieces' else '?'}@{square}")
        elif what[0] == "!":
            pairs = [pair.split("~") if "~" in pair else ["irregularity", pair] for pair in rest.split(",") if pair]
            self._command(at, name[1:], **{key: _argument(key, value) for key, value in pairs})
        elif what in ("up", "down"):
            self.lines.append({"t": at, "link": "board", "state": what})
        elif name == "board":
            self._say(at, "position " + self._seen(rest))
        elif name == "set":
            white, black, runs, *counter = rest.split(",")
            self.left = {"white": float(white), "black": float(black)}
            self._report(at, SIDE[runs], counter="".join(counter))
        else:
            self._count(at)
            runs = self.running if name == "flag" else SIDE[what]
            if runs == OTHER.get(self.running):
                self.left[self.running] += self.clock.increment_at(0)
            self._report(at, runs, rest if name == "flag" else "")

    def _count(self, at: float) -> None:
        if self.running in self.left:
            self.left[self.running] = max(0.0, self.left[self.running] - (at - self.since))
        self.since = at

    def _tick(self, at: float) -> None:
        while self.begun and self.scene.polled and self.ticked + 1 < at - 1e-6:
            self._count(self.ticked + 1)
            self._report(self.ticked + 1, self.running)

    def _report(self, at: float, runs: str, flags: str = "", counter: str = "") -> None:
        self.running, self.since, self.ticked, self.begun = runs, at, at, True
        fallen = " flags=" + ",".join(SIDE[flag] for flag in flags) if flags else ""
        counted = f" counter={counter}" if counter else ""
        # Displays are cut to whole seconds.
        self._say(at, f"clock {int(self.left['white'])} {int(self.left['black'])} {runs}{fallen}{counted}")

    def _say(self, at: float, text: str) -> None:
        self.lines.append({"t": round(at, 3), "link": "board", "dir": "rx", "hex": (text + "\n").encode().hex()})

    def _command(self, at: float, command: str, **arguments: Any) -> None:
        line = {"command": command, "id": f"c{len(self.lines)}", "by": "arbiter", **arguments}
        self.lines.append({"t": round(at, 3), "command": line})
