"""Tensors of TensorFlow's, where it is installed: they come and go by DLPack, without a copy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernlink as kl

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

DTYPES = [
    "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "complex64",
    "complex128", "bool",
]  # fmt: skip


def address(value: Any) -> int:
    return np.asarray(value).__array_interface__["data"][0]


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_come_and_go(name: str) -> None:
    array = np.arange(100).reshape(4, 25) % 2
    tensor = kl.raw_ops.Cast(x=array, DstT=name)
    theirs = tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())
    assert theirs.dtype.name == name and theirs.shape == (4, 25)
    assert np.array_equal(theirs.numpy(), tensor.numpy())
    back = kl.from_dlpack(tf.experimental.dlpack.to_dlpack(theirs))
    assert back.dtype == tensor.dtype
    # Of bools Python may write bytes that are none: these are copied.
    if name != "bool":
        assert address(back.numpy().view(np.uint8)) == address(tensor.numpy().view(np.uint8))
    del tensor, theirs
    assert np.array_equal(back.numpy().astype(np.complex128), array)


def test_tensors_are_arguments() -> None:
    theirs = tf.constant([[1.0, 2.0]] * 20)
    assert kl.raw_ops.MatMul(a=theirs, b=[[1.0], [2.0]]).tolist() == [[5.0]] * 20
    assert kl.as_tensor(theirs).tolist() == theirs.numpy().tolist()
    result = kl.raw_ops.Identity(input=theirs)
    assert not np.shares_memory(result.numpy(), theirs.numpy())
    assert kl.constant([1.0, 2.0], dtype=tf.float64).dtype is kl.float64
    assert kl.raw_ops.Cast(x=1, DstT=tf.bfloat16).dtype is kl.bfloat16


def test_tensorflow_takes_tensors() -> None:
    ours = kl.constant([[1.0, 2.0]])
    assert tf.convert_to_tensor(ours.numpy()).numpy().tolist() == [[1.0, 2.0]]
    assert tf.constant(ours).dtype == tf.float32 and (tf.constant(ours) + 1.0).numpy().tolist() == [[2.0, 3.0]]


def ends_well(script: str) -> bool:
    """Whether a script ends well: where TensorFlow aborts, at elements that do not lie at multiples of 64 bytes and where it is asked
    for a capsule of strings, it takes the process with it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(kl.__file__).parents[1])}
    line = [sys.executable, "-c", "import kernlink as kl, tensorflow as tf" + script]
    return subprocess.run(line, env=environment, capture_output=True, timeout=120, check=False).returncode == 0


def test_tensorflow_computes_with_small_tensors() -> None:
    assert ends_well("""
for values in ([1.0], [1.0, 2.0], [1.0] * 4):
    ours = kl.constant(values)
    theirs = tf.experimental.dlpack.from_dlpack(ours.__dlpack__())
    assert (theirs + theirs).numpy().tolist() == [2.0 * value for value in values]
""")


def test_strings_of_tensorflow() -> None:
    assert ends_well("""
assert kl.as_tensor(tf.constant(["a", "b"])).tolist() == [b"a", b"b"]
""")


# Operators and indices of tensors: f32, f16, bf16, i32, i8, u8, bools b, complex c, strings s, x of three dimensions.
EXPRESSIONS = """
f + np.float64(1); f + np.array([1, 2]); np.array([1.0, 2.0]) + f; np.float64(1) - f; h + np.float64(1); bf * 2; i + np.float32(1.5)
i + np.array([1.5, 2.5]); i8 + np.int64(300); u8 + np.int8(-1); i + True; f + True; f + np.True_; b & True; True | b; b ^ b; b & np.array([2, 0])
f + 1j; f + "a"; s + "x"; "x" + s; s + np.array(["x", "y"]); s + 1; s * 2; d + f; i + i.numpy(); f + i; f + [1, 2]; [1, 2] + f; (1, 2) * f
i + 1.5; c + 1.5; c + 1j; c + np.float64(1); 2**40 + f; i / i; i / 2; 2 / i; i / 2.5; u8 / u8; i8 / 2; h / 2; bf / 2; c / 2; b / b; i / f
i // 2; 2 // i; i // 2.5; f // 2; i % 3; -7 % i; f % 2; 2 ** f; i ** 2; i ** -1; i ** 0.5; f ** i; b ** 2; -f; -b; -u8; +f; abs(f); abs(i); abs(c)
~b; ~i; ~f; ~u8; i & 3; 3 & i; i | 8; i ^ 1; f & f; i & b; i << 1; m @ np.ones((2, 3)); np.ones((3, 2)) @ m; m @ m; f @ f; divmod(i, 2)
i == 7; i == 7.5; i == [7, -8]; i == [1, 2, 3]; i != [1, 2, 3]; i == None; i != None; i == "a"; s == "a"; "a" == s; i == f; f == np.float64(1.5)
np.array([1.5, 2.5]) == f; b == True; b == 1; c == c; i < 7.5; i < 8; 8 > i; f < np.array([2, 2]); np.array([2.0, 2.0]) < f; s < "b"; b < True; i < None
x[1]; x[-1]; x[5]; x[5, :]; x[:, 5]; x[0, 0, 0]; x[0, 0, 0, 0]; x[1:, ..., None, ::-1]; x[..., 0]; x[..., ...]; x[::2, ::-2]; x[k]; x[k:]; x[np.int64(1)]
x[np.array(1)]; x[np.array([0, 1])]; x[[0, 1]]; x[True]; x[np.array([True, False])]; x[x > 5]; x[np.array([True, False, True])]; x[1.5]; x["a"]; x[None]
x[()]; x[...]; x[:]; x[::0]; x[10:]; x[-100:100]; x[2**40:]; x[1.0:]; x[object()]; f[0][...]; f[0][None]; f[0][0]; f[0][:]; v + 1; 1 + v; v / 2; 2 ** v
v == 1.5; v < 2; v[0]; v[1:, None]; np.ones(2) + v; f + v; abs(v); -v
"""


@pytest.mark.parametrize("expression", [text.strip() for text in EXPRESSIONS.replace("\n", ";").split(";") if text.strip()])
def test_operators_and_indices_are_those_of_tensorflow(expression: str) -> None:
    def compute(of: Any) -> Any:
        names = {
            "np": np, "f": of.constant([1.5, 2.5]), "d": of.constant([1.5, 2.5], of.float64), "i": of.constant([7, -8]),
            "i8": of.constant([7, -8], of.int8), "u8": of.constant([7, 8], of.uint8), "h": of.constant([1.5], of.float16),
            "bf": of.constant([1.5], of.bfloat16), "b": of.constant([True, False]), "c": of.constant([1 + 2j]),
            "s": of.constant(["a", "b"]), "m": of.constant([[1.0, 2.0], [3.0, 4.0]]), "k": of.constant(1),
            "x": of.constant(np.arange(24, dtype=np.int32).reshape(2, 3, 4)), "v": of.Variable([1.5, 2.5]),
        }  # fmt: skip
        try:
            return eval(expression, names)
        except Exception as error:
            return error

    ours, theirs = compute(kl), compute(tf)
    assert isinstance(ours, Exception) == isinstance(theirs, Exception), (ours, theirs)
    if isinstance(theirs, bool):
        assert ours is theirs
    elif not isinstance(theirs, Exception):
        assert ours.dtype.name == theirs.dtype.name and ours.shape == tuple(theirs.shape)
        expected = theirs.numpy()
        is_number = theirs.dtype != tf.string
        assert np.allclose(ours.numpy(), expected) if is_number else np.array_equal(ours.numpy(), expected)
