"""Alerts over time."""

from __future__ import annotations

from typing import Any

from gateway.events import Alert, Event
from gateway.rules import Situation


class Watch:
    """The alerts of one table."""

    def __init__(self) -> None:
        self.deadline: float | None = None

    def review(self, seen: Situation) -> list[Event]:
        """Look at the present situation."""
        return []

    def numbered(self, alert: Alert, identity: str) -> Alert:
        """The alert with its id."""
        return alert

    def acknowledge(
        self,
        alert_id: str | None,
        irregularity: str | None,
        *,
        ruling: str | None,
        note: str | None,
        by: str | None,
        at: float,
    ) -> list[Event]:
        """The arbiter has dealt with an alert."""
        return []

    def attend(self, alert_id: str, *, by: str | None, at: float) -> list[Event]:
        """An arbiter is on the way to an alert."""
        return []

    def open_alerts(self) -> list[dict[str, Any]]:
        """Open alerts of severity notice and alert, as the `alerts` topic lists them."""
        return []
