"""Functions for ops, made from the ops' declarations by TensorFlow's rules.

Attrs that follow from the inputs are no parameters. Inputs come first, then attrs without a default, then those with one, then `name`.
A function's text is compiled when it is first asked for: most programs use few of the ops.
"""

from __future__ import annotations

import collections
import keyword
import re
import types
from collections.abc import Iterable
from typing import Any

from . import _dtypes
from ._kernlink import execute, op_def

# What TensorFlow calls an argument otherwise in Python than in the op's declaration.
_RENAMED: dict[str, dict[str, str]] = {
    **{
        op: {"reduction_indices": "axis"}
        for op in ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
    },
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}

# Words of Python's and names of its earlier versions, to which TensorFlow adds an underscore.
_WORDS = frozenset(keyword.kwlist) | {"print", "exec"}


def snake_case(name: str) -> str:
    """The name of an op's function: `mat_mul` for `MatMul`, `batch_mat_mul_v2` for `BatchMatMulV2`."""
    name = name.replace(">", "_")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = name.lower()
    return name + "_" if name in _WORDS else name


def _python_name(op: str, argument: str) -> str:
    name = _RENAMED.get(op, {}).get(argument, argument)
    return name + "_" if name in _WORDS else name


def _inferred(op: dict[str, Any]) -> set[str]:
    kinds = ("number_attr", "type_attr", "type_list_attr")
    return {arg[kind] for arg in op["inputs"] for kind in kinds if arg[kind] is not None}


def _default(attr: dict[str, Any]) -> Any:
    """The default of an attr as a person writes it."""
    value, kind = attr["default"], attr["type"]
    if kind == "string":
        return _text(value)
    if kind == "list(string)":
        return [_text(item) for item in value]
    if kind == "type":
        return _dtypes.as_dtype(value)
    if kind == "list(type)":
        return [_dtypes.as_dtype(item) for item in value]
    if kind == "shape" and value is not None:
        return list(value)
    return value


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _asked(op: dict[str, Any]) -> list[dict[str, Any]]:
    """The attrs that a caller gives, in the order of the declaration."""
    inferred = _inferred(op)
    return [attr for attr in op["attrs"] if attr["name"] not in inferred]


def _type_text(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _argument_doc(op: dict[str, Any], arg: dict[str, Any], seen: dict[str, str]) -> str:
    """What TensorFlow's page says of an argument's type."""
    attrs = {attr["name"]: attr for attr in op["attrs"]}
    if arg["type_list_attr"] is not None:
        text = "A list of `Tensor` objects."
        allowed = attrs[arg["type_list_attr"]]["allowed"]
        return text + (f" Of types {_type_text(allowed)}." if allowed else "")
    reference = "mutable " if arg["is_ref"] else ""
    one = f"A {reference}`Tensor`"
    if arg["number_attr"] is not None:
        least = attrs[arg["number_attr"]]["minimum"]
        count = f"at least {least} " if least else ""
        one = f"A list of {count}{reference}`Tensor` objects"
    if arg["type"] is not None:
        return f"{one} of type `{arg['type']}`."
    attr = arg["type_attr"]
    if attr in seen:
        return f"{one}. Must have the same type as `{seen[attr]}`."
    allowed = attrs[attr]["allowed"]
    return one + ("." if not allowed else f". Must be one of the following types: {_type_text(allowed)}.")


_KINDS = {"type": "kernlink.DType", "shape": "shape", "func": "function", "tensor": "Tensor"}


def _attr_doc(attr: dict[str, Any]) -> str:
    kind: str = attr["type"]
    base = kind[5:-1] if kind.startswith("list(") else kind
    base = _KINDS.get(base, base)
    what = f"list of `{base}`s" if kind.startswith("list(") else f"`{base}`"
    least = attr["minimum"]
    bound = f" that is `>= {least}`" if least is not None and kind == "int" else ""
    if kind.startswith("list(") and least:
        bound = f" that has length `>= {least}`"
    allowed = attr["allowed"]
    choice = ""
    if allowed:
        shown = (repr(item) for item in allowed) if base == "string" else (f"kernlink.{item}" for item in allowed)
        choice = f" from: `{', '.join(shown)}`"
    if "default" in attr:
        return f"An optional {what}{bound}{choice}. Defaults to `{_default(attr)!r}`."
    return f"A {what}{bound}{choice}."


def _indented(text: str, indent: str) -> str:
    return "".join(f"\n{indent}{line}" if line else "\n" for line in text.strip().split("\n")) if text.strip() else ""


def _doc(op: dict[str, Any], parameters: list[tuple[str, dict[str, Any], bool]]) -> str:
    """The function's docstring, laid out as TensorFlow's."""
    name = op["name"]
    lines = [op["summary"] or f"The op {name}."]
    if op["description"]:
        lines += ["", op["description"].strip()]
    if op["deprecated"]:
        version, instead = op["deprecated"]
        lines += ["", f"Deprecated from version {version} of GraphDefs on: {instead}"]
    lines += ["", "Args:"]
    seen: dict[str, str] = {}
    for parameter, described, is_input in parameters:
        text = _argument_doc(op, described, seen) if is_input else _attr_doc(described)
        if is_input and described["type_attr"] is not None:
            seen.setdefault(described["type_attr"], parameter)
        lines.append(f"  {parameter}: {text}{_indented(described['description'], '    ')}")
    lines.append("  name: A name for the operation (optional).")
    lines += ["", "Returns:"]
    outputs = op["outputs"]
    texts = [_argument_doc(op, output, seen).replace(". Must have", ". Has") for output in outputs]
    if not outputs:
        lines.append("  The operation in a graph, `None` otherwise.")
    elif len(outputs) == 1:
        lines.append(f"  {texts[0]}{_indented(outputs[0]['description'], '    ')}")
    else:
        lines.append(f"  A tuple of `Tensor` objects ({', '.join(output['name'] for output in outputs)}).")
        for output, text in zip(outputs, texts, strict=True):
            lines.append(f"\n  {output['name']}: {text}{_indented(output['description'], '    ')}")
    return "\n".join(lines) + "\n"


def parameters(op: dict[str, Any]) -> list[tuple[str, dict[str, Any], bool]]:
    """The parameters of an op's function but the last, `name`: each its name, what it is of, and whether it is an input."""
    found = [(_python_name(op["name"], arg["name"]), arg, True) for arg in op["inputs"]]
    attrs = _asked(op)
    ordered = [attr for attr in attrs if "default" not in attr] + [attr for attr in attrs if "default" in attr]
    return found + [(_python_name(op["name"], attr["name"]), attr, False) for attr in ordered]


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
    op = op_def(op_name)
    given = parameters(op)
    spaces: dict[str, Any] = {"_execute": execute, "_OP": op_name, "__name__": module}
    words = ["*"] if by_name and given else []
    for parameter, described, is_input in given:
        if not is_input and "default" in described:
            spaces[f"_default_{parameter}"] = _default(described)
            words.append(f"{parameter}=_default_{parameter}")
        else:
            words.append(parameter)
    words.append("name=None")
    inputs = "".join(f"{parameter}, " for parameter, _, is_input in given if is_input)
    places = {described["name"]: parameter for parameter, described, is_input in given if not is_input}
    attrs = "".join(f"{places[attr['name']]}, " for attr in _asked(op))
    call = f"_execute(_OP, ({inputs}), ({attrs}), name)"
    if len(op["outputs"]) > 1:
        fields = [output["name"] for output in op["outputs"]]
        spaces["_Outputs"] = collections.namedtuple(snake_or_class(op_name), fields, module=module, rename=True)
        call = f"_Outputs._make({call})"
    text = f"def {name}({', '.join(words)}):\n    return {call}\n"
    exec(compile(text, f"<kernlink: {op_name}>", "exec"), spaces)
    function: types.FunctionType = spaces[name]
    function.__doc__ = _doc(op, given)
    function.__module__ = module
    return function


def snake_or_class(op_name: str) -> str:
    """The name of the named tuple that an op with several outputs gives."""
    return op_name.replace(">", "_")
