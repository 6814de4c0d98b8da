//! What scopes are given and give may have more fields one day.

extern crate kernlink_framework as kernlink;

use kernlink::graph::{Applied, Graph, NodeRequest, Output};

fn taken_apart(request: NodeRequest<'_, Output>, applied: Applied<Graph>) {
    let NodeRequest { op, inputs, attrs, name, device, control_inputs, faults } = request;
    let Applied { node, outputs } = applied;
}

fn main() {}
