"""What tests of arrays and tensors share."""

from __future__ import annotations

from typing import Any

import numpy as np

NUMBERS = [
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "complex64", "complex128",
]  # fmt: skip
OF_ML_DTYPES = [
    "bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int2", "int4", "uint2",
    "uint4",
]  # fmt: skip


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


class Plain:
    """What has DLPack as it was before versions."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __dlpack__(self, stream: object = None) -> Any:
        return self.of.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.of.__dlpack_device__()
