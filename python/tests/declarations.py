"""Declarations of TensorFlow's ops, as the extension describes Kernlink's."""

from __future__ import annotations

from typing import Any

import kernlink


def declaration(op: Any) -> dict[str, Any]:
    """An `OpDef` of TensorFlow's as `kernlink._kernlink.op_def` would describe it."""
    return {
        "name": op.name,
        "summary": op.summary,
        "description": op.description,
        "is_stateful": op.is_stateful,
        "deprecated": None,
        "inputs": [_argument(arg) for arg in op.input_arg],
        "outputs": [_argument(arg) for arg in op.output_arg],
        "attrs": [_attr(attr) for attr in op.attr],
    }


def _dtype(number: int) -> str:
    import tensorflow as tf

    return str(tf.as_dtype(number).name)


def _argument(arg: Any) -> dict[str, Any]:
    return {
        "name": arg.name,
        "description": arg.description,
        "is_ref": arg.is_ref,
        "type": _dtype(arg.type) if arg.type else None,
        "type_attr": arg.type_attr or None,
        "type_list_attr": arg.type_list_attr or None,
        "number_attr": arg.number_attr or None,
    }


def _attr(attr: Any) -> dict[str, Any]:
    allowed: Any = None
    if attr.HasField("allowed_values"):
        values = attr.allowed_values.list
        allowed = [_dtype(number) for number in values.type] or [text.decode() for text in values.s]
    described = {
        "name": attr.name,
        "description": attr.description,
        "type": attr.type,
        "minimum": attr.minimum if attr.has_minimum else None,
        "allowed": allowed,
    }
    if attr.HasField("default_value"):
        described["default"] = _default(attr.default_value, attr.type)
    return described


def _default(value: Any, kind: str) -> Any:
    base = kind.removeprefix("list(").removesuffix(")")
    field = {"int": "i", "float": "f", "bool": "b", "string": "s", "func": "func"}.get(base, base)
    if base != kind:
        return [_one(item, base) for item in getattr(value.list, field)]
    return _one(getattr(value, field), base)


def _one(value: Any, kind: str) -> Any:
    if kind == "type":
        return _dtype(value)
    if kind == "shape":
        sizes = [None if dim.size < 0 else dim.size for dim in value.dim]
        return None if value.unknown_rank else sizes
    if kind == "func":
        return value.name
    if kind == "tensor":
        import tensorflow as tf

        return kernlink.constant(tf.make_ndarray(value), _dtype(value.dtype))
    return value
