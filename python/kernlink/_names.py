"""Names and order of what an op's function takes, by the rules of TensorFlow's generator.

Attrs that follow from the inputs are no parameters. Inputs come first, then attrs without a default, then those with one, then `name`.
"""

from __future__ import annotations

import keyword
import struct
from typing import Any, NamedTuple

from . import _dtypes

# What TensorFlow calls an argument otherwise in Python than in the op's declaration: `in_arg { rename_to }` of its ApiDefs. It has no
# other order for any op that both have; `tests/test_signatures.py` compares all of them.
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

# Defaults that TensorFlow has in Python and not in the op's declaration: `attr { default_value }` of its ApiDefs.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "SdcaOptimizer": {"adaptative": True},
    "SdcaOptimizerV2": {"adaptive": True},
}

# Words of Python's and names of its earlier versions, to which TensorFlow adds an underscore.
_WORDS = frozenset(keyword.kwlist) | {"print", "exec"}


class Parameter(NamedTuple):
    """A parameter of an op's function."""

    name: str
    described: dict[str, Any]
    """What it is of, in the op's declaration."""
    is_input: bool

    @property
    def has_default(self) -> bool:
        """Whether a caller may leave it out."""
        return not self.is_input and "default" in self.described

    @property
    def default(self) -> Any:
        """The default as a person writes it."""
        value, kind = self.described["default"], self.described["type"]
        if not kind.startswith("list("):
            return _written(value, kind)
        return [_written(item, kind[5:-1]) for item in value]


def snake_case(name: str) -> str:
    """The name of an op's function: `mat_mul` for `MatMul`, `conv2d_backprop_filter_v2` for `Conv2DBackpropFilterV2`."""
    letters: list[str] = []
    for before, letter, after in zip(" " + name, name, name[1:] + " ", strict=False):
        starts_word = letter.isupper() and before not in " >" and (before.islower() or after.islower())
        letters.append("_" if letter == ">" else ("_" if starts_word else "") + letter.lower())
    return _allowed("".join(letters))


def class_name(op_name: str) -> str:
    """The name of the named tuple that an op with several outputs gives."""
    return op_name.replace(">", "_")


def _allowed(name: str) -> str:
    return name + "_" if name in _WORDS else name


def asked_attrs(op: dict[str, Any]) -> list[dict[str, Any]]:
    """The attrs that a caller gives, in the order of the declaration."""
    kinds = ("number_attr", "type_attr", "type_list_attr")
    inferred = {arg[kind] for arg in op["inputs"] for kind in kinds}
    return [attr for attr in op["attrs"] if attr["name"] not in inferred]


def parameters(op: dict[str, Any]) -> list[Parameter]:
    """The parameters of an op's function but the last, `name`."""
    renamed = _RENAMED.get(op["name"], {})
    defaults = _DEFAULTS.get(op["name"], {})

    def parameter(described: dict[str, Any], is_input: bool) -> Parameter:
        name = described["name"]
        if name in defaults:
            described = {**described, "default": defaults[name]}
        name = _allowed(renamed.get(name, name))
        # All functions have a parameter `name` of their own.
        return Parameter("name_" if name == "name" else name, described, is_input)

    attrs = [parameter(attr, False) for attr in asked_attrs(op)]
    attrs.sort(key=lambda attr: attr.has_default)
    return [parameter(arg, True) for arg in op["inputs"]] + attrs


def _written(value: Any, kind: str) -> Any:
    if kind == "string":
        return _text(value)
    if kind == "type":
        return _dtypes.as_dtype(value)
    if kind == "float":
        return _shortest(value)
    if kind == "shape" and value is not None:
        return list(value)
    return value


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _shortest(value: float) -> float:
    """The float of fewest digits that has the same 32 bits: 0.1 for 0.10000000149011612."""
    bits = struct.pack("f", value)
    texts = (f"{value:.{digits}g}" for digits in range(6, 9))
    return next((float(text) for text in texts if struct.pack("f", float(text)) == bits), value)
