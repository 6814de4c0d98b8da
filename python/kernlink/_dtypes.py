"""Dtypes, with TensorFlow's names and numbers."""

from __future__ import annotations

import builtins
from typing import Any


class DType:
    """The type of a tensor's elements."""

    __slots__ = ("_name", "_number", "_size")

    def __init__(self, name: str, number: int, size: int) -> None:
        self._name = name
        self._number = number
        self._size = size

    @property
    def name(self) -> str:
        """The name, such as `float32`."""
        return self._name

    @property
    def as_datatype_enum(self) -> int:
        """The number in TensorFlow's `types.proto`."""
        return self._number

    @property
    def size(self) -> int:
        """Bytes of one element; 0 for strings, resources and variants."""
        return self._size

    @property
    def as_numpy_dtype(self) -> Any:
        """The type of NumPy's, or of `ml_dtypes`, with these elements.

        Raises:
          TypeError: if there is none.
          ImportError: if it is one of `ml_dtypes`, which is not installed.
        """
        if self._name in _OF_ML_DTYPES:
            import ml_dtypes

            return getattr(ml_dtypes, self._name)
        import numpy

        name = _NUMPY_NAMES.get(self._name, self._name)
        if name is None:
            raise TypeError(f"NumPy has no elements for dtype {self._name}")
        return getattr(numpy, name)

    @property
    def is_floating(self) -> builtins.bool:
        """Whether elements are floats."""
        return "float" in self._name

    @property
    def is_complex(self) -> builtins.bool:
        """Whether elements are complex numbers."""
        return self._name.startswith("complex")

    @property
    def is_integer(self) -> builtins.bool:
        """Whether elements are integers, other than quantised ones."""
        return self._name.startswith(("int", "uint"))

    @property
    def is_quantized(self) -> builtins.bool:
        """Whether elements are quantised integers."""
        return self._name.startswith(("qint", "quint"))

    @property
    def is_bool(self) -> builtins.bool:
        """Whether elements are bools."""
        return self._name == "bool"

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return self._number

    def __int__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"kernlink.{self._name}"

    def __str__(self) -> str:
        return f"<dtype: '{self._name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_dtype, (self._name,))


half = float16 = DType("float16", 19, 2)
float32 = DType("float32", 1, 4)
double = float64 = DType("float64", 2, 8)
bfloat16 = DType("bfloat16", 14, 2)
float4_e2m1fn = DType("float4_e2m1fn", 33, 1)
float8_e5m2 = DType("float8_e5m2", 24, 1)
float8_e4m3fn = DType("float8_e4m3fn", 25, 1)
float8_e4m3fnuz = DType("float8_e4m3fnuz", 26, 1)
float8_e4m3b11fnuz = DType("float8_e4m3b11fnuz", 27, 1)
float8_e5m2fnuz = DType("float8_e5m2fnuz", 28, 1)
int2 = DType("int2", 31, 1)
int4 = DType("int4", 29, 1)
int8 = DType("int8", 6, 1)
int16 = DType("int16", 5, 2)
int32 = DType("int32", 3, 4)
int64 = DType("int64", 9, 8)
uint2 = DType("uint2", 32, 1)
uint4 = DType("uint4", 30, 1)
uint8 = DType("uint8", 4, 1)
uint16 = DType("uint16", 17, 2)
uint32 = DType("uint32", 22, 4)
uint64 = DType("uint64", 23, 8)
bool = DType("bool", 10, 1)
complex64 = DType("complex64", 8, 8)
complex128 = DType("complex128", 18, 16)
qint8 = DType("qint8", 11, 1)
qint16 = DType("qint16", 15, 2)
qint32 = DType("qint32", 13, 4)
quint8 = DType("quint8", 12, 1)
quint16 = DType("quint16", 16, 2)
string = DType("string", 7, 0)
resource = DType("resource", 20, 0)
variant = DType("variant", 21, 0)

_ALL = [value for value in list(globals().values()) if isinstance(value, DType)]
_BY_NAME: dict[object, DType] = {dtype.name: dtype for dtype in _ALL}
_BY_NAME |= {"half": half, "double": double, "float": float32, "str": string, "bytes": string}
_BY_NUMBER: dict[int, DType] = {dtype.as_datatype_enum: dtype for dtype in _ALL}
_OF_PYTHON: dict[object, DType] = {
    builtins.float: float32,
    builtins.int: int32,
    builtins.bool: bool,
    builtins.complex: complex128,
    builtins.str: string,
    builtins.bytes: string,
    builtins.object: string,
}
_OF_ML_DTYPES = {dtype.name for dtype in _ALL if dtype.name == "bfloat16" or dtype.name.startswith(("float4", "float8"))}
_OF_ML_DTYPES |= {"int2", "int4", "uint2", "uint4"}
_NUMPY_NAMES: dict[str, str | None] = {
    "bool": "bool_",
    "string": "object_",
    "qint8": "int8",
    "qint16": "int16",
    "qint32": "int32",
    "quint8": "uint8",
    "quint16": "uint16",
    "resource": None,
    "variant": None,
}

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "complex128",
    "complex64",
    "double",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "half",
    "int16",
    "int2",
    "int32",
    "int4",
    "int64",
    "int8",
    "qint16",
    "qint32",
    "qint8",
    "quint16",
    "quint8",
    "resource",
    "string",
    "uint16",
    "uint2",
    "uint32",
    "uint4",
    "uint64",
    "uint8",
    "variant",
]


def as_dtype(value: object) -> DType:
    """The dtype that a value means: a `DType`, a name, a number, a type of Python's or NumPy's.

    Raises:
      TypeError: if it means none.
    """
    if isinstance(value, DType):
        return value
    found: DType | None = None
    if isinstance(value, str):
        found = _BY_NAME.get(value)
    elif isinstance(value, int) and not isinstance(value, builtins.bool):
        found = _BY_NUMBER.get(value)
    elif isinstance(value, type) and value in _OF_PYTHON:
        found = _OF_PYTHON[value]
    else:
        number = getattr(value, "as_datatype_enum", None)
        name = getattr(value, "name", None) or getattr(value, "__name__", None)
        if isinstance(number, int):
            found = _BY_NUMBER.get(number)
        elif isinstance(name, str):
            kind = getattr(value, "kind", None)
            name = "string" if kind in ("S", "U", "O") else name.rstrip("_")
            found = _BY_NAME.get(name)
    if found is None:
        raise TypeError(f"{value!r} is no dtype: name one such as kernlink.float32 or 'float32'")
    return found
