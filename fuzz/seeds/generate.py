"""Writes the small files that fuzzing starts from: images of each format that decoders take, files that datasets read, messages of
values in variants.

    python fuzz/seeds/generate.py

Needs TensorFlow and Pillow.
"""
import glob
import io
import os
import pathlib
import shutil
import sys
import tempfile
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from PIL import Image  # noqa: E402

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests/golden"))
from cases_variants import LISTS, deep, ragged  # noqa: E402
from jxl_files import JXL  # noqa: E402


def write(folder, name, content, choice=0):
    """A file, and behind it the byte that chooses the attrs, or first of all which of several things is tried."""
    folder = HERE / folder
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content + bytes([choice]))


def images():
    y, x = np.mgrid[0:19, 0:21]
    rgb = np.stack([x * 12, y * 13, (x * y) % 256], -1).astype(np.uint8)
    picture = Image.fromarray(rgb)

    def save(name, image, form, **options):
        file = io.BytesIO()
        image.save(file, form, **options)
        write("image", name, file.getvalue())

    grey, palette = picture.convert("L"), picture.quantize(16)
    alpha = picture.convert("RGBA")
    alpha.putalpha(grey)
    for sampling in range(3):
        save(f"sampled{sampling}.jpg", picture, "JPEG", subsampling=sampling, quality=80)
    save("progressive.jpg", picture, "JPEG", progressive=True)
    save("restarts.jpg", picture, "JPEG", restart_marker_blocks=1)
    save("grey.jpg", grey, "JPEG")
    save("cmyk.jpg", picture.convert("CMYK"), "JPEG")
    for name, image in {"rgb": picture, "grey": grey, "palette": palette, "alpha": alpha, "bits": grey.convert("1")}.items():
        save(f"{name}.png", image, "PNG")
    save("sixteen.png", Image.fromarray(np.uint16(x * 3000)), "PNG")
    save("one.gif", palette, "GIF")
    frames = [Image.fromarray(np.roll(rgb, 3 * i, 0)).quantize(8) for i in range(3)]
    save("frames.gif", frames[0], "GIF", save_all=True, append_images=frames[1:], transparency=1, disposal=2)
    for name, image in {"rgb": picture, "grey": grey, "alpha": alpha}.items():
        save(f"{name}.bmp", image, "BMP")
    save("lossy.webp", picture, "WEBP", quality=40)
    save("lossless.webp", alpha, "WEBP", lossless=True)
    save("alpha.webp", alpha, "WEBP", quality=40)
    for name in ["lossless-7x5x3", "lossless-40x33x1", "lossy-7x5x4", "lossy-40x33x3", "container", "animation"]:
        write("image", f"{name}.jxl", bytes.fromhex(JXL[name]))
    save("frames.webp", picture, "WEBP", save_all=True, append_images=[picture.rotate(90).resize(picture.size)])


def records():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        for compression in ["", "GZIP", "ZLIB"]:
            with tf.io.TFRecordWriter(path, compression) as writer:
                for record in [b"", b"one", b"two" * 20]:
                    writer.write(record)
            write("records", f"tfrecord{compression.lower()}", pathlib.Path(path).read_bytes())
        text = b'1.5,2,"a ""b"""\n,3,NA\r\n1e-3,-4,"two\nlines"\n'
        write("records", "lines", text)
        write("records", "lineszlib", zlib.compress(text))
        elements = tf.data.Dataset.from_tensor_slices((np.arange(3), ["a", "", "ccc" * 9]))
        for compression in ["", "GZIP", "SNAPPY"]:
            elements.save(path + "s", compression=compression or None)
            (snapshot,) = glob.glob(f"{path}s/*/*/*.snapshot")
            write("records", f"snapshot{compression.lower()}", pathlib.Path(snapshot).read_bytes())
            shutil.rmtree(path + "s")
        element = tf.raw_ops.CompressElement(components=[tf.constant([1, 2, 3], tf.int64), tf.constant(["a", "bb"])])
        write("records", "compressed", tf.io.serialize_tensor(element).numpy())


def variants():
    optional = tf.raw_ops.OptionalFromValue(components=[tf.constant([1.0, 2.0]), tf.raw_ops.OptionalNone()])
    sparse = tf.raw_ops.SerializeManySparse(sparse_indices=[[0, 1], [2, 0]], sparse_values=[1, 2], sparse_shape=[3, 2], out_type=tf.variant)
    lists = {f"list-{name}": build() for name, (_, _, build) in LISTS.items()}
    values = {"ragged": ragged(False), "ragged-rows": ragged(True), "ragged-deep": deep(), "optional": optional, "sparse": sparse}
    for name, value in {**values, **lists}.items():
        write("parsing", name, tf.raw_ops.SerializeTensor(tensor=value).numpy(), choice=8)


images()
records()
variants()
