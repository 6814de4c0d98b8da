"""All ops, by their names: functions whose arguments are given by name.

    kernlink.raw_ops.MatMul(a=x, b=y, transpose_b=True)
"""

# What is imported has a private name: `Any` is an op.
from . import _kernlink
from . import errors as _errors


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    # Not before a function is asked for: importing the package takes a few milliseconds less.
    from . import _functions

    try:
        function = _functions.make(name, name, __name__, by_name=True) if _is_public(name) else None
    except _errors.NotFoundError:
        function = None
    if function is None:
        hint = _kernlink.did_you_mean(name, __dir__())
        raise AttributeError(f"there is no op {name}: dir(kernlink.raw_ops) has those that there are{hint}")
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return [name for name in _kernlink.op_names() if _is_public(name)]


def _is_public(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_")
