"""JPEG XL files, which every op that decodes image files takes."""
import numpy as np
import tensorflow as tf
from tensorflow import raw_ops

from golden import T, Traced, bad, isolated, one
from jxl_files import JXL


def of(op, name, data, is_lossy, **attrs):
    """A file decoded. The samples of what is not lossless may differ by one: TensorFlow's libjxl and the decoder here round otherwise."""
    if not is_lossy:
        return one(op, "uint8", name, [file(data)], (0, 0), dynamic=True, **attrs)
    samples = isolated(lambda: getattr(raw_ops, op)(contents=data, **attrs).numpy())

    def near():
        found = getattr(raw_ops, op)(contents=data, **attrs)
        return [tf.shape(found), tf.reduce_max(tf.abs(tf.cast(found, tf.int32) - samples)) <= 1]
    return Traced(f"{op}/uint8/{name}", near, v2=True)


def file(data):
    return T("string", np.array(data, dtype=object), ())


def files():
    op, d = "DecodeJxl", "uint8"
    for name, text in JXL.items():
        data = bytes.fromhex(text)
        is_lossy = "lossy" in name or name == "animation4"
        own = int(name[-1]) if "x" in name[-2:] else 4 if name == "animation4" else 3
        yield of(op, name, data, is_lossy)
        yield of(op, f"{name}-more", data + b"more", is_lossy)
        for channels in (1, 3, 4):
            if channels == own:
                yield of(op, f"{name}-{own}", data, is_lossy, channels=own)
            else:
                yield from bad(op, d, f"{name}-{channels}", [file(data)], channels=channels)
        yield from bad(op, d, f"{name}-header", [file(data[:5])])
        if "animation" not in name:
            yield from bad(op, d, f"{name}-cut", [file(data[:len(data) * 2 // 3])])
    for name in ("lossless-7x5x1", "lossy-7x5x3", "lossless-7x5x4", "animation"):
        data = bytes.fromhex(JXL[name])
        is_lossy = "lossy" in name
        for expands in (True, False):
            yield of("DecodeImage", f"{name}-{expands}", data, is_lossy, expand_animations=expands)
        for kind in ("uint16", "float"):
            yield from bad("DecodeImage", kind, name, [file(data)], dtype=kind)
        yield from bad("DecodePng", "uint16", name, [file(data)], dtype="uint16")
        for other in ("DecodeJpeg", "DecodePng", "DecodeBmp"):
            yield of(other, name, data, is_lossy)
    yield from bad("DecodeGif", d, "channels", [file(bytes.fromhex(JXL["lossless-7x5x1"]))])
    yield from bad(op, d, "empty", [file(b"")])
    yield from bad(op, d, "other", [file(b"other")])
    yield from bad(op, d, "vector", [T("string", np.array([b"\xff\x0a"], object))])
    yield from bad(op, d, "channels", [file(b"\xff\x0a")], channels=2)


def cases():
    yield from files()
