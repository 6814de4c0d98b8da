"""How far something long is: a line on standard error if that is a terminal, a bar in notebooks, and nothing elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, TypeVar

_Item = TypeVar("_Item")

# What ends sooner shows nothing.
_BEFORE_FIRST = 0.5
_BEFORE_WAITING = 2.0
# How often what is shown changes.
_BETWEEN = 0.1
_BETWEEN_WAITING = 1.0


class _Line:
    """A line of a terminal that the next one takes the place of."""

    def show(self, text: str, _done: float | None) -> None:
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()

    def end(self) -> None:
        self.show("", None)


class _Bar:
    """A bar in a notebook."""

    def __init__(self, display: Any, html: Any) -> None:
        self._display, self._html, self._handle = display, html, None

    def show(self, text: str, done: float | None) -> None:
        value = "" if done is None else f" value='{done:.3f}'"
        shown = self._html(f"<progress{value}></progress> {escape(text)}")
        if self._handle is None:
            self._handle = self._display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update(self._html(""))


def _seen() -> _Line | _Bar | None:
    """Where somebody sees it."""
    # Only what runs in a notebook has imported this already.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        from importlib import import_module

        tools = import_module("IPython.display")
        return _Bar(tools.display, tools.HTML)
    if os.environ.get("TERM") == "dumb" or sys.stderr is None or not sys.stderr.isatty():
        return None
    return _Line()


def steps(what: str, items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """The items, of which it is told how many are done."""
    seen = _seen() if total > 1 else None
    if seen is None:
        yield from items
        return
    started = time.monotonic()
    next_shown, is_shown = started + _BEFORE_FIRST, False
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now >= next_shown:
                next_shown, is_shown = now + _BETWEEN, True
                left = f", {(now - started) / done * (total - done):.0f} s left" if done else ""
                seen.show(f"{what} {done + 1} of {total}{left}", done / total)
            yield item
    finally:
        if is_shown:
            seen.end()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Tells how long something has taken that cannot say how far it is."""
    seen = _seen()
    if seen is None:
        yield
        return
    over, started = threading.Event(), time.monotonic()

    def tell() -> None:
        pause, is_shown = _BEFORE_WAITING, False
        while not over.wait(pause):
            seen.show(f"{what}, {time.monotonic() - started:.0f} s", None)
            pause, is_shown = _BETWEEN_WAITING, True
        if is_shown:
            seen.end()

    thread = threading.Thread(target=tell, name="kernlink-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
