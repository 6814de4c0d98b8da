"""Some elements of a tensor: what `tensor[...]` gives, and the rows that a gradient is of."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, NamedTuple

from . import raw_ops
from ._kernlink import SymbolicTensor, Tensor
from .errors import InvalidArgumentError


class IndexedSlices(NamedTuple):
    """Some rows of a tensor, as a gradient of what gathers rows: those that are there several times count as often."""

    values: Tensor
    indices: Tensor
    dense_shape: Tensor


class OutOfBoundsError(InvalidArgumentError, IndexError):
    """An index is out of the range of a dimension, or of the dimensions: loops over indices end by it, as Python's do."""


def elements(tensor: Any, index: Any) -> Any:
    """The elements of a tensor that an index means, by TensorFlow's rules.

    Args:
      tensor: a tensor, or an output of a graph.
      index: an integer, a slice, `...`, `None` for a new dimension, or a tuple or list of these, in which integers may be scalar
        tensors; or a mask of bools, which is an array or a tensor.

    Returns:
      The elements.

    Raises:
      TypeError: for another index.
      InvalidArgumentError: for an integer that is out of range, and what else the op `StridedSlice` refuses. It is an IndexError if
        the size of the dimension is known.
    """
    if isinstance(index, bool) or _dtype_name(index) == "bool":
        return _masked(tensor, index)
    items = [_item(item) for item in (index if isinstance(index, (tuple, list)) else [index])]
    _check_range(tensor, items)
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    for place, item in enumerate(items):
        bit = 1 << place
        first: Any = 0
        last: Any = 0
        step: Any = 1
        if isinstance(item, slice):
            if item.start is None:
                begin_mask |= bit
            else:
                first = item.start
            if item.stop is None:
                end_mask |= bit
            else:
                last = item.stop
            step = 1 if item.step is None else item.step
        elif isinstance(item, EllipsisType):
            ellipsis_mask |= bit
        elif item is None:
            new_axis_mask |= bit
        else:
            first = item
            last = first + 1
            shrink_axis_mask |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    first, last, step = _vectors(begin, end, strides)
    return raw_ops.StridedSlice(
        input=tensor,
        begin=first,
        end=last,
        strides=step,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
    )


def _dtype_name(value: Any) -> Any:
    return getattr(getattr(value, "dtype", None), "name", None)


def _item(item: Any) -> Any:
    """An index with integers of Python's, or scalars of a graph."""
    if item is None or isinstance(item, EllipsisType):
        return item
    if isinstance(item, slice):
        return slice(*(None if part is None else _integer(part) for part in (item.start, item.stop, item.step)))
    return _integer(item)


def _integer(value: Any) -> Any:
    """An integer of Python's, or a scalar of a graph: of tensors that are there the value is enough."""
    value = value.read_value() if hasattr(value, "read_value") else value
    if isinstance(value, SymbolicTensor):
        if _dtype_name(value) in ("int32", "int64") and value.shape in ((), None):
            return value
    elif not isinstance(value, bool) and hasattr(value, "__index__") and getattr(value, "shape", ()) == ():
        try:
            return _within_64_bits(value.__index__())
        except TypeError:
            pass
    raise TypeError(f"an index is an integer, a slice, `...`, `None`, or a scalar tensor of int32 or int64, not {value!r}")


def _within_64_bits(value: int) -> int:
    return min(max(value, -(2**63)), 2**63 - 1)


def _check_range(tensor: Any, items: list[Any]) -> None:
    """Refuses integers that are out of the range of known dimensions."""
    shape = tensor.shape
    dimensions = [item for item in items if item is not None and not isinstance(item, EllipsisType)]
    if shape is None:
        return
    if len(dimensions) > len(shape):
        raise OutOfBoundsError(f"{len(dimensions)} indices are too many for the shape {tuple(shape)}")
    # After an ellipsis dimensions are counted from the last one.
    before = next((place for place, item in enumerate(items) if isinstance(item, EllipsisType)), len(items))
    counted = sum(item is not None for item in items[:before])
    sizes = [*shape[:counted], *(shape[len(shape) - len(dimensions) + counted :] if counted < len(dimensions) else ())]
    for item, size in zip(dimensions, sizes, strict=True):
        if isinstance(item, int) and size is not None and not -size <= item < size:
            raise OutOfBoundsError(f"index {item} is out of range for a dimension of {size}")


def _vectors(*lists: list[Any]) -> list[Any]:
    """The lists as one-dimensional tensors of one dtype."""
    parts = [part for numbers in lists for part in numbers]
    symbolic = [part for part in parts if isinstance(part, SymbolicTensor)]
    numbers = [part for part in parts if not isinstance(part, SymbolicTensor)]
    is_wide = any(part.dtype.name == "int64" for part in symbolic) or any(not -(2**31) <= part < 2**31 for part in numbers)
    dtype = "int64" if is_wide else "int32"
    return [_vector(numbers, dtype) for numbers in lists]


def _vector(numbers: list[Any], dtype: str) -> Any:
    if not any(isinstance(number, SymbolicTensor) for number in numbers):
        return Tensor(numbers, dtype)
    same = [
        raw_ops.Cast(x=number, DstT=dtype)
        if isinstance(number, SymbolicTensor) and number.dtype.name != dtype
        else number
        for number in numbers
    ]
    return raw_ops.Pack(values=same)


def _masked(tensor: Any, mask: Any) -> Any:
    """The elements, or rows, at which a mask is true."""
    shape, own = getattr(mask, "shape", ()), tensor.shape
    if shape == ():
        raise ValueError("a mask is no scalar")
    if shape is not None and own is not None:
        pairs = zip(shape, own, strict=False)
        if len(shape) > len(own) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise ValueError(f"a mask of shape {tuple(shape)} does not suit the shape {tuple(own)}")
    return raw_ops.GatherNd(params=tensor, indices=raw_ops.Where(condition=mask))
