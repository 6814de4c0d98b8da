"""What TensorFlow's side makes of items_input.py and items_models.py: files of images, strings of all kinds, pipelines, CSR matrices.

tensorflow_side.py says how the items are run.
"""
import atexit
import gzip
import os
import shutil
import tempfile
import zlib

import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow.python.eager import context


def smooth(random, shape, dtype="uint8"):
    """Pixels that vary as those of a photograph do: waves of several lengths, and a little noise."""
    height, width, channels = shape
    y, x = np.mgrid[:height, :width] / max(height, width)
    image = np.zeros(shape)
    for _ in range(12):
        a, b, phase = random.uniform(1, 40, 3)
        image += random.uniform(0, 1, channels) / (a + b) * np.sin(a * x + b * y + phase)[..., None]
    image = (image - image.min()) / (image.max() - image.min()) + random.normal(0, 0.01, shape)
    top = np.iinfo(dtype).max
    return np.clip(image * top, 0, top).astype(dtype)


def encoded(random, about):
    """The bytes of an image file."""
    pixels = smooth(random, about["shape"], about["pixels"])
    form = about["encoded"]
    if form in ("gif", "webp"):
        return pictures(random, about, pixels)
    with context.eager_mode():
        if form == "jpeg":
            return tf.io.encode_jpeg(pixels, quality=85, progressive=about.get("progressive", False)).numpy()
        return tf.io.encode_png(pixels).numpy() if form == "png" else bitmap(pixels)


def bitmap(pixels):
    """A BMP of three colours, its lines from below."""
    height, width, _ = pixels.shape
    lines = np.zeros([height, (3 * width + 3) // 4 * 4], np.uint8)
    lines[:, :3 * width] = pixels[::-1, :, ::-1].reshape(height, -1)
    numbers = (lines.nbytes + 54, 0, 54, 40, width, height)
    return b"BM" + np.array(numbers, "<i4").tobytes() + np.array([1, 24], "<i2").tobytes() + \
        np.array([0, lines.nbytes, 2835, 2835, 0, 0], "<i4").tobytes() + lines.tobytes()


def pictures(random, about, pixels):
    """What TensorFlow reads and does not write."""
    import io

    from PIL import Image  # of no use otherwise

    file = io.BytesIO()
    frames = [Image.fromarray(pixels)] + [Image.fromarray(smooth(random, about["shape"]))
                                          for _ in range(about.get("frames", 1) - 1)]
    frames[0].save(file, about["encoded"], **({"save_all": True, "append_images": frames[1:]} if frames[1:] else {}))
    return file.getvalue()


def example(random, numbers, more=True):
    def feature(kind, values):
        return tf.train.Feature(**{f"{kind}_list": getattr(tf.train, f"{kind.title()}List")(value=values)})

    features = {"numbers": feature("float", random.uniform(-1, 1, numbers))}
    if more:
        features["label"] = feature("int64", [random.randint(10)])
        features["words"] = feature("bytes", [b"Word %d" % random.randint(1000) for _ in range(random.randint(5))])
        features["ids"] = feature("int64", random.randint(0, 1000, random.randint(5)))
    return tf.train.Example(features=tf.train.Features(feature=features))


def text(random, kind):
    """A string of that kind."""
    if kind in ("floats", "gzip", "zlib"):
        content = np.round(random.uniform(-1, 1, 10_000), 2).astype("float32").tobytes()
        return {"floats": bytes, "gzip": gzip.compress, "zlib": zlib.compress}[kind](content)
    if kind == "example":
        return example(random, 64).SerializeToString()
    if kind == "long example":
        return example(random, 10_000, more=False).SerializeToString()
    if kind == "json example":
        return json_format.MessageToJson(example(random, 16)).encode()
    if kind == "csv":
        return b"%.4f,%d,word %d" % (random.uniform(-1, 1), random.randint(1000), random.randint(100))
    if kind == "shape":
        return tf.TensorShape(random.randint(1, 100, 4).tolist()).as_proto().SerializeToString()
    with context.eager_mode():
        if kind == "tensor":
            return tf.io.serialize_tensor(random.uniform(-1, 1, [1000, 1000]).astype("float32")).numpy()
        if kind == "wav":
            return tf.audio.encode_wav(random.uniform(-1, 1, [160_000, 1]).astype("float32"), 16_000).numpy()
    raise ValueError(f"there are no strings of kind {kind!r}")


def strings(random, about):
    """Strings as an operand: one alone is a scalar."""
    values = [text(random, about["text"]) for _ in range(about["count"])]
    return np.array(values[0] if len(values) == 1 else values, object)


def files(random, kind, count):
    """A file of so many records or lines, which goes with the process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "file")
    with context.eager_mode():
        if kind == "lines":
            with open(path, "wb") as file:
                file.writelines(text(random, "csv") + b"\n" for _ in range(count))
        else:
            with tf.io.TFRecordWriter(path) as writer:
                for _ in range(count):
                    writer.write(text(random, "example"))
    return path


def dataset(random, name):
    data, several = tf.data.Dataset, 10_000
    numbers = data.range(several)
    features = {"numbers": tf.io.FixedLenFeature([64], tf.float32), "label": tf.io.FixedLenFeature([1], tf.int64)}

    def same_length(x):
        return tf.fill([x % 10], x)

    made = {
        "range": lambda: numbers,
        "map": lambda: numbers.map(lambda x: x * 2 + 1),
        "parallel map": lambda: numbers.map(lambda x: x * 2 + 1, num_parallel_calls=2),
        "batch": lambda: numbers.batch(32),
        "padded batch": lambda: data.range(2000).map(same_length).padded_batch(32),
        "shuffle": lambda: numbers.shuffle(1000, seed=1),
        "filter": lambda: numbers.filter(lambda x: x % 3 == 0),
        "flat map": lambda: data.range(500).flat_map(lambda x: data.range(x % 20)),
        "interleave": lambda: data.range(500).interleave(lambda x: data.range(x % 20), cycle_length=8),
        "zip": lambda: data.zip((numbers, numbers.skip(1))).map(lambda a, b: a + b),
        "window": lambda: numbers.window(10).flat_map(lambda window: window.batch(10)),
        "scan": lambda: numbers.scan(np.int64(0), lambda sum, x: (sum + x, sum)),
        "prefetch": lambda: numbers.prefetch(16),
        "cache": lambda: numbers.cache().repeat(3),
        "tensor slices": lambda: data.from_tensor_slices(random.uniform(-1, 1, [several, 16]).astype("float32")).batch(32),
        "records": lambda: tf.data.TFRecordDataset(files(random, "records", 2000)),
        "records, parsed in batches": lambda: tf.data.TFRecordDataset(files(random, "records", 2000)).shuffle(100, seed=1).batch(
            32).map(lambda batch: tf.io.parse_example(batch, features), num_parallel_calls=2).prefetch(2),
        "lines": lambda: tf.data.TextLineDataset(files(random, "lines", several)),
    }[name]()
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return made.with_options(options)


def pipeline(work, item):
    """How many elements a dataset has, by going through it."""
    count = dataset(work.random, item["pipeline"]).reduce(np.int64(0), lambda count, _: count + 1)
    tf.identity(count, "y")
    work.fetches = ["y:0"]


def csr(work, item):
    n, raw = item["n"], tf.raw_ops
    full = np.where(work.random.uniform(0, 1, [n, n]) < item["density"], work.random.uniform(-1, 1, [n, n]), 0)
    values = full[full != 0].astype("float32")
    matrix = raw.SparseTensorToCSRSparseMatrix(
        indices=np.argwhere(full).astype("int64"), dense_shape=np.array([n, n], "int64"),
        values=raw.PlaceholderWithDefault(input=values, shape=values.shape))

    def size(matrix):
        return raw.SparseMatrixNNZ(sparse_matrix=matrix)

    other = raw.PlaceholderWithDefault(input=work.uniform([n, 64]), shape=[n, 64])
    out = {
        "made": lambda: size(matrix),
        "to dense": lambda: raw.CSRSparseMatrixToDense(sparse_input=matrix, type=tf.float32),
        "product with dense": lambda: raw.SparseMatrixMatMul(a=matrix, b=other),
        "product": lambda: size(raw.SparseMatrixSparseMatMul(a=matrix, b=matrix, type=tf.float32)),
        "transpose": lambda: size(raw.SparseMatrixTranspose(input=matrix, type=tf.float32)),
    }[item["op"]]()
    tf.identity(out, "y")
    work.fetches = ["y:0"]
