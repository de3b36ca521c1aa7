"""The command line: `board-gateway`, and `python -m gateway`."""

import sys

from gateway.cli import main

if __name__ == "__main__":
    sys.exit(main())
