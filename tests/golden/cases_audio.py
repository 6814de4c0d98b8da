"""Audio: WAV files, spectrograms, cepstra, features of speech on small devices."""
import struct

import numpy as np

from golden import R, T, Case, bad, f32, i32, many, one


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


def speech(samples, seed=0, loudness=9000):
    """Tones that rise, in noise, as samples of 16 bits."""
    at = np.arange(samples)
    noise = R("float", samples, seed).array * loudness / 8 if samples else 0
    return T("int16", np.clip(np.sin(at * at / 4e4 + seed) * loudness + noise, -32768, 32767).astype(np.int16))


def features():
    op = "AudioMicrofrontend"
    for d in ("uint16", "float"):
        for samples in (0, 399, 400, 1000, 4001):
            yield one(op, d, f"{samples}", [speech(samples)], out_type=d)
        for rate, size, step in ((8000, 25, 10), (16000, 30, 20), (44100, 20, 20), (11025, 64, 7), (48000, 5, 5), (16000, 100, 3), (1000, 40, 1)):
            yield one(op, d, f"window-{rate}-{size}-{step}", [speech(6000, 1)], sample_rate=rate, window_size=size, window_step=step, upper_band_limit=rate * 0.4, num_channels=20, out_type=d)
        for channels, lower, upper in ((1, 125.0, 7500.0), (40, 0.0, 7900.0), (100, 20.5, 5000.0), (0, 125.0, 7500.0), (7, 300.0, 301.0)):
            yield one(op, d, f"bands-{channels}-{lower}-{upper}", [speech(2000, 2)], num_channels=channels, lower_band_limit=lower, upper_band_limit=upper, out_type=d)
        for name, attrs in (("plain", {}), ("bits", {"smoothing_bits": 4}), ("still", {"even_smoothing": 0.0, "odd_smoothing": 0.0}), ("fast", {"even_smoothing": 1.0, "odd_smoothing": 0.5}), ("all", {"min_signal_remaining": 1.0}), ("none", {"min_signal_remaining": 0.0})):
            for pcan in (False, True):
                for log in (False, True):
                    yield one(op, d, f"noise-{name}-{pcan}-{log}", [speech(3000, 3)], enable_pcan=pcan, enable_log=log, out_type=d, **attrs)
        for strength, offset, bits in ((0.5, 80.0, 21), (0.95, 0.0, 21), (1.5, 200.0, 18), (0.0, 1.0, 24)):
            yield one(op, d, f"gain-{strength}-{offset}-{bits}", [speech(3000, 4)], enable_pcan=True, pcan_strength=strength, pcan_offset=offset, gain_bits=bits, out_type=d)
        for shift in (0, 3, 10, 14):
            yield one(op, d, f"scale{shift}", [speech(1500, 5)], scale_shift=shift, out_type=d)
        for divisor in (1, 3, 64, -1, -7):
            yield one(op, d, f"divided{divisor}", [speech(1500, 5)], out_scale=divisor, out_type=d)
        for left, right, stride in ((1, 0, 1), (0, 2, 1), (3, 3, 3), (0, 0, 4), (5, 1, 2), (-1, 2, 1), (2, -1, 1)):
            for padding in (False, True):
                yield one(op, d, f"context-{left}-{right}-{stride}-{padding}", [speech(1300, 6)], left_context=left, right_context=right, frame_stride=stride, zero_padding=padding, out_type=d)
        for name, samples in (("silence", [0] * 900), ("loud", [32767, -32768] * 450), ("lowest", [-32768] * 900), ("quiet", [0, 1, 0, -1] * 225), ("pulse", [0] * 500 + [20000] + [0] * 399)):
            yield one(op, d, name, [T("int16", samples)], out_type=d)
    yield from bad(op, "uint16", "rank", [T("int16", np.zeros((2, 400)))])
    for name, attrs in (("beyond", {"upper_band_limit": 8100.0}), ("slow", {"sample_rate": 8000}), ("one-sample", {"window_size": 1, "sample_rate": 1000, "window_step": 1})):
        case = Case(f"{op}/uint16/error-{name}", fails=True)
        case.apply(op, [speech(900)], **attrs)
        yield case


def cases():
    yield from decode()
    yield from encode()
    yield from spectrograms()
    yield from cepstra()
    yield from features()
