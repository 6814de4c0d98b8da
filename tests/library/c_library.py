"""Loads the library in C of library/tests/c/ops.c in TensorFlow, and holds what it answers against what Kernlink's test expects.

    cc -std=c99 -shared -fPIC -o /tmp/libops.so library/tests/c/ops.c -lpthread
    python3 tests/library/c_library.py /tmp/libops.so

Needs TensorFlow 2.21 (pip install tensorflow==2.21.*). library/tests/load.rs has the same answers.
"""

import sys

import tensorflow as tf


def fails(error, text, call):
    try:
        call()
    except error as raised:
        assert text in str(raised), raised
    else:
        raise AssertionError(f"no {error.__name__}")


def main():
    path = sys.argv[1]
    ops = tf.load_op_library(path)
    assert tf.load_op_library(path) is ops

    scaled = ops.c_scale(x=[1.0, 2.5], factor=3.0, offsets=[1, 2])
    assert scaled.numpy().tolist() == [6.0, 10.5], scaled
    assert ops.c_scale(x=[1.0]).numpy().tolist() == [2.0]
    fails(tf.errors.InvalidArgumentError, "x must not be negative", lambda: ops.c_scale(x=[-1.0]))
    fails(tf.errors.OutOfRangeError, "factor must not be 0", lambda: ops.c_scale(x=[1.0], factor=0.0))

    greeted = ops.c_greet(names=["world", "a name that is too long to be kept within the string"])
    assert greeted.numpy().tolist() == [
        b"hello, world",
        b"hello, a name that is too long to be kept within the string",
    ], greeted
    assert ops.c_greet(names="x", greeting="").numpy() == b"x"

    assert ops.c_later(x=[1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
    fails(tf.errors.InvalidArgumentError, "x is empty", lambda: ops.c_later(x=tf.zeros([0])))
    # Constraints that exclude one another leave nothing.
    fails(tf.errors.NotFoundError, "CLater", lambda: ops.c_later(x=[1]))
    assert ops.c_borrowed().numpy().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def graph(x):
        y = ops.c_scale(x=x)
        assert y.shape.as_list() == [None, 4], y.shape
        return ops.c_later(x=y)

    assert graph(tf.ones([2, 4])).numpy().tolist() == [[2.0] * 4] * 2
    fails(ValueError, "Shape must be at least rank 1 but is rank 0", lambda: tf.function(ops.c_scale).get_concrete_function(1.0))
    print("ok")


if __name__ == "__main__":
    main()
