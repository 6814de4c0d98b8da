"""Records in `data/signatures.json` what TensorFlow's Python says of each op: run it with TensorFlow installed.

An op's record is `[function, parameters, fields]`: the name of its function, its parameters, each `[name]` or `[name, default]`, and the
fields of its named tuple, or null. A dtype is `{"dtype": name}`, a tensor `{"tensor": [dtype, values]}`.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import pathlib
from typing import Any

PATH = pathlib.Path(__file__).parent / "data" / "signatures.json"


def op_list() -> Any:
    """The declarations of all ops of TensorFlow's, as it has them: an `OpList`."""
    import tensorflow  # noqa: F401
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return ops


def _plain(value: Any) -> Any:
    """A default as JSON has it."""
    import tensorflow as tf
    from tensorflow.core.framework import tensor_pb2

    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, tensor_pb2.TensorProto):
        array = tf.make_ndarray(value)
        return {"tensor": [tf.as_dtype(value.dtype).name, array.tolist()]}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _of_raw_ops(name: str) -> list[Any]:
    """The record of an op that is in `tf.raw_ops`."""
    import tensorflow as tf

    raw = getattr(tf.raw_ops, name)
    function = raw.__wrapped__
    parameters = [
        [parameter.name] if parameter.default is parameter.empty else [parameter.name, _plain(parameter.default)]
        for parameter in inspect.signature(raw).parameters.values()
    ]
    outputs = function.__globals__.get(f"_{name}Output")
    return [function.__name__, parameters, outputs and list(outputs._fields)]


def wrappers(op: Any) -> Any:
    """The module that TensorFlow writes for a library with this op."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.framework import _pywrap_python_op_gen

    return _pywrap_python_op_gen.GetPythonWrappers(op_def_pb2.OpList(op=[op]).SerializeToString())


def wrapper_of(op: Any) -> list[Any] | None:
    """The record of the function that TensorFlow writes for an op of a library; None if it writes none."""
    from tensorflow.python.framework import dtypes

    tree = ast.parse(wrappers(op))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        return None
    function = functions[0]
    spaces = {"_dtypes": dtypes, "float": float, "_execute": _Execute}
    defaults = [
        _plain(eval(compile(ast.Expression(default), "", "eval"), spaces)) for default in function.args.defaults
    ]
    names = [argument.arg for argument in function.args.args]
    required = len(names) - len(defaults)
    parameters = [[name] for name in names[:required]]
    parameters += [[name, default] for name, default in zip(names[required:], defaults, strict=True)]
    tuples = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    fields = [ast.literal_eval(call.args[1]) for call in tuples if ast.unparse(call.func) == "collections.namedtuple"]
    return [function.name, parameters, fields[0] if fields else None]


class _Execute:
    """What the defaults that are tensors are written with."""

    @staticmethod
    def make_tensor(text: str, _: str) -> Any:
        from google.protobuf import text_format
        from tensorflow.core.framework import tensor_pb2

        return text_format.Parse(text, tensor_pb2.TensorProto())


def record() -> dict[str, list[Any]]:
    """The records of all ops that are not for its own use, by name."""
    import tensorflow as tf

    public = set(dir(tf.raw_ops))
    ops = [op for op in op_list().op if not op.name.startswith("_")]
    found = ((op.name, _of_raw_ops(op.name) if op.name in public else wrapper_of(op)) for op in ops)
    return {name: of for name, of in sorted(found) if of is not None}


def main() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    lines = (f"{json.dumps(name)}:{json.dumps(of, separators=(',', ':'))}" for name, of in record().items())
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
