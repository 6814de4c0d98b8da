"""Functions for ops, made from the ops' declarations.

A function's text is compiled when it is first asked for: most programs use few of the ops. A call goes straight to the extension.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

from . import _annotations, _docs, _kernlink, _outputs, _types
from ._names import asked_attrs, class_name, parameters, snake_case


# What the annotations of the functions name.
_NAMES = {name: getattr(_types, name) for name in _types.__all__} | {"_outputs": _outputs}


def make(op_name: str, name: str, module: str, *, by_name: bool) -> types.FunctionType:
    """The function of an op.

    Args:
      op_name: the op.
      name: the function's name.
      module: the module that it is in.
      by_name: whether all arguments are given by name.

    Returns:
      The function.

    Raises:
      kernlink.errors.NotFoundError: if there is no such op.
    """
    return make_from(_kernlink.op_def(op_name), name, module, by_name=by_name)


def make_from(op: dict[str, Any], name: str, module: str, *, by_name: bool) -> types.FunctionType:
    """The function of an op that is declared so; the others of `make`."""
    given = parameters(op)
    spaces: dict[str, Any] = {**_NAMES, "__name__": module, "_execute": _kernlink.execute, "_OP": op["name"]}
    words = ["*"] if by_name else []
    for parameter in given:
        if parameter.has_default:
            spaces[f"_default_{parameter.name}"] = parameter.default
            words.append(f"{parameter.name}=_default_{parameter.name}")
        else:
            words.append(parameter.name)
    words.append("name=None")
    inputs = "".join(f"{parameter.name}, " for parameter in given if parameter.is_input)
    names = {parameter.described["name"]: parameter.name for parameter in given if not parameter.is_input}
    attrs = "".join(f"{names[attr['name']]}, " for attr in asked_attrs(op))
    call = f"_execute(_OP, ({inputs}), ({attrs}), name)"
    if len(op["outputs"]) > 1:
        spaces["_make"] = _outputs.of(op)._make
        call = f"_make({call})"
    text = f"def {name}({', '.join(words)}):\n    return {call}\n"
    exec(compile(text, f"<kernlink: {op['name']}>", "exec"), spaces)
    function: types.FunctionType = spaces[name]
    function.__doc__ = _docs.docstring(op, given)
    function.__annotations__ = {parameter.name: _annotations.of_parameter(parameter) for parameter in given}
    function.__annotations__ |= {"name": _annotations.Annotation("str | None"), "return": _annotations.of_result(op)}
    return function


def module_of(op_names: Iterable[str], module_name: str) -> types.ModuleType:
    """A module with the functions of ops, as TensorFlow makes one of a library: `zero_out` and, with arguments by name, `ZeroOut`."""
    module = types.ModuleType(module_name)
    names = []
    for op in op_names:
        function = snake_case(op)
        setattr(module, function, make(op, function, module_name, by_name=False))
        setattr(module, class_name(op), make(op, class_name(op), module_name, by_name=True))
        names += [function, class_name(op)]
    module.__all__ = names  # type: ignore[attr-defined]
    return module
