"""What functions of ops take and give, for type checkers and for `help`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from ._dtypes import DType
from ._kernlink import Tensor


class HasArray(Protocol):
    """An array of NumPy's, or what becomes one."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class HasDLPack(Protocol):
    """A tensor of another library's."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class HasTensor(Protocol):
    """A variable."""

    def __kernlink_tensor__(self) -> Any: ...


class IsOutput(Protocol):
    """An output of an operation in a graph."""

    @property
    def op(self) -> Any: ...


class HasName(Protocol):
    """A dtype of NumPy's, or a function of a graph."""

    @property
    def name(self) -> str: ...


TensorLike: TypeAlias = (
    Tensor
    | HasArray
    | HasDLPack
    | HasTensor
    | IsOutput
    | bool
    | int
    | float
    | complex
    | str
    | bytes
    | Sequence["TensorLike"]
)
DTypeLike: TypeAlias = DType | HasName | type | str | int
# None is any rank, None as a size any size.
ShapeLike: TypeAlias = Sequence[int | None] | int | None
FunctionLike: TypeAlias = Callable[..., Any] | HasName | str
PathLike: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
# A serialized message.
Serialized: TypeAlias = bytes | bytearray | memoryview
# What an op without outputs gives: None, in a graph the operation.
Effect: TypeAlias = Any

__all__ = [
    "DTypeLike",
    "Effect",
    "FunctionLike",
    "Literal",
    "PathLike",
    "Sequence",
    "Serialized",
    "ShapeLike",
    "Tensor",
    "TensorLike",
]
