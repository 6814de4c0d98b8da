"""Checkpoints: the values of variables in files, as TensorFlow 1 and 2 write and read them.

    checkpoint = kernlink.train.Checkpoint(w=variable)
    path = checkpoint.save("folder/model")
    checkpoint.restore(path)

`load_checkpoint` reads any checkpoint, tensor by tensor.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from . import _kernlink
from ._function import Function
from ._kernlink import CheckpointReader, Graph, Tensor, as_tensor, path_argument, text_argument
from ._variable import Variable
from .errors import DataLossError, InvalidArgumentError

if TYPE_CHECKING:
    from ._types import PathLike

__all__ = [
    "Checkpoint",
    "CheckpointManager",
    "CheckpointReader",
    "CheckpointStatus",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "write_checkpoint",
]

_VALUE = "VARIABLE_VALUE"
_COUNTER = "save_counter"


def load_checkpoint(ckpt_dir_or_file: PathLike) -> CheckpointReader:
    """Opens a checkpoint, of TensorFlow 1 or 2.

    Args:
      ckpt_dir_or_file: what stands before `.index`, one of the files, a folder for the latest in it, or the files of the format
        before that of TensorFlow 1.0, with wildcards.

    Returns:
      A reader: `reader.keys()`, `reader.get_variable_to_shape_map()`, `reader.get_tensor(name)`.

    Raises:
      kernlink.errors.NotFoundError: if there is none.
      kernlink.errors.DataLossError: if it is malformed.
    """
    return CheckpointReader(path_argument("ckpt_dir_or_file", ckpt_dir_or_file))


def list_variables(ckpt_dir_or_file: PathLike) -> list[tuple[str, list[int]]]:
    """The names and shapes of a checkpoint's tensors, sorted by name. Arguments and errors are those of `load_checkpoint`."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: PathLike, name: str) -> Tensor:
    """The tensor of a name in a checkpoint. Arguments and errors are those of `load_checkpoint`."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


def latest_checkpoint(checkpoint_dir: PathLike) -> str | None:
    """What stands before `.index` of the latest checkpoint in a folder, by the file `checkpoint` in it; `None` if it has none.

    Args:
      checkpoint_dir: the folder.

    Raises:
      kernlink.errors.DataLossError: if the file is malformed.
    """
    found = _kernlink.latest_checkpoint(path_argument("checkpoint_dir", checkpoint_dir))
    return None if found is None else os.fspath(found)


def write_checkpoint(prefix: PathLike, tensors: Mapping[str, Any]) -> str:
    """Writes tensors as a checkpoint by names alone, as savers of TensorFlow 1 do.

    Args:
      prefix: what is to stand before `.index`; its folder is made if need be.
      tensors: tensors, variables or what becomes tensors, by their names.

    Returns:
      The prefix.

    Raises:
      TypeError, ValueError: for an empty prefix, and for what is no tensor, with its name.
    """
    prefix = _prefix("prefix", prefix)
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors: expected a dict of tensors by name, not what is of type {type(tensors).__name__}")
    values = [(name, _tensor(name, value)) for name, value in tensors.items()]
    _kernlink.write_checkpoint(prefix, values, None)
    return prefix


def _prefix(name: str, given: PathLike) -> str:
    """What the names of a checkpoint's files begin with.

    Raises:
      TypeError: if it is no path.
      ValueError: if it is empty, or `.` or `..`: files would be hidden, or named by their numbers alone, wherever the program runs.
    """
    prefix = path_argument(name, given)
    if not prefix:
        raise ValueError(f"{name} is empty: name what the names of the files begin with, such as 'folder/model'")
    if os.path.basename(prefix) in (".", ".."):
        raise ValueError(f"{name} is {prefix!r}, a folder: name what the names of the files in it begin with, such as 'folder/model'")
    return prefix


def _tensor(name: object, value: Any) -> Tensor:
    """A tensor that is written.

    Raises:
      TypeError, ValueError: with its name, if it is none.
    """
    if not isinstance(name, str):
        raise TypeError(f"the names of tensors are str, not what is of type {type(name).__name__}")
    try:
        tensor = as_tensor(value)
    except (TypeError, ValueError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{name}: {error}") from None
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: {tensor!r} has no value before its graph runs")
    return tensor


def _children(value: Any) -> dict[str, Any]:
    """What an object has, by name."""
    if isinstance(value, Checkpoint):
        return value._children
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not isinstance(name, str) and _has_variables(item):
                raise ValueError(f"a dict has variables under the key {name!r}: the keys of what is saved are strings")
        return {name: item for name, item in value.items() if isinstance(name, str)}
    if isinstance(value, (list, tuple)):
        return {str(number): item for number, item in enumerate(value)}
    if isinstance(value, (Variable, Function, type, ModuleType, FunctionType, MethodType)):
        return {}
    attributes: dict[str, Any] = getattr(value, "__dict__", {})
    return attributes


def _has_variables(value: Any) -> bool:
    return isinstance(value, Variable) or len(_walk(value)) > 1


class _Object:
    """An object that is saved: what it has, by name, and the way that leads to it."""

    def __init__(self, value: Any, key: str) -> None:
        self.value, self.key = value, key
        self.children: dict[str, _Object] = {}

    @property
    def variable(self) -> Variable | None:
        """The variable that it is, if it is one: a checkpoint is its root."""
        value = self.value
        while isinstance(value, Checkpoint):
            value = value._root
        return value if isinstance(value, Variable) else None

    def add(self, name: str, value: Any, known: dict[int, _Object]) -> _Object | None:
        """Notes what it has by this name; returns it if that is new."""
        found = known.get(id(value))
        if found is not None:
            self.children[name] = found
            return None
        escaped = name.replace(".", "..").replace("/", ".S")
        found = _Object(value, f"{self.key}/{escaped}" if self.key else escaped)
        self.children[name] = known[id(value)] = found
        return found


def _walk(root: Any) -> list[_Object]:
    """The objects that hold variables or are some, the root first, each once, with the shortest way that leads to it."""
    objects = [_Object(root, "")]
    known = {id(root): objects[0]}
    if isinstance(root, Checkpoint):
        known[id(root._root)] = objects[0]
    for place in objects:  # It grows meanwhile.
        new = [place.add(name, value, known) for name, value in _children(place.value).items()]
        objects.extend(child for child in new if child is not None)
    users: dict[int, list[_Object]] = {}
    for place in objects:
        for child in place.children.values():
            users.setdefault(id(child), []).append(place)
    holds, open_ = {id(objects[0])}, [place for place in objects if place.variable is not None]
    while open_:
        place = open_.pop()
        if id(place) not in holds or place is objects[0]:
            holds.add(id(place))
            open_.extend(user for user in users.get(id(place), []) if id(user) not in holds)
    for place in objects:
        place.children = {name: child for name, child in place.children.items() if id(child) in holds}
    return [place for place in objects if id(place) in holds]


class CheckpointStatus:
    """What came of restoring."""

    def __init__(self, missing: list[str], unused: list[str]) -> None:
        #: The variables that the checkpoint has no value for, and that are as they were, by their ways from the root.
        self.missing = missing
        #: The keys of the checkpoint's values that no variable took.
        self.unused = unused

    def assert_existing_objects_matched(self) -> CheckpointStatus:
        """Raises AssertionError if the checkpoint lacks a variable."""
        if self.missing:
            raise AssertionError(f"the checkpoint has no value for {', '.join(self.missing)}")
        return self

    def assert_consumed(self) -> CheckpointStatus:
        """Raises AssertionError if the checkpoint lacks a variable, or has values that no variable took."""
        self.assert_existing_objects_matched()
        if self.unused:
            raise AssertionError(f"no variable takes the checkpoint's {', '.join(self.unused)}")
        return self

    def expect_partial(self) -> CheckpointStatus:
        """Does nothing: it stands where programs of TensorFlow's silence warnings about what was not restored. Here there are none."""
        return self

    def __repr__(self) -> str:
        return f"<kernlink.CheckpointStatus: {len(self.missing)} missing, {len(self.unused)} unused>"


class Checkpoint:
    """Variables that are saved and restored together, in the format of `tf.train.Checkpoint`, which reads and writes the same files.

    They are found by their ways from the checkpoint: attributes, items of lists and dicts, other checkpoints. A checkpoint by names
    alone, as TensorFlow 1 writes it, is restored by these ways, or else by the variables' names.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        """
        Args:
          root: an object whose attributes are saved, or a variable.
          **kwargs: variables, lists, tuples and dicts of them, objects that have some as attributes, and other checkpoints, by the
            names under which they are saved.

        Raises:
          ValueError: if there cannot be variables in what is given, and for the name `save_counter`, which is the checkpoint's own.
        """
        if root is not None and not isinstance(root, (Mapping, list, tuple)) and not hasattr(root, "__dict__"):
            raise ValueError(f"root, of type {type(root).__name__}, has no attributes that could be variables")
        if _COUNTER in kwargs:
            raise ValueError(f"{_COUNTER} is where a checkpoint counts how often it was saved: give the variable another name")
        self._root, self._named, self._saves = root, kwargs, 0
        for name, value in kwargs.items():
            if not isinstance(value, (Checkpoint, Mapping, list, tuple)) and not _has_variables(value):
                raise ValueError(f"{name}, of type {type(value).__name__}, has no variables among its attributes")

    @property
    def _children(self) -> dict[str, Any]:
        """What it has now."""
        return {**({} if self._root is None else _children(self._root)), **self._named}

    @property
    def save_counter(self) -> int:
        """How often it was saved."""
        return self._saves

    def __getattr__(self, name: str) -> Any:
        named = self.__dict__.get("_named", {})
        if name in named:
            return named[name]
        raise AttributeError(f"the checkpoint has no `{name}`")

    def _contents(self, counts: bool) -> tuple[list[tuple[str, Tensor]], list[Any]]:
        tensors: list[tuple[str, Tensor]] = []
        nodes: list[Any] = []
        objects = _walk(self)
        numbers = {id(place): number for number, place in enumerate(objects)}
        for place in objects:
            attributes = []
            variable = place.variable
            if variable is not None:
                key = f"{place.key}/.ATTRIBUTES/{_VALUE}"
                tensors.append((key, variable.read_value()))
                attributes.append((_VALUE, variable.name, key))
            nodes.append(([(name, numbers[id(child)]) for name, child in place.children.items()], attributes))
        if objects[0].variable is not None:
            # So TensorFlow says that the checkpoint is the variable.
            nodes[0][0].append(("root", 0))
        if counts and _COUNTER not in self._children:
            key = f"{_COUNTER}/.ATTRIBUTES/{_VALUE}"
            tensors.append((key, as_tensor(self._saves, "int64")))
            nodes[0][0].append((_COUNTER, len(nodes)))
            nodes.append(([], [(_VALUE, _COUNTER, key)]))
        return tensors, nodes

    def write(self, file_prefix: PathLike) -> str:
        """Writes the variables as a checkpoint with this prefix; returns it. No number is added, and no folder lists it.

        Raises:
          ValueError: if the prefix is empty.
          NotImplementedError: in a function that is traced, and in a graph.
        """
        _check_eager("write")
        prefix = _prefix("file_prefix", file_prefix)
        _kernlink.write_checkpoint(prefix, *self._contents(self._saves > 0))
        return prefix

    def save(self, file_prefix: PathLike) -> str:
        """Writes the variables as the checkpoint `PREFIX-NUMBER`, numbered from 1, which its folder lists as the latest; returns that.

        Raises:
          ValueError: if the prefix is empty.
          NotImplementedError: in a function that is traced, and in a graph.
        """
        return self._save(_prefix("file_prefix", file_prefix), 0)

    def _save(self, prefix: str, keep: int, number: int | None = None) -> str:
        _check_eager("save")
        folder, name = os.path.split(prefix)
        self._saves += 1
        try:
            tensors, nodes = self._contents(True)
            number = self._saves if number is None else number
            return os.fspath(_kernlink.save_checkpoint(folder or ".", name, number, keep, tensors, nodes))
        except BaseException:
            self._saves -= 1
            raise

    def read(self, save_path: PathLike) -> CheckpointStatus:
        """Gives the variables the values that they have in a checkpoint. `save_path` is as for `load_checkpoint`.

        Returns:
          What came of it: `assert_consumed()` raises if something was left.

        Raises:
          ValueError: if a value has another shape than its variable. Nothing has changed then, nor with the other errors.
          kernlink.errors.OpError: if there is no checkpoint, it is malformed, or a value has another dtype than its variable.
          NotImplementedError: in a function that is traced, and in a graph.
        """
        _check_eager("restore")
        reader = load_checkpoint(save_path)
        objects = reader._objects()
        values = _by_names(self, reader) if objects is None else _by_objects(self, objects)
        missing, used, found = [], set(), []
        for place in _walk(self):
            variable = place.variable
            if variable is None:
                continue
            key = values.get(id(variable))
            if key is None:
                missing.append(place.key or "the root")
            else:
                value = reader.get_tensor(key)
                _check_fits(place.key or "the root", variable, value)
                found.append((variable, value))
                used.add(key)
        counter, saves = f"{_COUNTER}/.ATTRIBUTES/{_VALUE}", self._saves
        if objects is not None and _COUNTER not in self._children and reader.has_tensor(counter):
            saves = int(reader.get_tensor(counter))
            used.add(counter)
        for variable, value in found:
            variable.assign(value)
        self._saves = saves
        return CheckpointStatus(missing, [key for key in reader.keys() if key not in used and not _is_of_objects(key)])

    restore = read

    def __repr__(self) -> str:
        return f"<kernlink.train.Checkpoint: {', '.join(self._children)}>"


def _check_eager(what: str) -> None:
    """Refuses what reads and writes files where ops only become nodes."""
    if Graph._entered() is not None:
        raise NotImplementedError(
            f"`{what}` of a checkpoint reads or writes files at once, which neither a function that is traced nor a graph can: call it "
            "outside of them"
        )


def _check_fits(name: str, variable: Variable, value: Tensor) -> None:
    if value.dtype != variable.dtype:
        raise InvalidArgumentError(f"{name} is {variable.dtype.name}, and the checkpoint's value {value.dtype.name}")
    if variable.shape != value.shape:
        raise ValueError(f"{name} has shape {variable.shape}, and the checkpoint's value {value.shape}")


def _is_of_objects(key: str) -> bool:
    """Whether a tensor describes objects of TensorFlow's, and is no value."""
    return key == "_CHECKPOINTABLE_OBJECT_GRAPH" or "/.ATTRIBUTES/OBJECT_CONFIG_JSON" in key or key.startswith(".ATTRIBUTES/")


def _by_names(root: Checkpoint, reader: CheckpointReader) -> dict[int, str]:
    """For each variable the key of its value in a checkpoint by names alone."""
    found = {}
    for place in _walk(root):
        variable = place.variable
        if variable is not None:
            names = (place.key, variable.name, variable.name.split(":")[0])
            key = next((name for name in names if reader.has_tensor(name)), None)
            if key is not None:
                found[id(variable)] = key
    return found


def _by_objects(root: Checkpoint, objects: list[Any]) -> dict[int, str]:
    """For each variable the key of its value: both graphs of objects are walked from their roots, children matched by name."""
    found: dict[int, str] = {}
    if not objects:
        return found
    first = _walk(root)[0]
    met, queue = {id(first)}, deque([(first, 0)])
    while queue:
        place, number = queue.popleft()
        children, attributes = objects[number]
        keys = [key for name, _, key in attributes if name == _VALUE]
        if keys and place.variable is not None:
            found[id(place.variable)] = keys[0]
        # Of children of one name the first counts.
        numbers = dict(reversed(children))
        for name, child in place.children.items():
            if name not in numbers or id(child) in met:
                continue
            if not 0 <= numbers[name] < len(objects):
                raise DataLossError(f"the checkpoint names object {numbers[name]}, and has {len(objects)}")
            met.add(id(child))
            queue.append((child, numbers[name]))
    return found


class CheckpointManager:
    """Keeps the last few checkpoints of a folder, as `tf.train.CheckpointManager` does."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: PathLike,
        max_to_keep: int | None = 5,
        checkpoint_name: str = "ckpt",
    ) -> None:
        """
        Args:
          checkpoint: what is saved.
          directory: the folder, which is made when the first is saved.
          max_to_keep: how many are kept; `None` for all.
          checkpoint_name: what stands before the numbers.
        """
        if not isinstance(checkpoint, Checkpoint):
            raise TypeError(f"checkpoint: expected a kernlink.train.Checkpoint, not what is of type {type(checkpoint).__name__}")
        if max_to_keep is not None and not isinstance(max_to_keep, int):
            raise TypeError(f"max_to_keep: expected a whole number or None, not what is of type {type(max_to_keep).__name__}")
        if max_to_keep is not None and max_to_keep < 1:
            raise ValueError(f"max_to_keep is 1 or more, or None for all, not {max_to_keep!r}")
        self.checkpoint = checkpoint
        self.directory = path_argument("directory", directory)
        self._keep = max_to_keep or 0
        self._name = text_argument("checkpoint_name", checkpoint_name) or ""

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest checkpoint; `None` if there is none."""
        return latest_checkpoint(self.directory)

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints, the latest last."""
        return [os.fspath(path) for path in _kernlink.list_checkpoints(self.directory)]

    def save(self, checkpoint_number: int | None = None) -> str:
        """Saves a checkpoint, numbered by how often it was saved unless a number is given, and removes those beyond the ones to keep;
        returns its prefix.

        Raises:
          ValueError: for a number below zero.
          NotImplementedError: in a function that is traced, and in a graph.
        """
        if checkpoint_number is not None and checkpoint_number < 0:
            raise ValueError(f"a checkpoint's number is 0 or more, not {checkpoint_number}")
        return self.checkpoint._save(os.path.join(self.directory, self._name), self._keep, checkpoint_number)

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint, if there is one; returns its prefix."""
        latest = self.latest_checkpoint
        if latest is not None:
            self.checkpoint.restore(latest)
        return latest


def __dir__() -> list[str]:
    return sorted(__all__)
