//! Rewrites of graphs, by theme. What they keep: every value to the bit, and every error, unless they say that they are
//! inexact. docs/optimizing.md lists them.

#[cfg(all(feature = "math", feature = "nn"))]
mod activations;
#[cfg(feature = "math")]
mod arithmetic;
#[cfg(all(feature = "math", feature = "nn"))]
mod attention;
#[cfg(feature = "nn")]
mod batch_norms;
#[cfg(all(feature = "array", feature = "math"))]
mod dimensions;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod factors;
#[cfg(all(feature = "array", feature = "math"))]
mod layouts;
#[cfg(all(feature = "array", feature = "math"))]
mod moves;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod norms;
#[cfg(all(feature = "array", feature = "nn"))]
mod padding;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod places;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod products;
#[cfg(feature = "math")]
mod roundings;
#[cfg(feature = "array")]
mod shapes;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod sizes;

/// The attrs of a node that another op has, too.
#[cfg(any(feature = "nn", all(feature = "array", feature = "math")))]
fn attrs_for(
    m: &kernlink::optimize::rewrite::Rewrite<'_, '_>,
    node: kernlink::graph::NodeId,
    op: &kernlink::op::OpDef,
) -> Vec<(String, kernlink::attr::AttrValue)> {
    let attrs = &m.node(node).attrs;
    let names = op.attrs.iter().map(|attr| attr.name.to_string());
    names.filter_map(|name| attrs.get(&name).cloned().map(|value| (name, value))).collect()
}
