"""All ops, by their names: functions whose arguments are given by name.

    kernlink.raw_ops.MatMul(a=x, b=y, transpose_b=True)
"""

# What is imported has a private name: `Any` is an op.
from . import _functions, _kernlink


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in _kernlink.op_names():
        raise AttributeError(f"there is no op {name}: dir(kernlink.raw_ops) has those that there are")
    function = _functions.make(name, name, __name__, by_name=True)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return [name for name in _kernlink.op_names() if name.isidentifier() and not name.startswith("_")]
