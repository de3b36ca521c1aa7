"""Events and the table's state as MQTT messages: topic, payload, retain. Pure. Contract sections 3 and 4."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """One MQTT publication, QoS 1."""

    topic: str
    payload: bytes
    retain: bool
