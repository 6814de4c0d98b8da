"""Which function this thread traces, and where it does not."""

from __future__ import annotations

import contextlib
import os
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


# Guards what follows, and wakes those who wait for their turn.
_CHANGED = threading.Condition()

# For which function each thread waits, by its number.
_WAITS: dict[int, Turn] = {}


def _renew() -> None:
    """The threads that were in them are not in a child that was forked meanwhile."""
    global _CHANGED
    _CHANGED = threading.Condition()
    _WAITS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


class Turn:
    """The threads that trace a function: one at a time, so that its variables are made once. Others wait, but for one that those who
    trace it wait for, as they trace functions that call each other."""

    def __init__(self) -> None:
        self._threads: list[int] = []
        self._process = os.getpid()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for the turn, and has it."""
        own = threading.get_ident()
        with _CHANGED:
            if self._process != os.getpid():
                self._threads = [thread for thread in self._threads if thread == own]
                self._process = os.getpid()
            while self._threads and own not in self._threads and not self._waits_for(own):
                _WAITS[own] = self
                try:
                    _CHANGED.wait()
                finally:
                    _WAITS.pop(own, None)
            self._threads.append(own)
        try:
            yield
        finally:
            with _CHANGED:
                self._threads.remove(own)
                _CHANGED.notify_all()

    def _waits_for(self, thread: int) -> bool:
        """Whether those who trace it wait for a thread, be it through others."""
        met: list[Turn] = [self]
        for turn in met:  # It grows meanwhile.
            if thread in turn._threads:
                return True
            met.extend(_WAITS[other] for other in turn._threads if other in _WAITS and _WAITS[other] not in met)
        return False
