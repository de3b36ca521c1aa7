"""Events and readings in words, for people who know the game and not the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Weight = Literal["alert", "notice", "link", "move", "", "small"]
"""How much an event matters: `small` is left out where there is little room."""

RETRACTED: Final = {
    "slide": "the piece was only on its way",
    "takeback": "put back on the board",
    "correction": "read again",
    "command": "by the arbiter",
}
ENDED: Final = {
    "checkmate": "mate",
    "stalemate": "stalemate",
    "no_moves": "no move left",
    "no_pieces": "no piece left",
    "kings_signal": "by the kings",
    "command": "by the arbiter",
    "set_up_again": "set up again",
}


def event_text(said: Mapping[str, Any]) -> str:
    """One event as a short line."""
    kind = said["kind"]
    match kind:
        case "game_started":
            return f"game begins: {names(said.get('white'), said.get('black'))}"
        case "move":
            return move_text(said["ply"], said["side"], said["notation"], said["legal"]) + (
                "" if said["legal"] else ", which is not legal"
            )
        case "move_confirmed":
            return f"move {_number(said['ply'])} is certain"
        case "move_retracted":
            return f"move {_number(said['from_ply'])} taken back: {RETRACTED.get(said['reason'], said['reason'])}"
        case "position_set":
            return f"goes on from another position: {said['fen']}"
        case "clock":
            return _clock(said)
        case "game_ended":
            return f"game ends {said['result']}: {said.get('detail') or ENDED.get(said['reason'], said['reason'])}"
        case "link":
            return f"{said['device']} {_link(said)}"
        case "alert":
            return _alert(said)
        case "command":
            done = "done" if said["ok"] else f"refused: {said['error']}"
            return f"{said['by'] or 'somebody'} asks: {str(said['command']).replace('_', ' ')}, {done}"
    return str(kind).replace("_", " ")


def weight_of(said: Mapping[str, Any]) -> Weight:
    """How much an event matters to whoever watches."""
    match said["kind"]:
        case "alert" if said["state"] == "updated":
            return "small"
        case "alert" if said["state"] == "raised" and said["severity"] in ("alert", "notice"):
            return "alert" if said["severity"] == "alert" else "notice"
        case "link":
            return "link" if said["state"] == "down" else "small"
        case "clock":
            return "small" if said["change"] in ("pressed", "set", "connected") else ""
        case "move_confirmed":
            return "small"
        case "move":
            return "move"
    return ""


def names(white: object, black: object) -> str:
    """Both players."""
    return f"{white or 'White'} - {black or 'Black'}"


def _number(ply: int) -> int:
    """The number that players give it, where White has begun."""
    return (ply + 1) // 2


def move_text(ply: int, side: str, notation: str, legal: bool = True) -> str:
    """A move with its number, as scoresheets have it, whoever moved first."""
    number = f"{ply // 2 + 1}." if side == "white" else f"{(ply + 1) // 2}..."
    if not legal and len(notation) >= 4 and notation[0].isalpha():
        notation = f"{notation[:2]}-{notation[2:]}"
    return f"{number}{notation}"


def reading(seconds: float | None) -> str:
    """A clock's face: h:mm:ss from an hour, else m:ss."""
    if seconds is None:
        return "-:--"
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def time_control_text(control: str | None) -> str:
    """A single period as people say it, minutes and increment; others as they are written."""
    base, _, increment = (control or "?").partition("+")
    if not base.isdecimal() or int(base) % 60 or not (increment or "0").isdecimal():
        return control or "?"
    return f"{int(base) // 60}+{increment or 0}"


def game_text(game: str, regulations: str | None, control: str | None) -> str:
    """What is played, in two words."""
    pace = (regulations or "").rpartition("-")[2]
    kind = "Chess960" if game == "chess960" else game if game != "chess" else pace or "chess"
    return f"{kind} {time_control_text(control)}"


def sentence(table: str, message: str) -> str:
    """An alert's sentence, where the table is told beside it."""
    return message.removeprefix(f"Table {table}: ")


def label(irregularity: str) -> str:
    """The name of a kind of alert as a heading."""
    return irregularity.replace("_", " ").upper()


def _alert(said: Mapping[str, Any]) -> str:
    message = sentence(said["table"], said["message"])
    match said["state"]:
        case "raised":
            return message
        case "updated":
            return f"still: {message}"
        case "cleared":
            return f"no longer so: {message}"
    return f"{said['state']}: {message}"


def _clock(said: Mapping[str, Any]) -> str:
    side = str(said["side"] or "").capitalize()
    match said["change"]:
        case "started":
            return f"{side}'s clock is started"
        case "pressed":
            return f"{side} presses"
        case "stopped":
            return f"the clocks are stopped at {reading(said['white'])} and {reading(said['black'])}"
        case "set":
            return f"the clock is set to {reading(said['white'])} and {reading(said['black'])}"
        case "flag":
            return f"{side}'s flag has fallen"
        case "connected":
            return "a clock is there"
    return "the clock is gone"


def _link(said: Mapping[str, Any]) -> str:
    if said["state"] == "up":
        return "answers"
    return f"is gone: {said['detail']}" if said.get("detail") else "is gone"
