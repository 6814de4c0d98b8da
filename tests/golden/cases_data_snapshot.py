"""Snapshots that are passed, readers of snapshots, iterators of several devices, functions on a device. What stands in files:
tests/datasets/snapshots.rs, where SnapshotNestedDatasetReader is, too: TensorFlow frees its inputs too early."""
import tensorflow as tf
from tensorflow import raw_ops
from tensorflow.python.data.ops import structured_function
from golden import Traced
from cases_data import D, DTYPES, case, error, texts, value, variant, whole, wrap
from cases_data_more import I, r, spec

# No folder can be made there.
NOWHERE = "/proc/none/kernlink"


def hidden(tensor):
    """A tensor whose shape is not known beforehand."""
    return tf.compat.v1.placeholder_with_default(tensor, None)


def passed(ds, types=(tf.int64,), shapes=((),), **attrs):
    attrs = {"path": NOWHERE, "snapshot_name": "n", "mode": "passthrough"} | attrs
    attrs["path"] = hidden(attrs["path"])
    return raw_ops.SnapshotDataset(input_dataset=variant(ds), output_types=list(types), output_shapes=[list(s) for s in shapes], **attrs)


def second(ds, **attrs):
    def function(f, structure):
        wrapped = structured_function.StructuredFunctionWrapper(f, "f", input_structure=structure, add_to_graph=False)
        wrapped.function.add_to_graph(tf.compat.v1.get_default_graph())
        return wrapped.function
    attrs = {"path": NOWHERE, "hash_valid": True, "hash": 1} | attrs
    attrs["path"] = hidden(attrs["path"])
    return raw_ops.SnapshotDatasetV2(
        input_dataset=variant(ds), reader_func_other_args=[], shard_func_other_args=[], **spec([]),
        reader_func=function(lambda shards: shards.flat_map(lambda shard: shard), tf.data.DatasetSpec(tf.data.DatasetSpec(ds.element_spec))),
        shard_func=function(lambda x: I(0), ds.element_spec), **attrs)


def cases():
    for dtype in DTYPES:
        pairs = lambda: D.from_tensor_slices((value(dtype, (5, 2)), value(dtype, (5,), 1)))
        yield case("SnapshotDataset", dtype, "passed", lambda: texts(wrap(pairs(), passed(pairs(), [dtype] * 2, [(2,), ()]))))
    yield case("SnapshotDataset", "int64", "passed-on", lambda: whole(wrap(r(), passed(r(), compression="GZIP", shard_size_bytes=-1, num_reader_threads=-1,
        reader_buffer_size=-1, num_writer_threads=-1, writer_buffer_size=-1, pending_snapshot_expiry_seconds=-1)).batch(3).unbatch()))
    for tag, attrs in (("mode", dict(mode="x")), ("compression", dict(compression="ZLIB")), ("expiry", dict(pending_snapshot_expiry_seconds=0)),
                       ("path", dict(path=["a", "b"])), ("missing", dict(mode="read")), ("folder", dict(mode="write"))):
        yield error("SnapshotDataset", tag, lambda: whole(wrap(r(), passed(r(), **attrs))))
    yield error("SnapshotDatasetV2", "folder", lambda: whole(wrap(r(), second(r()))))
    yield error("SnapshotDatasetV2", "path", lambda: whole(wrap(r(), second(r(), path=["a"]))))
    yield case("SnapshotDatasetV2", "int64", "cardinality", lambda: wrap(r(), second(r(7), compression="AUTO")).cardinality())
    listed = lambda path, *shapes, dtype=tf.string: tf.data.experimental.from_variant(
        raw_ops.ListSnapshotChunksDataset(snapshot_path=hidden(path), **spec(*shapes, dtype=dtype)), tf.TensorSpec([], dtype))
    yield case("ListSnapshotChunksDataset", "string", "cardinality", lambda: listed(NOWHERE, []).cardinality())
    yield error("ListSnapshotChunksDataset", "empty", lambda: listed("", []).cardinality())
    yield error("ListSnapshotChunksDataset", "path", lambda: listed(["a", "b"], []).cardinality())
    def reader(version, **attrs):
        attrs = {"shard_dir": NOWHERE, "start_index": I(0)} | attrs
        attrs = {name: hidden(given) for name, given in attrs.items()}
        return wrap(r(), raw_ops.SnapshotDatasetReader(version=version, **attrs, **spec([])))
    for version in (0, 1, 2):
        yield error("SnapshotDatasetReader", f"missing-{version}", lambda: whole(reader(version)))
    yield error("SnapshotDatasetReader", "version", lambda: whole(reader(3)))
    yield error("SnapshotDatasetReader", "start", lambda: whole(reader(2, start_index=I([1]))))
    yield error("SnapshotDatasetReader", "folder", lambda: whole(reader(2, shard_dir=["a"])))
    yield case("SnapshotDatasetReader", "int64", "cardinality", lambda: reader(2).cardinality())
    yield error("SnapshotChunkDataset", "missing", lambda: whole(wrap(r(), raw_ops.SnapshotChunkDataset(chunk_file=hidden(NOWHERE), **spec([])))))
    yield error("SnapshotChunkDataset", "file", lambda: whole(wrap(r(), raw_ops.SnapshotChunkDataset(chunk_file=hidden(["a"]), **spec([])))))
    def devices(op, dtype="int64", room=1, incarnation=1, shard=lambda k: k % 2, count=6, deleted=False, fails=False):
        def build():
            attrs = dict(devices=["/cpu:0", "/cpu:1"], output_types=[dtype], output_shapes=[[]])
            made = getattr(raw_ops, op)(**attrs)
            handle, deleter = (made if op == "AnonymousMultiDeviceIterator" else (made, None))
            ds = D.from_tensor_slices(value(dtype, (5,)))
            last, found = raw_ops.MultiDeviceIteratorInit(dataset=variant(ds), multi_device_iterator=handle, max_buffer_size=I(room)), []
            found.append(last)
            for k in range(count):
                with tf.control_dependencies([last]):
                    last, = raw_ops.MultiDeviceIteratorGetNextFromShard(
                        multi_device_iterator=handle, shard_num=tf.constant(shard(k)), incarnation_id=I(incarnation), output_types=[dtype], output_shapes=[[]])
                found.append(last)
            if deleted and deleter is not None:
                with tf.control_dependencies([last]):
                    last = raw_ops.DeleteMultiDeviceIterator(multi_device_iterator=handle, iterators=[], deleter=deleter)
                with tf.control_dependencies([last]):
                    found[-1] = tf.identity(found[-1])
            return found[-1:] if fails else found
        return build
    for op in ("AnonymousMultiDeviceIterator", "AnonymousMultiDeviceIteratorV3"):
        for dtype in DTYPES:
            yield case(op, dtype, "in-turn", devices(op, dtype, count=5))
        yield case(op, "int64", "room-0", devices(op, room=0, count=4))
        yield case(op, "int64", "room-9", devices(op, room=9, count=5))
        yield case(op, "int64", "late", devices(op, room=3, count=3, shard=lambda k: 1 - k % 2))
        yield error(op, "end", devices(op, count=6, fails=True))
        yield error(op, "incarnation", devices(op, incarnation=2, count=1, fails=True))
    yield case("DeleteMultiDeviceIterator", "int64", "anonymous", devices("AnonymousMultiDeviceIterator", count=5, deleted=True))
    def remote(f, arguments, types, target="/device:CPU:0"):
        def build():
            function = tf.function(f, input_signature=[tf.TensorSpec(a.shape, a.dtype) for a in arguments()]).get_concrete_function()
            function.add_to_graph(tf.compat.v1.get_default_graph())
            return list(raw_ops.RemoteCall(target=target, args=arguments(), Tout=list(types), f=function))
        return build
    for dtype in DTYPES:
        two = lambda: [value(dtype, (2, 3)), value(dtype, (), 1)]
        yield case("RemoteCall", dtype, "swapped", remote(lambda a, b: (b, a), two, [dtype] * 2))
    yield case("RemoteCall", "float", "computed", remote(lambda a, b: (tf.matmul(a, b), a + 1), lambda: [value("float", (2, 3)), value("float", (3, 2), 1)], [tf.float32] * 2))
    full = "/job:localhost/replica:0/task:0/device:CPU:0"
    yield case("RemoteCall", "int64", "full-name", remote(lambda a: (a * 2,), lambda: [I([1, 2])], [tf.int64], full))
    yield error("RemoteCall", "no-device", remote(lambda a: (a,), lambda: [I(1)], [tf.int64], "/device:CPU:77"))
    yield error("RemoteCall", "no-name", remote(lambda a: (a,), lambda: [I(1)], [tf.int64], "x"))
    yield error("RemoteCall", "fails", remote(lambda a: (tf.debugging.assert_equal(a, I(2)), tf.gather(I([1]), a))[1:], lambda: [I(9)], [tf.int64]))
