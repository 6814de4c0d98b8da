"""Docstrings of ops' functions, laid out as TensorFlow's."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from ._names import Parameter


def docstring(op: dict[str, Any], parameters: list[Parameter]) -> str:
    """The docstring of an op's function: what it does, its arguments, what it returns."""
    lines = [op["summary"] or f"The op {op['name']}."]
    if op["description"]:
        lines += ["", op["description"].strip()]
    if op["deprecated"]:
        version, instead = op["deprecated"]
        lines += ["", f"Deprecated from version {version} of GraphDefs on: {instead}"]
    lines += ["", "Args:"]
    # The parameter that shows an attr's types, or how many there are; what has the same refers to it.
    shown: dict[str, str] = {}
    for parameter in parameters:
        described = parameter.described
        text = _argument(op, described, shown, "Must have") if parameter.is_input else _attr(parameter)
        if parameter.is_input:
            inferred = (described[kind] for kind in ("number_attr", "type_attr", "type_list_attr"))
            shown = dict.fromkeys(filter(None, inferred), parameter.name) | shown
        elif described["type"] in ("type", "list(type)"):
            shown.setdefault(described["name"], "")
        lines.append(f"  {parameter.name}: {text}{_indented(described['description'], '    ')}")
    lines += ["  name: A name for the operation (optional).", "", "Returns:", *_results(op, shown)]
    return "\n".join(lines) + "\n"


def _results(op: dict[str, Any], shown: dict[str, str]) -> list[str]:
    outputs = op["outputs"]
    texts = [_argument(op, output, shown, "Has") + _indented(output["description"], "    ") for output in outputs]
    if not outputs:
        return ["  The operation in a graph, `None` otherwise."]
    if len(outputs) == 1:
        return [f"  {texts[0]}"]
    fields = ", ".join(output["name"] for output in outputs)
    named = [f"  {output['name']}: {text}" for output, text in zip(outputs, texts, strict=True)]
    return [f"  A tuple of `Tensor` objects ({fields}).", "", *named]


def _argument(op: dict[str, Any], arg: dict[str, Any], shown: dict[str, str], has: str) -> str:
    """What an input or an output is."""
    attrs = {attr["name"]: attr for attr in op["attrs"]}
    if (types := arg["type_list_attr"]) is not None:
        if shown.get(types):
            return f"A list of `Tensor` objects. {has} the same type as `{shown[types]}`."
        if types in shown:
            return f"A list of `Tensor` objects of type `{types}`."
        allowed = attrs[types]["allowed"]
        return "A list of `Tensor` objects" + (f" with types from: {_quoted(allowed)}." if allowed else ".")
    mutable = "mutable " if arg["is_ref"] else ""
    if (number := arg["number_attr"]) is not None:
        count = f"`{number}` " if has == "Has" else f"at least {least} " if (least := attrs[number]["minimum"]) else ""
        some = f"with the same length as `{shown[number]}` of " if number in shown else f"of {count}"
        return f"A list {some}{_items(arg, attrs, shown, mutable)}"
    if arg["type"] is not None:
        return f"A `Tensor` of type {mutable}`{arg['type']}`."
    attr, one = arg["type_attr"], f"A {mutable}`Tensor`"
    if shown.get(attr):
        return f"{one}. {has} the same type as `{shown[attr]}`."
    if attr in shown:
        return f"{one} of type `{attr}`."
    allowed = attrs[attr]["allowed"]
    return one + (f". Must be one of the following types: {_quoted(allowed)}." if allowed else ".")


def _items(arg: dict[str, Any], attrs: dict[str, Any], shown: dict[str, str], mutable: str) -> str:
    """What the tensors of a list with one type are."""
    if arg["type"] is not None:
        return f"`Tensor` objects with type {mutable}`{arg['type']}`."
    attr, one = arg["type_attr"], f"{mutable}`Tensor` objects"
    if attr in shown:
        return f"{one} with {f'the same type as `{shown[attr]}`' if shown[attr] else f'type `{attr}`'}."
    allowed = attrs[attr]["allowed"]
    return f"{one} with the same type" + (f" in: {_quoted(allowed)}." if allowed else ".")


# What one value of an attr is, and what several are.
_KINDS = {
    "type": ("`kernlink.DType`", "`kernlink.DTypes`"),
    "shape": ("shape, a list of `ints`", "shapes, each a list of `ints`"),
    "func": ("function", "functions"),
    "tensor": ("`Tensor`", "`Tensor` objects"),
}


def _attr(parameter: Parameter) -> str:
    """What an attr's value is."""
    attr = parameter.described
    kind: str = attr["type"]
    base = kind.removeprefix("list(").removesuffix(")")
    one, several = _KINDS.get(base, (f"`{base}`", f"`{base}s`"))
    least, allowed = attr["minimum"], attr["allowed"]
    bound = f" that is `>= {least}`" if least is not None else ""
    if base != kind:
        bound = f" that has length `>= {least}`" if least else ""
    choice = ""
    if allowed:
        names = (f'"{item}"' if base == "string" else f"kernlink.{item}" for item in allowed)
        choice = f" from: `{', '.join(names)}`"
    what = f"{one if base == kind else f'list of {several}'}{choice}{bound}"
    if parameter.has_default:
        return f"An optional {what}. Defaults to `{_shown(parameter.default)}`."
    return f"{'An' if what.startswith('`int') else 'A'} {what}."


def _shown(value: Any) -> str:
    """A default, with strings as TensorFlow shows them and floats without a needless `.0`."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return repr(value).removesuffix(".0") if math.isfinite(value) else f"float('{value}')"
    return repr(value)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _indented(text: str, indent: str) -> str:
    lines = text.strip().split("\n") if text.strip() else []
    return "".join(f"\n{indent}{line}" if line else "\n" for line in lines)
