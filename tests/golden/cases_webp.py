"""WebP files of any content: what encoders do not write, what is cut off, and what lies around it."""
import random

import numpy as np
from tensorflow import raw_ops

import vp8
import vp8l
from golden import T, bad, isolated, one


def of(name, data, **attrs):
    """A file decoded, or refused."""
    op, d, inputs = "DecodeWebP", "uint8", [T("string", np.array(data, dtype=object), ())]
    if isolated(lambda: raw_ops.DecodeWebP(contents=data, **attrs).numpy().shape) is None:
        yield from bad(op, d, name, inputs, **attrs)
    else:
        yield one(op, d, name, inputs, **attrs)


def sizes(source, count):
    """Columns and rows: of one sample, of few macroblocks, and so high that all partitions have some rows."""
    fixed = [(1, 1), (17, 33), (16, 16), (1, 150), (40, 1)]
    for index in range(count):
        high = source.randint(1, 16), source.randint(90, 150)
        yield fixed[index] if index < len(fixed) else high if index % 3 == 0 else (source.randint(1, 40), source.randint(1, 40))


def pictures(source):
    for index, (columns, rows) in enumerate(sizes(source, 90)):
        data = vp8.file(vp8.lossy(source, columns, rows))
        yield from of(f"any-{index}-{rows}x{columns}", data, channels=3 * (index % 2))
    for index, (columns, rows) in enumerate(sizes(source, 60)):
        yield from of(f"cut-{index}-{rows}x{columns}", vp8.file(vp8.lossy(source, columns, rows, cut=True)))


def around(source):
    """Coefficients that are cut go on in what lies behind the picture, as far as it is its file or its frame."""
    for index in range(12):
        columns, rows = source.randint(1, 20), source.randint(1, 20)
        whole = vp8.lossy(source, columns, rows)
        for kept in (len(whole) // 2, len(whole) // 2 + 1):
            picture, rest = whole[:kept], whole[kept:]
            yield from of(f"behind-chunk-{index}-{kept % 2}", vp8.riff(vp8.canvas(columns, rows, 0), (b"VP8 ", picture), (b"EXIF", rest)))
            yield from of(f"behind-file-{index}-{kept % 2}", vp8.file(picture) + rest)
            frame = bytes(6) + vp8.canvas(columns, rows, 0)[1][4:] + bytes(4) + vp8.chunk(b"VP8 ", picture)
            # Without the flag of alpha TensorFlow writes beyond its output.
            chunks = vp8.canvas(columns, rows, 0x12), (b"ANIM", bytes(6)), (b"ANMF", frame), (b"EXIF", rest)
            yield from of(f"behind-frame-{index}-{kept % 2}", vp8.riff(*chunks))


def alphas(source):
    for index in range(48):
        columns, rows = source.randint(1, 20), source.randint(1, 20)
        first = index % 4 << 2 | source.choice([0, 0, 1, 2]) << 4 | source.choice([0, 0, 0, 1, 2]) << 6
        size = columns * rows + source.choice([0, 0, 0, 3, -1])
        plane = bytes([first | source.choice([0, 0, 0, 2])]) + source.randbytes(size)
        if index % 6 == 5:
            plane = plane[:source.randrange(2)]
        chunks = vp8.canvas(columns, rows, 16), (b"ALPH", plane), (b"VP8 ", vp8.lossy(source, columns, rows, cut=index % 8 == 7))
        yield from of(f"alpha-{index}-{rows}x{columns}", vp8.riff(*chunks))


def losslesses(source):
    for index in range(120):
        columns, rows = source.randint(1, 24), source.randint(1, 24)
        data = vp8l.lossless(source, columns, rows, has_alpha=index % 2 == 0)
        if index % 5 == 4:
            data = data[:source.randrange(5, len(data) + 1)]
        yield from of(f"lossless-{index}-{rows}x{columns}", vp8.riff((b"VP8L", data)))
        # What a picture lacks is read behind its chunk.
        if index % 12 == 11:
            cut = source.randrange(5, len(data) + 1)
            yield from of(f"lossless-behind-{index}", vp8.riff((b"VP8L", data[:cut])) + data[cut + cut % 2:])
    for index in range(60):
        columns, rows = source.randint(1, 24), source.randint(1, 24)
        data = vp8l.alpha(source, columns, rows)
        if index % 3 == 2:
            data = data[:max(len(data) - source.choice([1, 2, 8, 30]), 0)]
        chunks = vp8.canvas(columns, rows, 16), (b"ALPH", data), (b"VP8 ", vp8.lossy(source, columns, rows))
        yield from of(f"lossless-alpha-{index}-{rows}x{columns}", vp8.riff(*chunks))


def cases():
    source = random.Random(19)
    for part in (pictures, around, alphas, losslesses):
        yield from part(source)
