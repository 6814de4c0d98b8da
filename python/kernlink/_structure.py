"""Nested lists, tuples and dicts of tensors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NamedTuple


class _Dict(NamedTuple):
    """What a dict is made like."""

    cls: Any
    #: In their order, which leaves do not have.
    keys: list[Any]
    default_factory: Any

    def make(self, items: dict[Any, Any]) -> Any:
        """One of the class with these items."""
        made: Any
        if issubclass(self.cls, MutableMapping):
            made = self.cls()
            if isinstance(made, defaultdict):
                made.default_factory = self.default_factory
            for key in self.keys:
                made[key] = items[key]
            return made
        try:
            return self.cls((key, items[key]) for key in self.keys)
        except TypeError as error:
            raise TypeError(f"a {self.cls.__name__} cannot be made of pairs of keys and values: {error}") from error


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys of a dict in the order of its leaves, which does not depend on that in which they were added.

    Raises:
      TypeError: if they cannot be sorted.
    """
    try:
        return sorted(mapping)
    except TypeError as error:
        raise TypeError(f"the keys of a dict of tensors are sorted, and {list(mapping)!r} cannot be: {error}") from None


def flatten(value: Any, leaves: list[Any], *, as_is: bool = False) -> Any:
    """Adds what is in lists, tuples and dicts to `leaves`, but for `None`; returns what it is in.

    Args:
      value: the value.
      leaves: what is found, in order.
      as_is: whether dicts are in their own order, in which keys need not be sorted, `None` counts as well, and what lists and tuples
        of other classes hold is given in plain ones, as nobody knows how such a class is made.
    """
    if isinstance(value, Mapping):
        like = _Dict(type(value), list(value), getattr(value, "default_factory", None))
        keys = like.keys if as_is else sorted_keys(value)
        return ("dict", like, [(key, flatten(value[key], leaves, as_is=as_is)) for key in keys])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ("named", type(value), [flatten(item, leaves, as_is=as_is) for item in value])
    if isinstance(value, (list, tuple)):
        plain: type = list if isinstance(value, list) else tuple
        return ("list", plain if as_is else type(value), [flatten(item, leaves, as_is=as_is) for item in value])
    if value is None and not as_is:
        return None
    leaves.append(value)
    return "leaf"


def leaves_of(value: Any) -> list[Any]:
    """What is in nested lists, tuples and dicts, but for `None`."""
    leaves: list[Any] = []
    flatten(value, leaves)
    return leaves


def rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    """What `flatten` was given, with other leaves."""
    if structure is None:
        return None
    if structure == "leaf":
        return next(leaves)
    kind, cls, items = structure
    if kind == "dict":
        return cls.make({key: rebuild(item, leaves) for key, item in items})
    rebuilt = [rebuild(item, leaves) for item in items]
    return cls(*rebuilt) if kind == "named" else cls(rebuilt)


def frozen(structure: Any) -> Any:
    """A structure that can be a key."""
    if not isinstance(structure, tuple):
        return structure
    kind, cls, items = structure
    if kind == "dict":
        return (kind, cls.cls, tuple((key, frozen(item)) for key, item in items))
    return (kind, cls, tuple(frozen(item) for item in items))


def are_alike(one: Any, other: Any) -> bool:
    """Whether structures hold their leaves in the same places; dicts may be of several classes."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return bool(one == other)
    (kind, cls, items), (other_kind, other_cls, others) = one, other
    if kind != other_kind or len(items) != len(others):
        return False
    if kind == "dict":
        return all(key == own and are_alike(a, b) for (key, a), (own, b) in zip(items, others, strict=True))
    return cls == other_cls and all(map(are_alike, items, others))


def paths(structure: Any, path: str) -> list[str]:
    """A name for each leaf: that of the whole, with the keys and places on the way to it behind it."""
    if structure is None:
        return []
    if structure == "leaf":
        return [path]
    kind, cls, items = structure
    if kind == "dict":
        return [name for key, item in items for name in paths(item, f"{path}_{key}")]
    names = cls._fields if kind == "named" else range(len(items))
    return [name for part, item in zip(names, items, strict=True) for name in paths(item, f"{path}_{part}")]
