"""Signals, timeouts, threads beside runs, other processes and other interpreters, libraries of ops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
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


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "loop.pbtxt"
    path.write_text(LOOP)
    return path


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


def test_a_loop_counts(loop: Path) -> None:
    session = kl.load_graph(loop)
    assert session.run("count", {"limit": 1000}).item() == 1000


def test_a_timeout(loop: Path) -> None:
    session = kl.load_graph(loop)
    began = time.monotonic()
    with pytest.raises(kl.errors.DeadlineExceededError):
        session.run("count", {"limit": 10**9}, timeout=0.3)
    assert 0.25 < time.monotonic() - began < 5
    assert session.run("count", {"limit": 10}, timeout=60).item() == 10


def test_other_threads_of_python_go_on_while_something_runs(loop: Path) -> None:
    session, ended = kl.load_graph(loop), threading.Event()

    def run() -> None:
        with pytest.raises(kl.errors.DeadlineExceededError):
            session.run("count", {"limit": 10**9}, timeout=1.0)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    ticks = 0
    while not ended.is_set():
        time.sleep(0.005)
        ticks += 1
    thread.join()
    # 200 on an idle machine; if the run held the interpreter there would be one or two.
    assert ticks > 20


INTERRUPTED = """
print("ready", flush=True)
try:
    run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
except BaseException as error:
    print(repr(error), flush=True)
assert kl.raw_ops.Neg(x=1).item() == -1
assert signal.getsignal(signal.SIGINT) is handler
"""
SESSION = """
session = kl.load_graph(sys.argv[1])
def run(): return session.run("count", {"limit": 10**9})
handler = signal.default_int_handler
# A shell may have started this with the signal ignored.
signal.signal(signal.SIGINT, handler)
"""


def interrupt(process: subprocess.Popen[str]) -> tuple[str, float]:
    """Sends Ctrl-C to a process that runs; returns what it wrote, and after how many seconds."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    return finish(process, 10), time.monotonic() - began


@needs_signals
def test_ctrl_c_ends_a_run(loop: Path) -> None:
    out, seconds = interrupt(start(SESSION + INTERRUPTED, loop))
    assert out == "interrupted\n" and seconds < 2


@needs_signals
def test_ctrl_c_ends_a_run_again_and_again(loop: Path) -> None:
    script = SESSION + """
for _ in range(3):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        run()
    except KeyboardInterrupt:
        print("interrupted", session.run("count", {"limit": 5}).item())
"""
    assert finish(start(script, loop), 20) == "interrupted 5\n" * 3


@needs_signals
def test_ctrl_c_reaches_handlers_of_ones_own(loop: Path) -> None:
    script = SESSION + """
def handler(*_): raise ValueError("mine")
signal.signal(signal.SIGINT, handler)
"""
    out, seconds = interrupt(start(script + INTERRUPTED, loop))
    assert out == "ValueError('mine')\n" and seconds < 2


@needs_signals
def test_ctrl_c_that_is_ignored_cancels_nothing(loop: Path) -> None:
    script = SESSION + """
handler = signal.SIG_IGN
signal.signal(signal.SIGINT, handler)
def run(): return session.run("count", {"limit": 10**9}, timeout=1.5)
"""
    out, _ = interrupt(start(script + INTERRUPTED, loop))
    assert "DeadlineExceededError" in out


EAGER = EAGER_LOOP + """
handler = signal.default_int_handler
signal.signal(signal.SIGINT, handler)
assert count(10) == 10
"""


@needs_signals
@pytest.mark.parametrize(
    "run",
    [
        "return count(10**9)",
        "return counts(kl.constant(10**9, 'int64'))",
        # Within a tape.
        """
    with kl.GradientTape() as tape:
        return count(10**9)""",
        # What another thread would bring never comes.
        """
    queue = kl.raw_ops.FIFOQueueV2(component_types=["float32"])
    return kl.raw_ops.QueueDequeueV2(handle=queue, component_types=["float32"])""",
    ],
    ids=["op", "function", "tape", "queue"],
)
def test_ctrl_c_ends_an_op(run: str) -> None:
    script = EAGER + f"""
@kl.function
def counts(limit):
    return kl.raw_ops.While(input=[i, limit], cond=names[0], body=names[1])[0]
assert counts(kl.constant(10, "int64")).item() == 10
def run():
    {run}
"""
    out, seconds = interrupt(start(script + INTERRUPTED))
    assert out == "interrupted\n" and seconds < 2


@needs_signals
def test_ctrl_c_ends_a_gradient() -> None:
    script = EAGER + """
@kl.function
def more(k, x):
    return kl.raw_ops.Less(x=k, y=kl.constant(3 * 10**5, "int64"))
@kl.function
def step(k, x):
    return k + 1, x * 1.0001
x = kl.constant(1.0)
more(i, x), step(i, x)
names = [f.get_concrete_function(i, x).name for f in (more, step)]
tape = kl.GradientTape()
with tape:
    tape.watch(x)
    y = kl.raw_ops.While(input=[i, x], cond=names[0], body=names[1])[1]
def run(): return tape.gradient(y, x)
"""
    process = start(script + INTERRUPTED)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert finish(process, 30) == "interrupted\n"


PRINTS = """
seen = []
def handler(number, frame):
    assert threading.current_thread() is threading.main_thread()
    seen.append(number)
    print("handled", flush=True)
signal.signal(signal.SIGINT, handler)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
"""


@needs_signals
@pytest.mark.parametrize("what", ["session", "op"])
def test_a_handler_that_only_prints_ends_nothing(what: str, loop: Path) -> None:
    script = SESSION + EAGER_LOOP + PRINTS
    if what == "session":
        script += """
began = time.monotonic()
try:
    session.run("count", {"limit": 10**9}, timeout=1.5)
except kl.errors.DeadlineExceededError:
    print("its own end", time.monotonic() - began > 1.4)
"""
        expected = "handled\nits own end True\n"
    else:
        script += """
limit = 1000
while not seen:
    began = time.monotonic()
    assert count(limit) == limit
    limit *= 4
# It is handled while the op runs: not after all of it.
print(time.monotonic() - began > 0.01)
"""
        expected = "handled\nTrue\n"
    assert finish(start(script, loop), 30) == expected


@needs_signals
def test_a_handler_may_set_another(loop: Path) -> None:
    script = SESSION + """
def handler(number, frame):
    print("once more ends it", flush=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGINT, handler)
for seconds in (0.3, 0.8):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    run()
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - began < 3)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
    assert finish(start(script, loop), 20) == "once more ends it\ninterrupted True\n"


@needs_signals
def test_a_handler_may_run_ops_and_models(loop: Path) -> None:
    script = SESSION + """
def handler(number, frame):
    print(kl.raw_ops.Neg(x=1).item(), session.run("count", {"limit": 7}).item(), flush=True)
    raise ValueError("mine")
signal.signal(signal.SIGINT, handler)
"""
    out, seconds = interrupt(start(script + INTERRUPTED, loop))
    assert out == "-1 7\nValueError('mine')\n" and seconds < 3


@needs_signals
def test_a_signal_for_one_run_never_ends_the_next(loop: Path) -> None:
    # The signals come at all times of short runs, and between them: each is one KeyboardInterrupt, and no run is cancelled by itself.
    script = SESSION + """
stop = threading.Event()
sent = 0
def send():
    global sent
    while not stop.wait(0.002):
        if sent == caught:
            sent += 1
            os.kill(os.getpid(), signal.SIGINT)
caught = 0
sender = threading.Thread(target=send)
sender.start()
ended = time.monotonic() + 4
def main():
    global caught
    while time.monotonic() < ended:
        try:
            while time.monotonic() < ended:
                assert session.run("count", {"limit": 20}).item() == 20
        except KeyboardInterrupt:
            caught += 1
main()
stop.set()
sender.join()
print(caught > 50, sent - caught <= 1)
"""
    assert finish(start(script, loop), 30) == "True True\n"


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


@pytest.mark.parametrize(
    "fails",
    [
        """
with graph:
    kl.raw_ops.MatMul(a=x, b=x)""",
        """
graph.placeholder("float32", name="not a name")""",
        # What flows back has another rank.
        """
with graph:
    with kl.GradientTape() as tape:
        tape.watch(square)
        y = kl.raw_ops.MatMul(a=square, b=square)
    tape.gradient(y, square, output_gradients=x)""",
        """
body._finish("f", [fed, fed], [fed])""",
        """
body._capture(kl.constant([1.0] * 1000))
body._capture(kl.constant(1.0))
body._capture(1.0)""",
        """
square.set_shape([3])""",
        """
graph.import_graph_def(graph.as_graph_def())""",
    ],
    ids=["op", "placeholder", "tape", "finish", "capture", "shape", "import"],
)
def test_threads_that_fail_in_one_graph_do_not_lock_each_other_out(fails: str) -> None:
    script = f"""
sys.setswitchinterval(1e-6)
graph, body = kl.Graph(), kl.Graph._body()
x = graph.placeholder("float32", [2], name="x")
square, fed = graph.placeholder("float32", [2, 2]), body.placeholder("float32")
FAILS = compile({fails!r}, "fails", "exec")
failed = 0
def work():
    global failed
    for _ in range(150):
        try:
            exec(FAILS, {{**globals()}})
        except (kl.errors.OpError, TypeError, ValueError):
            failed += 1
threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(failed > 0)
"""
    assert finish(start(script), 30) == "True\n"


def test_threads_whose_tapes_need_each_other_do_not_lock_each_other_out() -> None:
    script = """
x = kl.constant(3.0)
tapes = [kl.GradientTape(persistent=True) for _ in range(2)]
squares = []
for tape in tapes:
    with tape:
        tape.watch(x)
        squares.append(x * x)
found = [[], []]
def work(own):
    with tapes[own]:
        for _ in range(300):
            x + 1.0
            found[own].append(tapes[1 - own].gradient(squares[1 - own], x).item())
threads = [threading.Thread(target=work, args=(own,), daemon=True) for own in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found == [[6.0] * 300] * 2)
"""
    assert finish(start(script), 30) == "True\n"


@needs_signals
def test_a_handler_runs_ops_while_a_tape_records_what_it_interrupts() -> None:
    script = EAGER_LOOP + """
def handler(number, frame):
    with kl.GradientTape() as own:
        own.watch(x)
        y = x * x * x
    print(kl.raw_ops.Neg(x=x).item(), own.gradient(y, x).item(), flush=True)
    raise ValueError("mine")
signal.signal(signal.SIGINT, handler)
x = kl.constant(2.0)
assert count(10) == 10
with kl.GradientTape() as tape:
    tape.watch(x)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        count(10**9)
    except ValueError as error:
        print(error)
    y = x * x
print(tape.gradient(y, x).item())
"""
    assert finish(start(script), 30) == "-2.0 12.0\nmine\n4.0\n"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not tell its threads")
def test_runs_beside_a_handler_share_a_thread() -> None:
    script = """
signal.signal(signal.SIGINT, lambda *_: None)
f = kl.function(lambda x: x + 1.0)
def threads():
    x = f(kl.constant(1.0))
    names = {task: open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")}
    return [task for task, name in names.items() if name == "kernlink-run"]
first = threads()
try:
    kl.function(lambda x: kl.raw_ops.Reshape(tensor=x, shape=kl.raw_ops.Cast(x=x, DstT="int32")))(kl.constant([2.0]))
except kl.errors.InvalidArgumentError as error:
    print("fails")
print(len(first), all(threads() == first for _ in range(20)))
"""
    assert finish(start(script), 30) == "fails\n1 True\n"


@needs_signals
def test_ctrl_c_writes_to_no_file_of_another(loop: Path, tmp_path: Path) -> None:
    # Daemons close all descriptors, and those of their own files take the numbers.
    script = SESSION + """
session.run("count", {"limit": 10})
os.closerange(3, 256)
files = [open(sys.argv[2], "wb") for _ in range(20)]
""" + INTERRUPTED
    path = tmp_path / "log"
    out, seconds = interrupt(start(script, loop, path))
    assert out == "interrupted\n" and seconds < 2
    assert path.read_bytes() == b""


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
