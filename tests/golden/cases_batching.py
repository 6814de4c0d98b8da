"""Batching by one run, which is a batch by itself: filled up, split, handed out again, refused. Several runs: tests/batching."""
import tensorflow as tf
from tensorflow import raw_ops
from cases_data import DTYPES, value
from golden import R, Case, Traced, bad, f32, i32, i64

THREADS = {"num_batch_threads": 1, "batch_timeout_micros": 0}


def function(x_type, build, types=None):
    """A concrete function of rows and a captured value."""
    specs = [tf.TensorSpec(None, tf.as_dtype(t)) for t in (types or [x_type, x_type])]
    return tf.function(build, autograph=False).get_concrete_function(*specs)


def call(x, build, captured=None, **attrs):
    """A BatchFunction with its defaults."""
    captured = [] if captured is None else [captured]
    f = function(x.dtype, build, [x.dtype] + [c.dtype for c in captured])
    attrs = {**THREADS, "max_batch_size": 8, "low_priority_max_batch_size": 0, **attrs}
    return raw_ops.BatchFunction(in_tensors=[x], captured_tensors=captured, f=f, Tout=[t.dtype for t in f.outputs], **attrs)


def sized(x, *captured):
    """The rows, and of how many the batch was."""
    return (x, tf.fill([tf.shape(x)[0]], tf.shape(x)[0]), *(tf.reshape(tf.repeat(c[None], tf.shape(x)[0]), [-1]) for c in captured))


def cases():
    for dtype in DTYPES:
        yield Traced(f"BatchFunction/{dtype}/filled", lambda: call(value(dtype, (3, 2)), sized, allowed_batch_sizes=[2, 5, 8]))
        yield Traced(f"BatchFunction/{dtype}/split", lambda: call(
            value(dtype, (7, 2)), sized, allowed_batch_sizes=[1, 2, 3], enable_large_batch_splitting=True))

        def parted():
            tensors, index, own = raw_ops.Batch(
                in_tensors=[value(dtype, (3, 2)), value(dtype, (3,), 1)], max_batch_size=4, allowed_batch_sizes=[4], grad_timeout_micros=0, **THREADS)
            part = raw_ops.Unbatch(batched_tensor=tensors[0], batch_index=index, id=own, timeout_micros=1000000)
            flow = raw_ops.UnbatchGrad(original_input=tensors[0], batch_index=index, grad=part, id=own)
            return [*tensors, part, flow, index[:, 1:]]
        yield Traced(f"Batch/{dtype}/parted", parted)

    x = lambda rows, *inner: tf.constant(R("float", (rows, *inner), rows).array)  # noqa: E731
    for tag, rows, attrs in (
            ("plain", 3, {}), ("whole", 8, {}), ("one", 1, {"max_batch_size": 1}), ("any-size", 9, {"max_batch_size": -1}), ("none", 0, {}),
            ("no-room", 3, {"max_enqueued_batches": 0}), ("any-room", 3, {"max_enqueued_batches": -1}), ("adaptive", 3, {"num_batch_threads": 0}),
            ("adaptive-split", 7, {"num_batch_threads": 0, "allowed_batch_sizes": [8]}), ("late", 2, {"batch_timeout_micros": 2000}),
            ("split-whole", 8, {"allowed_batch_sizes": [4], "enable_large_batch_splitting": True}),
            ("split-any", 7, {"max_batch_size": 7, "enable_large_batch_splitting": True}),
            ("down", 3, {"allowed_batch_sizes": [2, 8], "batch_padding_policy": "BATCH_DOWN"}),
            ("down-split", 3, {"allowed_batch_sizes": [2, 4], "batch_padding_policy": "BATCH_DOWN", "enable_large_batch_splitting": True}),
            ("cost-split", 3, {"allowed_batch_sizes": [2, 4], "batch_padding_policy": "MINIMIZE_TPU_COST_PER_REQUEST", "enable_large_batch_splitting": True})):
        yield Traced(f"BatchFunction/float/{tag}", lambda: call(x(rows, 2, 3), sized, **attrs))
    yield Traced("BatchFunction/float/captured", lambda: call(x(3), sized, captured=tf.constant(7.5), allowed_batch_sizes=[4, 8]))
    yield Traced("BatchFunction/float/changes-rows", lambda: call(x(3, 2), lambda x: (tf.reduce_sum(x, 1), x[:, :0]), allowed_batch_sizes=[4, 8]))

    for tag, rows, attrs in (
            ("large", 9, {}), ("large-split", 9, {"allowed_batch_sizes": [4], "enable_large_batch_splitting": True}),
            ("room", 8, {"max_batch_size": 8, "allowed_batch_sizes": [1], "enable_large_batch_splitting": True, "max_enqueued_batches": 2}),
            ("room-split", 3, {"max_enqueued_batches": 0, "enable_large_batch_splitting": True}),
            ("last", 3, {"allowed_batch_sizes": [2, 4]}), ("last-split", 3, {"allowed_batch_sizes": [2, 9], "enable_large_batch_splitting": True}),
            ("order", 3, {"allowed_batch_sizes": [4, 2, 8]}), ("twice", 3, {"allowed_batch_sizes": [8, 8]}), ("size", 3, {"max_batch_size": 0}),
            ("timeout", 3, {"batch_timeout_micros": -1}), ("wide", 3, {"max_batch_size": 2**31})):
        yield Traced(f"BatchFunction/float/error-{tag}", lambda: call(x(rows, 2), sized, **attrs), fails=True)
    yield Traced("BatchFunction/float/error-scalar", lambda: call(tf.constant(1.0), sized), fails=True)
    yield Traced("BatchFunction/float/error-scalar-result", lambda: call(x(3), lambda x: tf.reduce_sum(x)), fails=True)
    yield Traced("BatchFunction/float/error-fewer-rows", lambda: call(x(3), lambda x: x[1:]), fails=True)
    yield Traced("BatchFunction/float/error-function", lambda: call(x(3), lambda x: tf.raw_ops.CheckNumerics(tensor=x / 0, message="no")), fails=True)

    for tag, tensors, attrs in (
            ("rows", [R("float", (3, 2)), R("float", (2, 2))], {}), ("scalar", [f32(1)], {}), ("large", [R("float", (9, 2))], {}),
            ("threads", [R("float", (3,))], {"num_batch_threads": 0}), ("last", [R("float", (3,))], {"allowed_batch_sizes": [2, 4]}),
            ("order", [R("float", (3,))], {"allowed_batch_sizes": [9, 8]}), ("size", [R("float", (3,))], {"max_batch_size": 0}),
            ("timeout", [R("float", (3,))], {"batch_timeout_micros": -1})):
        case = Case(f"Batch/float/error-{tag}", fails=True)
        case.apply("Batch", [tensors], keep=[0], **{**THREADS, "max_batch_size": 8, "grad_timeout_micros": 0, **attrs})
        yield case
    def given(op, tag, *inputs, fails=True, **attrs):
        case = Case(f"{op}/float/{'error-' if fails else ''}{tag}", fails=fails)
        case.apply(op, list(inputs), keep=[0], **attrs)
        return case

    whole = R("float", (5, 2))
    yield given("Unbatch", "own", whole, i64([[4, 0, 2], [7, 2, 5]]), i64(7), fails=False, timeout_micros=1000000)
    yield given("Unbatch", "sizes-count", whole, i64([[4, 3, 4], [7, 0, 2]]), i64(7), fails=False, timeout_micros=1000000)
    yield given("Unbatch", "less", whole, i64([[4, 0, 2]]), i64(4), fails=False, timeout_micros=1000000)
    for tag, index, own in (("late", i64([[4, 0, 2]]), i64(3)), ("index", i64([[4, 0]]), i64(4)), ("more", i64([[4, 0, 1]] * 6), i64(4)),
                            ("sizes", i64([[4, 0, 6]]), i64(4)), ("id", i64([[4, 0, 2]]), i64([4])), ("twice", i64([[4, 0, 2], [4, 2, 3]]), i64(5))):
        yield given("Unbatch", tag, whole, index, own, timeout_micros=2000)
    yield given("UnbatchGrad", "one", whole, i64([[4, 0, 5]]), R("float", (3, 2)), i64(4), fails=False)
    yield given("UnbatchGrad", "nothing", R("float", (0, 2)), i64([[4, 0, 5]]), R("float", (3, 2)), i64(4), fails=False)
    for tag, index, own in (("index", i64([[4, 0]]), i64(4)), ("empty", R("int64", (0, 3)), i64(4)), ("id", i64([[4, 0, 5]]), i64([4])),
                            ("twice", i64([[4, 0, 5], [4, 0, 5]]), i64(4))):
        yield given("UnbatchGrad", tag, whole, index, R("float", (3, 2)), own)
