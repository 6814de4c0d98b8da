"""What tests in processes of their own share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernlink as kl

PACKAGE = str(Path(kl.__file__).parents[1])
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
needs_signals = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")

# Counts to what is fed as `limit`: 10^9 rounds take minutes.
LOOP = """
node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: 0 } } } }
node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
  attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: 1 } } } }
node { name: "limit" op: "Placeholder" attr { key: "dtype" value { type: DT_INT64 } } attr { key: "shape" value { shape { } } } }
node { name: "start" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT64 } } attr { key: "frame_name" value { s: "f" } } }
node { name: "end" op: "Enter" input: "limit" attr { key: "T" value { type: DT_INT64 } } attr { key: "frame_name" value { s: "f" } }
  attr { key: "is_constant" value { b: true } } }
node { name: "step" op: "Enter" input: "one" attr { key: "T" value { type: DT_INT64 } } attr { key: "frame_name" value { s: "f" } }
  attr { key: "is_constant" value { b: true } } }
node { name: "merge" op: "Merge" input: "start" input: "next" attr { key: "T" value { type: DT_INT64 } } attr { key: "N" value { i: 2 } } }
node { name: "less" op: "Less" input: "merge" input: "end" attr { key: "T" value { type: DT_INT64 } } }
node { name: "cond" op: "LoopCond" input: "less" }
node { name: "switch" op: "Switch" input: "merge" input: "cond" attr { key: "T" value { type: DT_INT64 } } }
node { name: "add" op: "AddV2" input: "switch:1" input: "step" attr { key: "T" value { type: DT_INT64 } } }
node { name: "next" op: "NextIteration" input: "add" attr { key: "T" value { type: DT_INT64 } } }
node { name: "count" op: "Exit" input: "switch" attr { key: "T" value { type: DT_INT64 } } }
"""

# The same as an op that runs eagerly.
EAGER_LOOP = """
@kl.function
def goes_on(i, limit):
    return kl.raw_ops.Less(x=i, y=limit)
@kl.function
def body(i, limit):
    return i + 1, limit
i = kl.constant(0, "int64")
names = [f.get_concrete_function(i, i).name for f in (goes_on, body)]
def count(limit):
    return kl.raw_ops.While(input=[i, kl.constant(limit, "int64")], cond=names[0], body=names[1])[0].item()
"""

STARTS = """
import os, signal, sys, threading, time
import kernlink as kl
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    line = [sys.executable, "-c", STARTS + script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str], seconds: float = 60) -> str:
    """What a process wrote; it fails if that did not end well, or in time."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"it did not end within {seconds} seconds: {out}\n{err[-2000:]}")
    assert process.returncode == 0, f"{process.returncode}: {out}\n{err[-2000:]}"
    return out
