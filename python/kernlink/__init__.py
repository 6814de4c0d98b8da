"""TensorFlow's ops and models in a package of a few megabytes.

    >>> import kernlink as kl
    >>> kl.raw_ops.MatMul(a=[[1.0, 2.0]], b=[[3.0], [4.0]])
    <kernlink.Tensor: shape=(1, 1), dtype=float32, value=[[11.0]]>

`raw_ops` has the ops by their names, with arguments by name; `ops` has the same as functions in snake case. `saved_model.load` and
`load_graph` run models; `load_op_library` brings ops of one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _interpreter  # noqa: F401  # First: it refuses interpreters in which the extension must not be loaded.
from . import _dtypes, errors, ops, raw_ops, saved_model
from ._dtypes import *  # noqa: F403
from ._dtypes import DType, as_dtype
from ._concrete import ConcreteFunction
from ._control import cond, control_dependencies, name_scope, while_loop
from ._function import Function, function
from ._kernlink import (
    Device,
    Graph,
    MetaGraph,
    NodeStats,
    OpCost,
    Operation,
    RunMetadata,
    Session,
    SessionOptions,
    SymbolicTensor,
    Tensor,
    __version__,
    as_tensor,
    devices,
    from_dlpack,
    load_graph,
    load_meta_graph,
)
from ._kernlink import DeviceScope as device
from ._library import load_op_library
from ._slices import IndexedSlices
from ._spec import TensorSpec
from ._tape import GradientTape
from ._variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from . import tools, train
    from ._types import DTypeLike, TensorLike

convert_to_tensor = as_tensor


def _show_in_notebooks() -> None:
    """Has notebooks show graphs, models and signatures by `_html`, which is imported when they do."""

    def shown_by(name: str) -> Callable[[object], str]:
        def _repr_html_(self: object) -> str:
            from . import _html

            html: str = getattr(_html, name)(self)
            return html

        return _repr_html_

    shown = {Graph: "graph", MetaGraph: "model", saved_model.Signature: "signature", RunMetadata: "run_metadata"}
    for cls, name in shown.items():
        setattr(cls, "_repr_html_", shown_by(name))


_show_in_notebooks()


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # Few programs want these.
        if name in ("tools", "train"):
            from importlib import import_module

            return import_module(f"kernlink.{name}")
        hint = f": the op is `kernlink.ops.{name}`" if not name.startswith("_") and name in dir(ops) else ""
        raise AttributeError(f"module 'kernlink' has no attribute '{name}'{hint}")

    def __dir__() -> list[str]:
        own = [name for name in globals() if name.startswith("__")]
        return sorted({*own, *__all__, "tools", "train"})


def constant(value: TensorLike, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None) -> Tensor:
    """A tensor with a copy of the value.

    Args:
      value: a number, a string, nested lists of them, an array of NumPy's, a tensor.
      dtype: the dtype; without one that of the value, `int32` and `float32` for Python's own numbers.
      shape: the shape, which must have as many elements, or a value of one element is repeated.

    Returns:
      The tensor.
    """
    tensor = as_tensor(value, dtype, True)
    if shape is None:
        return tensor
    if tensor.shape is not None and all(size == 1 for size in tensor.shape):
        return raw_ops.Fill(dims=list(shape), value=raw_ops.Reshape(tensor=tensor, shape=[]))
    return raw_ops.Reshape(tensor=tensor, shape=list(shape))


__all__ = [
    "ConcreteFunction",
    "Device",
    "Function",
    "GradientTape",
    "Graph",
    "IndexedSlices",
    "MetaGraph",
    "NodeStats",
    "OpCost",
    "Operation",
    "RunMetadata",
    "Session",
    "SessionOptions",
    "SymbolicTensor",
    "Tensor",
    "TensorSpec",
    "Variable",
    "__version__",
    "as_tensor",
    "cond",
    "constant",
    "control_dependencies",
    "convert_to_tensor",
    "device",
    "devices",
    "errors",
    "from_dlpack",
    "function",
    "load_graph",
    "load_meta_graph",
    "load_op_library",
    "name_scope",
    "ops",
    "raw_ops",
    "saved_model",
    "tools",
    "train",
    "while_loop",
]
__all__ += _dtypes.__all__
