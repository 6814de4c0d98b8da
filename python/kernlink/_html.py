"""How notebooks show graphs, models, signatures, runs and what is said of models."""

from __future__ import annotations

from html import escape
from typing import Any

# Graphs of more operations are counted, not drawn.
_MOST_DRAWN = 80
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 34, 18, 34


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _tensors(tensors: dict[str, Any]) -> str:
    def shape(dims: Any) -> str:
        return "any shape" if dims is None else "[" + ", ".join("?" if dim is None else str(dim) for dim in dims) + "]"

    return ", ".join(f"{name}: {dtype.name} {shape(dims)}" for name, (dtype, dims) in tensors.items())


def model(saved_model: Any) -> str:
    """A SavedModel or MetaGraph: its signatures."""
    rows = [[name, _tensors(it.inputs), _tensors(it.outputs)] for name, it in saved_model.signatures.items()]
    title = f"<b>SavedModel</b> ({escape(', '.join(saved_model.tags))})" if saved_model.tags else "<b>MetaGraph</b>"
    return title + _table(["signature", "inputs", "outputs"], rows)


def signature(it: Any) -> str:
    """A signature: what it takes and gives."""
    return f"<b>{escape(it.name)}</b>" + _table(["inputs", "outputs"], [[_tensors(it.inputs), _tensors(it.outputs)]])


def run_metadata(it: Any) -> str:
    """What a run took: its ops, and how much each took."""

    def row(cost: Any) -> list[str]:
        busy = sum(other.time for other in costs if not other.is_async)
        share = "" if cost.is_async or not busy else f"{cost.time / busy:.1%}"
        return [cost.op, str(cost.calls), f"{cost.time * 1e6:.1f}", share, str(cost.output_bytes)]

    costs = it.costs
    title = f"<b>Run of {it.time * 1e3:.3f} ms</b>"
    return title + _table(["op", "calls", "µs", "share", "bytes of outputs"], [row(cost) for cost in costs])


def inspection(it: Any) -> str:
    """What a model is made of, graph by graph."""
    parts = [f"<b>{escape(it.model)}</b>"]
    for graph in it.graphs:
        tags = f" [{', '.join(graph.tags)}]" if graph.tags else ""
        size = f"{graph.constant_bytes} bytes in constants, {graph.variable_bytes} in {graph.variables} variables"
        parts.append(f"<p>graph{escape(tags)}: {sum(graph.ops.values())} nodes, {escape(size)}</p>")
        rows = [[name, _tensors(inputs), _tensors(outputs)] for name, (inputs, outputs) in graph.signatures.items()]
        if rows:
            parts.append(_table(["signature", "inputs", "outputs"], rows))
        parts.append(_table(["op", "nodes"], [[op, str(nodes)] for op, nodes in graph.ops.items()]))
        lacks = [*graph.missing, *graph.advice, *graph.faults]
        parts.append(_table(["missing"], [[line] for line in lacks]) if lacks else "<p>nothing is missing</p>")
        if graph.elsewhere:
            rows = [[op, str(nodes)] for op, nodes in graph.elsewhere.items()]
            parts.append(_table(["without a kernel on the device", "nodes"], rows))
    return "".join(parts)


def optimized(it: Any) -> str:
    """What passes left of a graph."""
    rows = [[done.name, str(done.changes), str(done.nodes_before), str(done.nodes_after)] for done in it.passes]
    title = f"<b>{it.nodes_before} nodes before, {it.nodes} after</b>, keeping {escape(it.kept)}"
    return title + _table(["pass", "changes", "nodes before", "after"], rows)


def benchmark(it: Any) -> str:
    """How long a model takes."""
    times = _table(list(it.latency), [[f"{seconds * 1e3:.3f} ms" for seconds in it.latency.values()]])
    rows = [[op["op"], f"{op['calls']:g}", f"{op['time_us']:.1f}"] for op in it.ops]
    return f"<b>{escape(it.measured['model'])}</b>" + times + _table(["op", "calls", "µs in a run"], rows)


def _shortened(text: str, most: int = 20) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def graph(it: Any) -> str:
    """A graph: a picture of its operations if they are few, or else how many there are of each op."""
    operations = it.get_operations()
    if len(operations) > _MOST_DRAWN:
        counts: dict[str, int] = {}
        for operation in operations:
            counts[operation.type] = counts.get(operation.type, 0) + 1
        rows = [[op, str(count)] for op, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        return f"<b>Graph of {len(operations)} operations</b>" + _table(["op", "operations"], rows)
    inputs = {operation.name: [output.op.name for output in operation.inputs] for operation in operations}
    layers = _layers(inputs)
    places: dict[str, tuple[float, float]] = {}
    widest = max((len(layer) for layer in layers), default=1)
    for depth, layer in enumerate(layers):
        indent = (widest - len(layer)) * (_WIDTH + _GAP_X) / 2
        for position, name in enumerate(layer):
            places[name] = (10 + indent + position * (_WIDTH + _GAP_X), 10 + depth * (_HEIGHT + _GAP_Y))
    parts = []
    for name, sources in inputs.items():
        x, y = places[name]
        for source in sources:
            start_x, start_y = places[source]
            middle = (start_y + _HEIGHT + y) / 2
            from_x, to_x = start_x + _WIDTH / 2, x + _WIDTH / 2
            path = f"M{from_x} {start_y + _HEIGHT}C{from_x} {middle} {to_x} {middle} {to_x} {y}"
            parts.append(f"<path d='{path}' fill='none' stroke='#888'/>")
    for operation in operations:
        x, y = places[operation.name]
        parts.append(
            f"<g><title>{escape(operation.name)} ({escape(operation.type)})</title>"
            f"<rect x='{x}' y='{y}' width='{_WIDTH}' height='{_HEIGHT}' rx='6' fill='#eef4ff' stroke='#5b7db1'/>"
            f"<text x='{x + _WIDTH / 2}' y='{y + 14}' text-anchor='middle' font-weight='bold'>"
            f"{escape(_shortened(operation.type))}</text>"
            f"<text x='{x + _WIDTH / 2}' y='{y + 27}' text-anchor='middle' fill='#555'>"
            f"{escape(_shortened(operation.name))}</text></g>"
        )
    width = 20 + widest * (_WIDTH + _GAP_X) - _GAP_X
    height = 20 + len(layers) * (_HEIGHT + _GAP_Y) - _GAP_Y
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{max(height, 20)}' "
        f"font-family='sans-serif' font-size='11'>{''.join(parts)}</svg>"
    )


def _layers(inputs: dict[str, list[str]]) -> list[list[str]]:
    """The operations by the longest way that leads to each; loops count once."""
    depths: dict[str, int] = {}
    waiting = list(inputs)
    for _ in range(len(inputs) + 1):
        late = []
        for name in waiting:
            sources = [source for source in inputs[name] if source != name]
            if all(source in depths for source in sources):
                depths[name] = 1 + max((depths[source] for source in sources), default=-1)
            else:
                late.append(name)
        if len(late) == len(waiting):
            # What is left goes round.
            for name in late:
                depths[name] = 1 + max((depths[source] for source in inputs[name] if source in depths), default=-1)
            late = []
        waiting = late
        if not waiting:
            break
    # What takes nothing stands right above what takes it first.
    takers: dict[str, int] = {}
    for name, sources in inputs.items():
        for source in sources:
            takers[source] = min(takers.get(source, depths[name]), depths[name])
    for name, sources in inputs.items():
        if not sources and name in takers:
            depths[name] = max(takers[name] - 1, 0)
    layers: list[list[str]] = [[] for _ in range(1 + max(depths.values(), default=0))]
    for name in inputs:
        layers[depths[name]].append(name)
    return [layer for layer in layers if layer]
