"""All ops as functions in snake case, whose arguments are given in order or by name.

    kernlink.ops.mat_mul(x, y, transpose_b=True)
"""

from __future__ import annotations

import types
from typing import Any

from . import _functions
from ._kernlink import op_names

_OPS = {_functions.snake_case(name): name for name in op_names() if not name.startswith("_")}
__all__ = sorted(_OPS)


def __getattr__(name: str) -> types.FunctionType:
    op = _OPS.get(name)
    if op is None:
        raise AttributeError(f"there is no function {name} of an op: see dir(kernlink.ops)")
    function = _functions.make(op, name, __name__, by_name=False)
    globals()[name] = function
    return function


def __dir__() -> list[Any]:
    return list(__all__)
