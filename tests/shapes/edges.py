"""Writes edges.pb.gz, which is as cases.pb.gz is: inputs and attrs at the edges, where those that are drawn seldom come.

    python tests/shapes/edges.py
"""
import itertools

from generate import Case, HERE, K, P, filled, write

CASES = []


def add(op, inputs, **attrs):
    CASES.append((op, inputs, attrs))


def dilations():
    """Filters that are larger than what they go over, by themselves and by their rates."""
    for shape in ([1, 3, 3, 2], [1, 0, 3, 2], [1, None, 3, 2]):
        for kernel in ([5, 5, 2], [4, 4, 2], [3, 3, 2], [3, 4, 2], [1, 1, 2], [0, 3, 2], [None, 5, 2]):
            for rates, padding in itertools.product(([1, 1, 1, 1], [1, 2, 2, 1]), ("VALID", "SAME")):
                for strides in ([1, 1, 1, 1], [1, 2, 3, 1]):
                    add("Dilation2D", [P(shape), P(kernel)], strides=strides, rates=rates, padding=padding)


def pools():
    """Windows that are empty, negative or larger than the image."""
    for padding in ("VALID", "SAME"):
        for window in (-5, -4, -3, -2, -1, 0, 3, 4, 9):
            for size, stride in itertools.product((3, 0, None), (1, 2)):
                flat = {"ksize": [1, window, 2, 1], "strides": [1, stride, 1, 1], "padding": padding}
                for op in ("MaxPool", "AvgPool"):
                    add(op, [P([1, size, 3, 2])], **flat)
                deep = {"ksize": [1, window, 2, 2, 1], "strides": [1, stride, 1, 1, 1], "padding": padding}
                for op in ("MaxPool3D", "AvgPool3D"):
                    add(op, [P([1, size, 3, 3, 2])], **deep)
        for at, value in ((0, -1), (4, -1), (4, 2), (0, 0)):
            for name in ("ksize", "strides"):
                sizes = {"ksize": [1] * 5, "strides": [1] * 5, "padding": padding}
                sizes[name][at] = value
                add("MaxPool3D", [P([1, 3, 3, 3, 2])], **sizes)
        for stride in (-1, 0):
            add("MaxPool3D", [P([1, 3, 3, 3, 2])], ksize=[1] * 5, strides=[1, stride, 1, 1, 1], padding=padding)


def ragged():
    """Parts of which not even the rank is known, and ranks that do not fit."""
    for splits in ([[4]], [None], [[None]], [[2, 2]], [[4], [5]], [[4], None]):
        for values in ([5, 3], None, [None], [None, 3], []):
            for indices in ([2], None, [2, 2], []):
                for rank in range(5):
                    inputs = [[P(shape, "int64") for shape in splits], P(values), P(indices, "int32")]
                    add("RaggedGather", inputs, OUTPUT_RAGGED_RANK=rank)


def splits():
    """Sizes that are more or fewer than the pieces, or none."""
    sizes = [K([2, 4]), K([2, 2, 2]), K([6]), K([7, 1]), K([-1, 2]), K([-1, -1]), K([-2, 8]), K([1, 1]), K([[1, 1]])]
    sizes += [P(shape, "int32") for shape in ([2], [3], [None], None, [2, 1], [])]
    for value, size, count in itertools.product(([6, 2], None, [None, 2], [], [6]), sizes, (1, 2)):
        for axis in (K(0), K(1), K(-1), K(2), P([], "int32"), P(None, "int32")):
            # With the sizes and without the axis, TensorFlow takes the last one, but that there must be one for each piece.
            is_mistaken = isinstance(axis, P) and not isinstance(size, P)
            if not is_mistaken or size.tensor_shape.dim[0].size != count:
                add("SplitV", [P(value), size, axis], num_split=count)


def main():
    # Constants stand as they are.
    Case.input = Case.leaf
    for make in (dilations, pools, ragged, splits):
        make()
    shared = {}
    tests = [filled(f"c{number}", op, shared, inputs, attrs) for number, (op, inputs, attrs) in enumerate(CASES)]
    print(write(tests, HERE / "edges.pb.gz", True))


if __name__ == "__main__":
    main()
