"""Python functions as the bodies of functions of ops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._kernlink import Graph, HeldFunction, Operation, execute
from ._spec import TensorSpec
from ._structure import flatten, rebuild
from ._tracing import tracing
from ._variable import Variable

_NUMBERS = itertools.count()


class Body:
    """A Python function that is traced: what it computes are nodes of a graph of its own, which becomes a function of ops.

    Args:
      name: what its function's name is made of.
      call: calls the Python function with the inputs.
      specs: what the inputs are like.
      first: whether it may make variables.
    """

    def __init__(
        self, name: str, call: Callable[[list[Any]], Any], specs: Sequence[TensorSpec], *, first: bool = True
    ) -> None:
        self._name = name
        self.graph = Graph._body()
        with self.graph, tracing(first=first):
            self.inputs = [self.graph.placeholder(spec.dtype, spec.shape) for spec in specs]
            #: The outputs, and what they are returned in.
            self.structure, self.outputs = _results_of(self.graph, call(self.inputs))

    def finish(self, captured: Iterable[Any] = (), *, passes_on: bool = False) -> tuple[HeldFunction, list[Any], bool]:
        """The function.

        Args:
          captured: what it takes behind its arguments.
          passes_on: whether it also returns that.

        Returns:
          The function, what else it captured, which it takes behind all that, and whether it has effects.
        """
        inputs = [self.graph._capture(value) for value in captured]
        outputs = [*self.outputs, *inputs] if passes_on else self.outputs
        return self.graph._finish(f"__{self._name}_{next(_NUMBERS)}", [*self.inputs, *inputs], outputs)


def _results_of(graph: Graph, value: Any) -> tuple[Any, list[Any]]:
    """What a function returned in the graph that is entered: what it is in, and its outputs. Operations without outputs give `None`, as
    they do when they run at once."""
    leaves: list[Any] = []
    structure = flatten(value, leaves)
    plain = rebuild(structure, iter([None if isinstance(leaf, Operation) else leaf for leaf in leaves]))
    leaves.clear()
    structure = flatten(plain, leaves)
    return structure, [in_graph(graph, leaf) for leaf in leaves]


def in_graph(graph: Graph, value: Any) -> Any:
    """A result as an output of a graph."""
    if isinstance(value, Variable):
        value = value.read_value()
    return value if graph._has(value) else execute("Identity", (value,), (), None)
