"""All ops as functions in snake case, whose arguments are given in order or by name.

    kernlink.ops.mat_mul(x, y, transpose_b=True)
"""

# What is imported has a private name: any public one may be an op's.
from . import _kernlink

_OPS: dict[str, str] = {}


def _ops() -> dict[str, str]:
    """The ops that there are, those of libraries too, by the names of their functions."""
    from . import _names

    _OPS.update({_names.snake_case(op): op for op in _kernlink.op_names() if not op.startswith("_")})
    return _OPS


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    op = None if name.startswith("_") else _OPS.get(name) or _ops().get(name)
    if op is None:
        hint = _kernlink.did_you_mean(name, [*_ops()])
        raise AttributeError(f"there is no op with a function {name}: dir(kernlink.ops) has those that there are{hint}")
    # Not before a function is asked for: importing the package takes a few milliseconds less.
    from . import _functions

    function = _functions.make(op, name, __name__, by_name=False)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return [*_ops()]
