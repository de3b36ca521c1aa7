"""The command line: one module per subcommand, imported only when it is asked for.

A subcommand's module has `add_arguments(parser)` and `run(arguments) -> exit code`. Its line in `COMMANDS` names it;
the module's name is the command's with underscores. Whatever goes wrong by the user's doing is told in a sentence on
standard error, and the exit code is that of sysexits.h.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from gateway import __version__
from gateway.capture import CaptureError
from gateway.errors import ConfigError, GatewayError, LinkError, UsageError

COMMANDS = {
    "run": "serve the boards of the configuration until told to stop",
    "demo": "show it all with four simulated tables",
    "watch": "show what a hall's broker tells, in the terminal",
    "web": "serve the arbiters' page without boards, or write it for another web server",
    "check-config": "check the configuration and say what it means",
    "doctor": "look for what is wrong with this machine, its ports and its broker, and say what to do",
    "drivers": "list the boards and clocks that are supported",
    "discover": "list what is plugged in or near by that looks like a board",
    "calibrate": "learn a set of pieces with RFID tags (Certabo, Cerno)",
    "simulate": "open pseudo-terminals with boards on which games are played",
    "feed": "keep PGN and PDN files of all games of the hall, for broadcasts",
    "record": "write down what a board says, as a capture",
    "replay": "play captures again and print what the hall was told",
}

EXIT_CODES: Sequence[tuple[type[GatewayError], int]] = (
    (ConfigError, os.EX_CONFIG),
    (CaptureError, os.EX_DATAERR),
    (LinkError, os.EX_UNAVAILABLE),
    (UsageError, os.EX_USAGE),
    (GatewayError, os.EX_SOFTWARE),
)


class Parser(argparse.ArgumentParser):
    """Exits as sysexits.h says, and names the way to help."""

    def error(self, message: str) -> NoReturn:
        self.exit(os.EX_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = Parser(prog="board-gateway", description="From electronic boards and clocks to the tournament hall.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        # No option before the command takes a value, so the first bare word is the command.
        if name == next((word for word in words if not word.startswith("-")), None):
            module = importlib.import_module(f"gateway.cli.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return _run(parser.parse_args(words))


def _run(arguments: argparse.Namespace) -> int:
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except GatewayError as problem:
        print(problem, file=sys.stderr)
        return next(code for kind, code in EXIT_CODES if isinstance(problem, kind))
    except BrokenPipeError:
        # Whoever read has seen enough; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return os.EX_OK
    except OSError as problem:
        print(f"{problem.filename or 'input'}: {problem.strerror or problem}", file=sys.stderr)
        return os.EX_NOINPUT
    except KeyboardInterrupt:
        return 130
    return code
