"""Variables."""

from __future__ import annotations

import itertools
import os
import weakref
from typing import TYPE_CHECKING, Any

from . import raw_ops
from ._kernlink import OPERATORS, Graph, SymbolicTensor, Tensor, as_tensor, destroy_resource, set_trainable, value_text
from ._tracing import check_variable, outside

if TYPE_CHECKING:
    from ._kernlink import _Operators
else:
    _Operators = object

_NUMBERS = itertools.count()

# By the names of their resources.
_VARIABLES: weakref.WeakValueDictionary[str, Variable] = weakref.WeakValueDictionary()


def variable_of(resource: str) -> Variable | None:
    """The variable that has the resource of this name, if it is there."""
    return _VARIABLES.get(resource)


class Variable(_Operators):
    """A value that ops change: weights that are trained, counters.

    Tapes record what is read, and functions take the variables that they use as they are when they are called: the value stays as
    long as the variable or a function that uses it. A function makes variables only when it is traced for the first time.

    Args:
      initial_value: the value that it begins with, or a function without arguments that gives it.
      trainable: whether tapes watch it when it is read.
      name: what it is called.
      dtype: the dtype; without one that of the value.

    Raises:
      ValueError: in a function that is traced again, and if the value is an output of a graph.
    """

    # Arrays of NumPy's leave their operators to the variable.
    __array_priority__ = 100.0

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        check_variable()
        _check_value(initial_value)
        # It is there before the function runs that makes it.
        with outside():
            if callable(initial_value):
                initial_value = initial_value()
            value = as_tensor(initial_value, dtype, True)
            _check_value(value)
            self._dtype = value.dtype
            self._shape = value.shape
            self._trainable = trainable
            self.name = name or "Variable"
            shared = f"kernlink_{self.name}_{next(_NUMBERS)}"
            #: The resource's handle, which the ops of variables take.
            self.handle: Tensor = raw_ops.VarHandleOp(dtype=value.dtype, shape=list(value.shape), shared_name=shared)
            raw_ops.AssignVariableOp(resource=self.handle, value=value)
            other = raw_ops.Identity(input=self.handle)
        if not trainable:
            set_trainable(self.handle, False)
        _VARIABLES[shared] = self
        # Functions capture the handle, and use the resource when the variable is gone. At the end of the program others may still ask
        # for it, who save it for one.
        weakref.finalize(self.handle, _destroy, other, os.getpid()).atexit = False

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def trainable(self) -> bool:
        """Whether tapes watch it when it is read."""
        return self._trainable

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self._shape)

    def tolist(self) -> Any:
        """The value as nested lists of Python's numbers, or one number."""
        return self.read_value().tolist()

    def item(self) -> Any:
        """The value of a variable with one element, as a number of Python's."""
        return self.read_value().item()

    def read_value(self) -> Any:
        """The value: a tensor, or an output of the graph that is entered."""
        value: Any = raw_ops.ReadVariableOp(resource=self.handle, dtype=self._dtype)
        if isinstance(value, SymbolicTensor):
            value.set_shape(self._shape)
        return value

    value = read_value

    def _own(self, value: Any) -> Any:
        """The value in the variable's dtype, if it is an array or one of Python's own."""
        is_tensor = isinstance(value, (Tensor, SymbolicTensor, Variable))
        return value if is_tensor else as_tensor(value, self._dtype)

    def assign(self, value: Any) -> Variable:
        """Sets the value."""
        value = self._own(value)
        shape = getattr(value, "shape", self._shape)
        if shape is not None and (len(shape) != len(self._shape) or _differ(shape, self._shape)):
            raise ValueError(f"a value of shape {tuple(shape)} cannot be assigned to {self!r}")
        raw_ops.AssignVariableOp(resource=self.handle, value=value)
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Adds to the value."""
        raw_ops.AssignAddVariableOp(resource=self.handle, value=self._own(delta))
        return self

    def assign_sub(self, delta: Any) -> Variable:
        """Subtracts from the value."""
        raw_ops.AssignSubVariableOp(resource=self.handle, value=self._own(delta))
        return self

    def numpy(self) -> Any:
        """The value as an array of NumPy's."""
        return self.read_value().numpy()

    def __kernlink_tensor__(self) -> Any:
        return self.read_value()

    def __getitem__(self, index: Any, /) -> Any:
        return self.read_value()[index]

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __int__(self) -> int:
        return int(self.read_value())

    def __float__(self) -> float:
        return float(self.read_value())

    def __complex__(self) -> complex:
        return complex(self.read_value())

    def __format__(self, specification: str) -> str:
        return format(self.read_value(), specification)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.read_value().__array__(dtype, copy)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Variable, (self.read_value(), self.trainable, self.name))

    def __repr__(self) -> str:
        # A trace is run later, when it may have another value.
        text = None if Graph._entered() else value_text(self.handle, self.dtype)
        value = "" if text is None else f" value={text}"
        return f"<kernlink.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}{value}>"


def _of_value(name: str, operands: int) -> Any:
    """An operator of variables: that of the value, which takes so many operands beside it."""

    def unary(self: Variable) -> Any:
        return getattr(self.read_value(), name)()

    def binary(self: Variable, other: Any, /) -> Any:
        return getattr(self.read_value(), name)(other)

    def power(self: Variable, other: Any, mod: Any = None, /) -> Any:
        return getattr(self.read_value(), name)(other, mod)

    return (unary, binary, power)[operands]


# Variables are told apart by what they are, and so stay hashable though `==` compares elements.
for _name, _operands in OPERATORS.items():
    setattr(Variable, _name, _of_value(_name, _operands))


def _check_value(value: Any) -> None:
    if isinstance(value, SymbolicTensor):
        raise ValueError(f"{value!r} has no value before the graph runs: give a function as the initial value, which gives it")


def _differ(shape: Any, own: tuple[int, ...]) -> bool:
    return any(size is not None and size != other for size, other in zip(shape, own, strict=True))


def _destroy(handle: Tensor, process: int) -> None:
    if os.getpid() != process:
        # Another thread of the process that was forked may hold what guards its variables, and is not here to let go of it.
        return
    try:
        set_trainable(handle, True)
        destroy_resource(handle)
    except Exception:  # The interpreter is ending.
        pass
