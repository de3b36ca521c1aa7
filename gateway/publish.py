"""Events and a table's state as MQTT messages: topic, payload, retain. Pure. Contract sections 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import msgspec

from gateway.events import Move, Numbered, Readings, Reply

VERSION = 1
"""`v` of every payload."""

_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Message:
    """One MQTT publication, QoS 1."""

    topic: str
    payload: bytes
    retain: bool


def rfc3339(stamp: float) -> str:
    """Seconds since 1970 as RFC 3339 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(round(stamp * 1000) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def encode(payload: Mapping[str, Any]) -> bytes:
    """Compact UTF-8 JSON; whole numbers without a fraction."""
    return _ENCODER.encode(plain(payload))


def plain(value: Any) -> Any:
    """A value as JSON takes it: tuples as lists, seconds to the millisecond, 180.0 as 180."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        rounded = round(value, 3)
        return int(rounded) if rounded.is_integer() else rounded
    if isinstance(value, Readings):
        return {"white": plain(value.white), "black": plain(value.black)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


def event_payload(numbered: Numbered) -> dict[str, Any]:
    """One event as the contract's section 4 has it."""
    event = numbered.event
    payload: dict[str, Any] = {
        "v": VERSION,
        "id": numbered.id,
        "seq": numbered.seq,
        "time": rfc3339(numbered.stamp),
        "table": numbered.table,
        "game_id": numbered.game_id,
        "kind": event.kind,
    }
    left_out = set()
    if isinstance(event, Move):
        left_out = {"squares", "captured"} if event.squares is None else {"uci"}
    for field in fields(event):
        if field.name not in left_out:
            payload[field.name] = plain(getattr(event, field.name))
    return payload


def event_message(root: str, numbered: Numbered) -> Message:
    """An event on its topic; under `arbiter` if it is not for the public."""
    branch = "table" if numbered.stream == "public" else "arbiter"
    topic = f"{root}/{branch}/{numbered.table}/event/{numbered.event.kind}"
    return Message(topic, encode(event_payload(numbered)), retain=False)


def reply_message(root: str, table: str, reply: Reply, topic: str | None = None) -> Message:
    """The answer to a command, where the sender asked for it or on the table's own topic."""
    payload = {"id": reply.id, "ok": reply.ok, "error": reply.error}
    return Message(topic or f"{root}/arbiter/{table}/reply", encode(payload), retain=False)
