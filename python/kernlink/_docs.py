"""Docstrings of ops' functions, laid out as TensorFlow's."""

from __future__ import annotations

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
    # The parameter that shows an attr's types; what has the same type refers to it.
    shown: dict[str, str] = {}
    for parameter in parameters:
        described = parameter.described
        text = _argument(op, described, shown, "Must have") if parameter.is_input else _attr(parameter)
        if parameter.is_input and described["type_attr"] is not None:
            shown.setdefault(described["type_attr"], parameter.name)
        if not parameter.is_input and described["type"] in ("type", "list(type)"):
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
        if types in shown:
            return f"A list of `Tensor` objects of type `{types}`."
        allowed = attrs[types]["allowed"]
        return "A list of `Tensor` objects" + (f" with types from: {_quoted(allowed)}." if allowed else ".")
    one = "A mutable `Tensor`" if arg["is_ref"] else "A `Tensor`"
    if (number := arg["number_attr"]) is not None:
        least = attrs[number]["minimum"]
        count = f"at least {least} " if has == "Must have" and least else ""
        count = count or ("" if has == "Must have" else f"`{number}` ")
        one = f"A list of {count}{one[2:]} objects"
    if arg["type"] is not None:
        return f"{one} of type `{arg['type']}`."
    attr = arg["type_attr"]
    if shown.get(attr):
        if number is None:
            return f"{one}. {has} the same type as `{shown[attr]}`."
        return f"{one} with the same type as `{shown[attr]}`."
    if attr in shown:
        return f"{one} of type `{attr}`."
    allowed = attrs[attr]["allowed"]
    if number is not None:
        return f"{one} with the same type" + (f" in: {_quoted(allowed)}." if allowed else ".")
    return one + (f". Must be one of the following types: {_quoted(allowed)}." if allowed else ".")


_KINDS = {"type": "kernlink.DType", "shape": "shape", "func": "function", "tensor": "Tensor"}


def _attr(parameter: Parameter) -> str:
    """What an attr's value is."""
    attr = parameter.described
    kind: str = attr["type"]
    base = kind.removeprefix("list(").removesuffix(")")
    what = f"`{_KINDS.get(base, base)}`"
    if base != kind:
        what = f"list of {what[:-1]}s`" if base in ("int", "float", "bool", "string") else f"list of {what}"
    least, allowed = attr["minimum"], attr["allowed"]
    bound = "" if least is None else f" that {'is' if base == kind else 'has length'} `>= {least}`"
    if base != kind and not least:
        bound = ""
    choice = ""
    if allowed:
        names = (repr(item) if base == "string" else f"kernlink.{item}" for item in allowed)
        choice = f" from: `{', '.join(names)}`"
    if parameter.has_default:
        return f"An optional {what}{bound}{choice}. Defaults to `{parameter.default!r}`."
    return f"{'An' if what.startswith('`int') else 'A'} {what}{bound}{choice}."


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _indented(text: str, indent: str) -> str:
    lines = text.strip().split("\n") if text.strip() else []
    return "".join(f"\n{indent}{line}" if line else "\n" for line in lines)
