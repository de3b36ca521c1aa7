"""What can go wrong by somebody's fault other than the board's.

A board that talks nonsense is no exception: it is an event (`events.FrameRejected`).
"""


class GatewayError(Exception):
    """Base of all errors that a person should read; the message names the place and the remedy."""


class ConfigError(GatewayError):
    """The configuration holds mistakes. `mistakes` lists all of them, one sentence each."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


class LinkError(GatewayError):
    """A port cannot be opened, or it died in use."""


class UsageError(GatewayError):
    """The caller asked for something that makes no sense: an unknown command, a bad argument, a wrong state."""
