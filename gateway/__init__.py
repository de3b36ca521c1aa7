"""Board gateway: from the bytes of electronic boards and clocks to the events of a tournament hall."""

__version__ = "0.1.0"
