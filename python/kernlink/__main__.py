"""`python -m kernlink`: the command."""

from __future__ import annotations

import signal
import sys

from ._kernlink import command


def main() -> int:
    """Runs the command with this program's arguments."""
    # Nothing of Python's runs meanwhile that could look at signals.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["kernlink", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
