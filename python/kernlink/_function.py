"""`kernlink.function`: Python functions that become functions of ops."""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ._kernlink import Graph, SymbolicTensor, Tensor, as_tensor, execute
from ._variable import Variable

_NUMBERS = itertools.count()


def _flatten(value: Any, leaves: list[Any]) -> Any:
    """Adds the tensors in lists, tuples and dicts to `leaves`; returns what they are in."""
    if isinstance(value, dict):
        return ("dict", type(value), [(key, _flatten(value[key], leaves)) for key in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ("named", type(value), [_flatten(item, leaves) for item in value])
    if isinstance(value, (list, tuple)):
        return ("list", type(value), [_flatten(item, leaves) for item in value])
    if value is None:
        return None
    leaves.append(value)
    return "leaf"


def _rebuild(structure: Any, leaves: Any) -> Any:
    if structure is None:
        return None
    if structure == "leaf":
        return next(leaves)
    kind, cls, items = structure
    if kind == "dict":
        return cls((key, _rebuild(item, leaves)) for key, item in items)
    rebuilt = [_rebuild(item, leaves) for item in items]
    return cls(*rebuilt) if kind == "named" else cls(rebuilt)


class _Concrete:
    """A function of ops, for arguments of certain dtypes and shapes."""

    def __init__(self, name: str, captures: list[Tensor], has_effects: bool, dtypes: list[Any], structure: Any) -> None:
        self.name = name
        self.captures = captures
        self.op = "StatefulPartitionedCall" if has_effects else "PartitionedCall"
        self.dtypes = dtypes
        self.structure = structure

    def __call__(self, tensors: list[Any]) -> Any:
        outputs = execute(self.op, ([*tensors, *self.captures],), (self.dtypes, self.name, None, None, None), None)
        return _rebuild(self.structure, iter(outputs if isinstance(outputs, list) else []))


class _Same:
    """One object in the key of a trace, for as long as it lives: another that comes to lie in its place is another."""

    __slots__ = ("_hash", "_value")

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self._value: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._value = lambda: value

    def is_gone(self) -> bool:
        return self._value() is None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and not self.is_gone() and self._value() is other._value()


def _is_one_of_a_kind(value: Any) -> bool:
    """Whether a value equals itself alone: it is not kept for the sake of a trace."""
    own: Any = type(value).__hash__
    return bool(own is object.__hash__)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__")


def _is_gone(key: Any) -> bool:
    return any(isinstance(part, _Same) and part.is_gone() for part in key[1])


class Function:
    """A Python function that is traced: it runs once for arguments of other dtypes and shapes, to make a function of ops, which
    runs at every call. Numbers, strings and other values that are no tensors are constants of the trace, so that another value
    is another trace."""

    def __init__(self, python_function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self._signature = inspect.signature(python_function)
        self._traces: dict[Any, _Concrete] = {}
        self._lock = threading.RLock()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        concrete, tensors = self._find(args, kwargs)
        return concrete(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> _Concrete:
        """The function of ops for arguments like these: ops such as `While` and `If` take it, or its `name`, as an attr.

        Args:
          *args: as those of a call; of tensors only the dtypes and shapes count.
          **kwargs: those by name.

        Returns:
          The function, which takes a list of tensors.
        """
        return self._find(args, kwargs)[0]

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_Concrete, list[Any]]:
        """The trace for these arguments, and the tensors among them."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        leaves: list[Any] = []
        structure = _flatten(list(bound.arguments.values()), leaves)
        tensors: list[Any] = []
        key: list[Any] = []
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, (Tensor, SymbolicTensor)) or _is_array(leaf):
                tensor = leaf if isinstance(leaf, SymbolicTensor) else as_tensor(leaf)
                tensors.append(tensor)
                shape = tensor.shape
                key.append((tensor.dtype, None if shape is None else tuple(shape)))
                leaves[index] = None
            elif isinstance(leaf, Variable) or _is_one_of_a_kind(leaf):
                key.append(_Same(leaf))
            elif isinstance(leaf, (float, complex)):
                # 0.0 equals -0.0, and NaN not itself.
                key.append((type(leaf), repr(leaf)))
            else:
                try:
                    hash(leaf)
                    key.append((type(leaf), leaf))
                except TypeError:
                    key.append(_Same(leaf))
        found = (_frozen(structure), tuple(key))
        concrete = self._traces.get(found)
        if concrete is None:
            with self._lock:
                concrete = self._traces.get(found)
                if concrete is None:
                    concrete = self._trace(bound, structure, leaves, tensors)
                    kept = {key: trace for key, trace in self._traces.items() if not _is_gone(key)}
                    self._traces = {**kept, found: concrete}
        return concrete, tensors

    def _trace(self, bound: inspect.BoundArguments, structure: Any, leaves: list[Any], tensors: list[Any]) -> _Concrete:
        graph = Graph._body()
        with graph:
            inputs = [graph.placeholder(tensor.dtype, tensor.shape) for tensor in tensors]
            places = iter(inputs)
            given = iter([next(places) if leaf is None else leaf for leaf in leaves])
            arguments = _rebuild(structure, given)
            for name, value in zip(list(bound.arguments), arguments, strict=True):
                bound.arguments[name] = value
            result = self.python_function(*bound.args, **bound.kwargs)
            outputs: list[Any] = []
            shape = _flatten(result, outputs)
            outputs = [_in_graph(output) for output in outputs]
        name = f"__{self.python_function.__name__.strip('<>')}_{next(_NUMBERS)}"
        captures, has_effects = graph._finish(name, inputs, outputs)
        return _Concrete(name, captures, has_effects, [output.dtype for output in outputs], shape)


def _in_graph(value: Any) -> Any:
    """A result as an output of the graph that is entered."""
    if isinstance(value, SymbolicTensor):
        return value
    if isinstance(value, Variable):
        return value.read_value()
    return execute("Identity", (value,), (), None)


def _frozen(structure: Any) -> Any:
    if not isinstance(structure, tuple):
        return structure
    kind, cls, items = structure
    if kind == "dict":
        return (kind, cls, tuple((key, _frozen(item)) for key, item in items))
    return (kind, cls, tuple(_frozen(item) for item in items))


def function(python_function: Callable[..., Any]) -> Function:
    """Has a Python function run as one of ops.

        @kernlink.function
        def f(x):
            return x * x + 1.0

    Args:
      python_function: what it calls of `raw_ops`, `ops` and operators becomes nodes; all else happens once, while it is traced.

    Returns:
      The function, which takes and gives what the Python function does, with tensors for what ops compute.
    """
    return Function(python_function)
