"""Ops called eagerly, against what TensorFlow computed: 2,000 of the golden cases, drawn at random.

Cases that are no single call are left out (see `File.main`): several nodes (state, queues, lists: resources that one op makes for
another), control flow and references of graphs, functions and tensors as attrs. Where TensorFlow is installed half of them run in it as
well, on the same memory, which proves the passing of tensors rather than the ops.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import golden
import numpy as np
import pytest

import kernlink as kl

pytestmark = pytest.mark.skipif(not golden.DATA.is_dir(), reason="the golden cases are in the repository, not in the package")

COUNT = 2000

# What holds for cases without a tolerance: as `Tolerance::of` in Rust.
DEFAULTS = {
    "float32": (1e-5, 1e-6), "float64": (1e-12, 1e-12), "float16": (1e-3, 1e-3), "bfloat16": (1e-2, 1e-2),
    "complex64": (1e-5, 1e-6), "complex128": (1e-12, 1e-12),
}  # fmt: skip

NOT_IN_DLPACK = {"resource", "variant"}

Drawn = dict[str, list[str]]


@pytest.fixture(scope="module")
def files() -> dict[str, golden.File]:
    return {path.stem: golden.File(path) for path in sorted(golden.DATA.glob("*.pb"))}


@pytest.fixture(scope="module")
def drawn(files: dict[str, golden.File]) -> Drawn:
    """The cases that are drawn, by family."""
    calls: list[tuple[str, str]] = []
    reasons: Counter[str] = Counter()
    for family, file in files.items():
        for name in file.nodes:
            try:
                file.main(name)
            except golden.LeftOut as reason:
                reasons[str(reason)] += 1
            else:
                calls.append((family, name))
    print(f"{len(calls)} cases are single calls; left out: {dict(reasons)}")
    assert len(calls) > 4 * COUNT
    found: Drawn = {}
    for family, name in random.Random(18).sample(calls, COUNT):
        found.setdefault(family, []).append(name)
    return found


def flat(results: Any) -> list[Any]:
    """All outputs of a call, one after the other."""
    if results is None:
        return []
    if not isinstance(results, (list, tuple)):
        return [results]
    return [item for result in results for item in flat(result)]


def difference(actual: kl.Tensor, expected: kl.Tensor, tolerance: tuple[float, float] | None) -> str | None:
    """What is different, if anything."""
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"{actual.dtype.name} {actual.shape} instead of {expected.dtype.name} {expected.shape}"
    dtype = expected.dtype
    values, wanted = actual.numpy(), expected.numpy()
    if not (dtype.is_floating or dtype.is_complex):
        return None if np.array_equal(values, wanted) else f"{actual} instead of {expected}"
    wide = np.complex128 if dtype.is_complex else np.float64
    values, wanted = values.astype(wide), wanted.astype(wide)
    relative, absolute = tolerance or DEFAULTS.get(dtype.name, (0.0, 0.0))

    def near(a: np.ndarray, e: np.ndarray) -> np.ndarray:
        return (a == e) | (np.isnan(a) & np.isnan(e)) | (np.isfinite(e) & (np.abs(a - e) <= absolute + relative * np.abs(e)))

    with np.errstate(all="ignore"):
        same = near(values.real, wanted.real) & near(values.imag, wanted.imag)
        if dtype.is_complex:
            same |= near(values, wanted)
    return None if np.all(same) else f"{actual} instead of {expected}"


def in_a_graph(case: golden.Case) -> None:
    with kl.Graph() as graph:
        results = flat(getattr(kl.raw_ops, case.op)(**case.arguments))
    kl.Session(graph, threads=1).run(results)


def refused(case: golden.Case) -> str | None:
    """Runs a case that must fail; what is wrong with it, if anything.

    But for those at run time, the code is that of a graph, where shape functions refuse what kernels may take, or refuse otherwise:
    eager execution may only fail as ops do.
    """
    eager = getattr(kl.raw_ops, case.op)
    is_of_graph = not case.name.endswith("-runtime")
    wanted = "".join(word.capitalize() for word in case.error.split("_")) + "Error"
    found = {}
    for where, call in (("eager", lambda: eager(**case.arguments)), ("graph", lambda: in_a_graph(case))):
        try:
            call()
            found[where] = "no error"
        except kl.errors.OpError as error:
            found[where] = type(error).__name__
        except Exception as error:
            return f"{error!r} instead of {wanted}"
    # A graph's shape functions refuse first what is hidden from them in a case at run time.
    return None if found["graph" if is_of_graph else "eager"] == wanted else f"{found} instead of {wanted}"


def wrong(case: golden.Case) -> str | None:
    """Runs a case; what is wrong with it, if anything."""
    if case.error is not None:
        return refused(case)
    function = getattr(kl.raw_ops, case.op)
    try:
        results = flat(function(**case.arguments))
    except Exception as error:
        return repr(error)
    for at, (output, expected) in enumerate(zip(case.outputs, case.expected, strict=True)):
        differs = difference(results[output], expected, case.tolerance)
        if differs is not None:
            return f"value {at}: {differs}"
    return None


def test_calls_give_what_tensorflow_gave(files: dict[str, golden.File], drawn: Drawn) -> None:
    failures = []
    for family, names in drawn.items():
        for name in names:
            try:
                found = wrong(files[family].case(name))
            except Exception as error:
                found = f"{error!r}"
            if found is not None:
                failures.append(f"{name}: {found[:400]}")
    assert not failures, f"{len(failures)} of {COUNT}:\n" + "\n".join(failures)


def aligned(array: np.ndarray) -> np.ndarray:
    """The array where TensorFlow has tensors: it aborts if a kernel meets one elsewhere, and small ones of Kernlink's lie elsewhere."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    found = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def test_tensorflow_gives_the_same_on_the_same_memory(files: dict[str, golden.File], drawn: Drawn) -> None:
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    dlpack = tf.experimental.dlpack

    def given(value: Any) -> Any:
        if isinstance(value, list):
            return [given(item) for item in value]
        if not isinstance(value, kl.Tensor):
            return value
        if value.dtype == "string":
            return tf.constant(value.numpy(), tf.string)
        return dlpack.from_dlpack(kl.as_tensor(aligned(value.numpy())).__dlpack__())

    def taken(value: Any) -> kl.Tensor:
        if value.dtype == tf.string:
            # As objects: NumPy's own strings lose the zeros at their end.
            texts = list(np.ravel(np.array(value.numpy(), object)))
            return kl.constant(texts, shape=value.shape) if texts else kl.raw_ops.Fill(dims=list(value.shape), value="")
        return kl.from_dlpack(dlpack.to_dlpack(value))

    names = [(family, name) for family, names in drawn.items() for name in names]
    failures, without, run = [], Counter(), 0
    for family, name in names:
        if run == COUNT // 2:
            break
        case = files[family].case(name)
        tensors = [*flat(list(case.arguments.values())), *case.expected]
        kinds = {tensor.dtype.name for tensor in tensors if isinstance(tensor, kl.Tensor)}
        if case.error is not None:
            without["errors, whose class the other test has"] += 1
            continue
        if kinds & NOT_IN_DLPACK or any(kind.startswith(("q", "float8", "int2", "int4", "uint2", "uint4")) for kind in kinds):
            without["dtypes that DLPack does not have"] += 1
            continue
        if family == "onednn":
            without["what TensorFlow computes with oneDNN only"] += 1
            continue
        function = getattr(tf.raw_ops, case.op, None)
        if function is None:
            without["ops that TensorFlow does not have in Python"] += 1
            continue
        run += 1
        try:
            results = flat(function(**{key: given(value) for key, value in case.arguments.items()}))
            for output, expected in zip(case.outputs, case.expected, strict=True):
                differs = difference(taken(results[output]), expected, case.tolerance)
                if differs is not None:
                    failures.append(f"{name}: {differs[:300]}")
        except Exception as error:
            failures.append(f"{name}: {error!r}"[:400])
    print(f"{run} cases ran in TensorFlow, without {dict(without)}")
    assert run == COUNT // 2
    assert not failures, f"{len(failures)} of {run}:\n" + "\n".join(failures)
