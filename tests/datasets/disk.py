"""Writes the graphs and folders of `tests/datasets/disk.rs`: `python tests/datasets/disk.py`. It needs TensorFlow.

    python tests/datasets/disk.py --check FOLDER

reads what Kernlink has written to FOLDER (`KERNLINK_KEEP=FOLDER cargo test --features data --test datasets disk`).
"""
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
D = tf.data.Dataset
HERE = pathlib.Path(__file__).parent / "data" / "disk"
COMPRESSIONS = {"none": None, "gzip": "GZIP", "snappy": "SNAPPY"}
SHARDS = 2


def elements():
    """Elements of several dtypes and shapes; the first component is the number of the shard."""
    n = 5
    numbers = tf.constant([[k + 0.5, -k] for k in range(n)], tf.float32)
    texts = tf.constant([b"", b"a", b"\x00\xff", b"long " * 40, b"e"])
    flags = tf.constant([k % 3 == 0 for k in range(n)])
    return D.from_tensor_slices((tf.constant([k % SHARDS for k in range(n)], tf.int64), numbers, texts, flags, tf.zeros([n, 0], tf.int16)))


def iterate(ds, name):
    iterator = v1.data.make_initializable_iterator(ds)
    tf.group(iterator.initializer, name=f"{name}_begin")
    for index, component in enumerate(tf.nest.flatten(iterator.get_next())):
        tf.identity(component, name=f"{name}_{index}")
    resource = iterator._iterator_resource
    tf.identity(tf.raw_ops.SerializeIterator(resource_handle=resource), name=f"{name}_state")
    tf.group(tf.raw_ops.DeserializeIterator(resource_handle=resource, serialized=v1.placeholder(tf.variant, [1], name=f"{name}_given")),
             name=f"{name}_go_back")


def function(ds, f):
    from tensorflow.python.data.ops import structured_function
    wrapped = structured_function.StructuredFunctionWrapper(f, "f", input_structure=ds.element_spec, add_to_graph=False)
    wrapped.function.add_to_graph(tf.compat.v1.get_default_graph())
    return wrapped.function


def function_of_datasets(ds, f):
    from tensorflow.python.data.ops import structured_function
    spec = tf.data.DatasetSpec(tf.data.DatasetSpec(ds.element_spec))
    wrapped = structured_function.StructuredFunctionWrapper(f, "g", input_structure=spec, add_to_graph=False)
    wrapped.function.add_to_graph(v1.get_default_graph())
    return wrapped.function


def graph():
    path = v1.placeholder(tf.string, [], name="path")
    iterate(elements().cache(path), "cache")
    iterate(D.range(3).cache(path), "other")
    ds, types = elements(), dict(output_types=[tf.int64, tf.float32, tf.string, tf.bool, tf.int16], output_shapes=[[], [2], [], [], [0]])
    shard = function(ds, lambda *x: x[0])
    reader = function_of_datasets(ds, lambda shards: shards.flat_map(lambda shard: shard))
    for name, compression in COMPRESSIONS.items():
        tf.raw_ops.SaveDataset(input_dataset=ds._variant_tensor, path=path, shard_func_other_args=[], compression=compression or "",
                               shard_func=shard, use_shard_func=True, name=f"save_{name}")
        tensor = tf.raw_ops.SaveDatasetV2(input_dataset=ds._variant_tensor, path=path, shard_func_other_args=[],
                                          compression=compression or "", shard_func=shard, use_shard_func=False, **types)
        iterate(tf.data.experimental.from_variant(tensor, ds.element_spec), f"through_{name}")
        tensor = tf.raw_ops.LoadDataset(path=path, reader_func_other_args=[], compression=compression or "", reader_func=reader, **types)
        tf.raw_ops.DatasetCardinality(input_dataset=tensor, name=f"count_{name}")
        iterate(tf.data.experimental.from_variant(tensor, ds.element_spec), f"load_{name}")
    for name, room in (("one", 1), ("none", 0)):
        devices = tf.raw_ops.MultiDeviceIterator(devices=["a", "b"], shared_name=name, container="", output_types=[tf.int64], output_shapes=[[]])
        tf.raw_ops.MultiDeviceIteratorInit(dataset=D.range(5)._variant_tensor, multi_device_iterator=devices,
                                           max_buffer_size=tf.constant(room, tf.int64), name=f"{name}_init")
        text = tf.raw_ops.MultiDeviceIteratorToStringHandle(multi_device_iterator=devices)
        found = tf.raw_ops.MultiDeviceIteratorFromStringHandle(string_handle=text, output_types=[tf.int64], output_shapes=[[]])
        tf.raw_ops.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=found, shard_num=v1.placeholder(tf.int32, [], name=f"{name}_shard"),
            incarnation_id=v1.placeholder(tf.int64, [], name=f"{name}_incarnation"), output_types=[tf.int64], output_shapes=[[]],
            name=f"{name}_next")


def values():
    """Elements that are variants while they are kept: ragged and sparse tensors."""
    ragged = tf.ragged.constant([[[1, 2], []], [[3]], [], [[], [4, 5, 6], [7]]], tf.int64)
    texts = tf.ragged.constant([["a", "b" * 200], [], ["c"], [""]])
    sparse = tf.sparse.from_dense([[0.5, 0], [0, 0], [0, -1], [2, 3]])
    return D.from_tensor_slices((ragged, texts, sparse))


def dense(ds):
    """What the elements of `values` are made of."""
    return ds.map(lambda ragged, texts, sparse: (ragged.values, ragged.row_splits, texts, sparse.indices, sparse.values))


def graph_of_values():
    path = v1.placeholder(tf.string, [], name="path")
    ds = values()
    iterate(dense(ds), "elements")
    iterate(dense(ds.cache(path)), "cache")
    for name, compression in (COMPRESSIONS | {"auto": "AUTO"}).items():
        iterate(dense(ds.snapshot(path, compression=compression)), f"snapshot_{name}")
    types = dict(output_types=[tf.variant] * 3, output_shapes=[[], [], [3]])
    reader = function_of_datasets(ds, lambda shards: shards.flat_map(lambda shard: shard))
    tensor = tf.raw_ops.LoadDataset(path=path, reader_func_other_args=[], compression="", reader_func=reader, **types)
    iterate(dense(tf.data.experimental.from_variant(tensor, ds.element_spec)), "load")


def same_values(given):
    for one, other in zip(dense(given), dense(values()), strict=True):
        for a, b in zip(one, other):
            assert a.dtype == b.dtype and repr(a) == repr(b), (a, b)


def same(given):
    expected = list(elements().as_numpy_iterator())
    given = list(given.as_numpy_iterator())
    key = lambda element: (element[0], repr(element))
    assert len(given) == len(expected), (len(given), len(expected))
    for one, other in zip(sorted(given, key=key), sorted(expected, key=key)):
        for a, b in zip(one, other):
            assert getattr(a, "dtype", None) == getattr(b, "dtype", None) and repr(a) == repr(b), (a, b)


if "--check" in sys.argv:
    folder = pathlib.Path(sys.argv[-1])
    for name, compression in COMPRESSIONS.items():
        for kind in ("save", "whole", "through"):
            same(D.load(str(folder / f"{kind}_{name}"), element_spec=elements().element_spec, compression=compression))
    for name in ("cache", "cache_in_parts"):
        assert (folder / f"{name}.index").exists()
        same(elements().take(0).concatenate(elements()).cache(str(folder / name)))
    same_values(values().take(0).concatenate(values()).cache(str(folder / "values_cache")))
    for name, compression in (COMPRESSIONS | {"auto": "AUTO"}).items():
        same_values(values().snapshot(str(folder / f"values_snapshot_{name}"), compression=compression))
    print("TensorFlow reads all of it")
else:
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    with v1.Graph().as_default() as g:
        graph()
    (HERE / "graph.pb").write_bytes(g.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))
    for name, compression in COMPRESSIONS.items():
        elements().save(str(HERE / f"saved_{name}"), compression=compression, shard_func=lambda *x: x[0])
    list(elements().cache(str(HERE / "cached")))
    with v1.Graph().as_default() as g:
        graph_of_values()
    (HERE / "values.pb").write_bytes(g.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))
    list(values().cache(str(HERE / "values_cached")))
    values().save(str(HERE / "values_saved"))
    for name, compression in (COMPRESSIONS | {"auto": "AUTO"}).items():
        list(values().snapshot(str(HERE / f"values_snapshot_{name}"), compression=compression))
