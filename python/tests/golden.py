"""Reads the golden cases (see tests/golden/README.md in the repository) as calls of ops, by a small reader of protobuf's wire format."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kernlink as kl
from kernlink import _kernlink, _names

DATA = Path(__file__).resolve().parents[2] / "tests" / "golden" / "data"


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: numbers with values, bytes for all that is not a varint."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                yield key >> 3, value
            case 1 | 5 as wire:
                size = 8 if wire == 1 else 4
                yield key >> 3, data[at : at + size]
                at += size
            case 2:
                size, at = _varint(data, at)
                yield key >> 3, data[at : at + size]
                at += size
            case wire:
                raise ValueError(f"wire type {wire}")


def _length_delimited(number: int, data: bytes) -> bytes:
    size, prefix = len(data), bytearray([number << 3 | 2])
    while size > 127:
        prefix.append(size & 127 | 128)
        size >>= 7
    return bytes(prefix) + bytes([size]) + data


@dataclass
class Node:
    """A NodeDef."""

    raw: bytes
    name: str = ""
    op: str = ""
    inputs: list[str] = field(default_factory=list)
    attrs: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, value in fields(self.raw):
            if number == 1:
                self.name = value.decode()
            elif number == 2:
                self.op = value.decode()
            elif number == 3:
                self.inputs.append(value.decode())
            elif number == 5:
                entry = dict(fields(value))
                self.attrs[entry[1].decode()] = entry.get(2, b"")


@functools.cache
def declaration(op: str) -> dict[str, Any]:
    return _kernlink.op_def(op)


class Unsupported(Exception):
    """An attr that these tests do not pass on."""


def _shape(data: bytes) -> list[int] | None:
    dims: list[int] = []
    for number, value in fields(data):
        if number == 3 and value:
            return None
        if number == 2:
            dims.append(_signed(dict(fields(value)).get(1, 0)))
    return dims


def _packed(values: list[Any], one: Any, size: int | None) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, int):
            found.append(one(value))
        elif size:
            found += [one(value[at : at + size]) for at in range(0, len(value), size)]
        else:
            at = 0
            while at < len(value):
                number, at = _varint(value, at)
                found.append(one(number))
    return found


def attr_value(data: bytes) -> Any:
    """An AttrValue as the functions of ops take it."""
    content = list(fields(data))
    if not content:
        raise Unsupported("an attr without a value")
    number, value = content[0]
    simple = {
        2: lambda value: value,
        3: _signed,
        4: lambda value: struct.unpack("<f", value)[0],
        5: bool,
        6: lambda value: value,
        7: _shape,
    }
    if number in simple:
        return simple[number](value)
    if number != 1:
        raise Unsupported("a function or a tensor as an attr")
    listed: dict[int, list[Any]] = {}
    for number, item in fields(value):
        listed.setdefault(number, []).append(item)
    if not listed:
        return []
    (number, items) = next(iter(listed.items()))
    if number in (2, 7):
        return [simple[number](item) for item in items]
    if number not in simple:
        raise Unsupported("functions or tensors as an attr")
    return _packed(items, simple[number], 4 if number == 4 else None)


@dataclass
class Case:
    """A call of an op, and what it must give."""

    name: str
    op: str
    arguments: dict[str, Any]
    outputs: list[int]
    """Which outputs, in the flat list of all, are compared."""
    expected: list[kl.Tensor]
    tolerance: tuple[float, float] | None
    error: str | None


def constants(nodes: list[Node]) -> dict[str, kl.Tensor]:
    """The values of Const nodes, by their names. Their attr `dtype` may be missing: it is that of the value."""
    graph_def = b""
    for node in nodes:
        dtype = dict(fields(dict(fields(node.attrs["value"]))[8]))[1]
        attr = _length_delimited(1, b"dtype") + _length_delimited(2, bytes([6 << 3, dtype]))
        graph_def += _length_delimited(1, node.raw if "dtype" in node.attrs else node.raw + _length_delimited(5, attr))
    graph = kl.Graph(graph_def)
    return {op.name: op.get_attr("value") for op in graph.get_operations()}


def nodes(graph_def: bytes) -> list[Node]:
    """The nodes of a GraphDef."""
    return [Node(value) for number, value in fields(graph_def) if number == 1]


class LeftOut(Exception):
    """Why a case is no single call."""


class File:
    """The cases of a family."""

    def __init__(self, path: Path) -> None:
        self.nodes: dict[str, list[Node]] = {}
        for node in nodes(path.read_bytes()):
            self.nodes.setdefault("/".join(node.name.split("/")[:3]), []).append(node)

    def main(self, name: str) -> Node:
        """The op that a case is of.

        Raises:
          LeftOut: if it is not of one op that is called once.
        """
        own = {node.name: node for node in self.nodes[name]}
        parts = {name: node for name, node in own.items() if not self._is_answer(node.name)}
        # Constants behind these are hidden from shape functions, which eager calls have no part in.
        main = [node for node in parts.values() if node.op not in ("Const", "PlaceholderWithDefault")]
        if not main and len(parts) == 1:
            raise LeftOut("constants and placeholders of a graph")
        if len(main) != 1:
            raise LeftOut("several nodes, or none")
        node = main[0]
        if any(text.startswith("^") for text in node.inputs):
            raise LeftOut("control inputs")
        if node.op in ("Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond", "RefMerge", "RefSwitch", "RefEnter"):
            raise LeftOut("control flow of graphs")
        if any(text.split(":")[0] not in own for text in node.inputs):
            raise LeftOut("inputs of other cases")
        declared = declaration(node.op)
        if any(arg["is_ref"] for arg in declared["inputs"] + declared["outputs"]):
            raise LeftOut("references, which eager execution does not have")
        if node.op.startswith("_"):
            raise LeftOut("internal ops, which have no function")
        try:
            for attr in _names.asked_attrs(declared):
                if attr["name"] in node.attrs:
                    attr_value(node.attrs[attr["name"]])
        except Unsupported as reason:
            raise LeftOut(str(reason)) from None
        return node

    def _is_answer(self, name: str) -> bool:
        return len(parts := name.split("/")) > 3 and parts[3] in ("actual", "expected", "tolerance", "error")

    def case(self, name: str) -> Case:
        """The case of this name."""
        main = self.main(name)
        own = {node.name: node for node in self.nodes[name]}
        values = constants([node for node in own.values() if node.op == "Const"])

        def value(text: str) -> kl.Tensor:
            node = own[text.split(":")[0]]
            return value(node.inputs[0]) if node.op == "PlaceholderWithDefault" else values[node.name]

        op = declaration(main.op)
        given, arguments = [value(text) for text in main.inputs], {}
        for parameter in _names.parameters(op):
            described = parameter.described
            if not parameter.is_input:
                if described["name"] in main.attrs:
                    arguments[parameter.name] = attr_value(main.attrs[described["name"]])
            elif (attr := described["number_attr"] or described["type_list_attr"]) is not None:
                count = attr_value(main.attrs[attr])
                count = count if isinstance(count, int) else len(count)
                arguments[parameter.name], given = given[:count], given[count:]
            else:
                arguments[parameter.name], *given = given
        outputs, expected = [], []
        while (actual := own.get(f"{name}/actual/{len(outputs)}")) is not None:
            _, _, index = actual.inputs[0].partition(":")
            outputs.append(int(index or 0))
            if f"{name}/expected/{len(expected)}" in values:
                expected.append(values[f"{name}/expected/{len(expected)}"])
        tolerance, error = values.get(f"{name}/tolerance"), values.get(f"{name}/error")
        return Case(
            name,
            main.op,
            arguments,
            outputs,
            expected,
            None if tolerance is None else (tolerance.tolist()[0], tolerance.tolist()[1]),
            None if error is None else error.item().decode(),
        )
