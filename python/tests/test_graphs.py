"""Graphs: names, scopes of devices, and what is found to be of one."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import kernlink as kl

RAW = kl.raw_ops


def test_scopes_of_devices_end_in_any_order() -> None:
    def asked() -> str:
        with kl.Graph():
            return str(RAW.NoOp().device)

    outer, inner = kl.device("cpu"), kl.device(None)
    outer.__exit__()
    with kl.device("cpu"):
        outer.__exit__()
        assert asked() == "/device:CPU:0"
        inner.__enter__()
        outer.__enter__()
        inner.__exit__()
        assert asked() == "/device:CPU:0"
        outer.__exit__()
        outer.__enter__()
        inner.__enter__()
        outer.__exit__()
        assert asked() == ""
        inner.__exit__()
    assert asked() == ""


def test_names_in_a_scope_take_no_longer_the_more_there_are() -> None:
    def seconds() -> float:
        began = time.thread_time()
        for _ in range(300):
            RAW.NoOp()
            with kl.name_scope("inner"):
                pass
        return time.thread_time() - began

    with kl.Graph() as graph, kl.name_scope("outer"):
        seconds()
        first = seconds()
        for _ in range(3000):
            RAW.NoOp()
        assert seconds() < 4 * first
    assert len({operation.name for operation in graph.get_operations()}) == 3900


def test_names_of_ops_that_fail_are_free() -> None:
    with kl.Graph() as graph, kl.name_scope("scope"):
        with pytest.raises(kl.errors.InvalidArgumentError):
            RAW.MatMul(a=[1.0], b=[1.0], name="name")
        for _ in range(3):
            RAW.MatMul(a=[[1.0]], b=[[1.0]], name="name")
        with kl.name_scope("name_3"):
            RAW.NoOp()
        RAW.NoOp(name="name")
        RAW.NoOp(name="name_1")
    names = [operation.name for operation in graph.get_operations() if operation.type != "Const"]
    assert names == [f"scope/{name}" for name in ("name", "name_1", "name_2", "name_3/NoOp", "name_4", "name_1_1")]


def test_outputs_of_a_graph_are_found_in_lists_and_tuples() -> None:
    graph = kl.Graph()
    x = graph.placeholder("float32", [])
    found = [
        RAW.Pack(values=(x, 2.0)),
        RAW.Neg(x=(x, 2.0)),
        RAW.Neg(x=[[1.0, 2.0], (3.0, x)]),
        RAW.AddN(inputs=[[2.0, 3.0], [x, 4.0]]),
    ]
    session = kl.Session(graph)
    assert [value.tolist() for value in session.run(found, {x: 5.0})] == [
        [5.0, 2.0],
        [-5.0, -2.0],
        [[-1.0, -2.0], [-3.0, -5.0]],
        [7.0, 7.0],
    ]
    # Lists that hold themselves are refused in time.
    endless: list[Any] = []
    endless += [endless, endless]
    with pytest.raises(ValueError):
        RAW.Neg(x=endless)


def test_a_session_has_the_graph_as_it_was() -> None:
    graph = kl.Graph()
    x = graph.placeholder("float32", [], name="x")
    last, sessions, failures = x, [], []

    def make() -> None:
        try:
            for _ in range(40):
                sessions.append(kl.Session(graph))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    # Nodes come while others copy the graph.
    for number in range(200):
        with graph:
            last = kl.raw_ops.AddV2(x=last, y=1.0, name=f"add_{number}")
    for thread in threads:
        thread.join()
    names = [own.name for own in graph.get_operations()]
    assert not failures and len(sessions) == 80
    for session in sessions:
        own = session.operations
        assert own == names[: len(own)]
    assert kl.Session(graph).run(last, {x: 0.5}).item() == 200.5
    for session in sessions[:1] + sessions[-1:]:
        done = [name for name in session.operations if name.startswith("add_") and "/" not in name]
        assert session.run(done[-1] if done else "x", {"x": 0.5}).item() == len(done) + 0.5
