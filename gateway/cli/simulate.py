"""simulate: boards on pseudo-terminals, for a gateway that has none."""

from gateway.simulate.pty import add_arguments, run

__all__ = ["add_arguments", "run"]
