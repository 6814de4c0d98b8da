"""What there is: ops, kernels, graph passes; and crates of ops of one's own. `kernlink.tools` has it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _kernlink
from ._kernlink import bool_argument, path_argument, text_argument

if TYPE_CHECKING:
    from ._types import PathLike


@dataclass(frozen=True)
class Kernel:
    """A kernel that there is."""

    #: The op.
    op: str
    #: The type of device that it is for.
    device: str
    #: The kernel and what it is chosen for, in words.
    text: str
    #: The crate that it is of.
    crate: str
    #: Of several kernels that fit, the highest is chosen.
    priority: int
    #: Chosen only by nodes that ask for it by this; empty for ordinary kernels.
    label: str

    def __str__(self) -> str:
        return self.text


def kernels(op: str | None = None, device: str | None = None) -> list[Kernel]:
    """The kernels that there are.

    Args:
      op: only those of this op.
      device: only those for this type of device, such as `CPU`.

    Raises:
      kernlink.errors.NotFoundError: if there is no such op.
    """
    return [Kernel(*kernel) for kernel in _kernlink.kernels(text_argument("op", op), text_argument("device", device))]


@dataclass(frozen=True)
class Pass:
    """A graph pass, or a rewrite."""

    #: The name by which it is switched off.
    name: str
    #: What it does.
    summary: str
    #: Whether TensorFlow reads the result.
    is_portable: bool
    #: Whether it is one of the rewrites that the pass `rewrite` makes.
    is_rewrite: bool


def passes() -> list[Pass]:
    """The graph passes in the order in which they run, then the rewrites."""
    return [Pass(*it) for it in _kernlink.passes()]


def op_list() -> bytes:
    """The declarations of all ops as a serialized OpList, with which `compare_ops` compares later ones."""
    return _kernlink.op_list()


@dataclass(frozen=True)
class Comparison:
    """What came of comparing ops with older ones."""

    #: How many were compared.
    compared: int
    #: The promises that are broken, in words.
    broken: list[str]
    #: How many ops there are that the list lacks.
    new: int


def compare_ops(old: PathLike) -> Comparison:
    """Compares the ops with those of a serialized OpList in a file: whether a graph that was made with these runs as before.

    Raises:
      kernlink.errors.InvalidArgumentError: if the list is malformed or has no ops.
    """
    return Comparison(*_kernlink.compare_ops(path_argument("old", old)))


def ops(name: str | None = None, *, own: bool = False) -> list[dict[str, Any]]:
    """All that is known of ops, as `kernlink ops --format json` prints it: inputs, outputs and attrs, with what they are for, the family,
    the crate, and where they are declared. `help(kernlink.raw_ops.MatMul)` is for people.

    Args:
      name: only the op of this name.
      own: only ops of loaded libraries, and other crates than Kernlink's.

    Raises:
      kernlink.errors.NotFoundError: if there is no op of the name.
    """
    found: list[dict[str, Any]] = json.loads(_kernlink.ops_json(text_argument("name", name), bool_argument("own", own)))
    return found


def write_pages(folder: PathLike = "kernlink-ops", *, own: bool = False) -> str:
    """Writes web pages of all ops, kernels and rewrites; what others have put into the folder stays as it is.

    Args:
      folder: the folder, which is made if need be. `index.html` in it is the first page.
      own: only of loaded libraries, and other crates than Kernlink's.

    Returns:
      What was written, in words.

    Raises:
      kernlink.errors.OpError: if the folder cannot be written.
    """
    return _kernlink.write_pages(path_argument("folder", folder), bool_argument("own", own)).rstrip()


def new(
    folder: PathLike,
    *,
    name: str | None = None,
    kernlink: PathLike | None = None,
    gpu: bool = False,
) -> str:
    """Writes a crate with an op of one's own, in Rust: a kernel, a test, and the command with the op in it.

    Args:
      folder: the folder, which must be empty if it exists.
      name: the crate's name; by default that of the folder.
      kernlink: the folder of a checkout of Kernlink, on which it depends in the place of the published crate.
      gpu: whether it has a kernel for GPUs, too.

    Returns:
      What was written, and what to do with it.

    Raises:
      kernlink.errors.InvalidArgumentError: for a name that no crate can have.
      kernlink.errors.OpError: if the folder is not empty or cannot be written.
    """
    checkout = None if kernlink is None else path_argument("kernlink", kernlink)
    name, gpu = text_argument("name", name), bool_argument("gpu", gpu)
    return _kernlink.new_crate(path_argument("folder", folder), name, checkout, gpu).rstrip()
