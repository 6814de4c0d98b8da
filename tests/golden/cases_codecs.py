"""Image files. Those of a test suite are small; the others are made here: JPEG files by TensorFlow's encoder and by hand, the rest by hand."""
import struct
import zlib

import numpy as np
import tensorflow as tf

from golden import Case, T, bad, i32, many, one

RAW = tf.raw_ops


def file(data):
    return T("string", np.array(data, dtype=object), ())


def picture(rows, columns, channels=3, seed=0):
    """Smooth colours with edges and some noise, as photographs have them."""
    rng = np.random.RandomState(seed)
    y, x = np.mgrid[:rows, :columns]
    waves = [128 + 100 * np.sin(x / (3.0 + k) + seed) * np.cos(y / (5.0 - k)) for k in range(channels)]
    image = np.stack(waves, -1) + rng.randn(rows, columns, channels) * 6
    image[rows // 3: rows // 2, columns // 4: columns // 2] = rng.randint(0, 256, channels)
    return np.clip(image, 0, 255).astype(np.uint8)


def jpeg(image, **attrs):
    return RAW.EncodeJpeg(image=image, **attrs).numpy()


# ---------------------------------------------------------------- JPEG

SIZES = ((1, 1), (2, 3), (7, 9), (8, 8), (16, 16), (17, 33), (40, 25), (33, 42))


def jpegs():
    """(name, file) of JPEG files of each kind."""
    for rows, columns in SIZES:
        for channels in (1, 3):
            yield f"{rows}x{columns}x{channels}", jpeg(picture(rows, columns, channels, rows), quality=70)
    image = picture(27, 37, seed=2)
    for name, attrs in (("coarse", {"quality": 5}), ("fine", {"quality": 100}), ("full", {"chroma_downsampling": False}), ("progressive", {"progressive": True}),
                        ("progressive-full", {"progressive": True, "chroma_downsampling": False, "quality": 40}), ("optimal", {"optimize_size": True, "quality": 30})):
        yield name, jpeg(image, **attrs)
    yield "progressive-gray", jpeg(image[..., :1], progressive=True)
    yield "noise", jpeg(np.random.RandomState(3).randint(0, 256, (24, 40, 3)).astype(np.uint8), quality=90)
    for factors in ("11", "21", "12", "22", "41", "14", "42"):
        yield f"sampled-{factors}", resampled(jpeg(picture(17, 25, seed=4), chroma_downsampling=False, quality=60), factors)


def segments(data):
    """[(marker, payload)] up to the scan, and the rest."""
    found, at = [], 2
    while True:
        length = struct.unpack(">H", data[at + 2:at + 4])[0]
        found.append((data[at + 1], data[at + 4:at + 2 + length]))
        at += 2 + length
        if found[-1][0] == 0xDA:
            return found, data[at:]


def joined(parts, rest):
    return b"\xff\xd8" + b"".join(b"\xff" + bytes([marker]) + struct.pack(">H", len(payload) + 2) + payload for marker, payload in parts) + rest


def replaced(data, marker, change):
    """The file with the payload of a marker changed."""
    parts, rest = segments(data)
    return joined([(m, change(p) if m == marker else p) for m, p in parts], rest)


def resampled(data, factors):
    """A file whose frame says other sampling factors of its first component than its data were made for: the same blocks make another
    image, which has as many pixels as there are blocks for."""
    def change(payload):
        across, down = (int(digit) for digit in factors)
        payload = bytearray(payload)
        payload[7] = across << 4 | down
        payload[1:5] = struct.pack(">HH", 16, 24)
        return bytes(payload)
    return replaced(data, 0xC0, change)


def adobe(transform):
    return (0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([transform]))


def with_colors(data, transform=None, ids=None):
    """The file without its JFIF marker, with one of Adobe's or other names of components."""
    parts, rest = segments(data)
    parts = [part for part in parts if part[0] != 0xE0]
    if transform is not None:
        parts.insert(0, adobe(transform))
    if ids:
        def renamed(marker, payload):
            payload = bytearray(payload)
            first, step = (6, 3) if marker == 0xC0 else (1, 2)
            if marker in (0xC0, 0xDA):
                for k, name in enumerate(ids):
                    payload[first + step * k] = name
            return bytes(payload)
        parts = [(marker, renamed(marker, payload)) for marker, payload in parts]
    return joined(parts, rest)


def four_components(transform=None):
    """A file of four inks: a file of one component whose frame and scan name it four times would not do, so each block is written four
    times. All means, no other coefficients: the usual code of a difference of 0 is 00, of the end of a block 1010."""
    gray = jpeg(np.full((8, 8, 1), 90, np.uint8))
    parts, _ = segments(gray)
    frame = bytes([8, 0, 16, 0, 16, 4]) + b"".join(bytes([k, 0x11, 0]) for k in (1, 2, 3, 4))
    scan = bytes([4]) + b"".join(bytes([k, 0]) for k in (1, 2, 3, 4)) + bytes([0, 63, 0])
    # Differences of seven bits (11110) for the first blocks, then none.
    bits = "".join("11110" + format(40 + 17 * k, "07b") + "1010" for k in range(4)) + "001010" * 12
    bits += "1" * (-len(bits) % 8)
    body = bytes(int(bits[k:k + 8], 2) for k in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    parts = [(m, {0xC0: frame, 0xDA: scan}.get(m, p)) for m, p in parts if m != 0xE0]
    if transform is not None:
        parts.insert(0, adobe(transform))
    return joined(parts, body + b"\xff\xd9")


def restarts(data, interval):
    """The file of one gray block after the other, with markers of restarts that its data lack: what comes of files that are broken so."""
    parts, rest = segments(data)
    return joined([part for part in parts[:-1]] + [(0xDD, struct.pack(">H", interval)), parts[-1]], rest)


def jpeg_files():
    op, d = "DecodeJpeg", ""
    for name, data in jpegs():
        yield many(op, d, name, [[file(data)]])
        if name in ("1x1x3", "2x3x3", "7x9x3", "17x33x3", "fine", "progressive") or "sampled" in name:
            for attrs in ({"channels": 1}, {"fancy_upscaling": False}, {"dct_method": "INTEGER_ACCURATE"}, {"ratio": 2}, {"ratio": 4}, {"ratio": 8}, {"ratio": 2, "fancy_upscaling": False}):
                yield one(op, d, name + "".join(f"-{k}-{v}" for k, v in attrs.items()), [file(data)], **attrs)
    data = jpeg(picture(20, 30, seed=5), chroma_downsampling=False)
    for name, other in (("rgb-of-adobe", with_colors(data, 0)), ("ycc-of-adobe", with_colors(data, 1)), ("odd-adobe", with_colors(data, 7)), ("named-rgb", with_colors(data, ids=b"RGB")), ("named-otherwise", with_colors(data, ids=b"\0\1\2")),
                        ("bare", with_colors(data)), ("inks", four_components()), ("inks-of-adobe", four_components(0)), ("ycck-of-adobe", four_components(2)), ("fill-bytes", data[:2] + b"\xff\xff\xff" + data[2:])):
        yield one(op, d, name, [file(other)])
        yield one("ExtractJpegShape", "int32", name, [file(other)])
        if "inks" not in name and "ycck" not in name:
            yield one(op, d, name + "-gray", [file(other)], channels=1)
    for name, other in (("inks", four_components()), ("ycck-of-adobe", four_components(2))):
        yield from bad(op, d, name + "-gray", [file(other)], channels=1)
    gray = jpeg(picture(40, 40, 1, 6))
    for interval in (1, 3, 100):
        yield one(op, d, f"no-restarts-{interval}", [file(restarts(gray, interval))])


def cut_jpegs():
    op, d = "DecodeJpeg", ""
    for name, data in (("baseline", jpeg(picture(40, 33, seed=7))), ("full", jpeg(picture(40, 33, seed=7), chroma_downsampling=False)), ("gray", jpeg(picture(40, 33, 1, 7))), ("progressive", jpeg(picture(40, 33, seed=7), progressive=True))):
        for part in (0.5, 0.7, 0.9):
            cut = data[:int(len(data) * part)]
            if (name, part) != ("progressive", 0.7):
                yield one(op, d, f"cut-{name}-{part}-recovered", [file(cut)], try_recover_truncated=True, acceptable_fraction=0.1)
            if name == "progressive" or (name, part) == ("baseline", 0.5):
                yield from bad(op, d, f"cut-{name}-{part}-accepted", [file(cut)], acceptable_fraction=0.05)
            else:
                yield one(op, d, f"cut-{name}-{part}-accepted", [file(cut)], acceptable_fraction=0.05)
            yield from bad(op, d, f"cut-{name}-{part}", [file(cut)])
        yield one(op, d, f"end-{name}", [file(data[:int(len(data) * (0.8 if name == "progressive" else 0.6))] + b"\xff\xd9")])
        yield from bad(op, d, f"no-end-{name}", [file(data[:-2])])
        for k in range(5 if name == "progressive" else 6):
            broken = bytearray(data)
            at = len(data) * (4 + k) // 11
            broken[at] ^= 1 << k
            yield one(op, d, f"broken-{name}-{k}", [file(bytes(broken))])


def bad_jpegs():
    op, d = "DecodeJpeg", ""
    data = jpeg(picture(9, 9))
    frame = lambda k, byte: replaced(data, 0xC0, lambda payload: payload[:k] + bytes([byte]) + payload[k + 1:])
    for name, other in (("empty", b""), ("start", data[:3]), ("header", data[:100]), ("precision", frame(0, 12)), ("height", frame(2, 0)), ("width", frame(4, 0)), ("huge", replaced(data, 0xC0, lambda payload: payload[:1] + b"\xff\xff" + payload[3:])), ("components", frame(5, 2)), ("factor", frame(7, 0x05)),
                        ("factors", frame(7, 0x44)), ("table", frame(8, 9)), ("lossless", data.replace(b"\xff\xc0", b"\xff\xc3")), ("two-frames", data.replace(b"\xff\xc4", b"\xff\xc0", 1)), ("unknown", b"hello, this is no image"),
                        ("no-table", replaced(data, 0xDB, lambda payload: b"\3" + payload[1:])), ("code", replaced(data, 0xC4, lambda payload: payload[:1] + b"\xff" * 16 + payload[17:])), ("scan-length", replaced(data, 0xDA, lambda payload: payload + b"\0")),
                        ("scan-component", replaced(data, 0xDA, lambda payload: payload[:1] + b"\x09" + payload[2:])), ("no-frame", joined([p for p in segments(data)[0] if p[0] != 0xC0], segments(data)[1])), ("no-scan", data[:2] + b"\xff\xd9")):
        yield from bad(op, d, "refused-" + name, [file(other)])
        if name in ("factors", "table", "no-table"):
            yield one("ExtractJpegShape", "int32", "refused-" + name, [file(other)])
        else:
            yield from bad("ExtractJpegShape", "int32", "refused-" + name, [file(other)])
    for name, attrs in (("channels", {"channels": 4}), ("two", {"channels": 2}), ("ratio", {"ratio": 3}), ("ratio0", {"ratio": 0}), ("method", {"dct_method": "FLOAT"}), ("negative", {"channels": -1})):
        yield from bad(op, d, name, [file(data)], **attrs)
    yield from bad(op, d, "vector", [T("string", np.array([data], object))])
    for kind in ("int32", "int64"):
        yield one("ExtractJpegShape", kind, "shape", [file(data)], output_type=kind)
        yield one("ExtractJpegShape", kind, "gray", [file(jpeg(picture(5, 6, 1)))], output_type=kind)
    yield from bad("ExtractJpegShape", "int32", "vector", [T("string", np.array([data], object))])


def windows():
    op, d = "DecodeAndCropJpeg", ""
    files = {"halved": jpeg(picture(40, 50, seed=8)), "full": jpeg(picture(40, 50, seed=8), chroma_downsampling=False), "gray": jpeg(picture(40, 50, 1, 8)), "progressive": jpeg(picture(40, 50, seed=8), progressive=True)}
    for name, data in files.items():
        for window in ((0, 0, 40, 50), (0, 0, 1, 1), (3, 5, 20, 30), (16, 16, 16, 16), (17, 31, 23, 19), (39, 49, 1, 1), (10, 32, 5, 16), (0, 0, 40, 25), (20, 0, 20, 50)):
            if name in ("gray", "progressive") and window[0] not in (3, 17, 39):
                continue
            yield one(op, d, f"{name}-" + "-".join(map(str, window)), [file(data), i32(window)])
    for attrs in ({"fancy_upscaling": False}, {"ratio": 2}, {"channels": 1}, {"dct_method": "INTEGER_ACCURATE"}):
        yield one(op, d, "attrs" + "".join(f"-{k}-{v}" for k, v in attrs.items()), [file(files["halved"]), i32((4, 5, 12, 11))], **attrs)
    for window in ((0, 0, 0, 5), (0, 0, 5, 0), (-1, 0, 5, 5), (0, -1, 5, 5), (0, 0, 41, 5), (0, 0, 5, 51), (40, 0, 1, 1), (0, 0, -1, 2), (1, 1, 2)):
        yield from bad(op, d, "window" + "_".join(map(str, window)), [file(files["full"]), i32(window)])
    # Of a file that was cut, what is above the cut is there.
    above = {"halved": {0.4: (), 0.6: (0,), 0.8: (0,)}, "full": {0.4: (0,), 0.6: (0, 3, 8), 0.8: (0, 3, 8)}}
    for name, parts in {**above, "gray": above["full"]}.items():
        for part, rows in parts.items():
            cut = file(files[name][:int(len(files[name]) * part)])
            for window in ((0, 3, 7, 20), (3, 5, 12, 30), (8, 0, 8, 50), (16, 31, 16, 19), (20, 10, 20, 16)):
                tag = f"cut-{name}-{part}-{window[0]}"
                yield from [one(op, d, tag, [cut, i32(window)])] if window[0] in rows else bad(op, d, tag, [cut, i32(window)])
                yield one(op, d, tag + "-recovered", [cut, i32(window)], try_recover_truncated=True)
    # What libjpeg knows of the next rows it decides before it knows of windows, also of narrow ones.
    tall = jpeg(picture(48, 40, seed=9))
    cut = file(tall[:int(len(tall) * 0.75)])
    for width in (1, 2, 3):
        yield from bad(op, d, f"narrow-{width}", [cut, i32((0, 16, 16, width))])
        yield one(op, d, f"narrow-{width}-accepted", [cut, i32((0, 16, 16, width))], acceptable_fraction=0.5)
        yield one(op, d, f"narrow-{width}-above", [cut, i32((0, 16, 14, width))])
    yield from bad(op, d, "below-cut", [cut, i32((40, 0, 8, 40))], acceptable_fraction=0.0)
    cut = file(files["gray"][:int(len(files["gray"]) * 0.6)])
    yield one(op, d, "below-cut-gray", [cut, i32((32, 0, 8, 50))], acceptable_fraction=0.0)
    # What follows the data of a scan is not read where a window ends above the last row.
    for tag, end in (("kind", b"\xff\xc3\0\2"), ("scan", b"\xff\xda\0\2")):
        data = file(files["halved"][:-2] + end)
        for rows in (10, 19):
            yield one(op, d, f"end-{tag}-{rows}", [data, i32((20, 0, rows, 50))])
        last = [data, i32((20, 0, 20, 50))]
        yield from bad(op, d, f"end-{tag}-20", last) if tag == "kind" else [one(op, d, f"end-{tag}-20", last)]
    smoothed = jpeg(picture(64, 64, seed=10), progressive=True)
    for ratio in (1, 2, 4):
        window = i32((0, 0, 16, 16))
        yield one(op, d, f"smoothed-{ratio}", [file(smoothed[:int(len(smoothed) * 0.6)]), window], try_recover_truncated=True, ratio=ratio)
    for name, data in jpegs():
        if "sampled" in name:
            for window in ((3, 5, 9, 11), (9, 14, 7, 10), (0, 20, 3, 4)):
                yield many(op, d, f"{name}-{window[0]}", [[file(data), i32(window)]])
            # Of the last, libjpeg expands fewer samples than the window has columns for, and leaves the others as they were in memory.
            if name != "sampled-42":
                yield many(op, d, f"{name}-half", [[file(data), i32((2, 3, 5, 7))]], ratio=2)
    yield from bad(op, d, "rank", [file(files["full"]), i32([[0, 0], [1, 1]])])
    for name, data in (("png", png(picture(3, 3), 2)), ("gif", gif((2, 2), frame((0, 0, 2, 2), [0, 1, 2, 3]))), ("bmp", bmp(2, 2, 24))):
        yield from bad(op, d, name, [file(data), i32((0, 0, 1, 1))])


def jpeg_encoding():
    op, d = "EncodeJpeg", ""
    U = lambda array: T("uint8", array)
    for rows, columns in SIZES:
        for channels in (1, 3):
            image = U(picture(rows, columns, channels, 9))
            yield one(op, d, f"{rows}x{columns}x{channels}", [image])
            if (rows, columns) in ((17, 33), (7, 9)):
                for attrs in ({"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}, {"quality": 0}, {"quality": 30}, {"quality": 100}, {"progressive": True, "chroma_downsampling": False, "quality": 50}):
                    yield one(op, d, f"{rows}x{columns}x{channels}" + "".join(f"-{k}-{v}" for k, v in attrs.items()), [image], **attrs)
    image = U(picture(9, 10))
    for name, attrs in (("density", {"density_unit": "cm", "x_density": 118, "y_density": 70000}), ("xmp", {"xmp_metadata": "<x:xmpmeta/>"}), ("rgb", {"format": "rgb"}), ("noise", {})):
        noise = U(np.random.RandomState(1).randint(0, 256, (33, 41, 3)).astype(np.uint8))
        yield one(op, d, name, [noise if name == "noise" else image], **attrs)
    yield one(op, d, "noise-progressive", [U(np.random.RandomState(2).randint(0, 256, (24, 32, 3)).astype(np.uint8))], progressive=True, quality=98)
    yield one(op, d, "steps-optimal", [U(np.kron(np.random.RandomState(3).randint(0, 2, (9, 9, 1)) * 255, np.ones((5, 5, 1))).astype(np.uint8))], optimize_size=True)
    for name, shape, attrs in (("rank", (3, 3), {}), ("two", (3, 3, 2), {}), ("four", (3, 3, 4), {}), ("gray", (3, 3, 3), {"format": "grayscale"}), ("rgb1", (3, 3, 1), {"format": "rgb"}), ("rows", (0, 3, 3), {}), ("columns", (3, 0, 3), {}),
                               ("quality", (3, 3, 3), {"quality": 101}), ("quality-negative", (3, 3, 3), {"quality": -1}), ("xmp-long", (3, 3, 3), {"xmp_metadata": "x" * 65505})):
        yield from bad(op, d, name, [U(np.zeros(shape, np.uint8))], static=name != "xmp-long", **attrs)
    op = "EncodeJpegVariableQuality"
    for quality in (0, 1, 49, 50, 75, 100):
        yield many(op, d, f"quality{quality}", [[U(picture(20, 21, channels)), i32(quality)] for channels in (1, 3)])
    for name, shape, quality in (("above", (3, 3, 3), 101), ("below", (3, 3, 3), -1), ("vector", (3, 3, 3), [50]), ("rank", (3, 3), 50), ("channels", (3, 3, 4), 50), ("empty", (0, 2, 3), 50)):
        yield from bad(op, d, name, [U(np.zeros(shape, np.uint8)), i32(quality)])


# ---------------------------------------------------------------- PNG

def chunk(kind, data, crc=None):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) if crc is None else crc)


PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def png(samples, kind, depth=8, interlaced=False, filters=(0, 1, 2, 3, 4), before=b"", after=b"", crc=None, cut=0, adler=None):
    """A file of samples [rows, columns, channels]."""
    rows, columns = samples.shape[:2]

    def packed(row):
        if depth == 16:
            return row.astype(">u2").tobytes()
        bits = "".join(format(int(v), f"0{depth}b") for v in row.ravel())
        bits += "0" * (-len(bits) % 8)
        return bytes(int(bits[k:k + 8], 2) for k in range(0, len(bits), 8))

    def filtered(image):
        step, last, out = max(1, CHANNELS[kind] * depth // 8), None, b""
        for number, row in enumerate(image):
            line = packed(row)
            last = last or bytes(len(line))
            left, corner = bytes(step) + line, bytes(step) + last
            which = filters[number % len(filters)]
            def paeth(a, b, c):
                return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            guess = {0: lambda k: 0, 1: lambda k: left[k], 2: lambda k: last[k], 3: lambda k: (left[k] + last[k]) // 2, 4: lambda k: paeth(left[k], last[k], corner[k])}[which]
            out += bytes([which]) + bytes((line[k] - guess(k)) & 255 for k in range(len(line)))
            last = line
        return out

    parts = [samples[y::dy, x::dx] for y, x, dy, dx in PASSES] if interlaced else [samples]
    data = zlib.compress(b"".join(filtered(part) for part in parts if part.size))
    if adler is not None:
        data = data[:-4] + struct.pack(">I", adler)
    if cut:
        data = data[:-cut]
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, depth, kind, 0, 0, int(interlaced)))
    half = len(data) // 2
    return b"\x89PNG\r\n\x1a\n" + header + before + chunk(b"IDAT", data[:half]) + chunk(b"IDAT", data[half:], crc) + after + chunk(b"IEND", b"")


def samples(rows, columns, kind, depth, seed=0):
    if depth >= 8:
        image = picture(rows, columns, CHANNELS[kind], seed).astype(np.int64)
        return image * 257 + np.random.RandomState(seed).randint(-99, 99, image.shape) * (image > 0) * (image < 255) if depth == 16 else image
    return np.random.RandomState(seed).randint(0, 1 << depth, (rows, columns, 1))


PALETTE = chunk(b"PLTE", np.random.RandomState(7).randint(0, 256, 256 * 3).astype(np.uint8).tobytes())
KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)]


def palette(depth, count=None):
    return PALETTE if depth == 8 and not count else chunk(b"PLTE", PALETTE[8:8 + 3 * (count or 1 << depth)])


def pngs():
    """(name, file) of PNG files of each kind."""
    for kind, depth in KINDS:
        before = palette(depth) if kind == 3 else b""
        for interlaced in (False, True):
            yield f"kind{kind}-{depth}" + "-interlaced" * interlaced, png(samples(9, 11, kind, depth, kind + depth), kind, depth, interlaced, before=before)
        if kind in (0, 2, 3):
            key = b"\0\1" * (1 if kind == 0 else 3) if kind != 3 else bytes([0, 128, 255][:min(3, 1 << depth)])
            image = samples(6, 7, kind, depth, 3)
            if kind != 3 and depth >= 8:
                image[2:4, 2:5] = 1
            yield f"kind{kind}-{depth}-transparent", png(image, kind, depth, before=before + chunk(b"tRNS", key))
    for gamma in (45455, 100000, 22000, 55000):
        for depth in (8, 16):
            yield f"gamma{gamma}-{depth}", png(samples(7, 7, 2, depth, 4), 2, depth, before=chunk(b"gAMA", struct.pack(">I", gamma)))
    yield "srgb", png(samples(9, 9, 6, 8, 4), 6, before=chunk(b"sRGB", b"\0"))
    yield "bits", png(samples(9, 9, 2, 16, 4), 2, 16, before=chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"sBIT", bytes([13, 13, 13])))
    yield "palette-gamma", png(samples(9, 9, 3, 4, 4), 3, 4, before=chunk(b"gAMA", struct.pack(">I", 45455)) + palette(4))
    yield "palette-short", png(samples(9, 9, 3, 4, 4), 3, 4, before=palette(4, 5))
    for rows, columns in ((1, 1), (1, 40), (40, 1), (5, 3), (11, 17)):
        for interlaced in (False, True):
            yield f"{rows}x{columns}" + "-interlaced" * interlaced, png(samples(rows, columns, 2, 8, 1), 2, 8, interlaced)


def png_files():
    op = "DecodePng"
    for d in ("uint8", "uint16"):
        for name, data in pngs():
            yield many(op, d, name, [([file(data)], {"channels": channels}) for channels in (0, 1, 3, 4)], dtype=d)
    d = "uint8"
    image = samples(9, 12, 2, 8, 5)
    good = png(image, 2)
    for name, data in (("text", png(image, 2, before=chunk(b"tEXt", b"Title\0x"), after=chunk(b"tIME", bytes(7)))), ("broken-text", png(image, 2, before=chunk(b"tEXt", b"Title\0x", crc=1))), ("more", good + b"more"), ("unknown", png(image, 2, before=chunk(b"aaAa", b"x"), after=chunk(b"zzZz", b"")))):
        yield one(op, d, name, [file(data)])
    names = (("digit", b"a1AA"), ("zero", b"a\0TL"), ("high", b"\xe1aAa"), ("critical", b"AaAa"))
    for name, data in (*((f"name-{tag}{'-after' * late}", png(image, 2, **{"after" if late else "before": chunk(kind, b"")})) for tag, kind in names for late in (False, True)), ("header", good[:20]), ("start", good[:8]), ("cut", good[:-30]), ("crc", png(image, 2, crc=1)), ("adler", png(image, 2, adler=5)), ("short", png(image, 2, cut=20)), ("no-palette", png(samples(5, 5, 3, 8), 3)), ("depth", png(image, 2)[:24] + b"\x07" + png(image, 2)[25:]),
                       ("filter", png(image, 2, filters=(0,)).replace(b"", b"", 0)[:60]), ("empty", png(image, 2)[:16] + bytes(4) + png(image, 2)[20:])):
        yield from bad(op, d, name, [file(data)])
    wide = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1 << 19, 1 << 19, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0"))
    yield from bad(op, d, "large", [file(wide)])
    for name, attrs in (("two", {"channels": 2}), ("five", {"channels": 5})):
        yield from bad(op, d, name, [file(good)], **attrs)
    yield from bad(op, d, "vector", [T("string", np.array([good], object))])


def png_encoding():
    """What is encoded is decoded again: files of one image may differ in how they are compressed."""
    op = "EncodePng"
    for d in ("uint8", "uint16"):
        for name, shape in (("rank", (3, 3)), ("none", (3, 3, 0)), ("five", (3, 3, 5))):
            yield from bad(op, d, name, [T(d, np.zeros(shape))])
        for channels in (1, 2, 3, 4):
            for shape in ((1, 1), (9, 11), (3, 2, 5, 4), (2, 1, 1, 7)):
                image = np.stack([picture(*shape[-2:], channels, k) for k in range(int(np.prod(shape[:-2])))]).reshape(*shape, channels)
                for level in (-1, 0, 9) if channels == 3 else (-1,):
                    case = Case(f"{op}/{d}/{'x'.join(map(str, shape))}x{channels}" + f"-level{level}" * (level >= 0), None)
                    files = case.apply(op, [T(d, image.astype(np.int64) * 257 - (image > 0) * 31 if d == "uint16" else image)], name="encode", keep=[], compression=level)
                    files = case.apply("Reshape", [(files, "string"), i32([-1])], name="files", keep=[])
                    for k in range(int(np.prod(shape[:-2]))):
                        chosen = case.apply("GatherV2", [(files, "string"), i32(k), i32(0)], name=f"file{k}", keep=[])
                        case.apply("DecodePng", [(chosen, "string")], name=f"decode{k}", dtype=d)
                    yield case
        yield one(op, d, "no-images", [T(d, np.zeros((0, 3, 3, 1)))])
    for level in (-2, 10):
        yield from bad(op, "uint8", f"level{level}", [T("uint8", np.zeros((2, 2, 1)))], compression=level)


# ---------------------------------------------------------------- GIF, BMP, WebP

COLORS = bytes([10, 11, 12, 20, 21, 22, 130, 131, 132, 240, 241, 242])


def frame(box, pixels, transparent=None, disposal=0, interlaced=False, colors=None, codes=None, size=2):
    data = b""
    if transparent is not None or disposal:
        data += b"\x21\xf9\x04" + bytes([disposal << 2 | (transparent is not None), 0, 0, transparent or 0]) + b"\0"
    flags = 0x40 * interlaced | (0x81 if colors else 0)
    data += b"\x2c" + struct.pack("<4H", *box) + bytes([flags]) + (colors or b"") + bytes([size])
    packed = filled = 0
    out = bytearray()
    for code in codes or [code for pixel in pixels for code in (4, pixel)] + [5]:
        packed |= code << filled
        filled += size + 1
        while filled >= 8:
            out.append(packed & 255)
            packed, filled = packed >> 8, filled - 8
    out.append(packed & 255)
    return data + b"".join(bytes([len(out[k:k + 255])]) + out[k:k + 255] for k in range(0, len(out), 255)) + b"\0"


def gif(size, *frames, end=b";", colors=COLORS):
    return b"GIF89a" + struct.pack("<2H", *size) + bytes([0x81 if colors else 0, 3, 0]) + (colors or b"") + b"".join(frames) + end


def lzw_frame(box, pixels):
    """A frame coded with codes that grow; the table stays as it is when it is full."""
    table, bits, out, word = {(k,): k for k in range(4)}, 3, [(4, 3)], ()
    for pixel in pixels:
        if word + (pixel,) in table:
            word += (pixel,)
            continue
        out.append((table[word], bits))
        if len(table) + 2 < 4096:
            table[word + (pixel,)] = len(table) + 2
            bits = max(bits, (len(table) + 1).bit_length())
        word = (pixel,)
    out += [(table[word], bits), (5, bits)]
    text = "".join(format(code, f"0{width}b")[::-1] for code, width in out)
    text += "0" * (-len(text) % 8)
    data = bytes(int(text[k:k + 8][::-1], 2) for k in range(0, len(text), 8))
    blocks = b"".join(bytes([len(data[k:k + 255])]) + data[k:k + 255] for k in range(0, len(data), 255))
    return b"\x2c" + struct.pack("<4H", *box) + b"\0\2" + blocks + b"\0"


def gifs():
    """(name, file, whether it has one frame) of GIF files."""
    whole = frame((0, 0, 2, 2), [0, 1, 2, 3])
    yield "one", gif((2, 2), whole), True
    yield "transparent", gif((2, 2), frame((0, 0, 2, 2), [0, 1, 2, 3], transparent=1)), True
    yield "interlaced", gif((3, 19), frame((0, 0, 3, 19), [k % 4 for k in range(57)], interlaced=True)), True
    yield "own-colors", gif((2, 2), frame((0, 0, 2, 2), [0, 1, 2, 3], colors=COLORS[::-1]), colors=None), True
    yield "large-frame", gif((1, 1), frame((0, 0, 3, 2), [0, 1, 2, 3, 0, 1])), True
    yield "small-frame", gif((5, 5), frame((1, 1, 2, 2), [0, 1, 2, 3])), True
    yield "outside", gif((3, 3), frame((5, 5, 2, 2), [0, 1, 2, 3])), True
    yield "no-end", gif((2, 2), whole, end=b""), True
    yield "garbage", gif((2, 2), whole, end=b"\x55"), True
    yield "extensions", gif((2, 2), b"\x21\xfe\x03abc\x02de\0", b"\x21\xff\x0bNETSCAPE2.0\x03\1\0\0\0", whole), True
    yield "two", gif((2, 2), whole, frame((0, 0, 2, 2), [3, 3, 3, 0], transparent=3)), False
    yield "disposal", gif((2, 2), whole, frame((1, 1, 1, 1), [2], disposal=2), frame((0, 0, 1, 1), [3], disposal=3), frame((0, 1, 1, 1), [0])), False
    yield "moving", gif((4, 4), frame((0, 0, 4, 4), [k % 4 for k in range(16)]), *[frame((k, k, 2, 2), [3, 0, 0, 3], transparent=0) for k in range(4)]), False
    yield "broken-second", gif((2, 2), whole, frame((0, 0, 2, 2), [0, 1, 2])), True
    yield "empty-second", gif((2, 2), whole, frame((0, 0, 0, 2), [0])), True
    yield "table", gif((4, 3), frame((0, 0, 4, 3), [], codes=[4, 1, 6, 4, 0, 6, 4, 3, 6, 4, 2, 6, 5])), True
    yield "long-codes", gif((40, 30), lzw_frame((0, 0, 40, 30), [int(v) for v in np.random.RandomState(1).randint(0, 4, 1200)])), True
    yield "full-table", gif((120, 100), lzw_frame((0, 0, 90, 70), [int(v) for v in np.random.RandomState(2).randint(0, 4, 6300)])), True


def gif_files():
    d = ""
    for name, data, single in gifs():
        yield one("DecodeGif", d, name, [file(data)])
        if name == "full-table":
            continue
        yield one("DecodeImage", "uint8", "gif-first-" + name, [file(data)], expand_animations=False)
        for op in ("DecodePng", "DecodeJpeg"):
            if single:
                yield one(op, "uint8" if op == "DecodePng" else d, "gif-" + name, [file(data)])
            else:
                yield from bad(op, "uint8" if op == "DecodePng" else d, "gif-" + name, [file(data)])
    whole = frame((0, 0, 2, 2), [0, 1, 2, 3])
    for name, data in (("none", gif((2, 2))), ("short", gif((2, 2), frame((0, 0, 2, 2), [0, 1, 2]))), ("cut", gif((2, 2), whole)[:30]), ("header", b"GIF89a\1\0"), ("no-colors", gif((2, 2), whole, colors=None)), ("color", gif((2, 2), frame((0, 0, 2, 2), [], codes=[9, 10, 8, 9, 9][:1] + [1, 2, 7, 4, 5], size=3))),
                       ("empty-frame", gif((2, 2), frame((0, 0, 2, 0), [0]))), ("empty-comment", gif((2, 2), b"\x21\xfe\0", whole))):
        yield from bad("DecodeGif", d, name, [file(data)])
    for name, attrs in (("channels1", {"channels": 1}), ("channels4", {"channels": 4})):
        yield from bad("DecodeImage", "uint8", "gif-" + name, [file(gif((2, 2), whole))], **attrs)


def bmp(rows, columns, bits, header=54, seed=0, more=0):
    count = (bits // 8 * columns + 3) // 4 * 4 * abs(rows)
    pixels = np.random.RandomState(seed).randint(0, 256, max(0, count + more)).astype(np.uint8).tobytes()
    start = b"BM" + struct.pack("<IHHI", header + len(pixels), 0, 0, header) + struct.pack("<IiiHHIIiiII", 40, columns, rows, 1, bits, 0, 0, 0, 0, 0, 0)
    return start[:header] + bytes(max(0, header - len(start))) + pixels


def bmp_files():
    op, d = "DecodeBmp", ""
    for bits in (8, 24, 32):
        for rows, columns in ((1, 1), (3, 5), (-4, 3), (2, 8)):
            data = bmp(rows, columns, bits, 54 if bits > 8 else 1078)
            for channels in (0, 3, 4):
                yield one(op, d, f"{bits}-{rows}x{columns}-{channels}", [file(data)], channels=channels)
    good = bmp(3, 5, 24)
    for name, data, attrs in (("channels1", good, {"channels": 1}), ("short", good[:30], {}), ("bits", bmp(3, 5, 4), {}), ("bits16", bmp(3, 5, 16), {}), ("width", bmp(3, 0, 24), {}), ("height", bmp(0, 3, 24), {}), ("more", bmp(3, 5, 24, more=1), {}), ("less", bmp(3, 5, 24, more=-1), {}),
                              ("large", bmp(3, 5, 24)[:18] + struct.pack("<ii", 1 << 20, 1 << 20) + bmp(3, 5, 24)[26:], {}), ("header", good[:10] + struct.pack("<i", -1) + good[14:], {}), ("vector", None, {})):
        yield from bad(op, d, name, [T("string", np.array([good], object)) if data is None else file(data)], **attrs)
    for name, data in (("jpeg", jpeg(picture(3, 3))), ("png", png(samples(3, 3, 2, 8), 2)), ("gif", gif((2, 2), frame((0, 0, 2, 2), [0, 1, 2, 3])))):
        yield from bad(op, d, name, [file(data)])
    for other in ("DecodeJpeg", "DecodePng", "DecodeGif"):
        yield from bad(other, "uint8" if other == "DecodePng" else d, "bmp", [file(good)])


# As libwebp's encoder writes them: 14 x 19 pixels of waves.
WEBP = {
    "lossless":
        "5249464688030000574542505650384c7b0300002f12400300b707cbb6edb48d1e4816d84ecadc3175e8fdef2f3357f8a46940b2ad3d6d2334db8151cab8a46eb6d38e700b1d31a3c8d20fb023db366d2d6d1cde67e7f1727981bf3fdb3adc9effb8bcbc"
        "787c619066ccfb26d360ecd07f0393500e15e7550ef83d632d660fd61885799666ef47b21f08b2217d0eb694014422c0464448813008b5b03a639e291a908a6c2b4039dc38534b8cb5d43060c326d8656dcb8d84bba2ea515f3879eded8b1d650afe56c5"
        "81e8c4a1f81e058c2d8719360628f2a34561449a495abc65d4f342873f8f31fad73b6269209fd056b31d318d072200b10ba001aca55f80b365a90385a87f801e8c94e15f3072a23e06c8607cffc0ec491860fad3c183fca633b2f5bfd035b445ba3ad2c8"
        "b0ddb66a7aa6ae6cab95b7ffa8fa168393bc757cba3256c3b2c59896400554af11fbcf2221f92be0b314850a5c6e2996406758c996391108668a5891592c86bb92a172b15d503d18caeb66a23b22c3ac0847da086a1487e8a749c42009cefc03c643b4e2"
        "0e22e5eee9c9edd7ad6e12feab3d4f0f041379cfa090f60b8a58d561412dcb555055f4db26dc1b1e8895dad8e93c81f302c90730402fe06a83096371339e48b988a545ba5267a31564d436d3a0f425da3f0160161b6636acb2c2bf302ed104de94335294"
        "275464927a67dd6ec9b8f05d8d5dedecefd8a22a5e88bc517c5d29abc4359536396a3dfa75a30651d59f721e293548f1d3c1128c9f07cfbe7875a8b3f278b7e7ea5cb0064bff88860955c57266c1deb687bcc2e373095ac7eb44999e9060238cfc3369a0"
        "2478f567daeb9970bfcb39a6e6e4babbf42dde8da02032fd57b3b7ff7cce0031000042ca23dbb66ddbb66ddbb66ddbb66ddbb6ed5aa01b22a2ff13c0c2cec52bf07427b3f68d80328c4b744c41939399969ac42f7873bd013b33308283476c6cc6e8981e"
        "9f98cc232ab1059dea1b1fc5c23034b7778e8e4d00fd0777f64c8c0da1e95bdaba46c6c4011cb41ff6f623ffea5a87bb4744650034b776744f22ce697b7b86bab93801d4b7b4754dc32f68f906877884d93165e5553635d4ed4360be9634fc0383bc6c1c"
        "18e8f24bcb1b6bf7b637d757d4de02fc7cac2c4ca90b8bcb2a6a767724a595545edf3575f40c8c284f8b4aaaaa2fc5af64155e54d517e7ffd049c84ece0a72cf2fc4446e9f1595977f665131098ec8a968b35939b8851fefe5573fe09006b1f109494de8"
        "99d93853f8841ee4a43e0100",
    "lossless-alpha":
        "524946461e040000574542505650384c110400002f12400310b707cbb6edb48d1ee8456627659c7b87d171e4afdfcc68103c691ab023d956adec63d79ecb176e7911216950e4f2fc71fc6c815edbb6a9e7e8199fd146504d2a5349a9217fed3c9f7301b1"
        "b6ddb60dc026f238bdf73a5136ca7219a637b6402480b8febb79b63fcaa9e114bdb1326054fd2c4a1357ae47d7a113991948b9a19906f2c414b903911a693895e2d8aa950cdb1dec009127c6aca773f9e35c1daa056df1145334bdc9ab65c76ff5f010b6"
        "1a96b6336de2e11134bacce3f60157fcbf867de9d2a016fdaf38580c056fd3605c1a4445552dee1f0a6b04c013b0a70c9445d98af3b5619f0301560292ea7a838c255f1d37028da6f9878c016ac9a1e3dd7e4bf5ab39766f28a0e5f2f3815549635730ff"
        "d58c3aa0beb52ca8853e06e8057858c266a4282ef766de6dd8b2fb96372e2ef849f5a8c9f7b40a7b513bfc1ffd26bf1e1edfd0ab2ece07ef1e7b9604d01c0219b62c07b3b195676a84feab8259c878acc16b8e62ca87f0c6466c1b20f7c995a68c752dba"
        "fe29767f68ec2df95c8c460e03d00d0580019c20db54016d7a09ce046419c57037493ba4eecfd27c88d4c500a3c600b376f76b6aa66a631d3adb9d63e20cdcb4d98ab65da42fe2d8cd58bb7f43ddb759e2d2d690d3e9d77c2d2e0dd8d62cb6f68a85806e"
        "5d62d6b9ca5c89746ac0df2d4ae0a8b85e1f044701a66ce31463577c53b43142e0c44146bd48f14f3f1e0bb97a88c7d477ae68c56c076b274a3a1f370116d0d125e87159e66efb7e8767a009ef126832a5c3f4556cfccbc72e317bd86f56ac95f4d1cba0"
        "01c0f4e75cfcc5a623f9aa2774339a4ff0b527a33b58d3673d5ac3f6e982d36cb6716995d472e1cdb9fee57bf6b7e4e95f2efc359789a67e8e71396e67e32d4c967a381af36b2f3588be70a7ddc9bdd535d01ebf40bccf96617ee8c597ecba5fe26e50de"
        "d05af69cce4ddc2d87ba9836f5546ed897f5a93d51faa702c8d35125d1bbe29fde2e6e9e56a67e95db9eb6429cc8edfef1f4a9cef339e938bbfebd9ee81a181e2e4ccfcb32f7dbd3f3d7e5f7f7ed532210400c008090f2c8b66ddbb66ddbb66ddbb66ddb"
        "b66dbb16e88688e8ff04109351d231b170f40daf58d9edbbfbfc2aa8e03e3c52d1b43176f48e9a5f9e1eb879f8ca4712a43c35b5d0d2774e8f9b9edf1e1fba38c94625a5d5353483fe1b43afef8ef61ca46312326aea1b018cc0f73727b6db92715559d5"
        "b5cf00087090ab33eb0df1bc9c8accf45400247858980bcb25b182f2b2ecca44421c4c745464444313b3d50591a292d2dcf8647c350d6d5d147d8389b19139a1afe2c2fcd8e808e5502d1d34bdb7c999413e81ef4f5109291939c5e0304d8cf7d7a99e7e"
        "9e1f41e1c5cd1d47bf80a01075ac8f97ae76762e5efef9e52d7b67afbf4025556c12f26e06564eeed9750b9b5d574f6fff703c22520aea5666b681a13500",
    "lossy":
        "524946468e0000005745425056503820820000005004009d012a13000e003eb5489e49a72422a1300800e016896c009d32847022c00077b1bc8b6092c9b9e000fec8c4cf84de2db697197f1e3b26e0721d44ceb4909612cfb0bc47c0bcddfdccda9a6dc1"
        "f3f6a520042b71c51397f06e98d3b927e34cb54da276740d53baadde9f43d857f4244aecf7753e1e9b0e6fa1368ede540000",
    "lossy-alpha":
        "524946465801000057454250565038580a000000100000001200000d0000414c5048bb00000009b93244f43f3472636d5bb668dcad09caa1190aa114baa0004aa00032772de242b36b9e0c79e626b2b5c877a39d88099880a52b4eecdbb56dcbeb8e3dc7"
        "3262dcb7699326fc5b960c1b737f60cafdbfdf438efc7f1ef5f07dd3a054120674d37e8e5ce155b2eae3f7bf790ba41512a82ce2d0960d6b6c9170050917d3684c245e66894462705d79f3f22c444bd2719c543d43623562a70ba00aae1a8cddf99ca452"
        "85a5a66d315729aa228add9d44fd9502edea86865f14a1a001005650382076000000b004009d012a13000e003eed62a94da9a5a3a2300801301d896c009d32847722c0a10001b0f5b7503fea582c03a000fe97db9c59a5330c7be30d3a5dd74ea752a3d0"
        "e51cc456784868298bc3e0ea7ee10e84fd22382b8824dd6128f6355f3cfad71af2fcf71480a48e5579e64cda51b22c2d9d000000",
    "animation":
        "524946462c0d000057454250565038580a000000120000001200000d0000414e494d06000000000000000000414e4d46500400000000000000001200000d0000320000025650384c370400002f12400310b70749000082c9946ddbb66ddbae936ddbb66d"
        "dbb66ddbb6f10d88b56d2b8dde7bdf4870f77ea6e7a9078b3b0e70000020dbd8b66ddbb66ddbb66d7dc53ddbb66ddbb691540cdab6111c73ba7b161f36a5dfffb2930d957f7b5ec9c2944fc084ec7ce2386cf9055a9ebb1bc43a5ff0030316620540d11e"
        "0e4880c5b7f01883f1c093ec408809244ff55e65a290f89dade8849d731fe2d0faddf46e00353a4980c49ef1d62beecbaa070d44b5b42619267b8116861e26cec6064c2afed5265f021daf7f3d019068511101f00f0118ba64bb7eeefee1aa4f100224de"
        "119967cb2537d21996bdcdb77ea985db56f9b0d126604c9c169e46f811a95f8b46be6f42d65c3925c6c51c6d1f597ba0276d1e12302dab13e9041ed35162f0055afaef74c109b26a019b10c9bac4bbf22afd62b24f8f2fa3bcfba1526d755f7ab73ddc87"
        "0eb44847db356b056091a0d246a7e2884b9984dd7d9bd735bcc5481c6ea350375d5a4448cfc8c637fa25a97a9dee9a4e58902749eb45bc8c23f3ac1d4a08810af4ceaf4ef9cfd59525acae5f3aa5e8ae8b64c9ee7ab14cc7f22a8ed190e453dfe2885f43"
        "df3dbe78a267efecb9264f87e2b3b93a3d820d04974110aa7d7e70e2bb6c82d3fa2b45fcbfd7cdc85622154b39384964058560bac9bb42ae188948e0f0e4de24740c1c22438f3c6ee0b5f2daac6bbcc602f28890169da488d35df14f605d57c565a9b840"
        "8850615b2aef9463e054b29791a8418079362fa416ccb3d8ceec76bcc490c62dbe167ac51d9aba9469dae8e80c8345dcb2100e01990e0519c608e206a91da13de5f5e57e22a06a1dceb32fe64103a18c79ac959ef178fb9890924c4c8cc95a131f569a61"
        "ba0dda11ed09ccaf8bad647ad0d73f007d71f131ba6acfb48b5691aff3342da2d69ad84ed9e53dd0b56ff60c0e991e963d0aee15794a79a3f427de31e877182499d1d6bd3ba3265efdcfd2d9b17bbe071618a79ecc577d151cfcc61a7f323464c4d3fca4"
        "09967f872e7ebdbc6c7a5587c761ef3adb081f95429bb96bf42b8ef15af7a66e0afdf23bd4faa59dafd890b4334407f0be76ecce26c6fd6ed441f327300c80c1ff9ccf4c87c43f00100b20060040b66967dbb66ddbb66ddbce6cdbb66ddbb66d6f17e488"
        "88fe8753edfcc9dbffc7d54aabbf2c1d2614069d5adab966faf0e1fdf56cb9254091090f15199b5ec6ad6a7cfdf4fa6267aa39508d878a009f9c53c9b3b87716000000a80e3214e762646017d1f3cd6be8011586d86aca494ac86b5885c6e757805222bc"
        "5d6d2c2ced5cbca2c283fd40619131895999d93949b1c93ef646ea2aaafae61ed14575ed9ddd6d8da5b9ee5a52fcdcbca2ca0e71f5fd934b8b33c34d058e0a1c346494cc62c6091d731b47c7db0b5d25d6c2b4381858140206a97dabe74f8f976b03e566"
        "42a4687048446c3a69839b375f9f777ba395267cc40810785c16dd8c91dde7bfdf978389325341121458444256edf4a1addb9feffbfd3100414e4d46500400000000000000001200000d0000320000025650384c370400002f12400310b70749000082c9"
        "946ddbb66ddbae936ddbb66ddbb66ddbb6f10d88b56d2b8dde7bdf4870f77ea6e7a9078b3b0e70000020dbd8b66ddbb66ddbb66d7dc53ddbb66ddbb691540cdab6111c73ba7b161f36a5dfffb2930d957f7b5ec9c2944fc084ec7ce2386cf9055a9ebb1b"
        "c43a5ff0030316620540d11e0e4880c5b7f01883f1c093ec408809244ff55e65a290f89dade8849d731fe2d0faddf46e00353a4980c49ef1d62beecbaa070d44b5b42619267b8116861e26cec6064c2afed5265f021daf7f3d019068511101f00f0118ba"
        "64bb7eeefee1aa4f100224de119967cb2537d21996bdcdb77ea985db56f9b0d126604c9c169e46f811a95f8b46be6f42d65c3925c6c51c6d1f597ba0276d1e12302dab13e9041ed35162f0055afaef74c109b26a019b10c9bac4bbf22afd62b24f8f2fa3"
        "bcfba1526d755f7ab73ddc870eb44847db356b056091a0d246a7e2884b9984dd7d9bd735bcc5481c6ea350375d5a4448cfc8c637fa25a97a9dee9a4e58902749eb45bc8c23f3ac1d4a08810af4ceaf4ef9cfd59525acae5f3aa5e8ae8b64c9ee7ab14cc7"
        "f22a8ed190e453dfe2885f43df3dbe78a267efecb9264f87e2b3b93a3d820d04974110aa7d7e70e2bb6c82d3fa2b45fcbfd7cdc85622154b39384964058560bac9bb42ae188948e0f0e4de24740c1c22438f3c6ee0b5f2daac6bbcc602f28890169da488"
        "d35df14f605d57c565a9b8408850615b2aef9463e054b29791a8418079362fa416ccb3d8ceec76bcc490c62dbe167ac51d9aba9469dae8e80c8345dcb2100e01990e0519c608e206a91da13de5f5e57e22a06a1dceb32fe64103a18c79ac959ef178fb98"
        "90924c4c8cc95a131f569a61ba0dda11ed09ccaf8bad647ad0d73f007d71f131ba6acfb48b5691aff3342da2d69ad84ed9e53dd0b56ff60c0e991e963d0aee15794a79a3f427de31e877182499d1d6bd3ba3265efdcfd2d9b17bbe071618a79ecc577d15"
        "1cfcc61a7f323464c4d3fca409967f872e7ebdbc6c7a5587c761ef3adb081f95429bb96bf42b8ef15af7a66e0afdf23bd4faa59dafd890b4334407f0be76ecce26c6fd6ed441f327300c80c1ff9ccf4c87c43f00100b20060040b66967dbb66ddbb66ddb"
        "ce6cdbb66ddbb66d6f17e48888fe073ab5b453edfcc9dbffc7d54aabbf2c1d2614069b5ec6b966faf0e1fdf56cb9254091090f15999c53c9ad6a7cfdf4fa6267aa39508d878a009f5d44cfb3b87716000000a80e3214e7626490d7b0f2cd6be8011586d8"
        "6aca494ad8b97885c6e757805222bc5d6d2c2c739262a3c283fd40619131895999d96d8da5c93ef646ea2aaafae61ed14575ed9ddd33c34db9ee5a52fcdcbca2ca0e71f5fd934b8bdb0b5d058e0a1c346494cc62c6091d731b47c7976b0325d6c2b43818"
        "58140206a97dabe74f8f777ba3e56642a4687048446c3a69839b375f9f2f071395267cc40810785c16dd8c91dde7bfdffbfdb1325341121458444256edf4a1addb9f6f00414e4d46500400000000000000001200000d0000320000025650384c37040000"
        "2f12400310b70749000082c9946ddbb66ddbae936ddbb66ddbb66ddbb6f10d88b56d2b8dde7bdf4870f77ea6e7a9078b3b0e70000020dbd8b66ddbb66ddbb66d7dc53ddbb66ddbb691540cdab6111c73ba7b161f36a5dfffb2930d957f7b5ec9c2944fc0"
        "84ec7ce2386cf9055a9ebb1bc43a5ff0030316620540d11e0e4880c5b7f01883f1c093ec408809244ff55e65a290f89dade8849d731fe2d0faddf46e00353a4980c49ef1d62beecbaa070d44b5b42619267b8116861e26cec6064c2afed5265f021daf7f"
        "3d019068511101f00f0118ba64bb7eeefee1aa4f100224de119967cb2537d21996bdcdb77ea985db56f9b0d126604c9c169e46f811a95f8b46be6f42d65c3925c6c51c6d1f597ba0276d1e12302dab13e9041ed35162f0055afaef74c109b26a019b10c9"
        "bac4bbf22afd62b24f8f2fa3bcfba1526d755f7ab73ddc870eb44847db356b056091a0d246a7e2884b9984dd7d9bd735bcc5481c6ea350375d5a4448cfc8c637fa25a97a9dee9a4e58902749eb45bc8c23f3ac1d4a08810af4ceaf4ef9cfd59525acae5f"
        "3aa5e8ae8b64c9ee7ab14cc7f22a8ed190e453dfe2885f43df3dbe78a267efecb9264f87e2b3b93a3d820d04974110aa7d7e70e2bb6c82d3fa2b45fcbfd7cdc85622154b39384964058560bac9bb42ae188948e0f0e4de24740c1c22438f3c6ee0b5f2da"
        "ac6bbcc602f28890169da488d35df14f605d57c565a9b8408850615b2aef9463e054b29791a8418079362fa416ccb3d8ceec76bcc490c62dbe167ac51d9aba9469dae8e80c8345dcb2100e01990e0519c608e206a91da13de5f5e57e22a06a1dceb32fe6"
        "4103a18c79ac959ef178fb9890924c4c8cc95a131f569a61ba0dda11ed09ccaf8bad647ad0d73f007d71f131ba6acfb48b5691aff3342da2d69ad84ed9e53dd0b56ff60c0e991e963d0aee15794a79a3f427de31e877182499d1d6bd3ba3265efdcfd2d9"
        "b17bbe071618a79ecc577d151cfcc61a7f323464c4d3fca409967f872e7ebdbc6c7a5587c761ef3adb081f95429bb96bf42b8ef15af7a66e0afdf23bd4faa59dafd890b4334407f0be76ecce26c6fd6ed441f327300c80c1ff9ccf4c87c43f00100b2006"
        "0040b66967dbb66ddbb66ddbce6cdbb66ddbb66d6f17e48888fe072614069d5adaa976fee4edffe36aa5d55f960e0f15199b5ec6b966faf0e1fdf56cb9254091898a009f9c53c9ad6a7cfdf4fa6267aa39508d878b91815d44cfb3b87716000000a80e32"
        "1497939490d7b0f2cd6be8011586d86ada5858dab97885c6e757805222bc5db332b3739262a3c283fd4061913189ed9ddd6d8da5c93ef646ea2aaafae61ed14575934b8b33c34db9ee5a52fcdcbca2ca0e71f5fd1b47c7db0b5d058e0a1c346494cc62c6"
        "091d73e74f8f976b0325d6c2b4381858140206a97dab375f9f777ba3e56642a4687048446c3a69839bcf7fbf2f071395267cc40810785c16dd8c91dddb9feffbfdb1325341121458444256edf4a12d00",
}


def webp_chunk(name, payload):
    return name + struct.pack("<I", len(payload)) + payload + b"\0" * (len(payload) % 2)


def webp_chunks(name):
    """The chunks of a still picture of `WEBP` that hold it."""
    data, at, found = bytes.fromhex(WEBP[name]), 12, {}
    while at < len(data):
        length = struct.unpack("<I", data[at + 4:at + 8])[0]
        found[data[at:at + 4]] = data[at + 8:at + 8 + length]
        at += 8 + length + length % 2
    return {name: found[name] for name in (b"ALPH", b"VP8 ", b"VP8L") if name in found}


def webp_canvas(chunks, columns=19, rows=14, flags=0x10):
    """A file of a canvas and chunks, each a name and its payload."""
    canvas = bytes([flags, 0, 0, 0]) + struct.pack("<I", columns - 1)[:3] + struct.pack("<I", rows - 1)[:3]
    body = b"WEBP" + webp_chunk(b"VP8X", canvas) + b"".join(webp_chunk(*chunk) for chunk in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def webp_frame(picture, at=(0, 0), flags=0, size=(19, 14)):
    """The chunk of a frame. Flags: 1 makes its part transparent afterwards, 2 does not blend it."""
    numbers = b"".join(struct.pack("<I", number)[:3] for number in (at[0] // 2, at[1] // 2, size[0] - 1, size[1] - 1, 20))
    chunks = webp_chunks(picture) if isinstance(picture, str) else picture
    return b"ANMF", numbers + bytes([flags]) + b"".join(webp_chunk(*chunk) for chunk in chunks.items())


ANIM = (b"ANIM", b"\x10\x20\x30\x40\0\0")


def webp_animations():
    """Frames on a canvas of their size and on a larger one. TensorFlow writes beyond its memory where the canvas has no flag of alpha."""
    pictures = ("lossless", "lossless-alpha", "lossy", "lossy-alpha")
    for flags in range(4):
        for wide in (False, True):
            frames = [webp_frame(pictures[k % 4], (2 * (k % 3), 4 * (k % 2)) if wide else (0, 0), flags if k % 3 else 3 - flags) for k in range(6)]
            yield f"flags{flags}{wide}", webp_canvas([ANIM, *frames], 25 if wide else 19, 20 if wide else 14, 0x12)
    # Frames that are full among those that are not, and what is left of those before.
    frames = [webp_frame("lossy-alpha", flags=1), webp_frame("lossless-alpha", flags=1), webp_frame("lossless-alpha"), webp_frame("lossy-alpha", flags=2)]
    yield "keys", webp_canvas([ANIM, *frames], flags=0x12)
    yield "corner", webp_canvas([ANIM, webp_frame("lossless", (6, 6), 1), webp_frame("lossless-alpha", (0, 2)), webp_frame("lossy-alpha", (4, 0), 1)], 25, 20, 0x12)
    # What a frame says of its size is not its size.
    yield "size", webp_canvas([ANIM, webp_frame("lossy", size=(3, 2))], flags=0x12)
    yield "others", webp_canvas([(b"EXIF", b"abc"), ANIM, (b"ABCD", b""), webp_frame({}), webp_frame(webp_chunks("lossy") | {b"ABCD": b"x"}), (b"ANIM", b"123456"), (b"XMP ", b"abc")], flags=0x12)
    yield "behind", webp_canvas([ANIM, webp_frame("lossless")], flags=0x12) + b"more"
    yield "no-bit", webp_canvas([ANIM, webp_frame("lossy"), webp_frame(no_bit()), webp_frame(no_bit(), (2, 2))], 25, 20, flags=0x12)


def no_bit():
    """A lossless picture with alpha whose header says that it has none."""
    data = bytearray(webp_chunks("lossless-alpha")[b"VP8L"])
    data[4] &= ~0x10
    return {b"VP8L": bytes(data)}


def bad_webp_animations():
    lossy, lossless, alpha = webp_chunks("lossy"), webp_chunks("lossless"), webp_chunks("lossy-alpha")
    good = webp_frame("lossless")
    yield "beyond", webp_canvas([ANIM, webp_frame("lossy", (2, 0))], flags=0x12)
    yield "flag", webp_canvas([ANIM, good], flags=0x52)
    yield "no-frame", webp_canvas([ANIM, webp_frame({})], flags=0x12)
    yield "no-header", webp_canvas([good], flags=0x12)
    yield "late-header", webp_canvas([good, ANIM], flags=0x12)
    yield "short-header", webp_canvas([(b"ANIM", b"1234"), good], flags=0x12)
    yield "outside", webp_canvas([ANIM, good, *lossy.items()], flags=0x12)
    yield "canvas-again", webp_canvas([ANIM, good, (b"VP8X", bytes(10))], flags=0x12)
    yield "alpha-behind", webp_canvas([ANIM, webp_frame(dict(reversed(alpha.items())))], flags=0x12)
    yield "alpha-alone", webp_canvas([ANIM, webp_frame({b"ALPH": alpha[b"ALPH"]})], flags=0x12)
    yield "alpha-lossless", webp_canvas([ANIM, webp_frame({b"ALPH": alpha[b"ALPH"]} | lossless)], flags=0x12)
    yield "short-frame", webp_canvas([ANIM, (b"ANMF", bytes(14))], flags=0x12)
    yield "cut-frame", webp_canvas([ANIM, good, (b"ANMF", good[1][:60])], flags=0x12)
    yield "large-frame", webp_canvas([ANIM, (b"ANMF", good[1][:6] + b"\xff" * 6 + good[1][12:])], flags=0x12)
    yield "alpha-reserved", webp_canvas([ANIM, webp_frame({b"ALPH": bytes([alpha[b"ALPH"][0] | 0xc0]) + alpha[b"ALPH"][1:], b"VP8 ": alpha[b"VP8 "]})], flags=0x12)
    for length in (12, 21, 22, 29, 30):
        yield f"length-{length}", b"RIFF" + struct.pack("<I", length) + webp_canvas([ANIM, good], flags=0x12)[8:]
    yield "cut-chunk", webp_canvas([ANIM, good], flags=0x12)[:-2]
    yield "bad-picture", webp_canvas([ANIM, good, webp_frame({b"VP8L": lossless[b"VP8L"][:200]})], flags=0x12)


def webp_stills():
    """Pictures on a canvas, whose flag of alpha tells less than they do."""
    for name in ("lossless", "lossless-alpha", "lossy", "lossy-alpha"):
        for flags in (0, 0x10):
            yield f"{name}-canvas{flags}", webp_canvas(webp_chunks(name).items(), flags=flags)
    lossy, alpha = webp_chunks("lossy"), webp_chunks("lossy-alpha")
    yield "no-bit", webp_canvas(no_bit().items())
    yield "others", webp_canvas([(b"EXIF", b"abc"), *lossy.items(), (b"ABCD", b"x")])
    yield "alpha-behind", webp_canvas(reversed(alpha.items()))
    yield "alpha-lossless", webp_canvas([(b"ALPH", alpha[b"ALPH"]), *webp_chunks("lossless").items()])
    yield "raw", b"RIFF" + struct.pack("<I", 4 + len(lossy[b"VP8 "])) + b"WEBP" + lossy[b"VP8 "]


def webp_files():
    for kind, files in (("frames", webp_animations()), ("still", webp_stills())):
        for name, data in files:
            yield one("DecodeWebP", "uint8", f"{kind}-{name}", [file(data)])
            yield one("DecodeImage", "uint8", f"webp-{kind}-{name}", [file(data)], expand_animations=False)
    lossy, alpha = webp_chunks("lossy"), webp_chunks("lossy-alpha")
    bad_stills = [
        ("size", webp_canvas(lossy.items(), columns=20)), ("long-chunk", webp_canvas(lossy.items())[:-4]),
        ("long-raw", b"RIFF" + struct.pack("<I", 1004 + len(lossy[b"VP8 "])) + b"WEBP" + lossy[b"VP8 "]),
        *((name, webp_canvas([(b"ALPH", bytes([alpha[b"ALPH"][0] | bit]) + alpha[b"ALPH"][1:]), (b"VP8 ", alpha[b"VP8 "])]))
          for name, bit in (("reserved-low", 0x40), ("reserved", 0x80))),
    ]
    for name, data in (*bad_webp_animations(), *bad_stills):
        yield from bad("DecodeWebP", "uint8", f"made-{name}", [file(data)])
    op, d = "DecodeWebP", "uint8"
    for name, text in WEBP.items():
        data = bytes.fromhex(text)
        yield one(op, d, name, [file(data)])
        yield one("DecodeImage", d, f"webp-{name}", [file(data)])
        yield one("DecodeImage", d, f"webp-{name}-first", [file(data)], expand_animations=False)
        own = 3 if name in ("lossless", "lossy") else 4
        yield one(op, d, f"{name}-{own}", [file(data)], channels=own)
        yield from bad(op, d, f"{name}-{7 - own}", [file(data)], channels=7 - own)
        yield from bad(op, d, f"{name}-1", [file(data)], channels=1)
        yield from bad(op, d, f"{name}-cut", [file(data[:len(data) * 2 // 3])])
        yield from bad(op, d, f"{name}-header", [file(data[:20])])
        for kind in ("uint16", "float"):
            yield from bad("DecodeImage", kind, f"webp-{name}", [file(data)], dtype=kind)


def any_files():
    op = "DecodeImage"
    files = {"jpeg": jpeg(picture(9, 10)), "png": png(samples(7, 6, 2, 8), 2), "png16": png(samples(7, 6, 6, 16), 6, 16), "gray": png(samples(7, 6, 0, 4), 0, 4), "gif": gif((2, 2), frame((0, 0, 2, 2), [0, 1, 2, 3])), "bmp": bmp(3, 4, 24), "bmp32": bmp(3, 4, 32)}
    for d in ("uint8", "uint16", "float"):
        for name, data in files.items():
            for expand in (True, False):
                yield one(op, d, f"{name}-{expand}", [file(data)], dtype=d, expand_animations=expand)
            yield one(op, d, f"{name}-3", [file(data)], dtype=d, channels=3)
        for name, data in (("empty", b""), ("unknown", b"no image at all"), ("riff", b"RIFF\0\0\0\0WAVEfmt ")):
            yield from bad(op, d, name, [file(data)], dtype=d)
    for name in ("jpeg", "png"):
        yield one("DecodeGif", "", "of-" + name, [file(files[name])])
    yield one("DecodePng", "uint8", "of-jpeg", [file(files["jpeg"])])
    yield one("DecodeJpeg", "", "of-png", [file(files["png"])])


def cases():
    for part in (jpeg_files, cut_jpegs, bad_jpegs, windows, jpeg_encoding, png_files, png_encoding, gif_files, bmp_files, webp_files, any_files):
        yield from part()
