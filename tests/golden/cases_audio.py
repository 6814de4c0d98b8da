"""Audio: WAV files, spectrograms, cepstra."""
import struct

import numpy as np

from golden import R, T, bad, f32, i32, many, one


def file(data):
    return T("string", np.array(data, dtype=object), ())


def wav(samples, channels=1, rate=8000, before=b"", behind=b"", **fields):
    """A WAV file of int16 samples; `fields` are those of the format that are to be wrong."""
    data = struct.pack(f"<{len(samples)}h", *samples)
    f = {"length": 16, "format": 1, "channels": channels, "rate": rate, "bits": 16, "frame": channels * 2, "second": rate * channels * 2, "size": len(data), **fields}
    form = struct.pack("<IHHIIHH", f["length"], f["format"], f["channels"], f["rate"], f["second"] & 0xFFFFFFFF, f["frame"], f["bits"]) + b"\0\0" * (f["length"] == 18)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVE" + before + b"fmt " + form + behind + b"data" + struct.pack("<I", f["size"]) + data


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data


SAMPLES = [0, 1, -1, 32767, -32768, 1000, -20000, 12345, 77, -3, 5, 6]


def decode():
    op = "DecodeWav"
    good = {
        "mono": wav(SAMPLES), "stereo": wav(SAMPLES, 2), "six": wav(SAMPLES, 6), "empty": wav([]), "one": wav([5]), "rate": wav(SAMPLES, rate=192000), "extended": wav(SAMPLES, length=18), "junk": wav(SAMPLES, before=chunk(b"JUNK", b"abc")),
        "several": wav(SAMPLES, 2, before=chunk(b"bext", b"") + chunk(b"iXML", b"12345678") + chunk(b"axml", b"x") + chunk(b"qlty", b"") + chunk(b"mext", b"") + chunk(b"levl", b"") + chunk(b"link", b"")), "list-behind-format": wav(SAMPLES, behind=chunk(b"LIST", b"abcd")),
        "list-behind": wav(SAMPLES) + chunk(b"LIST", b"abcd"), "list-cut": wav(SAMPLES) + b"LIST\xff\0\0\0ab", "odd": wav(SAMPLES, size=23) , "zero-rate": wav(SAMPLES, rate=0),
    }
    for name, data in good.items():
        yield one(op, "float", name, [file(data)])
        yield one(op, "float", f"{name}-dynamic", [file(data)], dynamic=True)
        for channels in (0, 1, 2, 3):
            for samples in (0, 1, 4, 20):
                if name in ("mono", "stereo", "empty") or (channels, samples) == (2, 4):
                    yield one(op, "float", f"{name}-{channels}-{samples}", [file(data)], desired_channels=channels, desired_samples=samples)
        yield many(op, "float", f"{name}-only", [([file(data)], {"desired_channels": 2}), ([file(data)], {"desired_samples": 7})])
    whole = wav(SAMPLES)
    wrong = {
        "riff": b"RIFX" + whole[4:], "wave": whole[:8] + b"WAVX" + whole[12:], "field": wav(SAMPLES, before=chunk(b"XXXX", b"")), "junk-cut": wav(SAMPLES, before=b"JUNK\xff\xff\xff\x7f"), "format-length": wav(SAMPLES, length=17), "format": wav(SAMPLES, format=3),
        "no-channels": wav(SAMPLES, 0), "bits": wav(SAMPLES, bits=8), "frame": wav(SAMPLES, frame=4), "second": wav(SAMPLES, second=5), "no-data": whole[:36], "two-data": whole + chunk(b"data", b"ab"), "data-long": wav(SAMPLES, size=100), "data-huge": wav(SAMPLES, size=2**31),
        "chunk-huge": whole + b"LIST\xff\xff\xff\xff", "text": b"hello", "nothing": b"", "id-cut": whole + b"LI", "length-cut": whole + b"LIST\0",
    }
    for name, data in wrong.items():
        yield from bad(op, "float", name, [file(data)], static=False)
    for n in (0, 3, 4, 8, 12, 16, 20, 22, 24, 30, 35, 38, 40, 43, len(whole) - 1):
        yield from bad(op, "float", f"cut{n}", [file(whole[:n])], static=False)
    yield from bad(op, "float", "vector", [T("string", np.array([whole], object))])
    yield from bad(op, "float", "channels", [file(whole)], desired_channels=-2)
    yield from bad(op, "float", "samples", [file(whole)], desired_samples=-2)


def encode():
    op = "EncodeWav"
    values = f32([[0], [1], [-1], [0.5], [-0.25], [2], [-3], [1 / 65536], [0.49999 / 32768], [1.5 / 32768], [2.5 / 32768], [-1.5 / 32768], [np.inf], [-np.inf], [0.999985]])
    for rate in (1, 8000, 44100, 2**31 - 1):
        yield one(op, "float", f"values-{rate}", [values, i32(rate)])
    for channels in (1, 2, 3, 7):
        for samples in (0, 1, 2, 9, 100):
            yield one(op, "float", f"{channels}-{samples}", [R("float", (samples, channels), scale=0.5), i32(16000)])
    yield one(op, "float", "dynamic", [R("float", (5, 2), scale=0.5), i32(16000)], dynamic=True)
    yield from bad(op, "float", "vector", [f32([1, 2]), i32(8000)])
    yield from bad(op, "float", "rate", [f32([[1]]), i32([8000])])
    yield from bad(op, "float", "no-channels", [T("float", np.zeros((3, 0))), i32(8000)], static=False)
    for rate in (0, -1):
        yield from bad(op, "float", f"rate{abs(rate)}", [f32([[1]]), i32(rate)], static=False)
    yield from bad(op, "float", "too-many-channels", [T("float", np.zeros((1, 65536))), i32(8000)], static=False)


def spectrograms():
    op = "AudioSpectrogram"
    for window in (2, 3, 5, 8, 16, 31, 33, 64, 100, 256):
        for stride in (1, 7, window, window + 3):
            for squared in (False, True):
                tolerance = (2e-5, 1e-4 * window if squared else 2e-5 * window)
                yield many(op, "float", f"{window}-{stride}-{squared}".lower(), [[R("float", (300, 1))], [R("float", (70, 3))]], tolerance, window_size=window, stride=stride, magnitude_squared=squared)
    for k, shape in enumerate(((0, 1), (1, 1), (7, 1), (8, 1), (9, 2), (8, 0), (0, 0), (50, 5))):
        yield one(op, "float", f"shape{k}", [R("float", shape)], (2e-5, 1e-4), window_size=8, stride=3)
        yield one(op, "float", f"shape{k}-dynamic", [R("float", shape)], (2e-5, 1e-4), dynamic=True, window_size=8, stride=3)
    wave = np.sin(np.arange(400) * 0.3)[:, None]
    yield one(op, "float", "tone", [f32(wave)], (1e-4, 1e-3), window_size=128, stride=64)
    yield one(op, "float", "zeros", [f32(np.zeros((40, 2)))], window_size=16, stride=8)
    yield from bad(op, "float", "rank", [R("float", (20,))], window_size=8, stride=4)
    yield from bad(op, "float", "rank3", [R("float", (4, 5, 1))], window_size=8, stride=4)
    for window, stride in ((1, 4), (0, 4), (-1, 4), (8, 0), (8, -2), (1 << 40, 4), ((1 << 63) - 1, 1), (8, 1 << 40)):
        yield from bad(op, "float", f"window{window}-stride{stride}".replace("-", "m"), [R("float", (20, 1))], static=False, window_size=window, stride=stride)


def cepstra():
    op = "Mfcc"
    power = lambda *shape: T("float", np.abs(R("float", shape).array) ** 2 * 100)
    for rate in (8000, 16000, 44100):
        for bands, coefficients in ((40, 13), (20, 20), (5, 1), (1, 1), (26, 12)):
            yield one(op, "float", f"{rate}-{bands}-{coefficients}", [power(2, 3, 257), i32(rate)], (1e-4, 1e-3), filterbank_channel_count=bands, dct_coefficient_count=coefficients)
    for lower, upper in ((0.0, 4000.0), (20.0, 3900.0), (300.0, 1000.0), (3999.0, 4000.0), (20.0, 8000.0), (100.5, 2345.75), (20.0, 5000.0)):
        yield one(op, "float", f"limits-{lower:.0f}-{upper:.0f}", [power(1, 4, 129), i32(8000)], (1e-4, 1e-3), lower_frequency_limit=lower, upper_frequency_limit=upper)
    for k, shape in enumerate(((1, 1, 2), (1, 2, 3), (0, 3, 257), (2, 0, 257), (3, 1, 65), (1, 1, 1025))):
        yield one(op, "float", f"shape{k}", [power(*shape), i32(16000)], (1e-4, 1e-3))
    yield one(op, "float", "zeros", [T("float", np.zeros((1, 2, 65))), i32(8000)], (1e-4, 1e-3))
    yield one(op, "float", "negative", [T("float", -np.ones((1, 2, 65))), i32(8000)], (1e-4, 1e-3))
    yield one(op, "float", "dynamic", [power(1, 2, 129), i32(8000)], (1e-4, 1e-3), dynamic=True)
    yield from bad(op, "float", "rank", [power(2, 65), i32(8000)])
    yield from bad(op, "float", "rate-vector", [power(1, 2, 65), i32([8000])])
    for rate in (0, -8000):
        yield from bad(op, "float", f"rate{abs(rate)}", [power(1, 2, 65), i32(rate)], static=False)
    for name, attrs in (("bands", {"filterbank_channel_count": 0}), ("coefficients", {"dct_coefficient_count": 0}), ("more-coefficients", {"filterbank_channel_count": 5, "dct_coefficient_count": 6}), ("negative-limit", {"lower_frequency_limit": -1.0}),
                        ("limits", {"lower_frequency_limit": 4000.0}), ("limits-back", {"lower_frequency_limit": 5000.0})):
        yield from bad(op, "float", name, [power(1, 2, 65), i32(8000)], static=False, **attrs)
    yield from bad(op, "float", "one-frequency", [power(1, 2, 1), i32(8000)], static=False)


def cases():
    yield from decode()
    yield from encode()
    yield from spectrograms()
    yield from cepstra()
