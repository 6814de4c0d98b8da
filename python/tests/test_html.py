"""How notebooks show graphs and models."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import kernlink as kl

MODEL = Path(__file__).parents[2] / "tests/saved_model/data/tf2"


def picture(graph: kl.Graph) -> ElementTree.Element:
    return ElementTree.fromstring(graph._repr_html_())


def test_a_small_graph_is_a_picture() -> None:
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [None, 2], name="x")
        y = kl.raw_ops.Relu(features=x * 2.0, name="y")
    svg = picture(graph)
    boxes = [box for box in svg.iter() if box.tag.endswith("rect")]
    edges = [edge for edge in svg.iter() if edge.tag.endswith("path")]
    assert len(boxes) == 4 and len(edges) == 3 and y.op.name in "".join(svg.itertext())
    places = {(box.get("x"), box.get("y")) for box in boxes}
    assert len(places) == 4
    # The constant stands beside the placeholder, both above the product.
    assert len({box.get("y") for box in boxes}) == 3


def test_no_operations_and_many() -> None:
    assert picture(kl.Graph()).tag.endswith("svg")
    with kl.Graph() as graph:
        x = graph.placeholder("float32")
        for _ in range(100):
            x = kl.raw_ops.Neg(x=x)
    html = graph._repr_html_()
    assert "Graph of 101 operations" in html and "<td style='text-align:left'>Neg</td>" in html


def test_models_and_signatures_are_tables() -> None:
    model = kl.saved_model.load(MODEL)
    assert "serving_default" in model._repr_html_() and "x: float32 [?, 3]" in model._repr_html_()
    assert "<th" in model.signatures["words"]._repr_html_()
