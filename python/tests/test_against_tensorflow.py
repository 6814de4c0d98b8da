"""The rules by which functions are made, on all ops that TensorFlow has; they need TensorFlow installed."""

from __future__ import annotations

import ast
import json
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tensorflow", reason="TensorFlow is not installed: the record of its signatures alone is tested")

import record_signatures
from declarations import declaration
from test_signatures import RECORD, parameters

import kernlink
from kernlink import _dtypes, _functions, _names

OPS = {op.name: op for op in record_signatures.op_list().op if not op.name.startswith("_")}

DTYPES = [name for name in _dtypes.__all__ if name not in ("DType", "as_dtype")]

# What TensorFlow's docstrings say and Kernlink's do not, for it has no such classes.
OTHER_WORDS = {
    "A `tf.TensorShape` or list of `ints`": "A shape, a list of `ints`",
    "optional `tf.TensorShape` or list of `ints`": "optional shape, a list of `ints`",
    "shapes (each a `tf.TensorShape` or list of `ints`)": "shapes, each a list of `ints`",
    " decorated with @Defun": "",
    "The created Operation.": "The operation in a graph, `None` otherwise.",
    "`half`": "`float16`",
    "tf.half": "tf.float16",
    "tf.": "kernlink.",
}

# Ops with a tensor as an attr, which TensorFlow calls a TensorProto and shows as its text.
WITH_TENSORS = {"Const", "DefaultAttrs", "HostConst", "ImageSummary"}


@pytest.mark.parametrize("name", DTYPES)
def test_dtype(name: str) -> None:
    import tensorflow as tf

    ours = getattr(kernlink, name)
    theirs = getattr(tf.dtypes, name, None) or tf.as_dtype(name)
    facts = ("name", "as_datatype_enum", "is_floating", "is_complex", "is_integer", "is_quantized", "is_bool")
    assert [getattr(ours, fact) for fact in facts] == [getattr(theirs, fact) for fact in facts]
    assert ours == kernlink.as_dtype(theirs) == kernlink.as_dtype(name) == kernlink.as_dtype(theirs.as_datatype_enum)
    assert pickle.loads(pickle.dumps(ours)) is ours
    if name not in ("string", "resource", "variant"):
        assert ours.size == theirs.size
        if not ours.is_quantized:
            assert np.dtype(ours.as_numpy_dtype) == np.dtype(theirs.as_numpy_dtype)


def test_all_dtypes_are_there() -> None:
    from tensorflow.core.framework import types_pb2

    numbers = {number for number in types_pb2.DataType.values() if 0 < number < 100}
    assert numbers == {getattr(kernlink, name).as_datatype_enum for name in DTYPES}


def test_the_record_is_what_tensorflow_says() -> None:
    assert json.loads(json.dumps(record_signatures.record())) == RECORD


@pytest.mark.parametrize("name", OPS)
def test_signature(name: str) -> None:
    function = _functions.make_from(declaration(OPS[name]), "function", __name__, by_name=True)
    assert parameters(function) == RECORD[name][1]


def arguments_and_results(doc: str) -> str:
    return doc[doc.index("Args:") :].rstrip()


def docstring_of(op: Any) -> str | None:
    """The docstring that TensorFlow writes for a library's op; None if it writes no function."""
    text = record_signatures.wrappers(op)
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return ast.get_docstring(functions[0]) if functions else None


@pytest.mark.parametrize("name", [name for name in OPS if name not in WITH_TENSORS])
def test_docstring_and_name(name: str) -> None:
    op = OPS[name]
    for described in (*op.input_arg, *op.output_arg, *op.attr):
        described.description = ""
    expected = docstring_of(op)
    if expected is None:
        assert _names.snake_case(name) in ("assert_", "for_", "if_", "print_", "while_")
        return
    for theirs, ours in OTHER_WORDS.items():
        expected = expected.replace(theirs, ours)
    # TensorFlow renames no argument of a library's op.
    declared = declaration(op) | {"name": "Library" + name}
    function = _functions.make_from(declared, "function", __name__, by_name=True)
    assert arguments_and_results(str(function.__doc__)) == arguments_and_results(expected)
    wrapper = record_signatures.wrapper_of(op)
    assert wrapper is not None and _names.snake_case(name) == wrapper[0]
