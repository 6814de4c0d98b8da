"""Values in variants that went through messages: what reads them finds what was written."""
import tensorflow as tf
from tensorflow import raw_ops
from tensorflow.core.framework import tensor_pb2
from cases_data import case, error


def ragged(batched):
    return raw_ops.RaggedTensorToVariant(rt_nested_splits=[tf.constant([0, 2, 3], tf.int64)], rt_dense_values=tf.constant(["a", "b", "c"]), batched_input=batched)


def deep():
    """Two ragged dimensions."""
    return raw_ops.RaggedTensorToVariant(rt_nested_splits=[tf.constant([0, 2, 2, 3]), tf.constant([0, 1, 1, 3])], rt_dense_values=[[1.0, 2], [3, 4], [5, 6]], batched_input=False)


# Lists: rows, strings, none yet, some that are not set.
LISTS = {
    "rows": (tf.int32, [2], lambda: raw_ops.TensorListFromTensor(tensor=[[1, 2], [3, 4]], element_shape=[2])),
    "strings": (tf.string, [], lambda: raw_ops.TensorListFromTensor(tensor=["a", "", "bcd"], element_shape=tf.constant([], tf.int32))),
    "nothing": (tf.float32, [2], lambda: raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=2, element_dtype=tf.float32)),
    "gaps": (tf.float64, [2], lambda: put(put(raw_ops.TensorListReserve(element_shape=[2], num_elements=4, element_dtype=tf.float64), 1), 3)),
    "lists": (tf.variant, [], lambda: push(raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=-1, element_dtype=tf.variant), LISTS["rows"][2]())),
}


def put(handle, index):
    return raw_ops.TensorListSetItem(input_handle=handle, index=index, item=tf.constant([index, 0.5], tf.float64))


def push(handle, tensor):
    return raw_ops.TensorListPushBack(input_handle=handle, tensor=tensor)


def stacked(handle, dtype, shape):
    return raw_ops.TensorListStack(input_handle=handle, element_shape=tf.constant(shape, tf.int32), element_dtype=dtype, num_elements=-1)


def back(tensor):
    return raw_ops.ParseTensor(serialized=raw_ops.SerializeTensor(tensor=tensor), out_type=tf.variant)


def message(count, *values):
    """A message that has its variants in fields."""
    dtype = tf.variant.as_datatype_enum
    proto = tensor_pb2.TensorProto(dtype=dtype, tensor_shape=tf.TensorShape(count).as_proto(), variant_val=values)
    return raw_ops.ParseTensor(serialized=proto.SerializeToString(), out_type=tf.variant)


def value(number, dtype=tf.int64, name="tensorflow::Tensor"):
    return tensor_pb2.VariantTensorDataProto(type_name=name, tensors=[tf.make_tensor_proto(number, dtype)])


def optional(metadata, *tensors):
    return tensor_pb2.VariantTensorDataProto(type_name="tensorflow::data::Optional", metadata=metadata, tensors=[tf.make_tensor_proto(t) for t in tensors])


def splits(*levels):
    tensors = [tf.make_tensor_proto(level, tf.int64) for level in levels] + [tf.make_tensor_proto([1.0, 2, 3])]
    return tensor_pb2.VariantTensorDataProto(type_name="RaggedTensorVariant", tensors=tensors)


def unpacked(encoded, rank, kind, **attrs):
    return tf.nest.flatten(list(raw_ops.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=rank, output_ragged_rank=attrs.pop("out", rank), Tvalues=kind, **attrs)))


def cases():
    parse = lambda tag, build: case("ParseTensor", "variant", tag, build)
    refused = lambda tag, build: error("ParseTensor", tag, build)
    st = lambda: tf.sparse.from_dense([[1, 0, 2], [0, 0, 0], [3, 4, 0]])
    many = lambda: raw_ops.SerializeManySparse(sparse_indices=st().indices, sparse_values=st().values, sparse_shape=st().dense_shape, out_type=tf.variant)
    sparse = lambda rows: list(raw_ops.DeserializeSparse(serialized_sparse=rows, dtype=tf.int32))
    yield parse("sparse", lambda: sparse(back(many())))
    yield parse("ragged", lambda: unpacked(back(ragged(False)), 1, tf.string))
    yield parse("ragged-rows", lambda: unpacked(back(ragged(True)), 0, tf.string, out=1))
    yield parse("ragged-deep", lambda: unpacked(back(deep()), 2, tf.float32, Tsplits=tf.int32))
    held = lambda: raw_ops.OptionalFromValue(components=[tf.constant([1.0, 2.0]), tf.constant("a"), raw_ops.OptionalNone()])
    got = lambda o: raw_ops.OptionalGetValue(optional=o, output_types=[tf.float32, tf.string, tf.variant], output_shapes=[[2], [], []])
    yield parse("optional", lambda: got(back(held()))[:2])
    yield parse("optional-within", lambda: raw_ops.OptionalHasValue(optional=got(back(held()))[2]))
    yield parse("none", lambda: raw_ops.OptionalHasValue(optional=back(raw_ops.OptionalNone())))
    for tag, (dtype, shape, build) in LISTS.items():
        yield case("SerializeTensor", "variant", f"list-{tag}", lambda: raw_ops.SerializeTensor(tensor=build()))
        if dtype != tf.variant:
            yield parse(f"list-{tag}", lambda: stacked(back(build()), dtype, shape))
        yield parse(f"list-{tag}-shape", lambda: raw_ops.TensorListElementShape(input_handle=back(build()), shape_type=tf.int64))
    yield parse("list-of-lists", lambda: stacked(raw_ops.TensorListGetItem(input_handle=back(LISTS["lists"][2]()), index=0, element_shape=tf.constant([], tf.int32), element_dtype=tf.variant), tf.int32, [2]))
    nothing, rows = LISTS["nothing"][2], LISTS["rows"][2]
    yield parse("list-pushed", lambda: raw_ops.TensorListLength(input_handle=push(back(nothing()), [1.0])))
    yield parse("list-added", lambda: stacked(raw_ops.AddN(inputs=[rows(), back(rows())]), tf.int32, [2]))
    yield parse("list-shared", lambda: (lambda b: [stacked(push(b, [5, 6]), tf.int32, [2]), stacked(b, tf.int32, [2])])(back(rows())))
    full = lambda: raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=0, element_dtype=tf.float32)
    yield case("ZerosLike", "variant", "list-unlimited", lambda: raw_ops.TensorListLength(input_handle=push(raw_ops.ZerosLike(x=full()), 1.0)))
    yield case("AddN", "variant", "list-unlimited", lambda: raw_ops.TensorListLength(input_handle=push(raw_ops.AddN(inputs=[full(), full()]), 1.0)))
    yield refused("list-full", lambda: raw_ops.TensorListLength(input_handle=push(push(push(back(nothing()), 1.0), 2.0), 3.0)))
    yield refused("list-dtype", lambda: stacked(back(rows()), tf.float32, [2]))
    yield refused("list-as-ragged", lambda: unpacked(back(rows()), 1, tf.int32)[1])
    yield refused("ragged-as-list", lambda: raw_ops.TensorListLength(input_handle=back(ragged(False))))
    yield refused("ragged-as-optional", lambda: raw_ops.OptionalHasValue(optional=back(ragged(False))))
    yield refused("ragged-dtype", lambda: unpacked(back(ragged(False)), 1, tf.int32)[1])
    # In fields, as constants of graphs have them; those beyond the shape are left out.
    yield parse("fields", lambda: sparse(message([3], *[value([[1]]), value([5], tf.int32), value([4])])))
    yield parse("more-fields", lambda: sparse(message([3], *[value([[1]]), value([5], tf.int32), value([4]), value(1)])))
    yield parse("field-optional", lambda: raw_ops.OptionalGetValue(optional=message([], optional(b"\x01", 3.5)), output_types=[tf.float32], output_shapes=[[]]))
    yield parse("field-none", lambda: raw_ops.OptionalHasValue(optional=message([], optional(b"\x00"))))
    yield parse("field-ragged", lambda: unpacked(message([], splits([0, 1, 3])), 1, tf.float32))
    yield parse("no-elements", lambda: raw_ops.Shape(input=message([0, 2])))
    yield refused("fields-that-lack", lambda: sparse(message([3], *[value([[1]]), value([5], tf.int32)]))[0])
    yield refused("field-without-type", lambda: raw_ops.Shape(input=message([1], value(1, name=""))))
    # What datasets hold.
    D = tf.data.Dataset
    of = {"ragged-deep": lambda: tf.ragged.constant([[[1, 2], []], [[3]], [], [[], [4, 5, 6], [7]]], tf.int64), "ragged-strings": lambda: tf.ragged.constant([["a", "b" * 200], [], ["c"], [""]]),
          "sparse-doubles": lambda: tf.sparse.from_dense(tf.constant([[0.5, 0], [0, 0], [0, -1], [2, 3]], tf.float64)), "sparse-floats": lambda: tf.sparse.from_dense([[0.5, 0], [0, 0], [0, -1], [2, 3]])}
    for tag, build in [*of.items(), ("several", lambda: tuple(f() for f in of.values()))]:
        yield case("DatasetFingerprint", "variant", tag, lambda: raw_ops.DatasetFingerprint(input_dataset=D.from_tensor_slices(build())._variant_tensor))
    yield case("DatasetFingerprint", "variant", "enumerated", lambda: raw_ops.DatasetFingerprint(input_dataset=D.from_tensor_slices(tuple(f() for f in of.values())).enumerate()._variant_tensor))
