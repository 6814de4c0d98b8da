"""Timeouts, Ctrl-C, and handlers of signals while something runs."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from children import EAGER_LOOP, finish, needs_signals, start

import kernlink as kl


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
sent = caught = 0
ended = time.monotonic() + 4
is_ready = False
def send():
    # Only for whoever takes them: none is sent while nobody does, nor at the end.
    global sent
    while time.monotonic() < ended - 0.5:
        time.sleep(0.002)
        if is_ready and sent == caught:
            sent += 1
            os.kill(os.getpid(), signal.SIGINT)
sender = threading.Thread(target=send)
sender.start()
def main():
    global caught, is_ready
    while time.monotonic() < ended:
        try:
            is_ready = True
            while time.monotonic() < ended:
                assert session.run("count", {"limit": 20}).item() == 20
        except KeyboardInterrupt:
            is_ready = False
            caught += 1
main()
sender.join()
print(caught > 50, sent - caught <= 1)
"""
    assert finish(start(script, loop), 30) == "True True\n"


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
