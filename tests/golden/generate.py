#!/usr/bin/env python3
"""Writes golden cases: GraphDefs that carry TensorFlow's own answers. See README.md beside this file.

Usage: generate.py [--out DIR] [--check] [--verbose] [FAMILY ...]

Without FAMILY it writes all families. It fails if TensorFlow refuses a case, or answers one that it should refuse.
--check reads the files back instead, runs them in TensorFlow and compares.
"""
import argparse
import importlib
import os
import pathlib
import re
import subprocess
import sys

# What TensorFlow computes with oneDNN is a family of its own, which is generated in a process of its own.
ONEDNN = "onednn"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1" if sys.argv[-1:] == [ONEDNN] else "0"

import golden

HERE = pathlib.Path(__file__).parent

ROOT = HERE.parent.parent
FAMILIES = sorted(path.stem.removeprefix("cases_") for path in HERE.glob("cases_*.py"))
OPS = sorted({name for path in (ROOT / "ops/src").rglob("*.rs")
              for name in re.findall(r"^pub struct (\w+);", path.read_text(encoding="utf-8"), re.MULTILINE)})


def matches(node, constraints):
    """Whether a kernel with these constraints would serve the node."""
    for attr, allowed in constraints.items():
        value = node.attr[attr]
        found = value.s.decode() if value.WhichOneof("value") == "s" else golden.dtype_name(value.type)
        if found not in allowed:
            return False
    return True


def coverage(cases):
    """(ops, (op, dtype) pairs, kernels without a case) of the cases that give values."""
    nodes = {}
    pairs = set()
    for case in cases:
        for node in case.under_test:
            first = next((a.name for a in golden.op_def_registry.get(node.op).attr if a.type == "type"), None)
            pairs.add((node.op, golden.dtype_name(node.attr[first].type) if first else ""))
            if not case.fails:
                nodes.setdefault(node.op, []).append(node)
    missing = []
    for op in OPS:
        for device, constraints in golden.cpu_kernels(op):
            if any(not v & golden.allowed_dtypes(op, a) and not v & {"DEFAULT", "NHWC"} for a, v in constraints.items()):
                continue  # a kernel on a dtype that its own op forbids
            if not any(matches(n, constraints) for n in nodes.get(op, [])):
                missing.append(f"{op} {device} " + " ".join(f"{a}={'|'.join(sorted(v))}" for a, v in sorted(constraints.items())))
    return set(nodes), pairs, sorted(set(missing))


def check(path, log):
    """Runs a file in TensorFlow and compares; returns (cases, failures)."""
    import numpy as np
    graph_def = golden.graph_pb2.GraphDef.FromString(path.read_bytes())
    nodes = {n.name: n for n in graph_def.node}
    names = sorted({n.name.rsplit("/actual/", 1)[0] for n in graph_def.node if "/actual/" in n.name})
    values = [n for n in names if n + "/error" not in nodes]
    failures = 0

    def run_values():
        with golden.v1.Graph().as_default() as graph:
            wanted = golden.graph_pb2.GraphDef(versions=graph_def.versions)
            prefixes = tuple(n + "/" for n in names if n + "/error" in nodes)
            wanted.node.extend(n for n in graph_def.node if not n.name.startswith(prefixes))
            golden.tf.import_graph_def(wanted, name="")
            fetches = {}
            for name in values:
                k = 0
                while f"{name}/actual/{k}" in nodes:
                    fetches[name, k] = (f"{name}/actual/{k}:0", f"{name}/expected/{k}:0")
                    k += 1
                if f"{name}/tolerance" in nodes:
                    fetches[name, "tolerance"] = f"{name}/tolerance:0"
            with golden.session(graph) as s:
                return s.run(fetches)

    got = run_values()
    for (name, k), pair in got.items():
        if k == "tolerance":
            continue
        a, e = (np.asarray(v) for v in pair)
        same = a.dtype == e.dtype and a.shape == e.shape and (
            (a == e).all() if a.dtype == object else np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(e).tobytes())
        if not same and a.dtype != object and a.shape == e.shape:
            rtol, atol = got.get((name, "tolerance"), (1e-6, 1e-6))[:2]
            same = np.allclose(a.astype(np.complex128), e.astype(np.complex128), rtol, atol, equal_nan=True)
        if not same:
            failures += 1
            log(f"{path.name}: {name}/{k} differs")
    return len(names), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "data", metavar="DIR")
    parser.add_argument("--check", action="store_true", help="re-run the files in TensorFlow and compare")
    parser.add_argument("--verbose", action="store_true", help="print every recorded error")
    parser.add_argument("family", nargs="*", metavar="FAMILY", help=" ".join(FAMILIES))
    args = parser.parse_args()
    log = lambda text: print(text, flush=True)
    families = args.family or FAMILIES
    if ONEDNN in families and families != [ONEDNN]:
        alone = [arg for arg in sys.argv[1:] if arg not in FAMILIES]
        if subprocess.run([sys.executable, __file__, *alone, ONEDNN], check=False).returncode:
            return 1
        families = [family for family in families if family != ONEDNN]
    if args.check:
        total = [golden.isolated(check, args.out / f"{f}.pb", log) or (0, 1) for f in families]
        log(f"{sum(n for n, _ in total)} cases, {sum(f for _, f in total)} failures")
        return sum(f for _, f in total) != 0
    args.out.mkdir(parents=True, exist_ok=True)
    everything, dropped = [], []
    for family in families:
        asked = list(importlib.import_module("cases_" + family).cases())
        cases = golden.answer(asked, log)
        names = {c.name for c in cases}
        dropped += [c.name for c in asked if c.name not in names and not c.optional]
        data = golden.graph_def(cases).SerializeToString(deterministic=True)
        (args.out / f"{family}.pb").write_bytes(data)
        log(f"{family}: {len(cases)} cases ({sum(c.fails for c in cases)} errors), {len(data)} bytes")
        if args.verbose:
            for c in cases:
                if c.fails:
                    log(f"  {c.name}: {c.code}: {c.message}")
        everything += cases
    ops, pairs, missing = coverage(everything)
    log(f"{len(everything)} cases, {len(ops)} ops, {len(pairs)} (op, dtype) pairs")
    if not args.family:
        log(f"{len(missing)} kernels without a case:")
        for line in missing:
            log("  " + line)
    if dropped:
        log(f"{len(dropped)} cases are not in the files, for the reasons above:")
        for name in dropped:
            log("  " + name)
    return len(dropped) != 0


if __name__ == "__main__":
    sys.exit(main())
