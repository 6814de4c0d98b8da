"""Fourier transforms."""
import numpy as np

import golden
from golden import COMPLEX, R, T, i32, many, one

REAL_OF = {"complex64": "float", "complex128": "double"}
# Lengths of all kinds: powers of two, small factors, primes, products of primes, what needs another length to compute with.
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 25, 31, 36, 49, 64, 97, 128, 211, 243, 263, 500)


def close(d, length=8):
    """Sums of so many numbers of the size of 2 differ by as much."""
    eps = 2e-7 if d in ("complex64", "float") else 4e-16
    return 20 * eps, 20 * eps * max(length, 8) ** 0.5


def golden_lengths(d):
    """The longer dtype goes other ways for fewer lengths."""
    return LENGTHS if d == "complex64" else LENGTHS[::2]


def shapes(rank):
    """Batches of all kinds before `rank` dimensions, which differ."""
    last = (4, 3, 6)[:rank] if rank < 3 else (2, 3, 4)
    yield from ((*batch, *last) for batch in ((), (1,), (3,), (2, 0), (2, 1, 3), (1, 2, 1, 2)))
    yield (0,) * rank
    for axis in range(rank):
        yield (2, *last[:axis], 1, *last[axis + 1:])
        yield (2, *last[:axis], 0, *last[axis + 1:])
    yield (2, 5, 18, 20)[-rank - 1:]


def complex_transforms():
    for d in COMPLEX:
        for op in ("FFT", "IFFT"):
            for n in golden_lengths(d):
                yield many(op, d, f"length-{n}", [[R(d, (n,))], [R(d, (2, n), 1)]], close(d, n))
            yield one(op, d, "infinite", [T(d, [1, np.inf, 2, 3])], close(d))
            for rank, name in enumerate((op, op + "2D", op + "3D"), 1):
                for k, s in enumerate(shapes(rank)):
                    yield one(name, d, f"shape-{k}", [R(d, s)], close(d, np.prod(s[-rank:], dtype=int)))
                yield one(name, d, "impulse", [T(d, np.eye(1, 5 ** rank).reshape((5,) * rank))], close(d))
                yield one(name, d, "ones", [T(d, np.ones((3,) * rank))], close(d))
                yield from golden.bad(name, d, "rank", [R(d, (4,) * (rank - 1))])
                yield one(name, d, "dynamic", [R(d, (2,) * (rank + 1))], close(d), dynamic=True)


def real_transforms():
    for d in COMPLEX:
        real = REAL_OF[d]
        for n in golden_lengths(d):
            yield many("RFFT", d, f"length-{n}", [[R(real, (n,)), i32([n])], [R(real, (2, n + 2), 1), i32([n])]], close(d, n), Tcomplex=d)
            yield many("IRFFT", d, f"length-{n}", [[R(d, (n // 2 + 1,)), i32([n])], [R(d, (2, n // 2 + 3), 1), i32([n])]], close(d, n), Treal=real)
        for rank in (1, 2, 3):
            suffix = f"{rank}D" if rank > 1 else ""
            forward, inverse = "RFFT" + suffix, "IRFFT" + suffix
            for k, s in enumerate(shapes(rank)):
                tolerance = close(d, np.prod(s[-rank:], dtype=int))
                yield one(forward, d, f"shape-{k}", [R(real, s), i32(s[-rank:])], tolerance, Tcomplex=d)
                if s[-1]:
                    yield one(inverse, d, f"shape-{k}", [R(d, (*s[:-1], s[-1] // 2 + 1)), i32(s[-rank:])], tolerance, Treal=real)
                yield one(forward, d, f"cropped-{k}", [R(real, (*s[:-rank], *(n + 2 * (n > 0) for n in s[-rank:]))), i32(s[-rank:])], tolerance, Tcomplex=d)
            yield one(forward, d, "dynamic", [R(real, (2,) * (rank + 1)), i32((2,) * rank)], close(d), Tcomplex=d, dynamic=True)
            yield one(inverse, d, "dynamic", [R(d, (2,) * (rank + 1)), i32((2,) * rank)], close(d), Treal=real, dynamic=True)
            # Imaginary parts that a transform of real numbers cannot have count for nothing.
            yield one(inverse, d, "unreal", [T(d, np.full((4,) * (rank - 1) + (3,), 1 + 2j)), i32((4,) * rank)], close(d), Treal=real)
            wrong = {"rank": ((4,) * (rank - 1), (4,) * rank), "lengths": ((4,) * rank, (4,) * (rank + 1)), "scalar": ((4,) * rank, 4),
                     "short": ((4,) * rank, (5,) * rank), "outer": ((4,) * rank, (7,) + (4,) * (rank - 1)), "negative": ((4,) * rank, (4,) * (rank - 1) + (-1,)),
                     "matrix": ((4,) * rank, [(4,) * rank])}
            if rank == 1:
                wrong.pop("outer")
            for tag, (s, lengths) in wrong.items():
                # Shapes do not tell what only kernels check.
                static = tag in ("rank", "lengths", "scalar", "matrix")
                yield from golden.bad(forward, d, tag, [R(real, s), i32(lengths)], static=static, Tcomplex=d)
                yield from golden.bad(inverse, d, tag, [R(d, s), i32([2 * np.max(lengths)] if tag == "short" and rank == 1 else lengths)], static=static, Treal=real)
            if rank == 1:
                other = "complex128" if d == "complex64" else "complex64"
                yield from golden.bad(forward, d, "types", [R(real, (4,)), i32([4])], static=False, Tcomplex=other)
                yield from golden.bad(inverse, d, "types", [R(d, (4,)), i32([4])], static=False, Treal=REAL_OF[other])


def round_trips():
    """What TensorFlow's own programs are made of: short-time transforms, convolutions by products."""
    import tensorflow as tf

    def stft():
        x = tf.constant(np.sin(np.arange(200) * 0.3).astype(np.float32))
        return tf.abs(tf.signal.stft(x, 32, 16)), tf.signal.inverse_stft(tf.signal.stft(x, 32, 16), 32, 16)

    def mel():
        x = tf.constant(np.sin(np.arange(400) * 0.3).astype(np.float32))
        spectrum = tf.abs(tf.signal.stft(x, 64, 32))
        return tf.tensordot(spectrum, tf.signal.linear_to_mel_weight_matrix(8, 33, 8000, 80.0, 3800.0), 1)

    def dct():
        x = tf.constant(np.cos(np.arange(24) * 0.7).reshape(2, 12).astype(np.float32))
        return [tf.signal.dct(x, type=k) for k in (1, 2, 3, 4)] + [tf.signal.idct(x, type=k) for k in (1, 2, 3, 4)]

    def product():
        x, y = (tf.constant(R("float", (6, 8), k).array) for k in (0, 1))
        return tf.signal.irfft2d(tf.signal.rfft2d(x) * tf.signal.rfft2d(y)), tf.signal.irfft3d(tf.signal.rfft3d(tf.stack([x, y, x])))

    for build in (stft, mel, dct, product):
        yield golden.Traced(f"Signal/float/{build.__name__}", build, tolerance=(1e-4, 1e-4))


def cases():
    yield from complex_transforms()
    yield from real_transforms()
    yield from round_trips()
