"""Which function this thread traces, and where it does not."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from ._kernlink import Graph


class _State(threading.local):
    may_make_variables = True


_STATE = _State()


@contextlib.contextmanager
def tracing(*, first: bool) -> Iterator[None]:
    """Says that a function is traced, for the first time or again."""
    before = _STATE.may_make_variables
    _STATE.may_make_variables = first and before
    try:
        yield
    finally:
        _STATE.may_make_variables = before


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Has ops run at once, whatever graphs are entered."""
    Graph._suspend()
    try:
        yield
    finally:
        Graph._resume()


def check_variable() -> None:
    """Refuses to make a variable where each trace of a function would make another.

    Raises:
      ValueError: if a function is traced that was traced before.
    """
    if not _STATE.may_make_variables:
        raise ValueError(
            "a function makes variables only when it is traced for the first time: make the variable once, or outside of the "
            "function"
        )
