"""Libraries of ops of one's own."""

from __future__ import annotations

import os
import types
from typing import TYPE_CHECKING

from . import _kernlink

if TYPE_CHECKING:
    from ._types import PathLike

_LOADED: dict[str, types.ModuleType] = {}


def load_op_library(library_filename: PathLike) -> types.ModuleType:
    """Loads a library of ops, in Rust with `kernlink::library!()` or in C against TensorFlow's `kernels.h`.

    Args:
      library_filename: the file.

    Returns:
      A module with functions for each op of the library, `zero_out` and, with arguments by name, `ZeroOut`; `OP_NAMES` has the
      ops' names, `LIB_HANDLE` the library, whose `unload()` takes it out of the process.

    Raises:
      kernlink.errors.NotFoundError: if it is no library that can be loaded.
      kernlink.errors.AlreadyExistsError: if there is an op of the name already.
    """
    from . import _functions

    library = _kernlink.load_op_library(_kernlink.path_argument("library_filename", library_filename))
    path = os.fspath(library.path)
    if path in _LOADED:
        return _LOADED[path]
    name = "kernlink.library_" + "".join(letter if letter.isalnum() else "_" for letter in os.path.basename(path))
    module = _functions.module_of(library.ops, name)
    module.__doc__ = f"The ops of {path}."
    module.OP_NAMES = list(library.ops)  # type: ignore[attr-defined]
    module.LIB_HANDLE = library  # type: ignore[attr-defined]
    _LOADED[path] = module
    return module


def _forget(path: str | os.PathLike[str], op_names: list[str]) -> None:
    """Removes what was made of a library that was unloaded."""
    from . import ops, raw_ops
    from ._names import class_name, snake_case

    module = _LOADED.pop(os.fspath(path), None)
    if module is not None:
        _close(module, os.fspath(path), op_names)
    for op in op_names:
        vars(raw_ops).pop(class_name(op), None)
        vars(ops).pop(snake_case(op), None)
        vars(ops)["_OPS"].pop(snake_case(op), None)


def _close(module: types.ModuleType, path: str, op_names: list[str]) -> None:
    """Leaves of a module what says that its library was unloaded."""
    from ._names import class_name, snake_case

    for op in op_names:
        vars(module).pop(class_name(op), None)
        vars(module).pop(snake_case(op), None)

    def gone(name: str) -> None:
        raise AttributeError(f"the library {path} was unloaded, and with it `{name}`: `load_op_library` gives a new module")

    module.__getattr__ = gone  # type: ignore[method-assign]
