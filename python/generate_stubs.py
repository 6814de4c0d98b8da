"""Writes the stubs of ops' functions: `raw_ops.pyi`, `ops.pyi` and `_outputs.pyi`.

Run it after an op changed, with the extension that `bash python/test.sh` builds:

    PYTHONPATH=target/python-package python3 python/generate_stubs.py [FOLDER]

FOLDER is `kernlink` beside this file unless another is given.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from kernlink import DType, _annotations, _kernlink, _names

FOLDER = pathlib.Path(__file__).parent / "kernlink"
WIDTH = 120

_HEADER = '''"""{} Written by `generate_stubs.py`."""

from . import _dtypes, _outputs
from ._types import DTypeLike, Effect, FunctionLike, Literal, Sequence, ShapeLike, Tensor, TensorLike
'''

_OUTPUTS_HEADER = '''"""The named tuples that ops with several outputs give. Written by `generate_stubs.py`."""

from typing import Any, NamedTuple

from ._kernlink import Tensor

def of(op: dict[str, Any]) -> Any: ...
'''

# Methods of tuples, which a field may hide.
_METHODS = ("count", "index")


def texts() -> dict[str, str]:
    """The text of each stub, by its file's name."""
    ops = [_kernlink.op_def(name) for name in _kernlink.op_names() if not name.startswith("_")]
    raw = "".join(_function(op, _names.class_name(op["name"]), by_name=True) for op in ops)
    snake = "".join(_function(op, _names.snake_case(op["name"]), by_name=False) for op in ops)
    return {
        "raw_ops.pyi": _HEADER.format("All ops, by their names.") + raw,
        "ops.pyi": _HEADER.format("All ops as functions in snake case.") + snake,
        "_outputs.pyi": _OUTPUTS_HEADER + "".join(_outputs_class(op) for op in ops if len(op["outputs"]) > 1),
    }


def _function(op: dict[str, Any], name: str, *, by_name: bool) -> str:
    words = ["*"] if by_name else []
    for parameter in _names.parameters(op):
        default = f" = {_default(parameter.default)}" if parameter.has_default else ""
        words.append(f"{parameter.name}: {_annotations.of_parameter(parameter)}{default}")
    words.append("name: str | None = None")
    result = _annotations.of_result(op)
    line = f"def {name}({', '.join(words)}) -> {result}:"
    if len(line) > WIDTH:
        line = f"def {name}(\n" + "".join(f"    {word},\n" for word in words) + f") -> {result}:"
    return f"\n{line}\n{_docstring(op)}"


def _docstring(op: dict[str, Any]) -> str:
    """The summary alone: an editor shows it, the rest is in the function's docstring."""
    text = " ".join(op["summary"].split()) or f"The op {op['name']}."
    quotes = "'''" if '"""' in text or text.endswith('"') else '"""'
    return f"    {'r' if chr(92) in text else ''}{quotes}{text}{quotes}\n"


def _default(value: Any) -> str:
    if isinstance(value, DType):
        return f"_dtypes.{value.name}"
    if isinstance(value, list):
        return f"[{', '.join(map(_default, value))}]"
    if isinstance(value, float) and repr(value).lstrip("-") in ("inf", "nan"):
        return f"float({str(value)!r})"
    return repr(value) if value is None or isinstance(value, (bool, int, float, str, bytes)) else "..."


def _outputs_class(op: dict[str, Any]) -> str:
    lines = [f"\nclass {_names.class_name(op['name'])}(NamedTuple):\n"]
    for output in op["outputs"]:
        hides = "  # type: ignore[assignment]" if output["name"] in _METHODS else ""
        lines.append(f"    {output['name']}: {_annotations.of_output(output)}{hides}\n")
    return "".join(lines)


def main(folder: pathlib.Path) -> None:
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
