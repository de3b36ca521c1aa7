"""All that the alerts say, kept word for word: a change of a rule shows here before it surprises an arbiter.

Times are told to a tenth of a second. After a change that is meant, write the files anew and read the difference:

    GOLDEN=renew python -m pytest tests/rules tests/test_cases.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gateway.events import Alert

FOLDER = Path(__file__).parent / "rules" / "golden"
RENEW = os.environ.get("GOLDEN") == "renew"


def told(alerts: Iterable[tuple[float, Alert]]) -> list[Any]:
    """What was said when, as JSON gives it back."""
    lines = [
        [
            round(at, 1),
            alert.state,
            alert.irregularity,
            alert.side,
            alert.severity,
            alert.ply,
            list(alert.articles),
            alert.message,
            {key: value for key, value in alert.evidence.items() if key != "t"},
        ]
        for at, alert in alerts
    ]
    return list(json.loads(json.dumps(_coarse(lines))))


def _coarse(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 1)
    if isinstance(value, dict):
        return {str(key): _coarse(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_coarse(item) for item in value]
    return value


class Golden:
    """One file of what is expected, by name."""

    def __init__(self, name: str) -> None:
        self.path = FOLDER / f"{name}.json"
        self.known: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def expected(self, name: str, found: list[Any]) -> list[Any]:
        """What was said last time; when it is to be renewed, what is said now."""
        if RENEW:
            self.known[name] = found
            FOLDER.mkdir(exist_ok=True)
            lines = [f"{json.dumps(name)}: {json.dumps(self.known[name])}" for name in sorted(self.known)]
            self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return list(self.known[name])
