"""The published interface: a JSON Schema for every payload, and an AsyncAPI 3 document, made from the code.

Events and commands come from the dataclasses and the table of commands; so do the words beside each key. Retained
topics have no classes, they are written down here. `python -m gateway.schemas` writes all of it to docs/interface and
the catalogue for screens to gateway/web; a test finds what is out of date, others hold every message against it.

Keys are always present, so all are required; a key that is not written down here is a mistake of one of the two.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from gateway import __version__
from gateway.arbiter import COMMANDS
from gateway.catalogue import CATALOGUE
from gateway.events import Alert, ArbiterEvent, Move, PublicEvent
from gateway.publish import VERSION
from gateway.settings import REGULATIONS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REPOSITORY = Path(__file__).parents[1]

# --- small schemas ----------------------------------------------------------------------------------------------

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TIME: Schema = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
    "description": "RFC 3339 in UTC with milliseconds",
}
SQUARE: Schema = {
    "type": ["string", "integer"],
    "description": "a1 to h8; draughts 1 to 50, and light squares by column and row",
}
SIDE: Schema = {"enum": ["white", "black"]}


def _or_null(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    return {"anyOf": [schema, {"type": "null"}]}


def _said(schema: Schema, words: str) -> Schema:
    return {**schema, "description": words}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(properties: Mapping[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [key for key in properties if key not in optional],
        "additionalProperties": False,
    }


def _payload(words: str, properties: Mapping[str, Schema]) -> Schema:
    return {"description": words, **_object({"v": {"const": VERSION}, **properties})}


# --- from the code ----------------------------------------------------------------------------------------------


def _of(hint: Any) -> Schema:
    """The schema of a type of `events.py`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _said(_of(arguments[0]), arguments[1])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        kinds = [argument for argument in arguments if argument is not type(None)]
        schema = _of(kinds[0]) if len(kinds) == 1 else {"anyOf": [_of(kind) for kind in kinds]}
        return _or_null(schema) if type(None) in arguments else schema
    if origin is tuple:
        return _list(_of(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object"}
    if is_dataclass(hint):
        return _object({name: _of(kind) for name, kind in _hints(hint).items()})
    return {str: TEXT, int: {"type": "integer"}, float: NUMBER, bool: {"type": "boolean"}}[hint]


def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def _event(kind: Any) -> Schema:
    """An event as it is published: the common keys, then its own."""
    common = {
        "id": _said(TEXT, "gateway.table.SEQ (public), gateway.table.aSEQ (arbiter)"),
        "seq": _said({"type": "integer", "minimum": 1}, "counts the table's stream from 1 without gaps"),
        "time": _said(TIME, "moment of the conclusion; never goes back within a stream"),
        "table": TEXT,
        "game_id": _or_null(TEXT),
        "kind": {"const": kind.kind},
    }
    schema = _payload(str(kind.__doc__).strip(), {**common, **{name: _of(hint) for name, hint in _hints(kind).items()}})
    return _by_game(schema) if kind is Move else schema


def _by_game(schema: Schema) -> Schema:
    """Chess tells `uci`; draughts `squares` and `captured`."""
    told = {"uci", "squares", "captured"}
    required = [key for key in schema["required"] if key not in told]
    return {**schema, "required": required, "oneOf": [{"required": ["uci"]}, {"required": ["squares", "captured"]}]}


def _alert_item() -> Schema:
    """An open alert, as the list holds it: what its event says, and since when."""
    hints = {name: _of(hint) for name, hint in _hints(Alert).items() if name != "state"}
    hints["severity"] = {"enum": ["notice", "alert"]}
    return _object({**hints, "alert_id": TEXT, "since": _said(TIME, "since when the cause stands")})


# --- retained topics, written down ------------------------------------------------------------------------------

DEVICE: Schema = {"enum": ["up", "down", "unconfigured"]}
ORIENTATION = _or_null(_said({"enum": ["normal", "rotated"]}, "how the board lies; null if unknown"))
READINGS = _or_null(_object({"white": NUMBER, "black": NUMBER}))
GAME: Schema = {"enum": ["chess", "chess960", "draughts"]}
PATH = _list({"type": "integer", "minimum": 1, "maximum": 50})

MOVE = _by_game(
    _object(
        {
            "ply": {"type": "integer", "minimum": 1},
            "side": SIDE,
            "notation": TEXT,
            "uci": _or_null(TEXT),
            "squares": PATH,
            "captured": PATH,
            "legal": {"type": "boolean"},
            "confirmed": {"type": "boolean"},
            "clock": READINGS,
            "elapsed": _or_null(NUMBER),
        }
    )
)

COUNTERS = _object(
    {
        "frames": COUNT,
        "rejected": {"type": "object", "additionalProperties": COUNT},
        "reconnects": COUNT,
        "last_frame": _or_null(TIME),
    }
)

RETAINED: Mapping[str, Schema] = {
    "status": _payload(
        "Whether a gateway is there. Also its Last Will.",
        {"state": {"enum": ["online", "offline"]}, "version": TEXT, "since": _or_null(_said(TIME, "null in the Will"))},
    ),
    "health": _payload(
        "How a gateway is, every 10 s.",
        {
            "time": TIME,
            "uptime": _said(NUMBER, "seconds"),
            "outbox": _said(COUNT, "events that the broker has not acknowledged"),
            "cpu": _said(NUMBER, "percent of one core"),
            "memory": _said(COUNT, "bytes"),
            "temperature": _or_null(_said(NUMBER, "degrees Celsius")),
            "links": {"type": "object", "additionalProperties": COUNTERS},
            "problems": _said(_list(TEXT), "what is wrong now, in sentences"),
        },
    ),
    "link": _payload(
        "The table's devices, for the technician.",
        {
            "time": TIME,
            "board": DEVICE,
            "clock": DEVICE,
            "gateway": TEXT,
            "driver": TEXT,
            "serial": _or_null(TEXT),
            "battery": _or_null({"type": "integer", "minimum": 0, "maximum": 100}),
            "last_frame": _or_null(TIME),
            "since": _or_null(TIME),
            "detail": _or_null(_said(TEXT, "why, in words")),
        },
    ),
    "position": _payload(
        "The position of the game, not of the board.",
        {"time": TIME, "fen": _or_null(TEXT), "turn": _or_null(SIDE), "orientation": ORIENTATION},
    ),
    "clock": _payload(
        "Both readings, once a second while a clock runs. 3 s without one is stale.",
        {
            "time": TIME,
            "white": _or_null(NUMBER),
            "black": _or_null(NUMBER),
            "running": {"enum": ["white", "black", "none"]},
            "flags": _said(_list(SIDE), "players whose flag has fallen; only this says so, never a reading of 0"),
            "lever": _or_null(_said(SIDE, "whose clock the lever lets run, also while both stand")),
            "battery_low": {"type": "boolean"},
        },
    ),
    "game": _payload(
        "The game so far.",
        {
            "time": TIME,
            "game_id": _or_null(TEXT),
            "game": GAME,
            "phase": {"enum": ["setup", "play", "suspended", "ended"]},
            "regulations": {"enum": list(REGULATIONS)},
            "time_control": TEXT,
            **{name: _or_null(TEXT) for name in ("white", "black", "event", "round", "start_fen")},
            "orientation": ORIENTATION,
            "moves": _list(MOVE),
            "result": _or_null(TEXT),
            "reason": _or_null(TEXT),
        },
    ),
    "alerts": _payload(
        "Every open alert of severity notice or alert. Arbiters only.", {"time": TIME, "alerts": _list(_alert_item())}
    ),
    "board": _payload(
        "What stands on the board, and where that is not the game. Arbiters only.",
        {"time": TIME, "physical": _said(TEXT, "placement, as White sees it"), "differs": _list(SQUARE)},
    ),
}

REPLY: Schema = {
    "description": "The answer to a command.",
    **_object({"id": _or_null(TEXT), "ok": {"type": "boolean"}, "error": _or_null(TEXT)}),
}

ARGUMENTS: Mapping[str, Schema] = {
    **{name: _or_null(TEXT) for name in ("white", "black", "round", "event", "note", "sealed_move", "scheduled_start")},
    **dict.fromkeys(("time_control", "fen", "result", "alert_id", "irregularity", "value"), TEXT),
    **dict.fromkeys(("default_time", "from_ply", "from_seq", "to_seq"), COUNT),
    "game": GAME,
    "regulations": {"enum": list(REGULATIONS)},
    "start_fen": _or_null(TEXT),
    "seats": {"enum": ["normal", "rotated"]},
    "moves": _list(TEXT),
    "moves_completed": {"type": "object"},
    "record": {"type": "object"},
    "reason": _or_null(TEXT),
    "ruling": {"enum": ["upheld", "dismissed"]},
    "stream": {"enum": ["public", "arbiter"]},
}
NEEDED: Mapping[str, tuple[str, ...]] = {
    "set_position": ("fen",),
    "correct": ("from_ply", "moves"),
    "end_game": ("result",),
    "attend": ("alert_id",),
    "set_orientation": ("value",),
    "set_white_side": ("value",),
    "resend": ("stream", "from_seq", "to_seq"),
}


def _command() -> Schema:
    """Any command; its arguments are those that the gateway itself checks."""
    kinds = []
    for name, (arguments, _) in COMMANDS.items():
        own = {argument: ARGUMENTS[argument] for argument in arguments}
        keys = {"command": {"const": name}, "id": TEXT, "by": _or_null(TEXT), **own}
        optional = tuple(key for key in ("id", "by", *own) if key not in NEEDED.get(name, ()))
        kinds.append(_object(keys, optional))
    words = "What an arbiter asks for. To be sent with a message expiry of 10 s, so that it is never carried out late."
    return {"description": words, "oneOf": kinds}


# --- everything -------------------------------------------------------------------------------------------------


def events() -> dict[str, tuple[str, Schema]]:
    """Each event by its kind: the branch of its topic, and its schema."""
    public = {kind.kind: ("table", _event(kind)) for kind in get_args(PublicEvent)}
    return public | {kind.kind: ("arbiter", _event(kind)) for kind in get_args(ArbiterEvent)}


def schemas() -> dict[str, Schema]:
    """Every payload's schema by its name."""
    return {
        **RETAINED,
        **{f"event-{kind}": schema for kind, (_, schema) in events().items()},
        "command": _command(),
        "reply": REPLY,
    }


def name_of(topic: str) -> str | None:
    """The schema for what is published on a topic; None: plain text, or not ours. The root may have several levels."""
    parts = topic.split("/")
    if len(parts) > 3 and parts[-2] == "event":
        return f"event-{parts[-1]}"
    known = {
        "gateway": ("status", "health"),
        "table": ("link", "position", "clock", "game"),
        "arbiter": ("alerts", "board", "command", "reply"),
    }
    return parts[-1] if len(parts) > 2 and parts[-1] in known.get(parts[-3], ()) else None


def _channels() -> dict[str, tuple[str, str, bool]]:
    """Channel -> address, schema, retained."""
    table, arbiter, gateway = "{root}/table/{table}", "{root}/arbiter/{table}", "{root}/gateway/{gateway}"
    return {
        **{name: (f"{gateway}/{name}", name, True) for name in ("status", "health")},
        **{name: (f"{table}/{name}", name, True) for name in ("link", "position", "clock", "game")},
        **{name: (f"{arbiter}/{name}", name, True) for name in ("alerts", "board")},
        **{
            f"event-{kind}": (f"{table if branch == 'table' else arbiter}/event/{kind}", f"event-{kind}", False)
            for kind, (branch, _) in events().items()
        },
        **{name: (f"{arbiter}/{name}", name, False) for name in ("command", "reply")},
    }


PARAMETERS = {
    "root": {"default": "hall", "description": "[mqtt] root of the configuration"},
    "gateway": {"description": "id of the gateway"},
    "table": {"description": "id of the table"},
}


def asyncapi() -> dict[str, Any]:
    """The whole interface as AsyncAPI 3, from the gateway's point of view."""
    channels: dict[str, Any] = {}
    operations: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    texts = {name: ("{root}/table/{table}/" + name, name, True) for name in ("pgn", "pdn")}
    for name, (address, schema, retained) in {**_channels(), **texts}.items():
        used = [parameter for parameter in PARAMETERS if f"{{{parameter}}}" in address]
        channels[name] = {
            "address": address,
            "messages": {name: {"$ref": f"#/components/messages/{name}"}},
            "parameters": {parameter: {"$ref": f"#/components/parameters/{parameter}"} for parameter in used},
        }
        plain = name in texts
        messages[name] = {
            "name": name,
            "contentType": "text/plain" if plain else "application/json",
            "payload": {"type": "string"} if plain else {"$ref": f"#/components/schemas/{schema}"},
        }
        operations[name] = {
            "action": "receive" if name == "command" else "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "bindings": {"mqtt": {"qos": 1, "retain": retained, "bindingVersion": "0.2.0"}},
        }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "board-gateway",
            "version": __version__,
            "description": "What a gateway tells the hall, and what an arbiter may ask of it. MQTT 5.",
            "license": {"name": "GPL-3.0-or-later"},
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"schemas": schemas(), "messages": messages, "parameters": PARAMETERS},
    }


def catalogue() -> dict[str, Any]:
    """The irregularities for screens: what each is called, and what the rules provide."""
    return {
        kind.id: {"title": kind.title, "articles": list(kind.articles), "remedy": _readable(kind.remedy)}
        for kind in CATALOGUE.values()
    }


def _readable(remedy: str) -> str:
    """Without ids, which only programs know: a reference to another kind is what is said there, or its title."""
    whole = re.fullmatch(r"As (\w+)\.", remedy)
    if whole is not None and whole[1] in CATALOGUE:
        return _readable(CATALOGUE[whole[1]].remedy)
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda word: _named(word[0]), remedy)


def _named(word: str) -> str:
    return f"“{CATALOGUE[word].title}”" if word in CATALOGUE else word.replace("_", " ")


def documents() -> dict[Path, str]:
    """Every generated file of the interface, by its path in the repository."""
    folder = Path("docs/interface")
    files: dict[Path, Any] = {
        folder / "schemas" / f"{name}.json": {"$schema": DIALECT, "title": name, **schema}
        for name, schema in schemas().items()
    }
    files[folder / "asyncapi.json"] = asyncapi()
    files[Path("gateway/web/catalogue.json")] = catalogue()
    return {path: json.dumps(value, ensure_ascii=False, indent=1) + "\n" for path, value in files.items()}


def main() -> None:
    """Write them."""
    for path, text in documents().items():
        target = REPOSITORY / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
