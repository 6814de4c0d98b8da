"""Nested lists, tuples and dicts of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def flatten(value: Any, leaves: list[Any]) -> Any:
    """Adds what is in lists, tuples and dicts to `leaves`, but for `None`; returns what it is in."""
    if isinstance(value, dict):
        return ("dict", type(value), [(key, flatten(value[key], leaves)) for key in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ("named", type(value), [flatten(item, leaves) for item in value])
    if isinstance(value, (list, tuple)):
        return ("list", type(value), [flatten(item, leaves) for item in value])
    if value is None:
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
        return cls((key, rebuild(item, leaves)) for key, item in items)
    rebuilt = [rebuild(item, leaves) for item in items]
    return cls(*rebuilt) if kind == "named" else cls(rebuilt)


def frozen(structure: Any) -> Any:
    """A structure that can be a key."""
    if not isinstance(structure, tuple):
        return structure
    kind, cls, items = structure
    if kind == "dict":
        return (kind, cls, tuple((key, frozen(item)) for key, item in items))
    return (kind, cls, tuple(frozen(item) for item in items))


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
