"""What takes datasets whole: tables, files, statistics; functions of rows."""
import numpy as np
import tensorflow as tf
from tensorflow import raw_ops
from golden import Traced
from cases_data import D, case, error, value, variant, whole, wrap
from cases_data_more import I, r, spec


def cases():
    yield error("IteratorGetModelProto", "uninitialized", lambda: raw_ops.IteratorGetModelProto(iterator=raw_ops.AnonymousIteratorV3(**spec([]))))
    def counted():
        handle = raw_ops.DummyIterationCounter()
        return tf.shape(tf.stack([raw_ops.VarIsInitializedOp(resource=handle)]))
    yield case("DummyIterationCounter", "resource", "names-nothing", counted)
    for tag in ("", "t"):
        def told_of(op):
            def build():
                aggregator = getattr(raw_ops, op.replace("Summary", "Handle"))(shared_name=f"{op}{tag}")
                ds = r(7).batch(3)
                prefix = "Experimental" if op.startswith("Experimental") else ""
                ds = wrap(ds, getattr(raw_ops, f"{prefix}BytesProducedStatsDataset")(input_dataset=variant(ds), tag="bytes", **spec([None])))
                ds = wrap(ds, getattr(raw_ops, f"{prefix}SetStatsAggregatorDataset")(input_dataset=variant(ds), stats_aggregator=aggregator, tag=tag, counter_prefix="c", **spec([None])))
                found = whole(ds.unbatch())
                with tf.control_dependencies(found):
                    return [*found, getattr(raw_ops, op)(iterator=aggregator)]
            return build
        for op in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"):
            yield case(op, "string", f"tag-{tag}" if tag else "no-tag", told_of(op))
    def table(keys, values, dtype=tf.int64, twice=False):
        handle = raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=dtype, shared_name=f"table{keys}{values}{twice}")
        ds = D.from_tensor_slices((tf.constant(keys, tf.int64), tf.constant(values, dtype)))
        last = raw_ops.InitializeTableFromDataset(table_handle=handle, dataset=variant(ds))
        if twice:
            with tf.control_dependencies([last]):
                last = raw_ops.InitializeTableFromDataset(table_handle=handle, dataset=variant(ds.skip(1)))
        with tf.control_dependencies([last]):
            return [raw_ops.LookupTableFindV2(table_handle=handle, keys=I([1, 2, 3, 4]), default_value=tf.constant("none" if dtype == tf.string else -1, dtype)),
                    raw_ops.LookupTableSizeV2(table_handle=handle)]
    # One that ends TensorFlow's process must not end the others'.
    for tag, build in (("three", lambda: table([1, 3, 4], [10, 30, 40])), ("same-twice", lambda: table([1, 3, 1], [10, 30, 10])),
                       ("strings", lambda: table([2, 4], ["b", "d"], tf.string)), ("again", lambda: table([2, 4], [5, 6], twice=True))):
        yield Traced(f"InitializeTableFromDataset/int64/{tag}", build, v2=True, risky=True)
    # Of other dtypes, or keys that are twice there, TensorFlow's process may end.
    for tag, keys, values in (("other-value", [1, 1], [10, 11]), ("empty", [], [])):
        yield Traced(f"InitializeTableFromDataset/int64/error-{tag}", lambda: table(keys, values), v2=True, fails=True, risky=True)
    def defun(f, arguments, shapes, captured=(), types=(tf.int64,)):
        g = f.get_concrete_function()
        g.add_to_graph(tf.compat.v1.get_default_graph())
        return raw_ops.MapDefun(arguments=arguments, captured_inputs=list(captured), output_types=list(types), output_shapes=list(shapes), f=g)
    signature = lambda *shapes: [tf.TensorSpec(s, tf.int64) for s in shapes]
    add = tf.function(lambda a, b: a + b, input_signature=signature([], []))
    yield case("MapDefun", "int64", "two-arguments", lambda: defun(add, [I([1, 2, 3]), I([10, 20, 30])], [[]]))
    yield case("MapDefun", "int64", "captured", lambda: defun(add, [I([1, 2, 3])], [[]], captured=[I(5)]))
    yield case("MapDefun", "int64", "unknown-shape", lambda: defun(tf.function(lambda a: tf.range(3, dtype=tf.int64) + a, input_signature=signature([])), [I([1, 2])], [[None]]))
    yield case("MapDefun", "int64", "no-rows", lambda: defun(add, [I(np.zeros([0])), I(np.zeros([0]))], [[]]))
    yield error("MapDefun", "shapes-differ", lambda: defun(tf.function(lambda a: tf.range(a), input_signature=signature([])), [I([1, 2])], [[None]]))
    yield error("MapDefun", "another-shape", lambda: defun(tf.function(lambda a: tf.fill([a], a), input_signature=signature([])), [I([2, 2])], [[3]]))
