"""The named tuples that ops with several outputs give, by the ops' names."""

from __future__ import annotations

import collections
from typing import Any

from . import _kernlink
from ._names import class_name


_MADE: dict[tuple[str, ...], Any] = {}


def of(op: dict[str, Any]) -> Any:
    """The named tuple (a class) of an op's outputs, in this module by the op's name, so that results can be pickled."""
    name, fields = class_name(op["name"]), [output["name"] for output in op["outputs"]]
    # A library that was unloaded may have had another op of the name.
    made = _MADE.get((name, *fields))
    if made is None:
        made = collections.namedtuple(name, fields, module=__name__, rename=True)
        _MADE[(name, *fields)] = globals()[name] = made
    return made


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        op = _kernlink.op_def(name)
    except Exception:
        raise AttributeError(f"there is no op {name}") from None
    if len(op["outputs"]) < 2:
        raise AttributeError(f"the op {name} has no named tuple: its outputs are {len(op['outputs'])}")
    return of(op)
