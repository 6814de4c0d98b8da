"""Writes the graph and folders of `tests/datasets/snapshots.rs`: `python tests/datasets/snapshots.py`. It needs TensorFlow.

    python tests/datasets/snapshots.py --check FOLDER

reads what Kernlink has written to FOLDER (`KERNLINK_KEEP=FOLDER cargo test --features data --test datasets snapshots`).
"""
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
D = tf.data.Dataset
HERE = pathlib.Path(__file__).parent / "data" / "snapshots"
LEGACY = {"none": "", "gzip": "GZIP", "snappy": "SNAPPY"}
COMPRESSIONS = LEGACY | {"zlib": "ZLIB", "auto": "AUTO"}
COUNT = 5


def elements(count=COUNT):
    """Elements of several dtypes and shapes; the first component is the number of the shard. TensorFlow cannot write empty tensors by Snappy in format 1."""
    n = COUNT
    numbers = tf.constant([[k + 0.5, -k] for k in range(n)], tf.float32)
    texts = tf.constant([b"", b"a", b"\x00\xff", b"long " * 40, b"e"])
    flags = tf.constant([k % 3 == 0 for k in range(n)])
    slices = (tf.constant([k % 2 for k in range(n)], tf.int64), numbers, texts, flags, tf.constant([[k] for k in range(n)], tf.int16))
    return D.from_tensor_slices(slices).take(count)


TYPES = dict(output_types=[tf.int64, tf.float32, tf.string, tf.bool, tf.int16], output_shapes=[[], [2], [], [], [1]])


def function(f, structure):
    from tensorflow.python.data.ops import structured_function
    wrapped = structured_function.StructuredFunctionWrapper(f, "f", input_structure=structure, add_to_graph=False)
    if not tf.executing_eagerly():
        wrapped.function.add_to_graph(v1.get_default_graph())
    return wrapped.function


def spec():
    return elements().element_spec


def second(ds, path, reader=lambda shards: shards.flat_map(lambda shard: shard), **attrs):
    tensor = tf.raw_ops.SnapshotDatasetV2(
        input_dataset=ds._variant_tensor, path=path, reader_func_other_args=[], shard_func_other_args=[],
        reader_func=function(reader, tf.data.DatasetSpec(tf.data.DatasetSpec(spec()))), shard_func=function(lambda *x: x[0], spec()), **TYPES, **attrs)
    return tf.data.experimental.from_variant(tensor, spec())


def first(ds, path, **attrs):
    return tf.data.experimental.from_variant(tf.raw_ops.SnapshotDataset(input_dataset=ds._variant_tensor, path=path, **TYPES, **attrs), spec())


def reader(path, start, version, compression):
    tensor = tf.raw_ops.SnapshotDatasetReader(shard_dir=path, start_index=start, version=version, compression=compression, **TYPES)
    return tf.data.experimental.from_variant(tensor, spec())


def chunk(path, compression):
    return tf.data.experimental.from_variant(tf.raw_ops.SnapshotChunkDataset(chunk_file=path, compression=compression, **TYPES), spec())


def iterate(ds, name):
    iterator = v1.data.make_initializable_iterator(ds)
    tf.group(iterator.initializer, name=f"{name}_begin")
    for index, component in enumerate(tf.nest.flatten(iterator.get_next())):
        tf.identity(component, name=f"{name}_{index}")
    resource = iterator._iterator_resource
    tf.identity(tf.raw_ops.SerializeIterator(resource_handle=resource), name=f"{name}_state")
    tf.group(tf.raw_ops.DeserializeIterator(resource_handle=resource, serialized=v1.placeholder(tf.variant, [1], name=f"{name}_given")),
             name=f"{name}_go_back")


def graph():
    path = v1.placeholder(tf.string, [], name="path")
    start = v1.placeholder_with_default(tf.constant(0, tf.int64), [], name="start")
    iterate(elements(), "elements")
    for name, compression in COMPRESSIONS.items():
        for tag, count in (("", COUNT), ("_empty", 0)):
            iterate(second(elements(count), path, compression=compression, hash_valid=True, hash=-7), f"second_{name}{tag}")
        iterate(chunk(path, "SNAPPY" if compression == "AUTO" else compression), f"chunk_{name}")
    turns = lambda shards: shards.interleave(lambda shard: shard, cycle_length=2)  # noqa: E731
    iterate(second(elements(), path, reader=turns, hash_valid=True, hash=-7), "second_turns")
    iterate(second(elements(), "within", reader_prefix="unused", writer_prefix="unused", hash_valid=True, hash=1), "second_unused")
    for name, compression in LEGACY.items():
        iterate(first(elements(), path, compression=compression, snapshot_name="n"), f"first_{name}")
        iterate(first(elements(0), path, compression=compression, snapshot_name="n", mode="read"), f"first_{name}_empty")
        for version in (0, 1, 2):
            iterate(reader(path, start, version, compression), f"reader{version}_{name}")
    iterate(reader(path, start, 2, "ZLIB"), "reader2_zlib")
    iterate(first(elements(), path, snapshot_name="n", mode="passthrough"), "first_passes")
    iterate(first(elements(), path, snapshot_name="n", mode="write"), "first_writes")
    iterate(first(elements(), path, snapshot_name="n", pending_snapshot_expiry_seconds=1), "first_expires")
    iterate(first(elements().repeat(6), path, snapshot_name="n", shard_size_bytes=100), "first_pieces")
    iterate(first(elements(0), path, snapshot_name="n", shuffle_on_read=True, seed=7, seed2=2), "first_shuffled")
    iterate(first(elements(), path, snapshot_name="n", num_writer_threads=3, shard_size_bytes=-1), "first_threads")
    # Those whose folders have the names of hashes.
    iterate(first(elements(), path), "first_hash")
    iterate(second(elements(), path, compression="AUTO"), "second_hash")
    # TensorFlow itself frees the inputs of this one too early.
    tensor = tf.raw_ops.SnapshotNestedDatasetReader(
        inputs=[ds._variant_tensor for ds in (elements(2), elements(0), elements())], output_types=[tf.int64], output_shapes=[[]])
    iterate(tf.data.experimental.from_variant(tensor, tf.data.DatasetSpec(spec())).flat_map(lambda ds: ds), "nested")
    tensor = tf.raw_ops.ListSnapshotChunksDataset(snapshot_path=path, output_types=[tf.string], output_shapes=[[]])
    tf.raw_ops.DatasetCardinality(input_dataset=tensor, name="list_count")
    iterate(tf.data.experimental.from_variant(tensor, tf.TensorSpec([], tf.string)), "list")


def within(path, make):
    """What is made of a path, within a function: TensorFlow's optimiser would fold it to a constant."""
    return D.from_tensors(path).flat_map(make)


def listed(ds):
    return [tuple(repr(component) for component in element) for element in ds.as_numpy_iterator()]


def same(given, count=COUNT):
    given, expected = sorted(listed(given)), sorted(listed(elements(count)))
    assert given == expected, (given, expected)


def plain_snappy(data):
    """A block of Snappy in which nothing is compressed."""
    head, rest = b"", len(data)
    while rest >= 0x80:
        head, rest = head + bytes([rest & 0x7F | 0x80]), rest >> 7
    return head + bytes([rest]) + bytes([61 << 2]) + (len(data) - 1).to_bytes(2, "little") + data


def write():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    with v1.Graph().as_default() as g:
        graph()
    (HERE / "graph.pb").write_bytes(g.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))
    for name, compression in COMPRESSIONS.items():
        same(second(elements(), str(HERE / f"second_{name}"), compression=compression, hash_valid=True, hash=-7))
    for name, compression in LEGACY.items():
        same(first(elements(), str(HERE / f"first_{name}"), compression=compression, snapshot_name="n"))
    pieces = first(elements().repeat(6), str(HERE / "first_pieces"), snapshot_name="n", shard_size_bytes=100)
    list(pieces)
    for dump in HERE.glob("first_*/*-graph.pbtxt"):
        dump.unlink()
    # Shards of formats 1 and 0.
    for version in (0, 1):
        for name, compression in LEGACY.items():
            shard = HERE / f"shard{version}_{name}"
            shard.mkdir()
            kind = name if version == 1 or name == "gzip" else "none"
            data = (HERE / f"first_{kind}/custom-n/custom/00000000.snapshot").read_bytes()
            if (version, name) == (0, "snappy"):
                # Two blocks, of which the first ends amid an element.
                data = b"".join(len(block).to_bytes(4, "big") + block for block in map(plain_snappy, (data[:70], data[70:])))
            (shard / "00000000.snapshot").write_bytes(data)
            same(within(str(shard), lambda path: reader(path, 0, version, compression)))


def check(folder):
    for name, compression in COMPRESSIONS.items():
        for tag in ("whole", "restored"):
            path = str(folder / f"second_{name}_{tag}")
            if (name, tag) == ("zlib", "restored"):
                continue  # It has a second file, which TensorFlow cannot read, nor what is behind the end of the first.
            same(second(elements(0), path, compression=compression, hash_valid=True, hash=-7))
            for file in pathlib.Path(path).glob("*/*/*.shard/*.snapshot"):
                list(within(str(file), lambda path: chunk(path, "SNAPPY" if compression == "AUTO" else compression)))
    for name, compression in LEGACY.items():
        for tag in ("whole", "threads"):
            if tag == "whole" or name == "none":
                path = str(folder / f"first_{name}_{tag}")
                same(first(elements(0), path, compression=compression, snapshot_name="n", mode="read"))
    # The same bytes, as far as nothing is compressed.
    for mine in sorted((folder / "first_pieces/custom-n/custom").iterdir()):
        assert mine.read_bytes() == (HERE / "first_pieces/custom-n/custom" / mine.name).read_bytes(), mine
    # Folders have the names that TensorFlow gives them.
    same(first(elements(), str(folder / "first_hash")))
    same(second(elements(), str(folder / "second_hash"), compression="AUTO"))
    for kind in ("first_hash", "second_hash"):
        found = [entry.name for entry in (folder / kind).iterdir() if entry.is_dir()]
        assert len(found) == 1, found
    print("TensorFlow reads all of it")


if "--check" in sys.argv:
    check(pathlib.Path(sys.argv[-1]))
else:
    write()
