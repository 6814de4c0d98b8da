"""`kernlink.function`: Python functions that become functions of ops."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from ._body import Body
from ._concrete import ConcreteFunction, Constant, is_array, take
from ._kernlink import Graph, SymbolicTensor, Tensor, as_tensor, requested_device
from ._spec import TensorSpec, fits
from ._structure import flatten, frozen, leaves_of, paths, rebuild
from ._tracing import Turn

# So many shapes of arguments are known at most: a trace may serve any number.
_MOST_KINDS = 1000


class _Call:
    """The arguments of a call: their tensors, and what they are like."""

    def __init__(self, bound: inspect.BoundArguments) -> None:
        self.bound = bound
        #: What the nodes of its trace ask for.
        self.device = requested_device()
        #: What each argument is in, and all that is in them: specs of tensors, and constants.
        self.structures: list[Any] = []
        self.leaves: list[Any] = []
        self.tensors: list[Any] = []
        #: Whether a tensor may have the memory of an array that the caller has.
        self.lent: list[bool] = []

    def add(self, name: str, value: Any) -> None:
        """Adds an argument as it is."""
        leaves: list[Any] = []
        structure = flatten(value, leaves)
        self.structures.append(structure)
        for leaf, path in zip(leaves, paths(structure, name), strict=True):
            if isinstance(leaf, TensorSpec):
                self.leaves.append(TensorSpec(leaf.shape, leaf.dtype, leaf.name or path))
                self.tensors.append(leaf)
                self.lent.append(False)
            elif isinstance(leaf, (Tensor, SymbolicTensor)) or is_array(leaf):
                is_lent = not isinstance(leaf, (Tensor, SymbolicTensor))
                # A graph keeps what it takes.
                tensor = as_tensor(leaf, None, Graph._entered() is not None) if is_lent else leaf
                self.leaves.append(TensorSpec.from_tensor(tensor, path))
                self.tensors.append(tensor)
                self.lent.append(is_lent)
            else:
                self.leaves.append(Constant(leaf))

    def add_as(self, name: str, value: Any, template: Any) -> None:
        """Adds an argument of which specs say what it is like."""
        take(template, value, name, self.tensors, self.lent)
        leaves: list[Any] = []
        structure = flatten(template, leaves)
        self.structures.append(structure)
        for leaf, path in zip(leaves, paths(structure, name), strict=True):
            self.leaves.append(TensorSpec(leaf.shape, leaf.dtype, leaf.name or path))

    def kind(self) -> Any:
        """What calls have alike for which one trace may serve: all but shapes."""
        leaves = (leaf.dtype if isinstance(leaf, TensorSpec) else leaf for leaf in self.leaves)
        return (tuple(map(frozen, self.structures)), tuple(leaves), self.device)

    def is_of_same_objects(self, kind: Any) -> bool:
        """Whether calls of this kind have the same objects among their arguments, such as what they are methods of."""
        return _objects(kind[1]) == _objects(self.leaves)

    def shapes(self) -> tuple[Any, ...]:
        """The shapes of the tensors."""
        return tuple(leaf.shape for leaf in self.leaves if isinstance(leaf, TensorSpec))

    def template(self) -> dict[str, Any]:
        """The specs and constants, by argument."""
        leaves = iter(self.leaves)
        arguments = zip(self.bound.arguments, self.structures, strict=True)
        return {name: rebuild(structure, leaves) for name, structure in arguments}


def _objects(leaves: Iterable[Any]) -> list[Constant]:
    return [leaf for leaf in leaves if isinstance(leaf, Constant) and leaf.is_object()]


def _is_gone(kind: Any) -> bool:
    return any(isinstance(leaf, Constant) and leaf.is_gone() for leaf in kind[1])


class Function:
    """A Python function that is traced: it runs once for arguments of other dtypes and shapes, to make a function of ops, which
    runs at every call. Numbers, strings and other values that are no tensors are constants of the trace, so that another value
    is another trace."""

    def __init__(self, python_function: Callable[..., Any], input_signature: Sequence[Any] | None = None) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        #: What the arguments are like, if that was said: specs, also in lists, tuples and dicts.
        self.input_signature = None if input_signature is None else _checked(input_signature)
        self._signature = inspect.signature(python_function)
        # So many arguments come before those of the signature where it is not known to be a method.
        self._unsigned = 0 if self.input_signature is None else self._check_signature()
        self._turn = Turn()
        # By what calls have alike and by the shapes.
        self._traces: dict[Any, dict[Any, ConcreteFunction]] = {}
        # Those for calls with tensors alone, by the device, their dtypes and shapes: what most calls are.
        self._of_tensors: dict[Any, ConcreteFunction] = {}

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Method(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(args, kwargs, is_method=False)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_method: bool) -> Any:
        """Calls it; the first argument of a method is what it is a method of."""
        key = None
        if not kwargs and all(type(value) is Tensor for value in args):
            key = (requested_device(), *[(value.dtype, value.shape) for value in args])
            fast = self._of_tensors
            known = fast.get(key)
            if known is not None and known._is_in_scope():
                return known._run(list(args), None)
        call = self._call(args, kwargs, is_method=is_method)
        found = self._find(call)
        # Defaults may be tensors, too: those of the call are not all that the trace takes then.
        if key is not None and len(call.tensors) == len(args):
            if len(fast) >= _MOST_KINDS:
                fast.clear()
            # Not in what another trace took the place of.
            fast[key] = found
        return found._run(call.tensors, call.lent)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function of ops for arguments like these.

        Args:
          *args: as those of a call, or a `TensorSpec` in the place of a tensor; of tensors only the dtypes and shapes count. They
            may be left out if there is an `input_signature`.
          **kwargs: those by name.

        Returns:
          The function, which ops such as `While` and `If` take, or its `name`, as an attr.
        """
        return self._concrete(args, kwargs, is_method=False)

    def _concrete(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_method: bool) -> ConcreteFunction:
        if self.input_signature is not None and not kwargs and len(args) == (1 if is_method else self._unsigned):
            args = (*args, *self.input_signature)
        return self._find(self._call(args, kwargs, is_method=is_method))

    def __repr__(self) -> str:
        return f"<kernlink.Function {_name_of(self.python_function)}>"

    def _check_signature(self) -> int:
        """How many arguments come before those of the signature in a call of the function itself: of a method one.

        Raises:
          TypeError: if the specs are too few or too many.
        """
        if next(iter(self._signature.parameters), None) == "self":
            self._check_specs(1)
            return 1
        try:
            self._check_specs(0)
        except TypeError:
            # What else a method calls the object that it is of.
            if not _is_of_class(self.python_function):
                raise
            self._check_specs(1)
            return 1
        return 0

    def _check_specs(self, unsigned: int) -> None:
        """Refuses a signature that is not of the arguments behind so many."""
        given = len(self.input_signature or ())
        parameters = list(self._signature.parameters.values())[unsigned:]
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
            return
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if given > len(positional):
            raise TypeError(f"input_signature has {given} specs, and the function {len(positional)} arguments")
        for parameter in [*positional[given:], *(p for p in parameters if p.kind is p.KEYWORD_ONLY)]:
            if parameter.default is parameter.empty:
                raise TypeError(f"input_signature missing type constraint for {parameter.name}")

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_method: bool) -> _Call:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        call = _Call(bound)
        specs = list(self.input_signature or ())
        unsigned = 1 if is_method else self._unsigned
        if specs and unsigned != self._unsigned:
            self._check_specs(unsigned)
        for place, (name, value) in enumerate(bound.arguments.items()):
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                # The order in which they are given does not matter.
                call.add(name, dict(sorted(value.items())))
            elif not specs or place < unsigned:
                call.add(name, value)
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                call.add_as(name, value, tuple(specs))
                specs.clear()
            else:
                call.add_as(name, value, specs.pop(0))
        return call

    def _find(self, call: _Call) -> ConcreteFunction:
        """The trace for a call."""
        kind, shapes = call.kind(), call.shapes()
        found = self._known(kind, shapes)
        if found is None:
            with self._turn.taken():
                found = self._known(kind, shapes)
                if found is None:
                    found = self._trace(call)
                    kept = {kind: traces for kind, traces in self._traces.items() if not _is_gone(kind)}
                    self._traces = {**kept, kind: {**kept.get(kind, {}), shapes: found}}
                    # It may know more of what others served, also of what another thread is finding.
                    self._of_tensors = {}
        return found

    def _known(self, kind: Any, shapes: tuple[Any, ...]) -> ConcreteFunction | None:
        traces = self._traces.get(kind)
        if traces is None:
            return None
        found = traces.get(shapes)
        if found is None:
            suits = [own for own in traces if all(map(fits, shapes, own))]
            # Of those that suit the one that knows most.
            best = next((own for own in suits if all(all(map(fits, own, other)) for other in suits)), None)
            found = traces[best or suits[0]] if suits else None
        return found if found is not None and found._is_in_scope() else None

    def _trace(self, call: _Call) -> ConcreteFunction:
        def run(inputs: list[Any]) -> Any:
            places = iter(inputs)
            given = iter([next(places) if isinstance(leaf, TensorSpec) else leaf.value for leaf in call.leaves])
            arguments = {
                name: rebuild(structure, given)
                for name, structure in zip(call.bound.arguments, call.structures, strict=True)
            }
            bound = inspect.BoundArguments(self._signature, arguments)
            return self.python_function(*bound.args, **bound.kwargs)

        name = _name_of(self.python_function).rpartition(".")[2].strip("<>")
        first = not any(map(call.is_of_same_objects, self._traces))
        body = Body(name, run, [leaf for leaf in call.leaves if isinstance(leaf, TensorSpec)], first=first)
        held, captures, has_effects = body.finish()
        specs = rebuild(body.structure, iter([TensorSpec.from_tensor(output) for output in body.outputs]))
        return ConcreteFunction(held, captures, has_effects, self._signature, call.template(), specs)


class Method:
    """A function with the object that it is a method of."""

    def __init__(self, function: Function, instance: Any) -> None:
        functools.update_wrapper(self, function.python_function)
        self.__self__ = instance
        #: The function.
        self.__func__ = function

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function, which takes the object, too."""
        return self.__func__.python_function

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments but for the object."""
        return inspect.signature(types.MethodType(self.python_function, self.__self__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__._run((self.__self__, *args), kwargs, is_method=True)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function of ops for arguments like these: `Function.get_concrete_function`."""
        return self.__func__._concrete((self.__self__, *args), kwargs, is_method=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Method) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __repr__(self) -> str:
        return f"<kernlink.Function {_name_of(self.python_function)} of {self.__self__!r}>"


def _checked(input_signature: Any) -> tuple[Any, ...]:
    if not isinstance(input_signature, (list, tuple)):
        raise TypeError(f"input_signature is a list or tuple of specs, not of type {type(input_signature).__name__}")
    for leaf in leaves_of(input_signature):
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f"input_signature is of specs, in lists, tuples and dicts, not of type {type(leaf).__name__}")
    return tuple(input_signature)


def _name_of(python_function: Callable[..., Any]) -> str:
    # What is called like a function may have no name.
    return getattr(python_function, "__qualname__", type(python_function).__name__)


def _is_of_class(python_function: Callable[..., Any]) -> bool:
    """Whether a function stands in the body of a class."""
    around = _name_of(python_function).rpartition(".")[0]
    return bool(around) and not around.endswith("<locals>")


@overload
def function(func: Callable[..., Any], input_signature: Sequence[Any] | None = None) -> Function: ...


@overload
def function(
    func: None = None, input_signature: Sequence[Any] | None = None
) -> Callable[[Callable[..., Any]], Function]: ...


def function(func: Callable[..., Any] | None = None, input_signature: Sequence[Any] | None = None) -> Any:
    """Has a Python function run as one of ops.

        @kernlink.function
        def f(x):
            return x * x + 1.0

    Args:
      func: what it calls of `raw_ops`, `ops` and operators becomes nodes; all else happens once, while it is traced. Tensors and
        variables that it closes over are inputs of what it becomes.
      input_signature: a `TensorSpec` for each argument, or specs in lists, tuples and dicts: one trace serves all arguments that
        fit, and others are refused.

    Returns:
      The function, which takes and gives what the Python function does, with tensors for what ops compute; without `func` what
      makes such a function of one.
    """
    if func is None:
        return lambda func: Function(func, input_signature)
    return Function(func, input_signature)
