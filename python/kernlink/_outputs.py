"""The named tuples that ops with several outputs give, by the ops' names."""

from __future__ import annotations

import collections
from typing import Any

from . import _kernlink
from ._names import class_name


def make(op: dict[str, Any], module: str) -> type[tuple[Any, ...]]:
    """The named tuple of an op's outputs."""
    fields = [output["name"] for output in op["outputs"]]
    return collections.namedtuple(class_name(op["name"]), fields, module=module)


def of(op: dict[str, Any]) -> type[tuple[Any, ...]]:
    """The one named tuple of an op's outputs that is in this module, so that results can be pickled."""
    name = class_name(op["name"])
    if name not in globals():
        globals()[name] = make(op, __name__)
    found: type[tuple[Any, ...]] = globals()[name]
    return found


def __getattr__(name: str) -> type[tuple[Any, ...]]:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        op = _kernlink.op_def(name)
    except Exception:
        raise AttributeError(f"there is no op {name}") from None
    if len(op["outputs"]) < 2:
        raise AttributeError(f"the op {name} has no named tuple: its outputs are {len(op['outputs'])}")
    return of(op)
