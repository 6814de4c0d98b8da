"""`python -m kernlink`: the command."""

from __future__ import annotations

import sys

from ._kernlink import command


def main() -> int:
    """Runs the command with this program's arguments."""
    return command(["kernlink", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
