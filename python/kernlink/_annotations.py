"""The types of what an op's function takes and gives, as texts of the names in `_types`."""

from __future__ import annotations

from typing import Any

from ._names import Parameter, class_name

_OF_ATTRS = {
    "string": "str | bytes",
    "type": "DTypeLike",
    "shape": "ShapeLike",
    "tensor": "TensorLike",
    "func": "FunctionLike",
}


class Annotation(str):
    """A text that `help` shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def of_parameter(parameter: Parameter) -> Annotation:
    """The type of a parameter."""
    described = parameter.described
    if parameter.is_input:
        return Annotation("Sequence[TensorLike]" if _is_list(described) else "TensorLike")
    kind: str = described["type"]
    base = kind.removeprefix("list(").removesuffix(")")
    text = _OF_ATTRS.get(base, base)
    if base == "string" and described["allowed"]:
        text = f"Literal[{', '.join(map(repr, described['allowed']))}]"
    return Annotation(text if base == kind else f"Sequence[{text}]")


def of_output(output: dict[str, Any]) -> Annotation:
    """The type of one of several outputs."""
    return Annotation("list[Tensor]" if _is_list(output) else "Tensor")


def of_result(op: dict[str, Any]) -> Annotation:
    """The type of what the function returns."""
    outputs = op["outputs"]
    if not outputs:
        return Annotation("Effect")
    return of_output(outputs[0]) if len(outputs) == 1 else Annotation(f"_outputs.{class_name(op['name'])}")


def _is_list(arg: dict[str, Any]) -> bool:
    return arg["number_attr"] is not None or arg["type_list_attr"] is not None
