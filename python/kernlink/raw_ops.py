"""All ops, by their names: functions whose arguments are given by name.

    kernlink.raw_ops.MatMul(a=x, b=y, transpose_b=True)
"""

from __future__ import annotations

import types
from typing import Any

from . import _functions
from ._kernlink import op_names

__all__ = [name for name in op_names() if name.isidentifier() and not name.startswith("_")]
_NAMES = frozenset(__all__)


def __getattr__(name: str) -> types.FunctionType:
    if name not in _NAMES:
        raise AttributeError(f"there is no op {name}: kernlink.raw_ops has {len(_NAMES)} ops, see dir(kernlink.raw_ops)")
    function = _functions.make(name, name, __name__, by_name=True)
    globals()[name] = function
    return function


def __dir__() -> list[Any]:
    return list(__all__)
