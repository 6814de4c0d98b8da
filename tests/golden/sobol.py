#!/usr/bin/env python3
"""Writes kernels/learning/src/sobol.bin: the numbers of which TensorFlow's Sobol sequences are made.

They are those of Joe and Kuo (new-joe-kuo-6.21201). They are read off TensorFlow's points: point 2^(k+1)-1 is direction number k.
"""
import pathlib

import numpy as np
import tensorflow as tf

DIMENSIONS, DIGITS = 21200, 30
POLYNOMIALS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7775)


def main():
    numbers = np.zeros((DIMENSIONS, DIGITS), np.int64)
    for k in range(DIGITS - 1):
        point = tf.raw_ops.SobolSample(dim=DIMENSIONS, num_results=1, skip=2 ** (k + 1) - 2, dtype=tf.float64)
        numbers[:, k] = (point.numpy()[0] * 2.0 ** (k + 1)).astype(np.int64)
    assert (numbers[0, :-1] == 1).all()
    bits, dimension = [], 1
    for degree, count in enumerate(POLYNOMIALS, 1):
        for m in numbers[dimension:dimension + count].tolist():
            rest = m[degree] ^ m[0] ^ m[0] << degree
            coefficients = []
            for i in range(1, degree):
                coefficients.append(rest >> i & 1)
                rest ^= coefficients[-1] * (m[degree - i] << i)
            assert rest == 0, dimension
            for k in range(degree, DIGITS - 1):
                found = m[k - degree] ^ m[k - degree] << degree
                for i, coefficient in enumerate(coefficients, 1):
                    found ^= coefficient * (m[k - i] << i)
                assert found == m[k], (dimension, k)
            # The first coefficient is the highest bit.
            bits += coefficients[::-1]
            for i in range(degree):
                assert m[i] % 2 == 1 and m[i] < 2 ** (i + 1)
                bits += [m[i] >> 1 + b & 1 for b in range(i)]
            dimension += 1
    assert dimension == DIMENSIONS
    data = np.packbits(np.array(bits, np.uint8), bitorder="little").tobytes()
    path = pathlib.Path(__file__).parents[2] / "kernels/learning/src/sobol.bin"
    path.write_bytes(data)
    print(len(data), "bytes")


if __name__ == "__main__":
    main()
