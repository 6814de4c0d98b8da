"""JPEG XL files, which every op that decodes image files takes."""
import numpy as np

from golden import T, bad, i32, one
from jxl_files import JXL

# Of what is not lossless libjxl spreads the rounding of each sample by a pattern of noise of its own: a third of the samples differ by one.
LOSSY = (0, 1)


def file(data):
    return T("string", np.array(data, dtype=object), ())


def files():
    op, d = "DecodeJxl", "uint8"
    for name, text in JXL.items():
        data = bytes.fromhex(text)
        tolerance = LOSSY if "lossy" in name or name == "animation4" else (0, 0)
        own = int(name[-1]) if "x" in name[-2:] else 4 if name == "animation4" else 3
        yield one(op, d, name, [file(data)], tolerance)
        yield one(op, d, f"{name}-more", [file(data + b"more")], tolerance)
        for channels in (1, 3, 4):
            if channels == own:
                yield one(op, d, f"{name}-{own}", [file(data)], tolerance, channels=own)
            else:
                yield from bad(op, d, f"{name}-{channels}", [file(data)], channels=channels)
        yield from bad(op, d, f"{name}-header", [file(data[:5])])
        if "animation" not in name:
            yield from bad(op, d, f"{name}-cut", [file(data[:len(data) * 2 // 3])])
    for name in ("lossless-7x5x1", "lossy-7x5x3", "lossless-7x5x4", "animation"):
        data = bytes.fromhex(JXL[name])
        tolerance = LOSSY if "lossy" in name else (0, 0)
        for expands in (True, False):
            yield one("DecodeImage", d, f"{name}-{expands}", [file(data)], tolerance, expand_animations=expands)
        for kind in ("uint16", "float"):
            yield from bad("DecodeImage", kind, name, [file(data)], dtype=kind)
        yield from bad("DecodePng", "uint16", name, [file(data)], dtype="uint16")
        for other in ("DecodeJpeg", "DecodePng", "DecodeBmp", "DecodeWebP"):
            yield one(other, d, name, [file(data)], tolerance, dynamic=True)
        yield one("DecodeAndCropJpeg", d, name, [file(data), i32([0, 0, 1, 1])], tolerance, dynamic=True)
    yield one("DecodeGif", d, "rank", [file(bytes.fromhex(JXL["lossless-7x5x3"]))], (0, 0), dynamic=True)
    yield from bad("DecodeGif", d, "channels", [file(bytes.fromhex(JXL["lossless-7x5x1"]))])
    yield from bad(op, d, "empty", [file(b"")])
    yield from bad(op, d, "other", [file(b"other")])
    yield from bad(op, d, "vector", [T("string", np.array([b"\xff\x0a"], object))])
    yield from bad(op, d, "channels", [file(b"\xff\x0a")], channels=2)


def cases():
    yield from files()
