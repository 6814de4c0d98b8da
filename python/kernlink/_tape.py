"""`kernlink.GradientTape`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import raw_ops
from ._kernlink import GraphTape, SymbolicTensor, Tape, Tensor, as_tensor
from ._slices import IndexedSlices
from ._structure import flatten, leaves_of, rebuild
from ._variable import Variable, variable_of


class GradientTape:
    """Records what runs on its thread while it is entered, and computes gradients of what that gave.

    In a function, or while a graph is entered, it records the nodes that are added, and adds the nodes of gradients.

    Args:
      persistent: whether it computes several gradients.
      watch_accessed_variables: whether variables that are trained are watched when something reads them.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._tape = self._make()
        self._is_fresh = True
        self._is_recording = False
        self._is_used = False
        # The resources of the variables that it watched, when it is used.
        self._watched: list[str] = []

    def _make(self) -> Tape | GraphTape:
        return GraphTape.of_entered(self._watches_variables) or Tape(self._watches_variables)

    def _get(self) -> Tape | GraphTape:
        self._is_fresh = False
        return self._tape

    def __enter__(self) -> GradientTape:
        if self._is_recording:
            raise RuntimeError("the tape records already")
        if self._is_fresh:
            # It may have been made elsewhere than where it records.
            self._tape = self._make()
        self._get().start()
        self._is_recording = True
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._is_recording:
            self._get().stop()
            self._is_recording = False

    def watch(self, tensor: Any) -> None:
        """Records what is computed from tensors from now on.

        Args:
          tensor: a tensor or variable, or several in nested lists, tuples and dicts.
        """
        values = [self._checked(value) for value in leaves_of(tensor)]
        self._get().watch(values)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Records nothing while the context is entered that this gives.

        Raises:
          ValueError: if the tape is not recording.
        """
        if not self._is_recording:
            raise ValueError("the tape is not recording")
        tape = self._get()
        tape.pause(True)
        try:
            yield
        finally:
            tape.pause(False)

    def reset(self) -> None:
        """Forgets what was recorded and watched."""
        self._get().reset()
        self._is_used = False

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that are watched, and not gone."""
        found = map(variable_of, self._watched if self._is_used else self._get().handle_names())
        return tuple(variable for variable in found if variable is not None)

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """The gradients of the sum of what is recorded.

        Args:
          target: what is differentiated: a tensor, or several in nested lists, tuples and dicts.
          sources: by what: tensors and variables, one or several in the same ways.
          output_gradients: what flows back to each target, ones unless it is given.
          unconnected_gradients: `"none"` or `"zero"`: what is given for a source on which no target depends.

        Returns:
          The gradients, in what the sources are in. One of rows that were gathered is an `IndexedSlices`.

        Raises:
          RuntimeError: if the tape has computed a gradient already, and is not persistent.
        """
        zero = _is_zero(unconnected_gradients)
        if target is None:
            raise TypeError("the target is None: expected tensors or variables")
        leaves: list[Any] = []
        structure = flatten(sources, leaves)
        flows = None if output_gradients is None else leaves_of(output_gradients)
        found = self._compute(leaves_of(target), leaves, flows)
        self._use()
        return rebuild(structure, iter(_or_zeros(found, leaves) if zero else found))

    def _checked(self, value: Any) -> Any:
        """A tensor, or the handle of a variable, if the tape may know it."""
        value = getattr(value, "handle", value)
        if not isinstance(value, (Tensor, SymbolicTensor)):
            raise TypeError(f"tensors and variables are watched and differentiated, not what is of type {type(value).__name__}")
        if isinstance(value, SymbolicTensor) and isinstance(self._tape, Tape):
            raise TypeError(
                f"the tape records what runs at once, and {value!r} has no value before its graph runs: enter a tape within the "
                "function or the graph"
            )
        return value

    def _compute(self, ys: Sequence[Any], xs: Sequence[Any], flows: Sequence[Any] | None) -> list[Any]:
        if self._is_used:
            raise RuntimeError("a tape computes one set of gradients, unless it is made with persistent=True")
        if not self._persistent:
            self._stop()
        tensors = list(map(self._checked, ys)), list(map(self._checked, xs))
        if flows is not None:
            if len(flows) != len(ys):
                raise ValueError(f"{len(flows)} tensors flow back to {len(ys)} targets")
            flows = [_flow(flow, y) for flow, y in zip(flows, ys, strict=True)]
        found = self._get().gradients(*tensors, flows)
        for gradient, x in zip(found, xs, strict=True):
            if isinstance(gradient, SymbolicTensor) and x.shape is not None:
                gradient.set_shape(x.shape)
        return found

    def _use(self) -> None:
        """Forgets what a tape that is not persistent has recorded."""
        if not self._persistent and not self._is_used:
            self._watched = self._get().handle_names()
            self._get().reset()
            self._is_used = True

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str = "none") -> Any:
        """The gradients of each element of a tensor.

        Args:
          target: the tensor; its shape must be known.
          sources: tensors and variables, one or several in nested lists, tuples and dicts.
          unconnected_gradients: `"none"` or `"zero"`: what is given for a source on which the target does not depend.

        Returns:
          For each source a tensor of the target's shape and then the source's.

        Raises:
          TypeError: if the target is not one tensor or variable.
          ValueError: if its shape is not known.
          RuntimeError: if the tape has computed a gradient already, and is not persistent.
        """
        zero = _is_zero(unconnected_gradients)
        shape = _known_shape(_one("target", target))
        leaves: list[Any] = []
        structure = flatten(sources, leaves)
        count = math.prod(shape)
        rows = [self._compute([target], leaves, [_one_hot(target, place, count, shape)]) for place in range(count)]
        if not rows:
            rows = [self._compute([target], leaves, None)]
        self._use()
        found = []
        for source, *flows in zip(leaves, *rows, strict=True):
            if all(flow is None for flow in flows):
                found.append(raw_ops.BroadcastTo(input=_zeros(source), shape=_joined(shape, source)) if zero else None)
                continue
            whole = raw_ops.Pack(values=[_dense(flow) for flow in flows][:count])
            found.append(raw_ops.Reshape(tensor=whole, shape=_joined(shape, source)))
        return rebuild(structure, iter(found))

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: str = "none") -> Any:
        """The gradients of each element of each row of a tensor with respect to the same row of a source.

        Args:
          target: the tensor; its shape must be known.
          source: a tensor or variable with as many rows, on which rows of the target depend as rows alone.
          unconnected_gradients: `"none"` or `"zero"`: what is given if the target does not depend on the source.

        Returns:
          A tensor of the number of rows, the rest of the target's shape, and the rest of the source's.

        Raises:
          TypeError: if target or source is not one tensor or variable.
          ValueError: if the numbers of rows differ, or a shape is not known.
          RuntimeError: if the tape has computed a gradient already, and is not persistent.
        """
        zero = _is_zero(unconnected_gradients)
        shape, own = _known_shape(_one("target", target)), _known_shape(_one("source", source))
        if not shape or not own or shape[0] != own[0]:
            raise ValueError(f"target and source must have as many rows, not the shapes {shape} and {own}")
        count = math.prod(shape[1:])
        ones = raw_ops.OnesLike(x=target)
        columns = [
            self._compute([target], [source], [ones * _one_hot(target, place, count, shape[1:])])[0]
            for place in range(count)
        ]
        self._use()
        whole = [shape[0], *shape[1:], *own[1:]]
        if all(column is None for column in columns):
            return raw_ops.Fill(dims=whole, value=raw_ops.Cast(x=0, DstT=source.dtype)) if zero else None
        return raw_ops.Reshape(tensor=raw_ops.Pack(values=list(map(_dense, columns)), axis=1), shape=whole)


def _one(name: str, value: Any) -> Any:
    """A tensor or variable.

    Raises:
      TypeError: if it is neither.
    """
    if not isinstance(value, (Tensor, SymbolicTensor, Variable)):
        several = ": call it for each of them" if isinstance(value, (list, tuple, Mapping)) else ""
        raise TypeError(f"{name} is one tensor or variable, not what is of type {type(value).__name__}{several}")
    return value


def _is_zero(unconnected_gradients: str) -> bool:
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(f"unconnected_gradients is 'none' or 'zero', not {unconnected_gradients!r}")
    return unconnected_gradients == "zero"


def _flow(value: Any, target: Any) -> Any:
    """What flows back to a target."""
    return value if isinstance(value, (Tensor, SymbolicTensor)) else as_tensor(value, target.dtype)


def _zeros(source: Any) -> Any:
    return raw_ops.ZerosLike(x=source)


def _or_zeros(found: list[Any], sources: list[Any]) -> list[Any]:
    return [_zeros(source) if own is None else own for own, source in zip(found, sources, strict=True)]


def _known_shape(tensor: Any) -> tuple[int, ...]:
    shape = tensor.shape
    if shape is None or None in shape:
        raise ValueError(f"the shape of {tensor!r} must be known")
    return tuple(shape)


def _one_hot(target: Any, place: int, count: int, shape: tuple[int, ...]) -> Any:
    """Ones at one place of a shape, and zeros elsewhere."""
    on, off = (raw_ops.Cast(x=value, DstT=target.dtype) for value in (1, 0))
    row = raw_ops.OneHot(indices=place, depth=count, on_value=on, off_value=off)
    return raw_ops.Reshape(tensor=row, shape=list(shape))


def _joined(shape: tuple[int, ...], source: Any) -> Any:
    return [*shape, *_known_shape(source)]


def _dense(gradient: Any) -> Any:
    if not isinstance(gradient, IndexedSlices):
        return gradient
    rows = raw_ops.StridedSlice(input=gradient.dense_shape, begin=[0], end=[1], strides=[1], shrink_axis_mask=1)
    return raw_ops.UnsortedSegmentSum(data=gradient.values, segment_ids=gradient.indices, num_segments=rows)
