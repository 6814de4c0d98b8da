"""Functions of ops against TensorFlow's: parameters, their order, kinds and defaults, names, named tuples.

`data/signatures.json` has what TensorFlow says (see record_signatures.py), so that the tests need none installed; where it is, the record
itself is tested, and the rules on all of its ops.
"""

from __future__ import annotations

import inspect
import json
import pickle
import pydoc
import types
from typing import Any

import pytest
import record_signatures

import kernlink
from kernlink import _functions, _kernlink, _outputs

RECORD: dict[str, list[Any]] = json.loads(record_signatures.PATH.read_text())

# Ops of Kernlink's that TensorFlow does not have, each with the reason.
ITS_OWN = {"RemoveKernel": "it takes kernels out of use, which TensorFlow has no op for"}

PUBLIC = [name for name in _kernlink.op_names() if not name.startswith("_")]


def plain(value: Any) -> Any:
    """A default as the record has it."""
    if isinstance(value, kernlink.DType):
        return {"dtype": value.name}
    if isinstance(value, kernlink.Tensor):
        return {"tensor": [value.dtype.name, value.tolist()]}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def parameters(function: Any) -> list[list[Any]]:
    """A function's parameters as the record has them."""
    return [
        [parameter.name] if parameter.default is parameter.empty else [parameter.name, plain(parameter.default)]
        for parameter in inspect.signature(function).parameters.values()
    ]


def test_ops_that_tensorflow_does_not_have_are_known() -> None:
    assert {name for name in PUBLIC if name not in RECORD} == set(ITS_OWN)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name in RECORD])
def test_raw_op(name: str) -> None:
    function = getattr(kernlink.raw_ops, name)
    assert parameters(function) == RECORD[name][1]
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    # TensorFlow's wrapper refuses arguments without their names; its signature does not show it.
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", [name for name in PUBLIC if name in RECORD])
def test_function(name: str) -> None:
    expected = RECORD[name][0]
    # TensorFlow hides these from its users behind functions of its own, and writes none for a library's op with such a name.
    snake = {"_assert": "assert_", "_for": "for_", "_if": "if_", "_print": "print_", "_while": "while_"}.get(expected)
    snake = snake or expected.removeprefix("_")
    function = getattr(kernlink.ops, snake)
    assert function.__name__ == snake
    assert snake in dir(kernlink.ops)
    assert parameters(function) == RECORD[name][1]
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}


@pytest.mark.parametrize("name", [name for name in PUBLIC if name in RECORD])
def test_named_tuple(name: str) -> None:
    outputs = _kernlink.op_def(name)["outputs"]
    fields = list(_outputs.of(_kernlink.op_def(name))._fields) if len(outputs) > 1 else None
    assert fields == RECORD[name][2]


def test_a_result_is_the_named_tuple_and_can_be_pickled() -> None:
    result = kernlink.raw_ops.TopKV2(input=[3.0, 1.0, 2.0], k=2)
    kind = type(result)
    assert (kind.__name__, result._fields) == ("TopKV2", ("values", "indices"))
    assert type(kernlink.ops.top_kv2([3.0], 1)) is kind
    assert pickle.loads(pickle.dumps(kind)) is kind


@pytest.mark.parametrize("module", [kernlink.raw_ops, kernlink.ops])
def test_a_module_has_its_functions_and_nothing_else(module: types.ModuleType) -> None:
    names = dir(module)
    assert names == sorted(module.__all__)
    assert len(names) == len([name for name in _kernlink.op_names() if not name.startswith("_")]) >= len(PUBLIC)
    for name in names:
        assert isinstance(getattr(module, name), types.FunctionType), name
    assert {name for name in vars(module) if not name.startswith("_")} == set(names)
    with pytest.raises(AttributeError, match="there is no op"):
        module.Nothing  # noqa: B018


def declared(name: str, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    kinds = {"type_attr": None, "type_list_attr": None, "number_attr": None}

    def args(names: list[str]) -> list[dict[str, Any]]:
        return [{"name": arg, "description": "", "is_ref": False, "type": "float32", **kinds} for arg in names]

    described = {"name": name, "summary": "", "description": "", "is_stateful": False, "deprecated": None, "attrs": []}
    return described | {"inputs": args(inputs), "outputs": args(outputs)}


def test_words_of_python() -> None:
    op = declared("Mine>Word", ["lambda", "print", "name"], ["class", "out"])
    function = _functions.make_from(op, "word", __name__, by_name=False)
    assert parameters(function) == [["lambda_"], ["print_"], ["name_"], ["name", None]]
    assert _outputs.of(op)._fields == ("_0", "out")


def test_a_module_of_ops() -> None:
    module = _functions.module_of(["MatMul", "TopKV2"], "mine")
    assert module.__all__ == ["mat_mul", "MatMul", "top_kv2", "TopKV2"]
    assert module.mat_mul([[2.0]], [[3.0]]).tolist() == [[6.0]]
    assert module.MatMul(a=[[2.0]], b=[[3.0]]).tolist() == [[6.0]]
    assert module.mat_mul.__module__ == "mine"
    with pytest.raises(TypeError, match="positional"):
        module.MatMul([[2.0]], [[3.0]])


def test_another_op_of_a_name_has_its_own_named_tuple() -> None:
    first = _outputs.of(declared("Mine>Twice", [], ["a", "b"]))
    second = _outputs.of(declared("Mine>Twice", [], ["c", "d"]))
    assert (first._fields, second._fields) == (("a", "b"), ("c", "d"))


def test_help_reads_like_a_page() -> None:
    text = pydoc.plain(pydoc.render_doc(kernlink.raw_ops.MatMul))
    assert "MatMul(*, a: TensorLike, b: TensorLike, transpose_a: bool = False" in text
    for line in ("Args:", "  transpose_b: An optional `bool`. Defaults to `False`.", "Returns:"):
        assert f"\n    {line}\n" in text
    assert "    b: A `Tensor`. Must have the same type as `a`." in text
