"""Refuses to be imported by other interpreters of the process than the first: the extension has objects of that one.

From Python 3.12 on Python does so itself.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 12):
    try:
        import _xxsubinterpreters as _interpreters  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        _interpreters = None
    if _interpreters is not None and _interpreters.get_current() != _interpreters.get_main():
        raise ImportError("kernlink can be imported by the main interpreter of a process only, not by a subinterpreter")
