"""Threads beside runs, graphs and tapes."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from children import finish, start

import kernlink as kl


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


@pytest.mark.parametrize("work", ["as_graph_def", "to_dot", "graph_def of a session"])
def test_other_threads_go_on_while_a_graph_is_written(work: str) -> None:
    with kl.Graph() as graph:
        for _ in range(20_000):
            kl.raw_ops.Pack(values=[1.0, 2.0, 3.0])
    session = kl.Session(graph)
    does = {
        "as_graph_def": graph.as_graph_def,
        "to_dot": graph.to_dot,
        "graph_def of a session": lambda: session.graph_def,
    }[work]
    ends, times = threading.Event(), []

    def tick() -> None:
        while not ends.wait(0.0005):
            times.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    does()
    ended = time.monotonic()
    ends.set()
    thread.join()
    assert len([at for at in times if began < at < ended]) > 2, f"it took {ended - began} s"


def test_gradients_of_a_few_nodes_take_no_longer_in_a_large_graph() -> None:
    def seconds(x: kl.SymbolicTensor) -> float:
        began = time.thread_time()
        for _ in range(20):
            with kl.GradientTape() as tape:
                tape.watch(x)
                y = x * 2.0
            assert tape.watched_variables() == ()
            for _ in range(10):
                tape._get().handle_names()
            del y
        return time.thread_time() - began

    with kl.Graph() as graph:
        x = graph.placeholder("float32", [])
        seconds(x)
        first = seconds(x)
        for _ in range(5000):
            kl.raw_ops.NoOp()
        assert seconds(x) < 4 * first
