"""Control flow: branches and loops of TensorFlow 1, functions, and the branches and loops over functions."""
import numpy as np
from google.protobuf import text_format
from tensorflow.core.framework import function_pb2

from golden import Case, Traced, i32, tf, v1


def const(value, dtype=tf.float32):
    return tf.constant(value, dtype)


def known(value, dtype=tf.float32):
    """A value that no shape function knows."""
    return v1.placeholder_with_default(np.array(value, dtype.as_numpy_dtype), None)


def branch(taken, x=3.0):
    x = known(x)
    return v1.cond(known(taken, tf.bool), lambda: x * 2.0, lambda: x + 100.0)


def nested_branches(a, b):
    x = known([1.0, 2.0])
    return v1.cond(known(a, tf.bool),
                   lambda: v1.cond(known(b, tf.bool), lambda: x * 2.0, lambda: x * 3.0),
                   lambda: v1.cond(known(b, tf.bool), lambda: x * 5.0, lambda: [x[0], x[1]][0] + x))


def branch_gradient(taken):
    x = known([1.5, -2.0])
    y = v1.cond(known(taken, tf.bool), lambda: tf.reduce_sum(x * x), lambda: tf.reduce_sum(3.0 * x))
    return [y] + v1.gradients(y, [x])


def switch_case(index):
    x = known(2.0)
    return tf.switch_case(known(index, tf.int32), {0: lambda: x + 1.0, 1: lambda: x * 10.0, 2: lambda: x - 7.0})


def count(limit, parallel=10):
    return v1.while_loop(lambda i, s: i < limit, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)),
                         [known(0, tf.int32), known(0.0)], parallel_iterations=parallel)


def collatz(start):
    def body(n, k):
        return v1.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), k + 1
    return v1.while_loop(lambda n, k: n > 1, body, [known(start, tf.int32), known(0, tf.int32)])


def nested_loops(rows, columns, parallel=10):
    def outer(i, total):
        inner = v1.while_loop(lambda j, t: j < columns, lambda j, t: (j + 1, t + i * j), [known(0, tf.int32), total],
                              parallel_iterations=parallel)
        return i + 1, inner[1]
    return v1.while_loop(lambda i, t: i < rows, outer, [known(0, tf.int32), known(0, tf.int32)], parallel_iterations=parallel)


def triple_loops():
    def third(i, j, t):
        return v1.while_loop(lambda k, s: k < j + 1, lambda k, s: (k + 1, s + i + j * k), [tf.constant(0), t])[1]
    def second(i, t):
        return v1.while_loop(lambda j, s: j < i + 2, lambda j, s: (j + 1, third(i, j, s)), [tf.constant(0), t])[1]
    return v1.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, second(i, s)), [known(0, tf.int32), known(0, tf.int32)])


def loop_in_branch(taken):
    x = known(1.0)
    loop = lambda: v1.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * 2.0), [tf.constant(0), x])[1]
    return v1.cond(known(taken, tf.bool), loop, lambda: x - 5.0)


def branch_in_loop(limit):
    def body(i, s):
        return i + 1, v1.cond(tf.equal(i % 3, 0), lambda: s + 10.0, lambda: s - 1.0)
    return v1.while_loop(lambda i, s: i < limit, body, [known(0, tf.int32), known(0.0)])


def growing():
    return v1.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, tf.concat([s, s + tf.cast(i, tf.float32)], 0)),
                         [tf.constant(0), tf.constant([1.0])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]


def loop_gradient():
    x = known([0.5, 2.0])
    y = v1.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [tf.constant(0), x])[1]
    return [y] + v1.gradients(y, [x])


def invariant():
    a, b = known([[1.0, 2.0], [3.0, 4.0]]), known([1.0, 1.0])
    return v1.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, tf.linalg.matvec(a, s) * 0.5), [tf.constant(0), b])[1]


def controls():
    """A pivot: what is made of constants alone still waits for its branch."""
    p = known(True, tf.bool)
    return v1.cond(p, lambda: tf.constant([1.0, 2.0]), lambda: tf.constant([3.0]))


def identical_twins():
    """Two loops of one name in two branches."""
    p = known(False, tf.bool)
    loop = lambda k: lambda: v1.while_loop(lambda i: i < k, lambda i: i + 3, [tf.constant(0)])
    return v1.cond(p, loop(10), loop(20))


def raw_merge(taken):
    p, x = known(taken, tf.bool), known(4.0)
    off, on = tf.raw_ops.Switch(data=x, pred=p)
    merged = tf.raw_ops.Merge(inputs=[off + 1.0, on * 2.0])
    return [merged.output, merged.value_index]


def dead_fetch():
    return tf.raw_ops.Switch(data=known(4.0), pred=known(True, tf.bool))[0]


def dead_fetch_further():
    off, _ = tf.raw_ops.Switch(data=known(4.0), pred=known(True, tf.bool))
    return tf.sqrt(off) + 1.0


def bad_pred():
    return tf.raw_ops.Switch(data=known(4.0), pred=known([True, False], tf.bool))[1]


def frames_mixed():
    entered = tf.raw_ops.Enter(data=known(1.0), frame_name="one")
    return entered + known(2.0)


def exit_first():
    entered = tf.raw_ops.Enter(data=known(7.0), frame_name="only")
    return tf.raw_ops.Exit(data=entered)


def trigger():
    off, _ = tf.raw_ops.Switch(data=known(1.0), pred=known(True, tf.bool))
    with tf.control_dependencies([off]):
        op = tf.raw_ops.ControlTrigger()
    with tf.control_dependencies([op]):
        return tf.identity(known(5.0))


def call(stateful=False):
    @tf.function
    def double(x, y):
        return x * 2.0 + y, x - y
    return double(known([1.0, 2.0]), known(3.0))


def nested_calls():
    @tf.function
    def inner(x):
        return x * x

    @tf.function
    def outer(x):
        return inner(x) + inner(x + 1.0)
    return outer(known([1.0, -2.0]))


FACTORIAL = """
signature { name: "%(f)s" input_arg { name: "n" type: DT_INT32 } output_arg { name: "ret" type: DT_INT32 } }
node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
node_def { name: "last" op: "LessEqual" input: "n" input: "one:output:0" attr { key: "T" value { type: DT_INT32 } } }
node_def { name: "if" op: "StatelessIf" input: "last:z:0" input: "n"
  attr { key: "Tcond" value { type: DT_BOOL } }
  attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
  attr { key: "then_branch" value { func { name: "%(f)s_end" } } }
  attr { key: "else_branch" value { func { name: "%(f)s_more" } } } }
ret { key: "ret" value: "if:output:0" }
"""
END = """
signature { name: "%(f)s_end" input_arg { name: "n" type: DT_INT32 } output_arg { name: "ret" type: DT_INT32 } }
node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
ret { key: "ret" value: "one:output:0" }
"""
MORE = """
signature { name: "%(f)s_more" input_arg { name: "n" type: DT_INT32 } output_arg { name: "ret" type: DT_INT32 } }
node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
node_def { name: "less" op: "Sub" input: "n" input: "one:output:0" attr { key: "T" value { type: DT_INT32 } } }
node_def { name: "rec" op: "%(f)s" input: "less:z:0" }
node_def { name: "times" op: "Mul" input: "n" input: "rec:ret:0" attr { key: "T" value { type: DT_INT32 } } }
ret { key: "ret" value: "times:z:0" }
"""


def recursion(tag, n):
    """A function that calls itself by its name as an op."""
    case = Case(f"function/recursion-{tag}")
    name = f"Factorial{tag}"
    for text in (FACTORIAL, END, MORE):
        case.functions.append(text_format.Parse(text % {"f": name}, function_pb2.FunctionDef()))
    argument = case.input("n", i32(n), dynamic=True)
    node = case.node(name, "op", [argument], {})
    case.values.append((node, "int32"))
    return case


def endless_while():
    return tf.while_loop(lambda i: tf.constant(False), lambda i: i + 1, [known(3, tf.int32)])


def list_loop():
    ta = tf.TensorArray(tf.float32, size=5)
    _, ta = tf.while_loop(lambda i, _: i < 5, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) * 2.0)), [tf.constant(0), ta])
    return ta.stack()


def map_fn():
    return tf.map_fn(lambda x: x * x + 1.0, known([1.0, 2.0, 3.0]))


def scan():
    return tf.scan(lambda a, x: a + x, known([1.0, 2.0, 3.0, 4.0]))


def raw_if(predicate):
    """A conditional that TensorFlow does not run as Switch and Merge."""
    spec = tf.TensorSpec(None, tf.float32)
    more = tf.function(lambda x: x + 1.0).get_concrete_function(spec)
    less = tf.function(lambda x: x - 1.0).get_concrete_function(spec)
    return tf.raw_ops.If(cond=known(predicate, tf.bool), input=[known(3.0)], Tout=[tf.float32], then_branch=more, else_branch=less)


def raw_while(start):
    specs = [tf.TensorSpec(None, tf.int32), tf.TensorSpec(None, tf.float32)]
    goes_on = tf.function(lambda i, x: i < 3).get_concrete_function(*specs)
    body = tf.function(lambda i, x: (i + 1, x * 2.0)).get_concrete_function(*specs)
    return tf.raw_ops.While(input=[known(start, tf.int32), known(1.0)], cond=goes_on, body=body,
                            output_shapes=[tf.TensorShape(None)] * 2)


def cases():
    # Where TensorFlow runs them as Switch and Merge, predicates are scalars.
    for tag, value in (("vector", [True, False]), ("empty", np.zeros(0, bool))):
        yield Traced(f"v2/cond-of-{tag}", lambda: branch(value), v2=True, fails=True)
        yield Traced(f"raw/if-of-{tag}", lambda: raw_if(value), v2=True)
    yield Traced("raw/if-of-matrix", lambda: raw_if([[False]]), v2=True)
    for tag, value in (("vector", np.array([3, 4], np.int32)), ("empty", np.zeros(0, np.int32))):
        yield Traced(f"v2/count-to-{tag}", lambda: count(value), v2=True, fails=True)
    yield Traced("raw/while-from-empty", lambda: raw_while(np.zeros(0, np.int32)), v2=True)

    def v(tag, build, **options):
        yield Traced(f"v1/{tag}", build, **options)
        yield Traced(f"v2/{tag}", build, v2=True, **options)

    for taken in (True, False):
        yield from v(f"cond-{taken}", lambda: branch(taken))
        yield from v(f"cond-gradient-{taken}", lambda: branch_gradient(taken))
        yield from v(f"loop-in-branch-{taken}", lambda: loop_in_branch(taken))
        yield Traced(f"raw/merge-{taken}", lambda: raw_merge(taken))
        for other in (True, False):
            yield from v(f"nested-cond-{taken}-{other}", lambda: nested_branches(taken, other))
    for index in (-1, 0, 1, 2, 3):
        yield from v(f"case-{index}", lambda: switch_case(index))
    for limit in (0, 1, 2, 13):
        yield from v(f"count-{limit}", lambda: count(limit))
        yield from v(f"branch-in-loop-{limit}", lambda: branch_in_loop(limit))
    for parallel in (1, 2, 7):
        yield from v(f"parallel-{parallel}", lambda: count(20, parallel))
        yield from v(f"nested-parallel-{parallel}", lambda: nested_loops(4, 5, parallel))
    for rows, columns in ((0, 3), (3, 0), (1, 1), (4, 3)):
        yield from v(f"nested-{rows}-{columns}", lambda: nested_loops(rows, columns))
    yield from v("triple", triple_loops)
    yield from v("collatz", lambda: collatz(27))
    yield from v("growing", growing)
    yield from v("loop-gradient", loop_gradient)
    yield from v("invariant", invariant)
    yield from v("controls", controls)
    yield from v("twins", identical_twins)
    yield from v("never", endless_while)
    yield from v("tensor-array", list_loop)
    yield from v("map", map_fn)
    yield from v("scan", scan)
    yield Traced("raw/exit", exit_first)
    yield Traced("raw/trigger", trigger)
    yield Traced("raw/error-dead", dead_fetch, fails=True)
    yield Traced("raw/error-dead-further", dead_fetch_further, fails=True)
    yield Traced("raw/error-pred", bad_pred, fails=True)
    yield Traced("raw/error-frames", frames_mixed, fails=True)
    yield Traced("function/call", call)
    yield Traced("function/nested", nested_calls)
    yield recursion("one", 1)
    yield recursion("ten", 10)
