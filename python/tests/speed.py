"""What calls from Python cost: of Kernlink, or with `--tensorflow` of TensorFlow.

    python python/tests/speed.py [--tensorflow] [SAVED_MODEL]
"""

from __future__ import annotations

import os
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any


def best(call: Callable[[], Any], number: int) -> float:
    """Microseconds that a call takes, the best of seven rounds."""
    return min(timeit.repeat(call, number=number, repeat=7)) / number * 1e6


def main() -> None:
    """Measures."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--tensorflow"]
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    start = time.perf_counter()
    lib: Any
    if "--tensorflow" in sys.argv:
        import tensorflow as lib
    else:
        import kernlink as lib
    print(f"import {(time.perf_counter() - start) * 1e3:.0f} ms")
    a, b = lib.constant([1.0, 2.0]), lib.constant([3.0, 4.0])
    add = lib.raw_ops.AddV2
    print(f"raw_ops.AddV2(x=a, y=b) {best(lambda: add(x=a, y=b), 20_000):.2f} us")
    print(f"a + b {best(lambda: a + b, 20_000):.2f} us")

    @lib.function
    def add_b(x: Any) -> Any:
        return x + b

    add_b(a)
    print(f"function {best(lambda: add_b(a), 2_000):.2f} us")
    if arguments:
        signature = lib.saved_model.load(arguments[0]).signatures["serving_default"]
        x = lib.constant([[1.0, 2.0, 3.0]])
        signature(x=x)
        print(f"signature {best(lambda: signature(x=x), 2_000):.2f} us")


if __name__ == "__main__":
    main()
