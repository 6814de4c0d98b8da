"""Branches and loops, scopes of names, and what waits for what: at once, in graphs and in functions."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import raw_ops
from ._body import Body, in_graph
from ._kernlink import Graph, HeldFunction, SymbolicTensor, Tensor, as_tensor
from ._spec import Shape, TensorSpec, fits, joined
from ._structure import are_alike, flatten, leaves_of, rebuild
from ._variable import Variable


def _body(kind: str, function: Callable[..., Any], arguments: Sequence[TensorSpec], structure: Any) -> Body:
    """A branch, or a part of a loop."""
    return Body(kind, lambda inputs: function(*rebuild(structure, iter(inputs))), arguments)


def _finish(bodies: Sequence[Body], *, passes_on: Sequence[Body] = ()) -> tuple[list[HeldFunction], list[Any], bool]:
    """Functions that all take what one of them captures, behind their arguments; those of `passes_on` also return it. Returns them,
    what they capture, and whether one has effects."""
    captured = Graph._captured([body.graph for body in bodies])
    functions, have_effects = [], False
    for body in bodies:
        held, _, has_effects = body.finish(captured, passes_on=body in passes_on)
        functions.append(held)
        have_effects |= has_effects
    return functions, captured, have_effects


def _with_shapes(outputs: list[Any], shapes: Sequence[Shape]) -> list[Any]:
    for output, shape in zip(outputs, shapes, strict=False):
        if shape is not None:
            output.set_shape(shape)
    return outputs


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """What one of two functions gives.

    At once one of them is called; in a graph or a function both become functions of ops, of which the op `If` calls one.

    Args:
      pred: which: a scalar of bools, or one that is true if it is not zero.
      true_fn: called without arguments if it holds.
      false_fn: called if not. In a graph it must give as many tensors as `true_fn`, of the same dtypes and in the same lists,
        tuples and dicts.
      name: the node's name.

    Returns:
      What the function gives.

    Raises:
      TypeError: in a graph, if `pred` is a bool of Python's, or the functions do not give the same.
    """
    outer = Graph._entered()
    if outer is None:
        if isinstance(pred, SymbolicTensor):
            with pred.graph:
                return cond(pred, true_fn, false_fn, name)
        return true_fn() if pred else false_fn()
    if isinstance(pred, bool):
        raise TypeError("pred must not be a bool of Python's in a graph: call one of the functions, as it is known which")
    then, other = bodies = [_body("cond", function, (), ("list", list, [])) for function in (true_fn, false_fn)]
    dtypes = [output.dtype for output in then.outputs]
    if not are_alike(then.structure, other.structure) or dtypes != [output.dtype for output in other.outputs]:
        raise TypeError("true_fn and false_fn of cond must give as many tensors, of the same dtypes and in the same structure")
    shapes = [joined(one.shape, two.shape) for one, two in zip(then.outputs, other.outputs, strict=True)]
    (then_branch, else_branch), captured, has_effects = _finish(bodies)
    op = raw_ops.If if has_effects else raw_ops.StatelessIf
    outputs: Any = op(
        cond=pred,
        input=captured,
        Tout=dtypes,
        then_branch=then_branch,
        else_branch=else_branch,
        output_shapes=shapes,
        name=name,
    )
    return rebuild(then.structure, iter(_with_shapes(outputs, shapes)))


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Sequence[Any] | None = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Calls `body` with what it gave, first with `loop_vars`, for as long as `cond` holds.

    At once that is a loop of Python's; in a graph or a function both become functions of ops, which the op `While` calls.

    Args:
      cond: takes the variables of the loop, gives a scalar of bools.
      body: takes them, gives the next ones.
      loop_vars: a list or tuple of tensors, or of lists, tuples and dicts of them.
      shape_invariants: for each what is known of its shape in all rounds: a shape or a `TensorSpec`; the shapes that they begin
        with unless it is given.
      parallel_iterations: how many rounds may run at the same time.
      maximum_iterations: how many rounds there may be.
      name: the node's name.

    Returns:
      The variables in the end, in what `loop_vars` are in.

    Raises:
      TypeError: if the dtype of a variable, or what they are in, is not the same after a round.
      ValueError: if the shape of one is not.
    """
    if not isinstance(loop_vars, (list, tuple)):
        raise TypeError(f"loop_vars is a list or tuple of what body takes, not of type {type(loop_vars).__name__}")
    outer = Graph._entered()
    leaves: list[Any] = []
    structure = flatten(loop_vars, leaves)
    if outer is None:
        of_graph = next((leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)), None)
        if of_graph is None:
            return _loop(cond, body, loop_vars, maximum_iterations)
        outer = of_graph.graph
        with outer:
            return while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name)
    begin = [in_graph(outer, leaf) for leaf in leaves]
    shapes = [value.shape for value in begin]
    if shape_invariants is not None:
        shapes = _invariants(loop_vars, shape_invariants)
    specs = [TensorSpec(shape, value.dtype) for value, shape in zip(begin, shapes, strict=True)]

    def next_vars(*values: Any) -> Any:
        return _as_vars(body(*values), loop_vars)

    if maximum_iterations is not None:
        # It counts in the limit's dtype; variables are read once.
        limit = maximum_iterations if isinstance(maximum_iterations, int) else as_tensor(maximum_iterations)
        zero = as_tensor(0, as_tensor(limit).dtype)
        begin, specs = [in_graph(outer, zero), *begin], [TensorSpec([], zero.dtype), *specs]
        structure_of_all: Any = ("list", list, ["leaf", structure])
        bodies = [
            _body("while", lambda count, values: _both(count < limit, cond(*values)), specs, structure_of_all),
            _body("while", lambda count, values: (count + 1, next_vars(*values)), specs, structure_of_all),
        ]
        own = bodies[1].structure[2][1]
    else:
        bodies = [_body("while", function, specs, structure) for function in (cond, next_vars)]
        own = bodies[1].structure
    if not are_alike(own, structure):
        raise TypeError("body of while_loop must give as many tensors as it takes, in the same structure")
    for value, spec, output in zip(begin, specs, bodies[1].outputs, strict=True):
        if output.dtype != spec.dtype:
            raise TypeError(f"a loop variable is {spec.dtype.name} and {output.dtype.name} after a round: cast it")
        if not fits(value.shape, spec.shape):
            raise ValueError(f"a loop variable of shape {value.shape} does not fit its invariant {spec.shape}")
        if not fits(output.shape, spec.shape):
            raise ValueError(
                f"a loop variable has the shape {spec.shape} and {output.shape} after a round: say by shape_invariants "
                "what stays the same"
            )
    (condition, step), captured, has_effects = _finish(bodies, passes_on=bodies[1:])
    op = raw_ops.While if has_effects else raw_ops.StatelessWhile
    shapes = [spec.shape for spec in specs]
    outputs: Any = op(
        input=[*begin, *captured],
        cond=condition,
        body=step,
        output_shapes=[*shapes, *(value.shape for value in captured)],
        parallel_iterations=parallel_iterations,
        name=name,
    )
    outputs = _with_shapes(outputs[: len(begin)], shapes)
    return rebuild(structure, iter(outputs[len(begin) - len(leaves) :]))


def _both(one: Any, other: Any) -> Any:
    return raw_ops.LogicalAnd(x=one, y=other)


def _as_vars(given: Any, loop_vars: Sequence[Any]) -> Any:
    """What a body gives in what the variables are in; one that is alone may be given as it is."""
    items = given if isinstance(given, (list, tuple)) else [given]
    cls: Any = type(loop_vars)
    return cls(*items) if hasattr(cls, "_fields") else cls(items)


def _invariants(loop_vars: Sequence[Any], given: Sequence[Any]) -> list[Shape]:
    if len(given) != len(loop_vars):
        raise ValueError(f"{len(given)} shape_invariants for {len(loop_vars)} variables")
    shapes: list[Shape] = []
    for value, invariant in zip(loop_vars, given, strict=True):
        leaves: list[Any] = []
        if flatten(value, leaves) == "leaf":
            shapes.append((invariant if isinstance(invariant, TensorSpec) else TensorSpec(invariant)).shape)
            continue
        specs = leaves_of(invariant)
        if len(specs) != len(leaves) or not all(isinstance(spec, TensorSpec) for spec in specs):
            raise ValueError("the invariants of nested variables are specs, nested as they are")
        shapes.extend(spec.shape for spec in specs)
    return shapes


def _loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], maximum: Any) -> Any:
    values = loop_vars
    structure = flatten(loop_vars, [])
    rounds: Any = itertools.count() if maximum is None else range(int(maximum))
    for _ in rounds:
        if not cond(*values):
            break
        values = _as_vars(body(*values), loop_vars)
        if not are_alike(flatten(values, []), structure):
            raise TypeError("body of while_loop must give as many tensors as it takes, in the same structure")
    tensors = [leaf if isinstance(leaf, Tensor) else as_tensor(leaf) for leaf in leaves_of(values)]
    return rebuild(structure, iter(tensors))


class _Scopes(threading.local):
    """The scope of names of what runs at once."""

    now = ""


_SCOPES = _Scopes()


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Has the names of nodes begin with that of a scope, a slash behind it; scopes are nested.

    Args:
      name: the name, to which a number is added if another scope has it. One that ends with a slash is an earlier scope.

    Returns:
      The scope's whole name with its slash.

    Raises:
      ValueError: if no name of a node can begin so.
    """
    if not isinstance(name, str):
        raise ValueError("name for name_scope must be a string.")
    graph = Graph._entered()
    if graph is None:
        before = _SCOPES.now
        _SCOPES.now = name if name.endswith("/") or not name else f"{before}{name}/"
        try:
            yield _SCOPES.now
        finally:
            _SCOPES.now = before
        return
    before, scope = graph._enter_scope(name)
    try:
        yield scope
    finally:
        graph._leave_scope(before)


@contextlib.contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None) -> Iterator[None]:
    """Has the nodes that are added to a graph run after others. What runs at once runs in order anyway.

    Args:
      control_inputs: operations and outputs of the graph, and variables, which count as what changed them last; `None` for none,
        also of those around.

    Raises:
      TypeError: if one is neither.
    """
    graph = Graph._entered()
    if graph is None:
        yield
        return
    # What changes variables is in order anyway.
    waited = None if control_inputs is None else [own for own in control_inputs if not isinstance(own, Variable)]
    before = graph._wait_for(waited)
    try:
        yield
    finally:
        graph._wait_for(None)
        graph._wait_for(before)
