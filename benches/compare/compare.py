#!/usr/bin/env python3
"""Runs TensorFlow, Kernlink and, for models, ONNX Runtime in turn on the same work; prints the ratios of their times.

Usage: compare.py --python PYTHON --kernlink-side PROGRAM [--kernlink PROGRAM] [--models DIR] [--items] [--quick] ...

Each round times an item on one side, then on the next (A B A B ...), all with the same number of threads; idle sides
wait. The graphs of TensorFlow's side are written to a file that Kernlink reads, so both run the very same graph. A
ratio is Kernlink's time divided by the other's, from the medians of each round: below 1, Kernlink is faster. On a
machine with other work on it single times mean little, and the range of the ratio says how little.

Needs nothing beyond Python itself; the others live in the Python that --python (or KERNLINK_TF_PYTHON) names.
"""
import argparse
import ast
import glob
import json
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import items as single_ops

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "..", "..", "examples", "digits")


def parse_arguments():
    parser = argparse.ArgumentParser(description="Compares Kernlink with TensorFlow; see the top of the file.")
    parser.add_argument("--python", default=os.environ.get("KERNLINK_TF_PYTHON"), metavar="FILE",
                        help="a Python that has TensorFlow 2.21 (default: $KERNLINK_TF_PYTHON)")
    parser.add_argument("--kernlink-side", required=True, metavar="FILE", help="the built example kernlink_side")
    parser.add_argument("--kernlink", metavar="FILE", help="the built command, for start-up time and size")
    parser.add_argument("--models", metavar="DIR",
                        help="a folder of NAME.pb, with NAME.json as export_models.py writes it or with NAME.x.npy")
    parser.add_argument("--items", action="store_true", help="also single ops of all families, the slowest first")
    parser.add_argument("--guesslang", metavar="DIR", help="the SavedModel of guesslang, to time on one snippet")
    parser.add_argument("--threads", default="2", metavar="N,...", help="threads of each side, in turn (default 2)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds (default 5)")
    parser.add_argument("--quick", action="store_true", help="two rounds with fewer repetitions")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[],
                        help="only items whose name contains TEXT, or any of several given each with --only")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    arguments = parser.parse_args()
    arguments.threads = [int(threads) for threads in arguments.threads.split(",")]
    if not arguments.python:
        parser.error("name a Python that has TensorFlow with --python or KERNLINK_TF_PYTHON")
    return arguments


SNIPPET = 'use std::io;\n\nfn main() -> io::Result<()> {\n    println!("{}", io::read_to_string(io::stdin())?.len());\n    Ok(())\n}\n'


def items(models, guesslang):
    """What is compared. `graph` is set by the driver."""
    yield {"name": "chain of 10,000 AddV2, per node", "kind": "chain", "per": 10000}
    yield {"name": "10,000 independent AddV2, per node", "kind": "wide", "per": 10000}
    yield {"name": "one AddV2 (Callable)", "kind": "trivial", "repeat": 2000, "warmup": 100}
    yield {"name": "while loop of TensorFlow 1, per iteration", "kind": "while", "per": 10000}
    if guesslang:
        yield {"name": "guesslang, one snippet", "kind": "saved_model", "path": guesslang, "signature": "predict",
               "strings": {"content": [SNIPPET]}, "repeat": 200, "warmup": 20}
    for n in (64, 256, 512, 1024):
        yield {"name": f"MatMul {n}x{n}x{n}", "kind": "matmul", "n": n}
    yield {"name": "MatMul 1x1024x1000, constant", "kind": "matmul", "m": 1, "k": 1024, "n": 1000, "constant": True}
    for shape, kernel, stride in (([1, 224, 224, 3], [7, 7, 3, 64], 2), ([1, 56, 56, 64], [3, 3, 64, 64], 1),
                                  ([1, 56, 56, 64], [1, 1, 64, 256], 1), ([1, 14, 14, 256], [3, 3, 256, 256], 1)):
        name = f"Conv2D {'x'.join(map(str, shape))} * {'x'.join(map(str, kernel))} /{stride}"
        yield {"name": name, "kind": "conv2d", "input": shape, "filter": kernel, "stride": stride}
    for op in ("AddV2", "Tanh", "Exp"):
        yield {"name": f"{op}, 1,000,000 floats", "kind": "elementwise", "op": op}
    yield {"name": "MedianPool 3x3, 1x256x256x16", "kind": "median_pool"}
    images = os.path.join(DIGITS, "images.npy")
    yield {"name": "digits, batch 360", "kind": "model", "path": os.path.join(DIGITS, "digits.pb"), "input": images,
           "fetch": "probabilities"}
    for path in sorted(glob.glob(os.path.join(models, "*.pb")) if models else []):
        item = {"name": os.path.basename(path)[:-3], "kind": "model", "path": path, "repeat": 5, "warmup": 2}
        described, values = path[:-3] + ".json", path[:-3] + ".x.npy"
        if os.path.exists(described):
            with open(described, encoding="utf-8") as file:
                about = json.load(file)
            feeds = {name: os.path.join(models, value) for name, value in about["feeds"].items()}
            onnx = {about["onnx"][name]: value for name, value in feeds.items()}
            yield dict(item, feeds=feeds, fetch=about["fetch"], onnx=path[:-3] + ".onnx", onnx_feeds=onnx)
        elif os.path.exists(values):
            yield dict(item, input=values)


class Side:
    """A process that times items; see tensorflow_side.py for the protocol."""

    def __init__(self, command):
        started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self.read()
        self.started_s = time.perf_counter() - started

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare.py: {self.process.args[0]} has ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, item):
        print(json.dumps(item), file=self.process.stdin, flush=True)
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read_floats(path):
    """The elements of a .npy file of float32."""
    with open(path, "rb") as file:
        file.read(6)
        major = file.read(2)[0]
        length = struct.unpack("<H" if major == 1 else "<I", file.read(2 if major == 1 else 4))[0]
        header = ast.literal_eval(file.read(length).decode("latin-1"))
        data = file.read()
    if header["descr"] != "<f4":
        raise ValueError(f"{path} holds {header['descr']}, not <f4")
    return struct.unpack(f"<{len(data) // 4}f", data)


def difference(a, b):
    """The largest difference of two files' floats, relative to the largest magnitude."""
    first, second = read_floats(a), read_floats(b)
    if len(first) != len(second):
        return float("inf")
    return max(map(lambda x, y: abs(x - y), first, second), default=0) / max(map(abs, first), default=1)


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value / scale < 1000 else f"{value / scale:.0f} {unit}"
    return f"{value * 1e9:.3g} ns"


def table(head, rows, markdown):
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|---" + "|---:" * (len(head) - 1) + "|")
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


class Comparison:
    """Kernlink beside the others, with so many threads each."""

    def __init__(self, arguments, threads):
        python, count = arguments.python, ["--threads", str(threads)]
        self.sides = [Side([python, os.path.join(HERE, "tensorflow_side.py"), *count]),
                      Side([arguments.kernlink_side, *count])]
        has_onnx = [python, "-c", "import onnxruntime"]
        if arguments.models and subprocess.run(has_onnx, capture_output=True).returncode == 0:
            self.sides.append(Side([python, os.path.join(HERE, "onnxruntime_side.py"), *count]))
        self.rounds = 2 if arguments.quick else arguments.rounds
        self.is_quick = arguments.quick

    def close(self):
        for side in self.sides:
            side.close()

    def run(self, item, graph, saved):
        """The times of each side, by round; or an error."""
        per = item.pop("per", 1)
        if self.is_quick:
            item["repeat"] = max(3, item.get("repeat", 20) // 4)
        shared = {} if item["kind"] in ("model", "saved_model", "median_pool") else {"graph": graph}
        sides = self.sides if item.get("onnx") else self.sides[:2]
        times, error = [[] for _ in sides], None
        for turn in range(self.rounds):
            for index, side in enumerate(sides):
                save = {"save": saved[index]} if item["kind"] == "model" and turn == 0 else {}
                answer = side.ask({**item, **shared, **save})
                error = error or answer.get("error")
                times[index].append(answer.get("median_s", float("nan")) / per)
            if error:
                break
        for side in sides:
            side.ask({"kind": "release"})
        return times, error


def ratio(times, other):
    """Kernlink's time divided by another side's: the median of the rounds, and the range."""
    ratios = [b / a for a, b in zip(times[other], times[1])]
    return statistics.median(ratios), f"{min(ratios):.2f} - {max(ratios):.2f}"


def compare(arguments, folder, threads):
    comparison = Comparison(arguments, threads)
    versions = [side.ready for side in comparison.sides]
    rows, to_tensorflow, to_onnx, single, failed = [], [], [], [], False
    wanted = [item for item in items(arguments.models, arguments.guesslang)] if not arguments.items else []
    wanted += single_ops.items() if arguments.items else []
    for number, item in enumerate(wanted):
        if arguments.only and not any(text in item["name"] for text in arguments.only):
            continue
        family = item.pop("family", "")
        saved = [os.path.join(folder, f"{side}.npy") for side in "abc"]
        times, error = comparison.run(item, os.path.join(folder, f"{number}.pb"), saved)
        if error:
            print(f"{item['name']}: {error}", file=sys.stderr)
            failed = True
            continue
        medians = [seconds(statistics.median(side)) for side in times]
        value, span = ratio(times, 0)
        if item["kind"] in ("op", "pipeline", "csr"):
            single.append((value, family, [item["name"], *medians, f"{value:.2f}", span]))
            print(f"  {' | '.join(single[-1][-1])}", file=sys.stderr, flush=True)
            continue
        row = [item["name"], medians[0], medians[1], f"{value:.2f}", span]
        row.append(f"{difference(*saved[:2]):.0e}" if item["kind"] == "model" else "")
        if len(comparison.sides) == 3:
            if len(times) == 3:
                to_tensorflow.append(value)
                value, span = ratio(times, 2)
                to_onnx.append(value)
                row += [medians[2], f"{value:.2f}", span, f"{difference(saved[0], saved[2]):.0e}"]
            else:
                row += [""] * 4
        rows.append(row)
        print(f"  {' | '.join(row)}", file=sys.stderr, flush=True)
    comparison.close()
    names = f"TensorFlow {versions[0]['version']} (oneDNN {'on' if versions[0]['onednn'] else 'off'})"
    if len(versions) > 2:
        names += f", ONNX Runtime {versions[2]['version']}"
    print(f"\n{names} and Kernlink {versions[1]['version']}, {threads} threads each, "
          f"median of {comparison.rounds} rounds\n")
    if rows:
        head = ["work", "TensorFlow", "Kernlink", "ratio", "range", "difference"]
        if len(comparison.sides) == 3:
            head += ["ONNX Runtime", "ratio", "range", "its difference"]
            if to_onnx:
                means = f"{geometric_mean(to_tensorflow):.2f}", f"{geometric_mean(to_onnx):.2f}"
                rows.append(["geometric mean of these models", "", "", means[0], "", "", "", means[1], "", ""])
        table(head, rows, arguments.markdown)
    if single:
        single.sort(key=lambda one: -one[0])
        table(["op", "TensorFlow", "Kernlink", "ratio", "range"], [row for *_, row in single], arguments.markdown)
        by_family = {}
        for value, family, row in single:
            by_family.setdefault(family, []).append((value, row[0]))
        print()
        table(["family", "ops", "geometric mean", "above 1.2", "slowest", "ratio"], [
            [family, str(len(ops)), f"{geometric_mean(value for value, _ in ops):.2f}",
             str(sum(value > 1.2 for value, _ in ops)), ops[0][1], f"{ops[0][0]:.2f}"]
            for family, ops in sorted(by_family.items())], arguments.markdown)
        values = [value for value, *_ in single]
        slow = sum(value > 1.2 for value in values)
        print(f"\n{len(values)} ops: geometric mean {geometric_mean(values):.2f}, {slow} above 1.2")
    return failed


def size_of(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names
               if not os.path.islink(os.path.join(path, name)))


def timed(command, runs):
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def processes(arguments):
    """From process start to result on digits, and the size of what has to be there for it."""
    model, images = os.path.join(DIGITS, "digits.pb"), os.path.join(DIGITS, "images.npy")
    item = {"kind": "model", "path": model, "input": images, "fetch": "probabilities", "repeat": 1, "warmup": 0}
    side = os.path.join(HERE, "tensorflow_side.py")
    theirs = timed([arguments.python, side, "--threads", str(arguments.threads[-1]), json.dumps(item)], 3)
    ours = timed([arguments.kernlink, "run", model, "--input", f"images=@{images}", "--output", "probabilities",
                  "--threads", str(arguments.threads[-1])], 20)
    code = "import os, importlib.util as u; print(os.path.dirname(u.find_spec('tensorflow').origin))"
    found = subprocess.run([arguments.python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    sizes = size_of(found), os.path.getsize(arguments.kernlink)
    print()
    table(["process", "TensorFlow", "Kernlink", "ratio"], [
        ["start to result on digits, 360 images", seconds(theirs), seconds(ours), f"{ours / theirs:.4f}"],
        ["installed size", *(f"{size / 1e6:.1f} MB" for size in sizes), f"{sizes[1] / sizes[0]:.4f}"],
    ], arguments.markdown)


def main():
    arguments = parse_arguments()
    failed = False
    for threads in arguments.threads:
        with tempfile.TemporaryDirectory() as folder:
            failed |= compare(arguments, folder, threads)
    if arguments.kernlink and not arguments.only:
        processes(arguments)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
