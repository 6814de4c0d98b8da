"""Other processes and other interpreters, libraries of ops, what an import costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from children import PACKAGE, STARTS, finish, needs_fork, start


@needs_fork
@pytest.mark.parametrize(
    "use",
    [
        "kl.raw_ops.Neg(x=1)",
        "kl.Variable(1.0)",
        "kl.GradientTape()",
        "f(kl.constant(1.0))",
        "session.run('count', {'limit': 10})",
        "session.run('zero')",
    ],
)
def test_a_child_that_was_forked_is_told_so(use: str, loop: Path) -> None:
    script = f"""
session = kl.load_graph(sys.argv[1])
f = kl.function(lambda x: x + 1.0)
f(kl.constant(1.0)), session.run("count", {{"limit": 10}}), kl.raw_ops.MatMul(a=[[1.0]], b=[[1.0]])
child = os.fork()
if child == 0:
    signal.alarm(10)
    try:
        {use}
    except RuntimeError as error:
        os._exit(0 if "fork" in str(error) else 2)
    except BaseException:
        os._exit(3)
    os._exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert finish(start(script, loop), 30) == "0\n", "0: refused; 2, 3: another error; 4: no error; -14: it hung"


@needs_fork
def test_a_child_has_graphs_that_no_thread_holds() -> None:
    script = """
graph = kl.Graph()
with graph:
    for number in range(20_000):
        kl.raw_ops.NoOp(name=f"n{number}")
session = kl.Session(graph)
def write():
    while True:
        graph.as_graph_def(), kl.Session(graph)
threading.Thread(target=write, daemon=True).start()
codes = []
for _ in range(8):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(0 if len(graph.get_operations()) == len(session.graph.get_operations()) == 20_000 else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(codes)
"""
    assert finish(start(script), 120) == f"{[0] * 8}\n", "-14: it hung"


@needs_fork
def test_a_variable_is_shown_in_a_child() -> None:
    script = """
variable = kl.Variable(1.5, name="v")
assert "value=1.5" in repr(variable)
child = os.fork()
if child == 0:
    try:
        os._exit(0 if "'v' shape=()" in repr(variable) and "value" not in repr(variable) else 1)
    finally:
        os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert finish(start(script), 30) == "0\n"


@needs_fork
def test_a_child_that_was_forked_before_the_first_op_runs() -> None:
    script = """
child = os.fork()
assert kl.raw_ops.Neg(x=1).item() == -1
if child != 0:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert finish(start(script), 30) == "0\n"


def test_processes_that_are_spawned(tmp_path: Path) -> None:
    script = tmp_path / "spawns.py"
    script.write_text(
        """
import multiprocessing
import kernlink as kl

def work(number):
    return kl.raw_ops.Square(x=number).item()

if __name__ == "__main__":
    assert work(1) == 1
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [2, 3]))
"""
    )
    found = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, timeout=60, check=False
    )
    assert found.stdout == "[4, 9]\n", found.stderr


def test_other_interpreters_are_refused() -> None:
    script = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
kl.raw_ops.Neg(x=1)
other = interpreters.create()
failed = interpreters.run_string(other, '''
import sys
sys.path[:0] = %r
try:
    import kernlink
except ImportError as error:
    print("ImportError", error, flush=True)
else:
    print("imported", flush=True)
''' % [p for p in sys.path if p])
print(failed)
"""
    out = finish(start(script), 30)
    assert "ImportError" in out and "interpreter" in out, out


def test_a_library_of_ops() -> None:
    path = os.environ.get("KERNLINK_CUSTOM_OPS")
    if not path:
        pytest.skip("KERNLINK_CUSTOM_OPS does not say where the build of examples/custom-ops is")
    # In a process of its own: the ops are in all of it.
    script = """
import pathlib
library = kl.load_op_library(sys.argv[1])
assert library.zero_out([1, 2, 3]).tolist() == [1, 0, 0]
assert library.ZeroOut(to_zero=[1.0] * 3, preserve_index=2).tolist() == [0.0, 0.0, 1.0]
assert "ZeroOut" in library.OP_NAMES and "ZeroOut" in dir(kl.raw_ops) and "preserve_index" in library.zero_out.__doc__
assert kl.load_op_library(pathlib.Path(sys.argv[1])) is library
assert kl.raw_ops.ZeroOut(to_zero=[4, 5]).tolist() == [4, 0]
try:
    library.zero_out([1], preserve_index=1)
except kl.errors.InvalidArgumentError as error:
    assert "out of range" in str(error)
else:
    raise AssertionError("no error")
x = kl.constant([1.0, 2.0])
with kl.GradientTape() as tape:
    tape.watch(x)
    y = library.zero_out(x)
try:
    tape.gradient(y, x)
except kl.errors.NotFoundError as error:
    assert "no registered gradient" in str(error)
else:
    raise AssertionError("no error")
assert kl.function(lambda x: library.zero_out(x) + 1.0)(x).tolist() == [2.0, 1.0]
print("done")
"""
    assert finish(start(script, path)) == "done\n"


def test_the_import_takes_no_numpy() -> None:
    script = "print('numpy' in sys.modules, 'multiprocessing' in sys.modules)"
    assert finish(start(script)) == "False False\n"


def test_variables_are_there_as_long_as_the_program() -> None:
    script = STARTS + """
import atexit
atexit.register(lambda: print(v.numpy().tolist()))
v = kl.Variable([1.0, 2.0])
"""
    assert finish(start(script)) == "[1.0, 2.0]\n"
