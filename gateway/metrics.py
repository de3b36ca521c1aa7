"""What the health topic says, as a text file for Prometheus: node_exporter's textfile collector takes it up.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, 0.0.4). Names end with their unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

PREFIX = "board_gateway_"
READABLE = 0o644
"""The collector is another user, and our umask closes what we write."""

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


def text(gateway: str, health: Mapping[str, Any]) -> str:
    """The health payload of this gateway; what is not known (a temperature, a last frame) is left out."""
    links = health["links"]
    named = {"gateway": gateway}
    warmth = [(named, health["temperature"])] if health["temperature"] is not None else []

    def each(key: str) -> list[Sample]:
        return [({**named, "table": table}, link[key]) for table, link in links.items()]

    rejected = [
        ({**named, "table": table, "reason": reason}, number)
        for table, link in links.items()
        for reason, number in link["rejected"].items()
    ]
    heard = [
        ({**named, "table": table}, datetime.fromisoformat(link["last_frame"]).timestamp())
        for table, link in links.items()
        if link["last_frame"] is not None
    ]
    lines = [
        *_family("uptime_seconds", "gauge", "Since the start.", [(named, health["uptime"])]),
        *_family("cpu_ratio", "gauge", "Share of one core since the last look.", [(named, health["cpu"] / 100)]),
        *_family("memory_bytes", "gauge", "Resident memory.", [(named, health["memory"])]),
        *_family("temperature_celsius", "gauge", "Of the processor.", warmth),
        *_family("outbox_events", "gauge", "Events the broker has not acknowledged.", [(named, health["outbox"])]),
        *_family("problems", "gauge", "Sentences in the health topic.", [(named, len(health["problems"]))]),
        *_family("link_frames_total", "counter", "Observations decoded.", each("frames")),
        *_family("link_rejected_total", "counter", "Frames refused, by reason.", rejected),
        *_family("link_reconnects_total", "counter", "Devices that came back.", each("reconnects")),
        *_family("link_last_frame_timestamp_seconds", "gauge", "When a device was last heard.", heard),
    ]
    return "\n".join(lines) + "\n"


def write(path: Path, content: str) -> None:
    """Replace the file in one step, as the collector may be reading it. Raises OSError."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(content)
    fresh.chmod(READABLE)
    fresh.replace(path)


def _family(name: str, kind: Literal["gauge", "counter"], meaning: str, samples: Iterable[Sample]) -> Iterator[str]:
    lines = [f"{PREFIX}{name}{{{_labels(labels)}}} {value}" for labels, value in samples]
    if lines:
        yield f"# HELP {PREFIX}{name} {meaning}"
        yield f"# TYPE {PREFIX}{name} {kind}"
        yield from lines


def _labels(labels: Mapping[str, str]) -> str:
    """Ids and names of reasons: nothing in them needs escaping."""
    return ",".join(f'{name}="{value}"' for name, value in labels.items())
