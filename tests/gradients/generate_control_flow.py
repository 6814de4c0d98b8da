#!/usr/bin/env python3
"""Writes gradients through branches, loops, functions, lists and arrays of tensors that TensorFlow computes, and their graphs.

Usage: generate_control_flow.py [-o DIR] [CASE...]
Needs: ../golden/requirements.txt, in a virtual environment of its own.

Each file is the GraphDef of one case, as those of generate.py, with its functions. NAME/second/K is the gradient of the sum of all
gradients, where TensorFlow has one.

What TensorFlow cannot differentiate has a reference, a function of the same values without it, of which the gradients are. Then
NAME/forward/K is what TensorFlow computes for NAME/y/K.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

import golden  # noqa: F401  (sets what TensorFlow reads from the environment)
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework.function import Defun

v1 = tf.compat.v1
raw = tf.raw_ops
RANDOM = np.random.default_rng(11)


def values(*shape):
    return RANDOM.uniform(-1.0, 1.0, shape).astype(np.float64)


CASES = {}


def case(*inputs, forms=(1, 2), second=True, known=(True, False), reference=None):
    """A case: in which forms of control flow it is built, whether TensorFlow has second gradients of the second form, and what is
    differentiated instead."""
    def add(function):
        CASES[function.__name__] = (function, inputs, forms, second, known, reference)
        return function
    return add


@case(values(3), values(3))
def cond_both(x, y):
    return tf.cond(tf.reduce_sum(x) > 100.0, lambda: x * y, lambda: tf.sin(x) * y + x)


@case(values(3), values(3))
def cond_one_side(x, y):
    return tf.cond(tf.reduce_sum(x) < 100.0, lambda: x * x, lambda: y) * x


@case(values(2, 3), values(3))
def cond_constants(x, y):
    return tf.cond(tf.reduce_sum(x) < 100.0, lambda: tf.reduce_sum(x * 2.0, 0), lambda: tf.ones([3], tf.float64)) + y


@case(values(3), values(3))
def cond_nested(x, y):
    def inner():
        return tf.cond(tf.reduce_sum(y) < 50.0, lambda: tf.exp(x) * y, lambda: y)
    return tf.cond(tf.reduce_sum(x) < 100.0, inner, lambda: x - y)


@case(values(3), forms=(2,))
def case_of_three(x):
    return tf.switch_case(tf.constant(1), [lambda: x, lambda: x * x * x, lambda: tf.cos(x)])


@case(values(3))
def while_power(x):
    return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x), [0, tf.ones_like(x)])[1]


@case(values(3))
def while_no_iteration(x):
    return tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * x), [0, tf.sin(x)])[1]


@case(values(2, 3), values(3, 3))
def while_recurrent(x, w):
    return tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w)) + x), [0, x])[1]


@case(values(3), values(3))
def while_two_variables(x, y):
    def body(i, a, b):
        return i + 1, b * y, tf.sin(a) + tf.reduce_sum(b)
    return tf.while_loop(lambda i, a, b: i < 3, body, [0, x, y])[1:]


# It is linear, and TensorFlow has zeros through a While node where there is nothing.
@case(values(3), second=False)
def while_by_value(x):
    return tf.while_loop(lambda a: tf.reduce_sum(a * a) > 0.01, lambda a: a * 0.5, [x])


@case(values(3), second=False)
def while_nested(x):
    def body(i, a):
        inner = tf.while_loop(lambda j, b: j < i + 1, lambda j, b: (j + 1, b * x + a), [0, a])[1]
        return i + 1, tf.tanh(inner)
    return tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]


@case(values(3), values(3), second=False)
def while_with_cond(x, y):
    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: tf.exp(a) + y)
    return tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]


@case(values(3), values(3))
def cond_with_while(x, y):
    def loop():
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * y), [0, x])[1]
    return tf.cond(tf.reduce_sum(x) < 100.0, loop, lambda: y)


@case(values(4, 3), values(3, 3), second=False, known=(True,))
def arrays(x, w):
    source = tf.TensorArray(tf.float64, size=4, element_shape=[3]).unstack(x)
    target = tf.TensorArray(tf.float64, size=4, element_shape=[3])

    def body(i, state, array):
        state = tf.tanh(tf.linalg.matvec(w, state) + source.read(i))
        return i + 1, state, array.write(i, state)
    _, state, target = tf.while_loop(lambda i, s, t: i < 4, body, [0, tf.zeros([3], tf.float64), target])
    return [target.stack(), state]


@case(values(4, 3), second=False)
def arrays_alone(x):
    array = tf.TensorArray(tf.float64, size=3, element_shape=[3], clear_after_read=False)
    array = array.write(0, x[0]).write(2, x[1] * x[2]).write(1, tf.sin(x[3]))
    return [array.read(0) * array.read(2) + array.read(0), array.gather([2, 1])]


@case(values(6, 2), second=False)
def arrays_split(x):
    array = tf.TensorArray(tf.float64, size=3, infer_shape=False).split(x * x, [1, 3, 2])
    return tf.sin(array.concat())


@case(values(3), forms=(2,))
def functions(x):
    @tf.function
    def inner(a, b):
        return tf.sin(a) * b, a + b

    @tf.function
    def outer(a):
        p, q = inner(a, a * a)
        return p * q
    return outer(x) + outer(x * 2.0)


@case(values(3), values(2, 3), forms=(2,))
def function_with_branches(x, w):
    @tf.function
    def outer(a):
        total = tf.zeros_like(a)
        for i in tf.range(3):
            if i > 1:
                total += a * w[0]
            else:
                total = tf.tanh(total + w[1])
        return total
    return outer(x)


@case(values(4, 3), forms=(2,))
def lists(x):
    shape = tf.constant([3])
    handle = raw.TensorListFromTensor(tensor=x, element_shape=shape)
    handle = raw.TensorListSetItem(input_handle=handle, index=1, item=x[0] * x[1])
    handle = raw.TensorListPushBack(input_handle=handle, tensor=tf.sin(x[2]))
    handle, last = raw.TensorListPopBack(input_handle=handle, element_shape=shape, element_dtype=tf.float64)
    item = raw.TensorListGetItem(input_handle=handle, index=2, element_shape=shape, element_dtype=tf.float64)
    gathered = raw.TensorListGather(input_handle=handle, indices=[0, 3], element_shape=shape, element_dtype=tf.float64)
    return [raw.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.float64), last, item * last,
            gathered]


@case(values(6, 2), values(2, 2), forms=(2,))
def lists_joined(x, y):
    handle = raw.TensorListSplit(tensor=x * x, element_shape=tf.constant([-1, 2]), lengths=tf.constant([1, 3, 2], tf.int64))
    joined, _ = raw.TensorListConcatV2(input_handle=handle, element_shape=tf.constant([-1, 2]),
                                       leading_dims=tf.constant([], tf.int64), element_dtype=tf.float64)
    scattered = raw.TensorListScatterV2(tensor=y, indices=[2, 0], element_shape=tf.constant([2]), num_elements=3)
    scattered = raw.TensorListResize(input_handle=scattered, size=4)
    return [tf.sin(joined), raw.TensorListStack(input_handle=scattered, element_shape=tf.constant([2]),
                                                element_dtype=tf.float64)]


# Through a While node, TensorFlow has zeros for what its loops of the first form do not reach.
@case(values(3), values(3), forms=(1,))
def unconnected(x, y):
    return tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * 2.0, b * b), [0, x, y])[1]


def symbolic_gradient_of(name, arguments, flows, **types):
    """A node SymbolicGradient."""
    function = attr_value_pb2.NameAttrList(name=name)
    for attr, dtype in types.items():
        function.attr[attr].type = dtype.as_datatype_enum
    return raw.SymbolicGradient(input=[*arguments, *flows], Tout=[argument.dtype for argument in arguments], f=function)


FLOW = [0.5, -2.0, 1.5]


def two_results(a, b):
    return tf.sin(a) * b, a + tf.reduce_sum(tf.exp(b) * a)


def gradients_at(function, arguments, flows):
    """The gradients of a function by copies of its arguments, which can be differentiated by what these depend on."""
    copies = [tf.identity(argument) for argument in arguments]
    results = function(*copies)
    return tf.gradients(results, copies, flows)


@case(values(3), values(3), forms=(2,), reference=lambda x, y: gradients_at(
    two_results, [x, y * x], [tf.constant(FLOW, tf.float64), x * y]))
def symbolic_gradient(x, y):
    @Defun(tf.float64, tf.float64, func_name="two_results")
    def function(a, b):
        return two_results(a, b)
    function.add_to_graph(v1.get_default_graph())
    return symbolic_gradient_of(function.name, [x, y * x], [tf.constant(FLOW, tf.float64), x * y])


# One argument is not used, and one is an integer: zeros.
@case(values(3), values(2), forms=(2,), reference=lambda x, y: [
    tf.cos(x) * x * tf.constant(FLOW, tf.float64), tf.zeros_like(y), tf.zeros([2], tf.float64)])
def symbolic_gradient_unused(x, y):
    @Defun(tf.float64, tf.float64, tf.int32, func_name="unused")
    def function(a, b, c):
        return tf.sin(a), tf.cast(a, tf.int32)
    function.add_to_graph(v1.get_default_graph())
    numbers = tf.constant([1, 2])
    found = symbolic_gradient_of(
        function.name, [x, y, numbers], [x * tf.constant(FLOW, tf.float64), tf.zeros([3], tf.int32)])
    return [found[0], found[1], tf.cast(found[2], tf.float64)]


@case(values(3), forms=(2,), reference=lambda x: gradients_at(
    lambda a: tf.exp(a) * tf.exp(2.0 * a), [x], [tf.constant(FLOW, tf.float64)]))
def symbolic_gradient_of_calls(x):
    @Defun(tf.float64, func_name="exponential")
    def inner(a):
        return tf.exp(a)

    @Defun(tf.float64, func_name="calls")
    def function(a):
        return inner(a) * inner(2.0 * a)
    function.add_to_graph(v1.get_default_graph())
    return symbolic_gradient_of(function.name, [x], [tf.constant(FLOW, tf.float64)])


@case(values(3), values(3), forms=(2,), reference=lambda x, y: [tf.sin(x) * y, tf.sin(x) * x])
def symbolic_gradient_of_an_op(x, y):
    return symbolic_gradient_of("Mul", [x, y], [tf.sin(x)], T=tf.float64)


# The library says what the gradient is.
@case(values(3), forms=(2,), reference=lambda x: [x * x * 3.0])
def symbolic_gradient_by_name(x):
    @Defun(tf.float64, tf.float64, func_name="backward")
    def gradient(a, flow):
        return flow * a * 3.0

    @Defun(tf.float64, func_name="forward", grad_func=gradient)
    def function(a):
        return tf.exp(a)
    function.add_to_graph(v1.get_default_graph())
    return symbolic_gradient_of(function.name, [x], [x])


# TensorFlow's gradient of an imported call.
@case(values(3), values(3), forms=(2,), reference=lambda x, y: gradients_at(
    lambda a, b: tf.sin(a) * b, [x, y], [tf.ones([3], tf.float64)]))
def symbolic_gradient_imported(x, y):
    @tf.function
    def function(a, b):
        return tf.sin(a) * b
    with tf.Graph().as_default() as graph:
        arguments = [v1.placeholder(tf.float64, [3], name=name) for name in "ab"]
        tf.identity(function(*arguments), name="result")
    result, = tf.import_graph_def(graph.as_graph_def(), dict(zip(["a:0", "b:0"], [x, y])), ["result:0"])
    return tf.gradients(result, [x, y])


def for_loop(function, start, limit, delta, values):
    """A node For."""
    body = Defun(tf.int32, *[value.dtype for value in values])(function)
    return raw.For(start=start, limit=limit, delta=delta, input=values, body=body)


def for_reference(function, numbers, values):
    for number in numbers:
        values = function(number, *values)
    return values


def for_step(i, a, b):
    return a * b + tf.cast(i, tf.float64), tf.sin(a) + b


@case(values(3), values(3), forms=(2,), reference=lambda x, y: for_reference(for_step, [4, 2, 0], [x, y * x]))
def for_down(x, y):
    return for_loop(for_step, 4, -1, -2, [x, y * x])


# That nothing depends on y in the second order is known only where the loop is not.
@case(values(3), values(3), forms=(2,), second=False, reference=lambda x, y: [tf.sin(x), y + x])
def for_no_iteration(x, y):
    return for_loop(for_step, 3, 3, 0, [tf.sin(x), y + x])


# A loop within a loop, which takes its limit from it.
@case(values(3), forms=(2,), reference=lambda x: for_reference(
    lambda i, a: [for_reference(lambda j, b: [tf.tanh(b) * x], range(int(i)), [a])[0] + a], [1, 2], [x]))
def for_nested(x):
    def step(i, a, c):
        inner = for_loop(lambda j, b, d: (tf.tanh(b) * d, d), 0, i, 1, [a, c])
        return inner[0] + a, c
    return for_loop(step, 1, 3, 1, [x, x])[0]


# Inputs that are not random leave those of other cases, and what flows back to them, as they are.
@case(np.linspace(-0.7, 0.8, 3), forms=(1,), second=False)
def arrays_in_a_loop(x):
    def body(i, y):
        array = tf.TensorArray(tf.float64, 2, clear_after_read=False, element_shape=[3])
        return i + 1, tf.reduce_sum(array.write(0, y * x).write(1, tf.sin(y)).stack(), 0)
    return tf.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])[1]


@case(np.linspace(-0.7, 0.8, 6).reshape(3, 2), forms=(1,), second=False, known=(True,))
def map_of_maps(x):
    return tf.map_fn(lambda row: tf.map_fn(lambda element: element * element * tf.reduce_sum(row), row), x)


def build(case_name, function, inputs, is_known):
    """The inputs and the results of a case in the default graph, by their names."""
    xs = [v1.placeholder(value.dtype, value.shape if is_known else None, name=f"{case_name}/x/{k}")
          for k, value in enumerate(inputs)]
    with v1.name_scope(case_name + "/of"):
        ys = function(*xs)
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    ys = [y for y in ys if y.dtype.is_floating]
    return xs, [tf.identity(y, name=f"{case_name}/y/{k}") for k, y in enumerate(ys)]


def write(name, function, inputs, form, second, is_known, reference, folder):
    case_name = f"{name}_v{form}{'' if is_known else '_unknown'}"
    (v1.enable_control_flow_v2 if form == 2 else v1.disable_control_flow_v2)()
    with tf.Graph().as_default() as graph:
        xs, ys = build(case_name, function, inputs, is_known)
        for k, value in enumerate(inputs):
            tf.constant(value, name=f"{case_name}/value/{k}")
        with v1.Session(graph=graph) as session:
            results = session.run(ys, dict(zip(xs, inputs)))
            flows = [values(*np.shape(result)) for result in results]
        for k, flow in enumerate(flows):
            tf.constant(flow, name=f"{case_name}/flow/{k}")
        forward = graph.as_graph_def()
    # TensorFlow changes nodes for their gradients, which a session that has run them does not notice.
    with tf.Graph().as_default() as graph:
        xs, ys = build(case_name, reference or function, inputs, is_known)
        gradients = tf.gradients(ys, xs, [tf.constant(flow) for flow in flows])
        answers = {"expected": gradients}
        if second and form == 2:
            answers["second"] = tf.gradients([g for g in gradients if g is not None], xs)
        if reference:
            answers["forward"] = ys
        with v1.Session(graph=graph) as session:
            asked = {key: [g for g in found if g is not None] for key, found in answers.items()}
            computed = session.run(asked, dict(zip(xs, inputs)))
    if reference:
        for result, other in zip(results, computed["forward"], strict=True):
            np.testing.assert_allclose(result, other, rtol=1e-12, err_msg=case_name)
        computed["forward"] = results
    with tf.Graph().as_default() as graph:
        for key, found in answers.items():
            rest = iter(computed[key])
            for k, gradient in enumerate(found):
                if gradient is not None:
                    tf.constant(next(rest), name=f"{case_name}/{key}/{k}")
        forward.MergeFrom(graph.as_graph_def())
    with open(os.path.join(folder, f"{case_name}.pb"), "wb") as file:
        file.write(forward.SerializeToString(deterministic=True))


def main():
    parser = argparse.ArgumentParser(description="Writes gradients that TensorFlow computes; see the top of the file.")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("-o", "--output", default=os.path.join(here, "data", "control_flow"))
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    for name, (function, inputs, forms, second, known, reference) in CASES.items():
        if arguments.cases and name not in arguments.cases:
            continue
        for form in forms:
            for is_known in known:
                write(name, function, inputs, form, second, is_known, reference, arguments.output)
        print(name)


if __name__ == "__main__":
    main()
