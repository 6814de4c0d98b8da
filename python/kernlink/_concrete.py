"""Functions of ops for arguments of certain dtypes and shapes."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from . import raw_ops
from ._dtypes import DType
from ._kernlink import HeldFunction, SymbolicTensor, Tensor, as_tensor, execute
from ._spec import TensorSpec, fits
from ._structure import flatten, leaves_of, rebuild, sorted_keys
from ._tracing import outside


class Same:
    """One object in the key of a trace, for as long as it lives: another that comes to lie in its place is another."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self.value: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self.value = lambda: value

    def is_gone(self) -> bool:
        """Whether the object is no longer there."""
        return self.value() is None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and not self.is_gone() and self.value() is other.value()


class SameMethod(Same):
    """One method of one object, as which another object stands at each access."""

    __slots__ = ("_function", "_instance")

    def __init__(self, method: Any) -> None:
        self._function, self._instance = Same(method.__func__), Same(method.__self__)
        self._hash = hash((self._function, self._instance))
        cls: Any = type(method)

        def value() -> Any:
            function, instance = self._function.value(), self._instance.value()
            return None if function is None or instance is None else cls(function, instance)

        self.value = value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SameMethod):
            return False
        return self._function == other._function and self._instance == other._instance


class Constant:
    """A value that is no tensor: another value is another trace."""

    __slots__ = ("_key", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        if hasattr(value, "__func__") and hasattr(value, "__self__"):
            self._key: Any = SameMethod(value)
        elif _is_one_of_a_kind(value):
            self._key = Same(value)
        elif isinstance(value, (float, complex)):
            # 0.0 equals -0.0, and NaN not itself.
            self._key = (type(value), repr(value))
        else:
            try:
                hash(value)
                self._key = (type(value), value)
            except TypeError:
                self._key = Same(value)
        if isinstance(self._key, Same):
            # It is not kept for the sake of a trace.
            self._value = None

    @property
    def value(self) -> Any:
        """The value; `None` if it is an object that is gone."""
        return self._key.value() if isinstance(self._key, Same) else self._value

    def is_object(self) -> bool:
        """Whether it equals itself alone."""
        return isinstance(self._key, Same)

    def is_gone(self) -> bool:
        """Whether it is an object that is no longer there."""
        return isinstance(self._key, Same) and self._key.is_gone()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and bool(self._key == other._key)

    def __repr__(self) -> str:
        return repr(self.value)


def _is_one_of_a_kind(value: Any) -> bool:
    """Whether a value equals itself alone, as variables do."""
    own: Any = type(value).__hash__
    return bool(own is object.__hash__)


def is_array(value: Any) -> bool:
    """Whether a value is an array, or another library's tensor."""
    return hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__")


def take(template: Any, value: Any, path: str, tensors: list[Any], lent: list[bool]) -> None:
    """Adds the tensors of a value to `tensors`, and to `lent` whether they may have the memory of an array.

    Args:
      template: what the value must be like: specs and constants, in lists, tuples and dicts.
      value: the value.
      path: what errors call it.
      tensors: the tensors, in order.
      lent: whether Python may change their elements.

    Raises:
      TypeError: if the value is not like that.
    """
    if isinstance(template, TensorSpec):
        # Variables stand for their values.
        if hasattr(value, "__kernlink_tensor__"):
            value = value.__kernlink_tensor__()
        is_tensor = isinstance(value, (Tensor, SymbolicTensor))
        # A list has no memory, and may have tensors that tapes know.
        is_lent = not is_tensor and not isinstance(value, (list, tuple))
        if not is_tensor and not isinstance(value, TensorSpec):
            try:
                value = _converted(value, template.dtype)
            except (TypeError, ValueError) as error:
                raise TypeError(f"{path}: expected {template}: {error}") from None
        if value.dtype != template.dtype or not fits(value.shape, template.shape):
            raise TypeError(f"{path}: {TensorSpec.from_tensor(value)} does not fit {template}")
        tensors.append(value)
        lent.append(is_lent)
    elif isinstance(template, Constant):
        if Constant(value) != template:
            raise TypeError(f"{path} is {template!r} in this function, not {value!r}")
    elif isinstance(template, Mapping):
        if not isinstance(value, Mapping) or value.keys() != template.keys():
            raise TypeError(f"{path}: expected a dict with the keys {', '.join(map(repr, template))}, not {value!r}")
        for key in sorted_keys(template):
            take(template[key], value[key], f"{path}[{key!r}]", tensors, lent)
    elif isinstance(template, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(template):
            raise TypeError(f"{path}: expected {len(template)} values, as in {template!r}, not {value!r}")
        for place, (item, own) in enumerate(zip(template, value, strict=True)):
            take(item, own, f"{path}[{place}]", tensors, lent)
    elif value is not None:
        raise TypeError(f"{path} is None in this function, not {value!r}")


def _converted(value: Any, dtype: DType) -> Tensor:
    """A value that is no tensor as one of a dtype; numbers in arrays are cast, but for floats to integers."""
    if not is_array(value):
        return as_tensor(value, dtype)
    tensor = as_tensor(value)
    wide, own = (dtype.is_floating or dtype.is_complex), tensor.dtype
    if own == dtype or not (own.is_integer or own.is_floating) or not (wide or (own.is_integer and dtype.is_integer)):
        return as_tensor(value, dtype)
    with outside():
        return raw_ops.Cast(x=tensor, DstT=dtype)


def _specs(template: Any) -> list[TensorSpec]:
    return [leaf for leaf in leaves_of(template) if isinstance(leaf, TensorSpec)]


def _plain(template: Any) -> Any:
    """A template with values in the place of constants."""
    leaves: list[Any] = []
    structure = flatten(template, leaves)
    return rebuild(structure, iter([leaf.value if isinstance(leaf, Constant) else leaf for leaf in leaves]))


class ConcreteFunction:
    """A function of ops, for arguments of certain dtypes and shapes: what `Function.get_concrete_function` gives.

    It is called as the Python function that it was made of, or with its tensors alone, in order or by name. Ops such as
    `While` and `If` take it as an attr. Where it is called by an op, `captured_inputs` follow its arguments.
    """

    def __init__(
        self,
        held: HeldFunction,
        captures: list[Any],
        has_effects: bool,
        signature: inspect.Signature,
        template: dict[str, Any],
        outputs: Any,
    ) -> None:
        self._held = held
        self._captures = captures
        self._op = "StatefulPartitionedCall" if has_effects else "PartitionedCall"
        self._signature = signature
        self._template = template
        self._specs = _specs(list(template.values()))
        self._outputs = outputs
        leaves: list[Any] = []
        self._structure = flatten(outputs, leaves)
        self._output_specs = leaves
        self._dtypes = [spec.dtype for spec in leaves]

    @property
    def name(self) -> str:
        """The name by which ops know it, as long as this object is there."""
        return self._held.name

    @property
    def captured_inputs(self) -> list[Any]:
        """What it takes beside its arguments, after them: variables' handles, and tensors that it closes over."""
        return list(self._captures)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in order and by name: a `TensorSpec` for each tensor, other values as they were."""
        bound = inspect.BoundArguments(self._signature, dict(self._template))
        return tuple(map(_plain, bound.args)), {name: _plain(value) for name, value in bound.kwargs.items()}

    @property
    def structured_outputs(self) -> Any:
        """What it gives: a `TensorSpec` for each tensor."""
        return self._outputs

    @property
    def inputs(self) -> list[TensorSpec]:
        """The tensors among its arguments."""
        return list(self._specs)

    @property
    def outputs(self) -> list[TensorSpec]:
        """The tensors that it gives."""
        return list(self._output_specs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs it, or adds a call to the graph that is entered.

        Args:
          *args: as those of the Python function, or its tensors alone.
          **kwargs: those by name.

        Raises:
          TypeError: if the arguments are not those that it was made for.
        """
        try:
            return self._run(*self._structured(args, kwargs))
        except _DoesNotFit as error:
            flat = self._flat(args, kwargs)
            if flat is None:
                raise TypeError(f"{self!r}: {error}") from None
        return self._run(*flat)

    def _structured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[bool]]:
        tensors: list[Any] = []
        lent: list[bool] = []
        try:
            given = self._signature.bind_partial(*args, **kwargs).arguments
            for name, template in self._template.items():
                if name in given:
                    take(template, given[name], name, tensors, lent)
                elif _specs(template):
                    raise TypeError(f"missing a required argument: {name!r}")
        except TypeError as error:
            raise _DoesNotFit(str(error)) from None
        return tensors, lent

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[bool]] | None:
        """The tensors, if these alone are given."""
        names = [str(spec.name) for spec in self._specs]
        if len(args) > len(names) or kwargs.keys() != set(names[len(args) :]):
            return None
        tensors: list[Any] = []
        lent: list[bool] = []
        given = [*args, *(kwargs[name] for name in names[len(args) :])]
        for value, spec, name in zip(given, self._specs, names, strict=True):
            take(spec, value, name, tensors, lent)
        return tensors, lent

    def _run(self, tensors: list[Any], lent: list[bool] | None) -> Any:
        attrs = (self._dtypes, self.name, None, None, None)
        outputs = execute(self._op, ([*tensors, *self._captures],), attrs, None, lent)
        outputs = outputs if isinstance(outputs, list) else []
        for output, spec in zip(outputs, self._output_specs, strict=True):
            if isinstance(output, SymbolicTensor) and spec.shape is not None:
                output.set_shape(spec.shape)
        return rebuild(self._structure, iter(outputs))

    def _is_in_scope(self) -> bool:
        """Whether the graphs are entered whose outputs it takes."""
        graphs = [value.graph for value in self._captures if isinstance(value, SymbolicTensor)]
        return all(graph._is_entered for graph in graphs)

    def __repr__(self) -> str:
        args, kwargs = self.structured_input_signature
        given = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
        return f"<kernlink.ConcreteFunction {self.name}({given}) -> {self._outputs!r}>"


class _DoesNotFit(TypeError):
    """Arguments are not those of a function."""
