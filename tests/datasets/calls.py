"""Datasets that no function of tf.data makes, drawn at random, in Kernlink beside TensorFlow: batches for replicas, sparse batches,
shares of workers, random order without a buffer, weighted datasets, parsed Examples, CSV files, compressed elements, statistics.

    python tests/datasets/calls.py [--seed S] [--count N]

Needs TensorFlow, and the Python package of Kernlink on the path.
"""
import argparse
import gzip
import os
import pathlib
import random
import sys
import tempfile
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import kernlink  # noqa: E402


def told(value):
    """A value as both packages tell it."""
    value = np.asarray(value)
    return value.dtype.kind if value.dtype.kind == "O" else str(value.dtype), value.shape, value.tolist()


class Build:
    """Makes datasets by the raw ops of a package."""

    def __init__(self, package):
        self.k, self.raw = package, package.raw_ops

    def i64(self, value):
        return self.k.constant(value, dtype=self.k.int64)

    def spec(self, *dtypes):
        return {"output_types": [getattr(self.k, d) for d in dtypes], "output_shapes": [None] * len(dtypes)}

    def range(self, start, stop, step=1):
        return self.raw.RangeDataset(start=self.i64(start), stop=self.i64(stop), step=self.i64(step), output_types=[self.k.int64], output_shapes=[[]])

    def slices(self, *arrays):
        tensors = [self.k.constant(a) for a in arrays]
        return self.raw.TensorSliceDataset(components=tensors, output_shapes=[a.shape[1:] for a in arrays])

    def batch(self, ds, size, drop, *dtypes):
        return self.raw.BatchDatasetV2(input_dataset=ds, batch_size=self.i64(size), drop_remainder=self.k.constant(drop), **self.spec(*dtypes))

    def elements(self, ds, dtypes, most=40, restart=None):
        """The elements of a dataset, how it ends, and how many it says to have; `restart` saves and restores after so many."""
        found = [told(self.raw.DatasetCardinality(input_dataset=ds).numpy())]
        spec = self.spec(*dtypes)
        iterator = self.raw.AnonymousIteratorV3(**spec)
        self.raw.MakeIterator(dataset=ds, iterator=iterator)
        while len(found) < most:
            if restart == len(found) and self.k is kernlink:
                state = self.raw.SerializeIterator(resource_handle=iterator)
                try:
                    self.raw.IteratorGetNext(iterator=iterator, **spec)
                except kernlink.errors.OpError:
                    pass
                self.raw.DeserializeIterator(resource_handle=iterator, serialized=state)
            try:
                element = self.raw.IteratorGetNext(iterator=iterator, **spec)
            except Exception as error:  # noqa: BLE001
                # TensorFlow cannot say what was wrong with bytes that are no text.
                name = type(error).__name__.replace("UnicodeDecodeError", "InvalidArgumentError")
                found.append(name)
                if name == "OutOfRangeError":
                    break
                if sum(isinstance(f, str) for f in found) > 3:
                    break
                continue
            found.append([self.tell(component) for component in element])
        return found

    def tell(self, component):
        if component.dtype.name != "variant":
            return told(component.numpy())
        if len(component.shape) == 1:
            for dtype in ("int64", "float32", "string"):
                try:
                    parts = self.raw.DeserializeSparse(serialized_sparse=component, dtype=getattr(self.k, dtype))
                    return [told(part.numpy()) for part in parts]
                except Exception:  # noqa: BLE001
                    continue
            return "no sparse tensor"
        for dtype in ("int64", "float32", "string"):
            for splits in ("int32", "int64"):
                try:
                    nested, values = self.raw.RaggedTensorFromVariant(
                        encoded_ragged=component, input_ragged_rank=1, output_ragged_rank=1, Tvalues=getattr(self.k, dtype), Tsplits=getattr(self.k, splits))
                    return [told(nested[0].numpy()), told(values.numpy())]
                except Exception:  # noqa: BLE001
                    continue
        return "no ragged tensor"


def examples(r):
    """Serialized Examples, some of which are broken."""
    out = []
    for _ in range(r.randint(0, 4)):
        e = tf.train.Example()
        for key in "abc":
            kind = r.choice(["int", "float", "bytes", "none", "empty"]) if r.random() < 0.15 else {"a": "int", "b": "float", "c": "bytes"}[key]
            n = r.choice([2, 2, 2, 0, 1, 3]) if r.random() < 0.4 else 2
            if kind == "int":
                e.features.feature[key].int64_list.value.extend(r.randint(-5, 300) for _ in range(n))
            elif kind == "float":
                e.features.feature[key].float_list.value.extend(r.random() for _ in range(n))
            elif kind == "bytes":
                e.features.feature[key].bytes_list.value.extend(r.randbytes(r.randint(0, 4)) for _ in range(n))
            elif kind == "empty":
                e.features.feature[key].SetInParent()
        data = e.SerializeToString()
        if r.random() < 0.05:
            data = data[:r.randrange(len(data) + 1)]
        out.append(data)
    return out


def csv(r):
    parts = ["1", "2", "-3", "4.5", "x", "", '"', '"a"', '"a,b"', '"q""q"', ",", ",", ",", ",", "\n", "\n", "\r\n", "\r", "NA", '"\n"', " 7"]
    well = lambda: ",".join(r.choice(["1", "22", "-3", "", "NA", '"4"', '"5"']) for _ in range(3)) + r.choice(["\n", "\r\n", "\r"])
    return "".join(well() if r.random() < 0.5 else r.choice(parts) for _ in range(r.randint(0, 12))).encode()


def draw(r, folder):
    """What is made by either package: a function of `Build`, and a text."""
    kind = r.choice(["replicas", "sparse", "shard", "global", "global", "weighted", "fastest", "examples", "examples", "csv", "csv", "csv",
                     "compress", "stats", "sleep", "pool", "record", "table"])
    n = r.choice([0, 1, 3, 7, 12])
    restart = r.choice([None, 1, 2, 4])
    seeds = (r.randint(0, 3), r.randint(1, 2**40))
    if kind == "replicas":
        size, replicas = r.randint(1, 5), r.choice([0, 1, 2, 3, 7])
        def run(b):
            ds = b.range(0, n) if r_scalar else b.batch(b.range(0, n), size, drop, "int64")
            return b.elements(getattr(b.raw, op)(input_dataset=ds, num_replicas=b.i64(replicas), **b.spec("int64")), ["int64"], restart=restart)
        r_scalar, drop, op = r.random() < 0.1, r.random() < 0.5, r.choice(["RebatchDataset", "ExperimentalRebatchDataset"])
        return run, (kind, n, size, replicas)
    if kind == "sparse":
        rank = r.randint(0, 2)
        dtype = r.choice([np.int64, np.float32, np.bytes_])
        array = np.arange(n * 2 ** rank).reshape([n] + [2] * rank).astype(dtype) if dtype != np.bytes_ else np.array([b"s%d" % k for k in range(n * 2 ** rank)], "S4").reshape([n] + [2] * rank)
        size = r.choice([0, 1, 2, 5])
        row = [r.choice([-1, 2, 2, 3, 1, -2] if r.random() < 0.3 else [-1, 2, 3]) for _ in range(rank if r.random() < 0.9 else rank + 1)]
        op = r.choice(["DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"])
        def run(b):
            ds = b.slices(array)
            return b.elements(getattr(b.raw, op)(input_dataset=ds, batch_size=b.i64(size), row_shape=b.i64(np.array(row, np.int64)), **b.spec("variant")), ["variant"], restart=restart)
        return run, (kind, array.shape, str(dtype), size, row)
    if kind == "shard":
        workers, index, policy = r.choice([0, 1, 2, 5, 20]), r.randint(-1, 3), r.randint(-2, 4)
        def run(b):
            try:
                ds = b.raw.AutoShardDataset(input_dataset=b.range(0, n), num_workers=b.i64(workers), index=b.i64(index), auto_shard_policy=policy, **b.spec("int64"))
            except Exception as error:  # noqa: BLE001
                return type(error).__name__
            return b.elements(ds, ["int64"])
        return run, (kind, n, workers, index, policy)
    if kind == "global":
        how, again, n = r.choice(["range", "batch", "take", "skip", "zip", "shard", "repeat", "concatenate", "twice"]), r.random() < 0.5, r.choice([0, 1, 2, 9, 30, 300, 70000])
        def run(b):
            spec = b.spec("int64")
            ds, dtypes = b.range(0, n), ["int64"]
            if how == "batch":
                ds = b.batch(ds, 3, True, "int64")
            elif how in ("take", "skip"):
                ds = getattr(b.raw, how.title() + "Dataset")(input_dataset=ds, count=b.i64(5), **spec)
            elif how == "repeat":
                ds = b.raw.RepeatDataset(input_dataset=ds, count=b.i64(2), **spec)
            elif how == "shard":
                ds = b.raw.ShardDataset(input_dataset=ds, num_shards=b.i64(3), index=b.i64(1), **spec)
            elif how == "concatenate":
                ds = b.raw.ConcatenateDataset(input_dataset=ds, another_dataset=b.range(100, 107), **spec)
            elif how == "zip":
                dtypes = ["int64", "int64"]
                ds = b.raw.ZipDataset(input_datasets=[ds, b.range(50, 59)], **b.spec(*dtypes))
            ds = b.raw.GlobalShuffleDataset(input_dataset=ds, seed=b.i64(seeds[0]), seed2=b.i64(seeds[1]), seed_generator=b.raw.DummySeedGenerator(),
                                            reshuffle_each_iteration=again, **b.spec(*dtypes))
            if how == "twice":
                ds = b.raw.RepeatDataset(input_dataset=ds, count=b.i64(2), **spec)
            return b.elements(ds, dtypes, restart=restart)
        return run, (kind, how, n, again, seeds)
    if kind == "weighted":
        counts = [r.choice([0, 1, 3, 10, 20]) for _ in range(r.randint(2, 4))]
        weights = [r.choice([0.1, 0.5, 1.0, 2.5, 0.0, -1.0] if r.random() < 0.2 else [0.1, 0.5, 1.0, 2.5]) for _ in counts]
        def run(b):
            ds = b.raw.WeightedFlatMapDataset(input_datasets=[b.range(k * 100, k * 100 + c) for k, c in enumerate(counts)],
                                              weights=[b.k.constant(w, dtype=b.k.float64) for w in weights], **b.spec("int64"))
            return b.elements(ds, ["int64"], most=60, restart=restart)
        return run, (kind, counts, weights)
    if kind == "fastest":
        experiments, other = r.choice([1, 2, 5, 100]), r.choice([n, n, n + 1])
        op = r.choice(["ChooseFastestDataset", "ExperimentalChooseFastestDataset"])
        def run(b):
            return b.elements(getattr(b.raw, op)(input_datasets=[b.range(0, n), b.range(0, other)], num_experiments=experiments, **b.spec("int64")), ["int64"], restart=restart)
        return run, (kind, n, other, experiments)
    if kind == "examples":
        batches = [examples(r) for _ in range(3)]
        sparse = r.sample("abc", r.randint(0, 3))
        rest = [k for k in "abc" if k not in sparse]
        ragged = [k for k in rest if r.random() < 0.4]
        dense = [k for k in rest if k not in ragged]
        kinds = {"a": "int64", "b": "float32", "c": "string"}
        shapes = {k: r.choice([[2], [2], [None], [1], []]) for k in dense}
        splits = [r.choice(["int32", "int64"]) for _ in ragged]
        calls = r.choice([-1, 1, 3, 0] if r.random() < 0.2 else [1, 3])
        empty = {k: r.random() < 0.5 for k in dense}
        def run(b):
            d = lambda k: getattr(b.k, kinds[k])
            def default(k):
                shape = [1] if None in shapes[k] else shapes[k]
                if empty[k] and None not in shapes[k]:
                    shape = [0]
                value = np.full(shape, {"a": 7, "b": 1.5, "c": b"d"}[k])
                return b.k.constant(value, dtype=d(k))
            made = []
            for batch in batches:
                made.append(b.raw.TensorDataset(components=[b.k.constant(np.array(batch, object), dtype=b.k.string) if batch else b.k.constant(np.zeros([0], "S1"), dtype=b.k.string)], output_shapes=[[None]]))
            ds = made[0]
            for other in made[1:]:
                ds = b.raw.ConcatenateDataset(input_dataset=ds, another_dataset=other, **b.spec("string"))
            types = [kinds[k] if k in dense else "variant" for k in "abc"]
            types = [t for k, t in zip("abc", types)]
            ds = b.raw.ParseExampleDatasetV2(input_dataset=ds, num_parallel_calls=b.i64(calls), dense_defaults=[default(k) for k in dense], sparse_keys=sparse, dense_keys=dense,
                                             sparse_types=[d(k) for k in sparse], dense_shapes=[shapes[k] for k in dense], ragged_keys=ragged, ragged_value_types=[d(k) for k in ragged],
                                             ragged_split_types=[getattr(b.k, s) for s in splits], **b.spec(*types))
            return b.elements(ds, types, restart=restart)
        return run, (kind, sparse, ragged, dense, shapes, calls, empty)
    if kind == "csv":
        compression = r.choice(["", "", "GZIP", "ZLIB"])
        contents = [csv(r) for _ in range(r.randint(1, 2))]
        files = []
        for k, content in enumerate(contents):
            file = folder / f"csv{k}"
            file.write_bytes({"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression](content))
            files.append(str(file))
        dtypes = [r.choice(["int32", "int64", "float32", "float64", "string", "string"]) for _ in range(3)]
        select = r.choice([[], [], [0, 1, 2], [0, 2, 4], [0, 1, 3], [2, 1, 0], [-1, 0, 1], [0]])
        exclude = r.choice([[], [], [1], [0, 2]]) if not select or r.random() < 0.1 else []
        header, quotes, required = r.random() < 0.3, r.random() < 0.8, [r.random() < 0.3 for _ in dtypes]
        delimiter, na, buffer = r.choice([",", ",", ",", ";", ",,"]), r.choice(["", "NA"]), r.choice([1, 3, 100])
        def run(b):
            defaults = [b.k.constant(np.zeros([0] if q else [], np.float32).astype(object if t == "string" else t) if t != "string" else (np.zeros([0], "S1") if q else np.array(b"d", "S1")), dtype=getattr(b.k, t)) for t, q in zip(dtypes, required)]
            ds = b.raw.CSVDatasetV2(filenames=b.k.constant(files), compression_type=b.k.constant(compression), buffer_size=b.i64(buffer), header=b.k.constant(header),
                                    field_delim=b.k.constant(delimiter), use_quote_delim=b.k.constant(quotes), na_value=b.k.constant(na), select_cols=b.i64(np.array(select, np.int64)),
                                    record_defaults=defaults, exclude_cols=b.i64(np.array(exclude, np.int64)), output_shapes=[[]] * 3)
            return b.elements(ds, dtypes, restart=restart)
        return run, (kind, contents, dtypes, select, exclude, header, quotes, required, delimiter, na, buffer)
    if kind == "compress":
        arrays = [np.array([b"x" * r.randint(0, 50) for _ in range(r.randint(0, 4))], "S50") if r.random() < 0.4 else np.arange(r.randint(0, 9)).astype(r.choice(["int8", "float32", "float64", "int64", "bool", "complex64", "uint16"]))
                  for _ in range(r.randint(1, 3))]
        other = r.random() < 0.1
        def run(b):
            tensors = [b.k.constant(a) for a in arrays]
            packed = b.raw.CompressElement(components=tensors)
            types = [t.dtype for t in tensors]
            if other:
                types[0] = b.k.int32
            out = b.raw.UncompressElement(compressed=packed, output_types=types, output_shapes=[None] * len(types))
            return [told(t.numpy()) for t in out]
        return run, (kind, [a.dtype for a in arrays])
    if kind == "stats":
        tag = r.choice(["", "t"])
        def run(b):
            aggregator = b.raw.StatsAggregatorHandle(shared_name=f"{seeds}{n}{tag}")
            ds = b.batch(b.range(0, n), 2, False, "int64")
            ds = b.raw.BytesProducedStatsDataset(input_dataset=ds, tag=b.k.constant("bytes"), **b.spec("int64"))
            ds = b.raw.SetStatsAggregatorDataset(input_dataset=ds, stats_aggregator=aggregator, tag=b.k.constant(tag), counter_prefix=b.k.constant("c"), **b.spec("int64"))
            found = b.elements(ds, ["int64"])
            return found, b.raw.StatsAggregatorSummary(iterator=aggregator).numpy()
        return run, (kind, n, tag)
    if kind == "sleep":
        time = r.choice([-1, 0, 1, 500])
        def run(b):
            return b.elements(b.raw.SleepDataset(input_dataset=b.range(0, n), sleep_microseconds=b.i64(time), **b.spec("int64")), ["int64"], restart=restart)
        return run, (kind, n, time)
    if kind == "pool":
        threads = r.choice([-1, 0, 1, 2])
        def run(b):
            pool = b.raw.ThreadPoolHandle(num_threads=threads, display_name="p")
            return b.elements(b.raw.ThreadPoolDataset(input_dataset=b.range(0, n), thread_pool=pool, **b.spec("int64")), ["int64"])
        return run, (kind, n, threads)
    if kind == "record":
        strings, compression = [r.randbytes(r.randint(0, 30)) for _ in range(n)], r.choice(["", "GZIP", "ZLIB", "other"])
        number = r.random() < 0.1
        def run(b):
            file = str(folder / ("ours" if b.k is kernlink else "theirs"))
            ds = b.range(0, 3) if number else b.raw.TensorSliceDataset(components=[b.k.constant(np.array(strings, object), dtype=b.k.string) if strings else b.k.constant(np.zeros([0], "S1"))], output_shapes=[[]])
            b.raw.DatasetToTFRecord(input_dataset=ds, filename=b.k.constant(file), compression_type=b.k.constant(compression))
            return list(tf.data.TFRecordDataset(file, compression if compression != "other" else "").as_numpy_iterator())
        return run, (kind, strings, compression)
    keys, values = [r.randint(0, 9) for _ in range(n)], [r.randint(0, 2) for _ in range(n)]
    # Of other dtypes TensorFlow's process ends.
    def run(b):
        table = b.raw.AnonymousHashTable(key_dtype=b.k.int64, value_dtype=b.k.int64)
        found = []
        for _ in range(2):
            try:
                b.raw.InitializeTableFromDataset(table_handle=table, dataset=b.slices(np.array(keys, np.int64), np.array(values, np.int64)))
                found.append("ok")
            except Exception as error:  # noqa: BLE001
                found.append(type(error).__name__)
        return found, told(b.raw.LookupTableFindV2(table_handle=table, keys=b.i64(np.arange(10)), default_value=b.i64(-1)).numpy()), told(b.raw.LookupTableSizeV2(table_handle=table).numpy())
    return run, ("table", keys, values)


def outcome(run, build):
    try:
        return run(build)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, str(error)[:200]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind")
    arguments = parser.parse_args()
    wrong, counts = 0, {}
    ours, theirs = Build(kernlink), Build(tf)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            run, text = draw(random.Random(seed), pathlib.Path(folder))
            if os.environ.get("TELL"):
                print(seed, text, flush=True)
            if arguments.kind and text[0] != arguments.kind:
                continue
            counts[text[0]] = counts.get(text[0], 0) + 1
            a, b = outcome(run, theirs), outcome(run, ours)
            failed = [isinstance(x, tuple) and len(x) == 2 and isinstance(x[1], str) for x in (a, b)]
            if (a != b) if not all(failed) else a[0] != b[0]:
                wrong += 1
                print(f"{seed}: {text}\n  TensorFlow {a}\n  Kernlink   {b}")
    print(f"{sum(counts.values())} calls, {wrong} differ: {counts}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
