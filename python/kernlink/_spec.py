"""What is known of tensors that are not there yet."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ._dtypes import DType, as_dtype, float32

if TYPE_CHECKING:
    from ._types import DTypeLike, ShapeLike

Shape = tuple["int | None", ...] | None


def fits(shape: Shape, wanted: Shape) -> bool:
    """Whether all tensors of one shape are of the other."""
    if wanted is None:
        return True
    if shape is None or len(shape) != len(wanted):
        return False
    return all(size is None or size == own for own, size in zip(shape, wanted, strict=True))


def may_fit(shape: Shape, wanted: Shape) -> bool:
    """Whether some tensors of one shape are of the other."""
    if shape is None or wanted is None:
        return True
    pairs = zip(shape, wanted, strict=False)
    return len(shape) == len(wanted) and all(None in pair or pair[0] == pair[1] for pair in pairs)


def joined(one: Shape, other: Shape) -> Shape:
    """What is known of tensors that are of one shape or the other."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(size if size == own else None for size, own in zip(one, other, strict=True))


class TensorSpec:
    """A dtype and a shape, some sizes of which may be unknown: what a function takes.

    Args:
      shape: the sizes, `None` for those that are unknown; `None` for any rank.
      dtype: the dtype.
      name: what the argument is called.
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None) -> None:
        sizes = (shape,) if isinstance(shape, int) else shape
        self._shape: Shape = None
        if sizes is not None:
            self._shape = tuple(None if size is None or size == -1 else operator.index(size) for size in sizes)
            if any(size is not None and not 0 <= size < 1 << 63 for size in self._shape):
                raise ValueError(f"sizes are 0 or more and below 2**63, or None for unknown ones, not {list(sizes)}")
        self._dtype: DType = as_dtype(dtype)
        self._name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor.

        Args:
          tensor: the tensor, or the output of a graph.
          name: what the argument is called.
        """
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def shape(self) -> Shape:
        """The sizes, `None` for those that are unknown; `None` for any rank."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """What the argument is called."""
        return self._name

    def is_compatible_with(self, tensor: Any) -> bool:
        """Whether a tensor, or what another spec is of, may be of this spec.

        Args:
          tensor: a tensor, the output of a graph or a spec.
        """
        return tensor.dtype == self._dtype and may_fit(tensor.shape, self._shape)

    def _key(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return (TensorSpec, self._key())

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype.name}, name={self._name!r})"
