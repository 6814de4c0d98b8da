#!/usr/bin/env python3
"""ONNX Runtime's side of the comparison: times models in one long-lived process.

Usage: onnxruntime_side.py [--threads N] [ITEM ...]
Needs: requirements.txt, in a virtual environment of its own.

The protocol is that of tensorflow_side.py. There is one kind, `model`, with `onnx`: the model's file; and `onnx_feeds`:
{input: FILE.npy, ...}. All graph optimisations are on, and threads wait for work as they do by default.
"""
import argparse
import gc
import json
import os
import statistics
import sys
import time

START = time.perf_counter()

import numpy as np
import onnxruntime


class Prepared:
    def __init__(self, item, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(item["onnx"], options, providers=["CPUExecutionProvider"])
        self.outputs = [output.name for output in self.session.get_outputs()]
        self.binding = self.session.io_binding()
        for name, path in item["onnx_feeds"].items():
            self.binding.bind_cpu_input(name, np.load(path))
        for name in self.outputs:
            self.binding.bind_output(name)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def first(self):
        self.run()
        return self.binding.copy_outputs_to_cpu()[0]


class Side:
    def __init__(self, threads):
        self.threads = threads
        self.prepared = {}

    def run(self, item):
        if item.get("kind") == "release":
            self.prepared.clear()
            gc.collect()
            return {}
        if item.get("kind") != "model":
            raise ValueError(f"kind is model or release, not {item.get('kind')!r}")
        if item["onnx"] not in self.prepared:
            self.prepared[item["onnx"]] = Prepared(item, self.threads)
        prepared = self.prepared[item["onnx"]]
        if item.get("save"):
            np.save(item["save"], prepared.first())
        for _ in range(item.get("warmup", 3)):
            prepared.run()
        times = []
        for _ in range(item.get("repeat", 20)):
            before = time.perf_counter()
            prepared.run()
            times.append(time.perf_counter() - before)
        return {"median_s": statistics.median(times), "min_s": min(times), "runs": len(times)}

    def answer(self, line):
        answer = {"name": None, "kind": None}
        try:
            item = json.loads(line)
            answer = {"name": item.get("name", item.get("kind")), "kind": item.get("kind")}
            answer.update(self.run(item))
        except Exception as error:  # whatever it is, the driver must hear of it and go on
            answer["error"] = f"{type(error).__name__}: {error}"
        return answer


def main():
    parser = argparse.ArgumentParser(description="Times models in ONNX Runtime; see the top of the file.")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads within an op (default 2)")
    parser.add_argument("items", nargs="*", metavar="ITEM", help="a work item in JSON; without any, read stdin")
    arguments = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    print(json.dumps({"ready": True, "side": "onnxruntime", "version": onnxruntime.__version__,
                      "threads": arguments.threads, "start_s": round(time.perf_counter() - START, 3)}), file=answers)
    side = Side(arguments.threads)
    failed = False
    for line in arguments.items or sys.stdin:
        if line.strip():
            answer = side.answer(line)
            failed |= "error" in answer
            print(json.dumps(answer), file=answers)
    return 1 if failed and arguments.items else 0


if __name__ == "__main__":
    sys.exit(main())
