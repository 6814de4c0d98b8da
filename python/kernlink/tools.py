"""What the command `kernlink` does, as functions that return what it prints.

    print(kernlink.tools.inspect("model"))
    kernlink.tools.optimize("model.pb", outputs=["y"]).save("small.pb")

| function | command |
|---|---|
| `inspect` | `kernlink inspect`: what a model is made of, and what is missing to run it |
| `verify` | `kernlink verify`: runs graphs that carry their own answers |
| `optimize` | `kernlink optimize`: a graph that computes the same with less to do |
| `gradients` | `kernlink gradients`: a graph with gradients |
| `freeze` | makes a graph of a signature, in which variables are constants |
| `convert` | writes a model's graph as a binary or textual GraphDef |
| `select` | `kernlink select`: which ops and kernels models need |
| `bench` | `kernlink bench`: how long a model takes |
| `verify_checkpoint` | `kernlink checkpoint --verify`: reads every tensor |
| `ops`, `kernels`, `passes`, `write_pages` | `kernlink ops`, `kernels`: what there is |
| `op_list`, `compare_ops` | `kernlink ops --format pb` and `--check`: whether ops keep older promises |
| `new` | `kernlink new`: a crate with an op of one's own |

Models are given by their paths: the folder of a SavedModel, a MetaGraph (`.meta`), or a graph as `.pb` or `.pbtxt`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any

from . import _html, _kernlink
from ._catalogue import Comparison, Kernel, Pass, compare_ops, kernels, new, op_list, ops, passes, write_pages
from ._kernlink import bool_argument, path_argument, paths_argument, text_argument, texts_argument
from ._progress import steps
from .saved_model import load
from .train import load_checkpoint

if TYPE_CHECKING:
    from ._types import PathLike

__all__ = [
    "Benchmark",
    "Comparison",
    "Frozen",
    "Gradients",
    "GraphInspection",
    "Inspection",
    "Kernel",
    "Optimized",
    "Pass",
    "PassReport",
    "Report",
    "Selection",
    "bench",
    "compare_ops",
    "convert",
    "freeze",
    "gradients",
    "inspect",
    "kernels",
    "new",
    "op_list",
    "ops",
    "optimize",
    "passes",
    "select",
    "verify",
    "verify_checkpoint",
    "write_pages",
]

@dataclass(frozen=True, repr=False)
class GraphInspection:
    """What one graph of a model is made of."""

    #: The tags of the graph.
    tags: list[str]
    #: The version of TensorFlow that wrote it; may be empty.
    tensorflow_version: str
    #: For each signature its inputs and outputs: by name the dtype and the shape.
    signatures: dict[str, tuple[dict[str, Any], dict[str, Any]]]
    #: For each placeholder of a graph without signatures its op, and the dtypes and shapes of what it gives.
    inputs: dict[str, tuple[str, list[Any]]]
    #: The same for what nothing else uses.
    outputs: dict[str, tuple[str, list[Any]]]
    #: How many nodes there are of each op, the most first.
    ops: dict[str, int]
    #: How many functions there are.
    functions: int
    #: The bytes of constants.
    constant_bytes: int
    #: How many variables there are.
    variables: int
    #: The bytes of those whose size is known.
    variable_bytes: int
    #: What is lacking here to run it, a text each.
    missing: list[str]
    #: What to do about that.
    advice: list[str]
    #: The attrs of nodes that their ops do not have.
    passed_over: list[str]
    #: Why the graph cannot be imported, or its variables cannot be read.
    faults: list[str]
    #: What the device that was asked about has no kernels for, with the numbers of nodes; `None` if none was.
    elsewhere: dict[str, int] | None
    #: Whether all of it runs here, as far as can be seen without a run.
    is_whole: bool
    #: All of it as text.
    text: str

    def __str__(self) -> str:
        return self.text.rstrip()

    def __repr__(self) -> str:
        nodes = sum(self.ops.values())
        return f"<kernlink.tools.GraphInspection [{', '.join(self.tags)}]: {nodes} nodes of {len(self.ops)} ops>"


@dataclass(frozen=True, repr=False)
class Inspection:
    """What a model is made of."""

    #: The model's path.
    model: str
    #: Its graphs: one, or those of a SavedModel.
    graphs: list[GraphInspection]

    @property
    def is_whole(self) -> bool:
        """Whether all of it runs here, as far as can be seen without a run."""
        return all(graph.is_whole for graph in self.graphs)

    def __str__(self) -> str:
        return "\n".join(str(graph) for graph in self.graphs)

    def __repr__(self) -> str:
        lacks = "" if self.is_whole else ", which lacks something here"
        return f"<kernlink.tools.Inspection of {self.model}{lacks}>"

    def _repr_html_(self) -> str:
        return _html.inspection(self)


def inspect(model: PathLike, *, device: str | None = None) -> Inspection:
    """Says what a model is made of, and what is missing to run it. Nothing of it runs.

    Args:
      model: the model.
      device: a device, of which `elsewhere` says what it has no kernels for: `gpu`, or `gpu:K` for the adapter number K.

    Returns:
      What was found; notebooks show it as tables.

    Raises:
      kernlink.errors.NotFoundError: if there is no model.
    """
    path = path_argument("model", model)
    found = _kernlink.inspect(path, text_argument("device", device))
    return Inspection(path, [GraphInspection(**graph) for graph in found])


@dataclass(frozen=True, repr=False)
class Report:
    """What came of running cases."""

    #: How many cases there were.
    cases: int = 0
    #: The cases that failed, and why.
    failures: list[tuple[str, str]] = field(default_factory=list)
    #: How many cases of each op say nothing of the device.
    skipped: dict[str, int] = field(default_factory=dict)
    #: The ops that passed cases contain, with dtypes.
    covered: set[tuple[str, str]] = field(default_factory=set)
    #: Ops that cases need and that there are not.
    missing_ops: set[str] = field(default_factory=set)

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return self.cases - len(self.failures) - sum(self.skipped.values())

    @property
    def is_whole(self) -> bool:
        """Whether no case failed."""
        return not self.failures

    def __str__(self) -> str:
        lines = [f"FAILED {case}: {reason}" for case, reason in self.failures]
        skipped = f", {sum(self.skipped.values())} skipped" if self.skipped else ""
        ops = len({op for op, _ in self.covered})
        return "\n".join([*lines, f"{self.passed} passed, {len(self.failures)} failed{skipped}; {ops} ops are covered"])

    def __repr__(self) -> str:
        return f"<kernlink.tools.Report: {self.passed} passed, {len(self.failures)} failed>"


def verify(files: PathLike | Sequence[PathLike], *, only: str | None = None, threads: int | None = 0, device: str = "cpu") -> Report:
    """Runs golden cases: graphs that carry their own answers. Terminals and notebooks show how far it is.

    Args:
      files: graphs as `.pb` or `.pbtxt`.
      only: runs only the cases whose name contains this.
      threads: on how many threads; 0 for one per processor.
      device: on which device: `cpu`, `gpu` or `gpu:K`.

    Returns:
      What came of it.

    Raises:
      kernlink.errors.InvalidArgumentError: if a graph holds no case.
    """
    report, all_files = Report(), paths_argument("files", files)
    only = text_argument("only", only)
    device = text_argument("device", device) or "cpu"
    for file in steps("file", all_files, len(all_files)):
        found = _kernlink.verify(file, only, threads, device)
        for op, count in found["skipped"].items():
            report.skipped[op] = report.skipped.get(op, 0) + count
        report = Report(
            report.cases + found["cases"],
            report.failures + found["failures"],
            report.skipped,
            report.covered | found["covered"],
            report.missing_ops | found["missing_ops"],
        )
    return report


@dataclass(frozen=True)
class PassReport:
    """What a pass did."""

    #: The pass.
    name: str
    #: How many places it changed.
    changes: int
    #: How many nodes there were before.
    nodes_before: int
    #: How many there are.
    nodes_after: int
    #: How often each rewrite was applied.
    parts: dict[str, int]
    #: The rewrites that failed, and why.
    failed: dict[str, str]


class _HasGraph:
    graph_def: bytes

    @property
    def graph(self) -> _kernlink.Graph:
        """The graph."""
        return _kernlink.Graph(self.graph_def)

    def save(self, path: PathLike) -> None:
        """Writes the graph: as a binary GraphDef, or as text if the name ends in `.pbtxt`."""
        data, path = self.graph_def, path_argument("path", path)
        if path.endswith(".pbtxt"):
            data = _kernlink.graph_in_format(data, path)
        with open(path, "wb") as file:
            file.write(data)


@dataclass(frozen=True, repr=False)
class Optimized(_HasGraph):
    """A graph that computes the same with less to do."""

    #: The graph as a serialized GraphDef.
    graph_def: bytes
    #: What is kept, in words.
    kept: str
    #: How many nodes there were.
    nodes_before: int
    #: How many there are.
    nodes: int
    #: What each pass did.
    passes: list[PassReport]
    #: How many variables the graph has, whose values are not in it.
    variables: int
    #: The node of the model that restores them, and the tensor that takes the name of the checkpoint.
    restored_by: tuple[str, str] | None
    #: The attrs of nodes that their ops do not have.
    passed_over: list[str]

    def __repr__(self) -> str:
        return f"<kernlink.tools.Optimized: {self.nodes_before} nodes before, {self.nodes} after, keeping {self.kept}>"

    def _repr_html_(self) -> str:
        return _html.optimized(self)


def optimize(
    model: PathLike,
    *,
    tags: str | Sequence[str] = (),
    signature: str | None = None,
    inputs: str | Sequence[str] = (),
    outputs: str | Sequence[str] = (),
    targets: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
    inexact: bool = False,
) -> Optimized:
    """Makes a graph that computes the same with less to do, by the passes that a session runs, as far as TensorFlow reads the result.

    Kept is what the outputs need: of a model with signatures, those of one signature; or else those that are named; or else all that
    nothing else in the graph uses. Of a model with variables their values are not in the graph.

    Args:
      model: the model.
      tags: the tags of the graph that is meant.
      signature: the signature to keep; by default `serving_default` or the only one, unless an output or target is named.
      inputs: outputs that runs feed (`node` or `node:1`), beside placeholders.
      outputs: outputs to keep.
      targets: nodes to keep that run for what they do.
      without: passes and rewrites that do not run; `passes()` lists them.
      inexact: whether rewrites are made after which results may differ in the last bits.

    Returns:
      The graph, and what each pass did.

    Raises:
      kernlink.errors.NotFoundError: if there is no such model, graph, signature, output or node.
      kernlink.errors.InvalidArgumentError: if several graphs or signatures are meant, or there is no such pass.
    """
    found = _kernlink.optimize(
        path_argument("model", model),
        texts_argument("tags", tags),
        text_argument("signature", signature),
        texts_argument("inputs", inputs),
        texts_argument("outputs", outputs),
        texts_argument("targets", targets),
        texts_argument("without", without),
        bool_argument("inexact", inexact),
    )
    done = [
        PassReport(name, changes, before, after, dict(parts), dict(failed))
        for name, changes, before, after, parts, failed in found.pop("passes")
    ]
    return Optimized(passes=done, **found)


@dataclass(frozen=True, repr=False)
class Frozen(_HasGraph):
    """A graph without variables."""

    #: The graph as a serialized GraphDef.
    graph_def: bytes
    #: For each input of the signature the output that is fed: `node:0`.
    inputs: dict[str, str]
    #: For each output of the signature the node that gives it.
    outputs: dict[str, str]
    #: How many nodes there are.
    nodes: int
    #: How many variables became constants.
    variables: int

    def __repr__(self) -> str:
        ends = f"{', '.join(self.inputs.values())} -> {', '.join(self.outputs.values())}"
        plural = "" if self.variables == 1 else "s"
        return f"<kernlink.tools.Frozen: {self.nodes} nodes, {self.variables} variable{plural} made constant, {ends}>"


def freeze(
    model: PathLike | _kernlink.MetaGraph,
    *,
    signature: str = "serving_default",
    outputs: str | Sequence[str] = (),
    tags: str | Sequence[str] | None = None,
    checkpoint: PathLike | None = None,
) -> Frozen:
    """Makes a graph of a model's signature, in which variables are constants and functions stand where they are called.

    Args:
      model: the folder of a SavedModel, or a model that is loaded, with the values that its variables have now.
      signature: the signature.
      outputs: the outputs to keep, by the signature's names for them; by default all.
      tags: the tags of the graph that is meant.
      checkpoint: from which variables get their values.

    Returns:
      The graph, and what it calls the signature's inputs and outputs.

    Raises:
      kernlink.errors.NotFoundError: if there is no such model, signature or output.
      kernlink.errors.FailedPreconditionError: if something changes a variable, or takes one in another way than to read it.
    """
    if signature is None:
        raise TypeError("signature: expected a str, not NoneType")
    name, kept = text_argument("signature", signature) or "", texts_argument("outputs", outputs)
    if not isinstance(model, _kernlink.MetaGraph):
        model = load(path_argument("model", model), tags, checkpoint=checkpoint)
    return Frozen(**model._freeze(name, kept))


@dataclass(frozen=True, repr=False)
class Gradients(_HasGraph):
    """A graph with gradients."""

    #: The graph as a serialized GraphDef.
    graph_def: bytes
    #: For each of `xs` the name of the node that gives its gradient; `None` if nothing depends on it by floats.
    names: list[str | None]

    def __repr__(self) -> str:
        return f"<kernlink.tools.Gradients: {', '.join(str(name) for name in self.names)}>"


def gradients(
    model: PathLike,
    ys: str | Sequence[str],
    xs: str | Sequence[str],
    *,
    grad_ys: str | Sequence[str] = (),
    stops: str | Sequence[str] = (),
) -> Gradients:
    """Adds gradients to the graph in a file, in which weights are constants.

    Args:
      model: the graph.
      ys: what is differentiated: outputs of floats (`node` or `node:1`), of several the sum.
      xs: with respect to what.
      grad_ys: what flows back to each of `ys`; ones unless it is given.
      stops: outputs that count as constants.

    Returns:
      The graph, and the names of the gradients in it.

    Raises:
      kernlink.errors.InvalidArgumentError: for outputs of no floats, and if nothing depends on any of `xs`.
      kernlink.errors.NotFoundError: for names that the graph lacks, and ops that have no gradient.
    """
    asked = {"ys": ys, "xs": xs, "grad_ys": grad_ys, "stops": stops}
    names = {argument: texts_argument(argument, given) for argument, given in asked.items()}
    for argument in ("ys", "xs"):
        if not names[argument]:
            raise ValueError(f"{argument} is empty: name one output at least")
    return Gradients(*_kernlink.gradients(path_argument("model", model), *names.values()))


def convert(model: PathLike, to: PathLike, *, tags: str | Sequence[str] = ()) -> None:
    """Writes a model's graph by itself: as a binary GraphDef, or as text if the name ends in `.pbtxt`.

    Args:
      model: the model, of which only one graph may be meant.
      to: the file.
      tags: the tags of the graph that is meant.

    Raises:
      kernlink.errors.NotFoundError: if there is no such graph.
      kernlink.errors.InvalidArgumentError: if several graphs are meant.
    """
    to = path_argument("to", to)
    data = _kernlink.read_graph(path_argument("model", model), texts_argument("tags", tags), to)
    with open(to, "wb") as file:
        file.write(data)


@dataclass(frozen=True, repr=False)
class Selection:
    """Which ops and kernels models need."""

    #: The file for `KERNLINK_SELECT`, by which a program is built.
    text: str
    #: The ops that are unknown here, and are selected by the attrs of their nodes.
    unknown: list[str]
    #: The gradients that cannot be derived, and are left out.
    underived: list[str]
    #: The kernels that are missing here.
    missing_kernels: list[str]

    def save(self, path: PathLike) -> None:
        """Writes the file for `KERNLINK_SELECT`."""
        with open(path_argument("path", path), "w", encoding="utf-8") as file:
            file.write(self.text)

    def __str__(self) -> str:
        return self.text.rstrip()

    def __repr__(self) -> str:
        lines = [line for line in self.text.splitlines() if not line.startswith("#")]
        return f"<kernlink.tools.Selection of {len(lines)} kernels>"


def select(
    models: PathLike | Sequence[PathLike], *, signatures: str | Sequence[str] = (), allow_unknown: bool = False
) -> Selection:
    """Says which ops and kernels models need, for a program that is built with no others.

    Args:
      models: the models.
      signatures: the signatures that are to run; of models with signatures only what these and loading need is selected.
      allow_unknown: whether ops that are unknown here are selected by the attrs of their nodes.

    Raises:
      kernlink.errors.NotFoundError: for unknown ops, gradients that cannot be derived, and signatures that no model has.
    """
    return Selection(
        *_kernlink.select(
            paths_argument("models", models),
            texts_argument("signatures", signatures),
            bool_argument("allow_unknown", allow_unknown),
        )
    )


@dataclass(frozen=True, repr=False)
class Benchmark:
    """How long a model takes."""

    #: What `kernlink bench --format json` prints: times in microseconds.
    measured: dict[str, Any]

    @property
    def latency(self) -> dict[str, float]:
        """The times of runs in seconds: `min`, `p50`, `p90`, `p99`, `max` and `mean`."""
        return {name: micros / 1e6 for name, micros in self.measured["latency_us"].items()}

    @property
    def ops(self) -> list[dict[str, Any]]:
        """What each op takes in a run, the slowest first."""
        ops: list[dict[str, Any]] = self.measured["ops"]
        return ops

    def __repr__(self) -> str:
        latency = self.latency
        return f"<kernlink.tools.Benchmark of {self.measured['model']}: p50 {latency['p50'] * 1e3:.3f} ms>"

    def _repr_html_(self) -> str:
        return _html.benchmark(self)


def bench(
    model: PathLike,
    inputs: Mapping[str, Any] | None = None,
    *,
    signature: str | None = None,
    outputs: str | Sequence[str] = (),
    tags: str | Sequence[str] = (),
    checkpoint: PathLike | None = None,
    runs: int = 50,
    warm_up: int = 5,
    threads: int | None = 0,
    device: str = "cpu",
) -> Benchmark:
    """Measures how long a model takes, and which ops and nodes take it. Terminals show how far it is.

    Args:
      model: the model.
      inputs: values of inputs: numbers, strings and lists of them, arrays. Others are made up.
      signature: the signature to run; by default `serving_default` or the only one, unless an output is named.
      outputs: what is computed; by default all outputs of the signature, or what nothing else in a graph uses.
      tags: the tags of the graph that is meant.
      checkpoint: from which variables get their values.
      runs: how many runs are timed.
      warm_up: how many runs come before them.
      threads: on how many threads; 0 for one per processor.
      device: on which device: `cpu`, `gpu` or `gpu:K`.

    Raises:
      ValueError: for numbers of runs and threads that there cannot be.
      kernlink.errors.OpError: if the model cannot be loaded or run.
    """
    counts = {"runs": _count("runs", runs, 1), "warm-up": _count("warm_up", warm_up, 0), "threads": _count("threads", threads or 0, 0)}
    arguments = ["--format=json", f"--device={text_argument('device', device) or 'cpu'}"]
    arguments += [f"--{name}={count}" for name, count in counts.items()]
    arguments += [f"--output={name}" for name in texts_argument("outputs", outputs)]
    arguments += [f"--tag={tag}" for tag in texts_argument("tags", tags)]
    if signature is not None:
        arguments.append(f"--signature={text_argument('signature', signature)}")
    if checkpoint is not None:
        arguments.append(f"--checkpoint={path_argument('checkpoint', checkpoint)}")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError(f"inputs: expected a dict of values by name, not what is of type {type(inputs).__name__}")
    for name, value in (inputs or {}).items():
        if not isinstance(name, str):
            raise TypeError(f"inputs: the names are str, not what is of type {type(name).__name__}")
        values = json.dumps(_kernlink.as_tensor(value).tolist(), default=_as_json)
        arguments.append(f"--input={name}={values}")
    # Its name may begin as an option does.
    return Benchmark(json.loads(_kernlink.bench([*arguments, "--", path_argument("model", model)])))


def _count(name: str, value: object, least: int) -> int:
    """A number of runs or threads."""
    try:
        number = index(None if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is a whole number, not of type {type(value).__name__}") from None
    if not least <= number < 2**32:
        raise ValueError(f"{name} is a whole number from {least} to {2**32 - 1}, not {number}")
    return int(number)


def _as_json(value: Any) -> Any:
    """Values that JSON lacks, as the command reads them."""
    from base64 import b64encode

    if isinstance(value, bytes):
        return {"b64": b64encode(value).decode()}
    if isinstance(value, complex):
        return [value.real, value.imag]
    raise TypeError(f"what is of type {type(value).__name__} is no value of an input")


def verify_checkpoint(checkpoint: PathLike) -> list[str]:
    """Reads every tensor of a checkpoint and compares its checksum. Terminals and notebooks show how far it is.

    Args:
      checkpoint: as for `kernlink.train.load_checkpoint`.

    Returns:
      The names of the tensors.

    Raises:
      kernlink.errors.DataLossError: if one is altered.
    """
    reader = load_checkpoint(path_argument("checkpoint", checkpoint))
    names = reader.keys()
    for name in steps("tensor", names, len(names)):
        reader.get_tensor(name)
    return names


def __dir__() -> list[str]:
    return sorted(__all__)
