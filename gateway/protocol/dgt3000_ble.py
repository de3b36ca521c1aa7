"""DGT 3000 behind the open BLE gateway (an ESP32 on the clock's jack): times as JSON. A clock with a link of its own.

Models: DGT 3000 with Tortue95/DGT3000-BLE-Gateway; it advertises only while the wire to the clock works.

Link: BLE, events on 73822f6e-..0003, commands on ..0002; messages exceed 20 bytes.

Sample: ``{"type":"timeUpdate","timestamp":1000,"data":{"leftHours":0,"leftMinutes":4,"leftSeconds":58,..}}``

Layout: one JSON object after the other::

    timeUpdate         data: leftHours, leftMinutes, leftSeconds, right..; when the time changes
    command_response   to getTime, in result: the same
    buttonEvent        data.button: lever_left, lever_right, back, minus, play_pause, plus, forward, on_off_..
    connectionStatus   data.connected: the wire to the clock

Check: JSON's own, and times that a clock can show.

What is not told, and how it is found: which side runs is the side whose time goes down, until the lever moves or
nothing has changed for 1.6 s. The lever's side that is down is that of the player who has pressed, so
``lever_right`` (code 40: right side down) lets the left clock run.

Unknown: flags are not told; zero shows.

Sources: Tortue95/DGT3000-BLE-Gateway, doc/PROTOCOL.md, alone. No recording is public.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from gateway.events import ClockAbsent, ClockSide, ClockTimes, GameKind, Observation
from gateway.protocol import Address, Decoder, Dialogue, Reject, ago, moment
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError

SERVICE = "73822f6e-edcd-44bb-974b-93ee97cb0000"
WRITE = "73822f6e-edcd-44bb-974b-93ee97cb0002"
NOTIFY = "73822f6e-edcd-44bb-974b-93ee97cb0003"

LONGEST_MESSAGE = 1024
STOPPED_S = 1.6
"""A running clock shows another second before."""
FORGOTTEN_S = 10.0
"""After such a silence nothing of what was is known."""
LETS_RUN: Mapping[str, ClockSide] = {"lever_right": "left", "lever_left": "right"}
SILENT = ("error", "buttonEvent")

OPTIONS = (Option("silence_s", 2.0, "seconds of silence after which the clock is asked for its time", lowest=0.5),)


class Dgt3000Ble(Reading):
    """One clock."""

    def __init__(self) -> None:
        super().__init__()
        self._forget()
        self._heard_at = float("-inf")

    def _forget(self) -> None:
        self._seconds: tuple[float, float] | None = None
        self._running: ClockSide | None = None
        self._lever: ClockSide | None = None
        self._changed_at = float("-inf")

    def _measure(self, channel: str | None) -> Measure:
        return _measure

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        message = _parsed(frame)
        if at - self._heard_at > FORGOTTEN_S:
            self._forget()
        self._heard_at = at
        kind, data = message.get("type"), message.get("data")
        if kind == "command_response":
            result = message.get("result")
            return self._times(result, at) if isinstance(result, dict) and "leftHours" in result else []
        if kind == "timeUpdate":
            return self._times(data, at)
        if kind == "connectionStatus" and isinstance(data, dict):
            return [ClockAbsent()] if data.get("connected") is False else []
        if kind == "buttonEvent" and isinstance(data, dict) and data.get("button") in LETS_RUN:
            return self._turned(LETS_RUN[data["button"]], at)
        if kind not in SILENT:
            raise RefusedError(Reject.UNKNOWN)
        return []

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return super().state(at) | {
            "heard": ago(self._heard_at, at),
            "seconds": self._seconds and list(self._seconds),
            "running": self._running,
            "lever": self._lever,
            "changed": ago(self._changed_at, at),
        }

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        super().restore(state, at)
        self._heard_at, self._changed_at = moment(state["heard"], at), moment(state["changed"], at)
        if state["seconds"] is not None:
            left, right = state["seconds"]
            self._seconds = float(left), float(right)
        self._running, self._lever = state["running"], state["lever"]

    def _times(self, data: Any, at: float) -> list[Observation]:
        seconds = _seconds(data, "left"), _seconds(data, "right")
        if self._seconds is not None and seconds != self._seconds:
            left, right = (now != was for now, was in zip(seconds, self._seconds, strict=True))
            # Both at once: the clock was set.
            self._running = None if left and right else "left" if left else "right"
            self._changed_at = at
        elif at - self._changed_at > STOPPED_S:
            self._running = None
        self._seconds = seconds
        return [self._said()]

    def _turned(self, lever: ClockSide, at: float) -> list[Observation]:
        self._lever = lever
        if self._running is not None:
            self._running, self._changed_at = lever, at
        return [self._said()] if self._seconds is not None else []

    def _said(self) -> ClockTimes:
        assert self._seconds is not None
        left, right = self._seconds
        return ClockTimes(left, right, self._running, self._lever)


def _parsed(frame: bytes) -> dict[str, Any]:
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        raise RefusedError from None
    assert isinstance(message, dict)
    return message


def _seconds(data: Any, side: str) -> float:
    if not isinstance(data, dict):
        raise RefusedError
    total = 0
    for unit, size, highest in (("Hours", 3600, 9), ("Minutes", 60, 59), ("Seconds", 1, 59)):
        digits = data.get(side + unit)
        if type(digits) is not int or not 0 <= digits <= highest:
            raise RefusedError
        total += digits * size
    return float(total)


def _measure(buffer: bytearray) -> Cut | None:
    """One object: from a brace to the brace that closes it, strings left out of the count."""
    if buffer[0] != ord("{"):
        start = buffer.find(b"{")
        return Cut(len(buffer) if start < 0 else start, Reject.NOISE)
    depth, quoted, escaped = 0, False, False
    for at, byte in enumerate(buffer[:LONGEST_MESSAGE]):
        if quoted:
            quoted = escaped or byte != ord('"')
            escaped = not escaped and byte == ord("\\")
        elif byte == ord('"'):
            quoted = True
        elif byte in b"{}":
            depth += 1 if byte == ord("{") else -1
            if depth == 0:
                return Cut(at + 1)
    return Cut(1, Reject.NOISE) if len(buffer) >= LONGEST_MESSAGE else None


# --- building ---------------------------------------------------------------------------------------------------


def _json(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def build_command(command: str, id_: str) -> bytes:
    """A command without parameters. The gateway sends getTime only: it never sets or starts a clock."""
    return _json(command=command, id=id_)


def build_time_update(left: float, right: float, timestamp: int = 0) -> bytes:
    """Both times, cut to whole seconds."""
    data: dict[str, int] = {}
    for side, seconds in (("left", int(left)), ("right", int(right))):
        data |= {f"{side}Hours": seconds // 3600, f"{side}Minutes": seconds // 60 % 60, f"{side}Seconds": seconds % 60}
    return _json(type="timeUpdate", timestamp=timestamp, data=data)


def build_lever(button: str, timestamp: int = 0) -> bytes:
    """The lever was turned."""
    data = {"button": button, "buttonCode": 64 if button == "lever_right" else 192, "isRepeat": False}
    return _json(type="buttonEvent", timestamp=timestamp, data=data)


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one clock."""
    return Dgt3000Ble()


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """Only the time is asked for."""
    ask = build_command("getTime", "time")
    return Asking(Questions((ask,), (ask,), silence_s=settle(OPTIONS, options)["silence_s"], regular=ask))
