//! The ops and kernels that models need.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::error::{Error, Result, shortened};
use crate::formats::{self, Signature};
use crate::gradient::derive_gradient;
use crate::graph::{Graph, Needs, NodeId, Output};
use crate::proto::MetaGraphDef;
use crate::registry::{did_you_mean, listed};
use crate::tools::{lacking, read_model};

/// What models need.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selected {
    /// The file for `KERNLINK_SELECT`, by which a program is built.
    pub text: String,
    /// The ops that are unknown here, with lines; an error unless they are allowed.
    pub unknown: Vec<String>,
    /// The gradients that cannot be derived here; an error unless that is allowed.
    pub underived: Vec<String>,
    /// The kernels that are missing here.
    pub missing_kernels: Vec<String>,
}

/// What the models at these paths need, or of models with signatures what these signatures and loading need; unless ops that are
/// unknown here are allowed, they are an error. `by_flags` says whether errors name the command's flags.
///
/// # Errors
/// NOT_FOUND for ops that are unknown, gradients that cannot be derived, or a signature that no model has; and as [`read_model`] and
/// [`Needs::add`].
pub fn select(models: &[PathBuf], signatures: &[String], allow_unknown: bool, by_flags: bool) -> Result<Selected> {
    let called = |name: &str| if by_flags { format!("--{}", name.replace('_', "-")) } else { name.to_owned() };
    let registry = crate::registry()?;
    let mut needs = Needs::new(&registry).with_created(crate::optimize::created()).with_gradients(derive_gradient);
    let mut found = HashSet::new();
    for model in models {
        let context = |error: Error| error.context(model.display());
        let mut graphs = read_model(model)?;
        if !signatures.is_empty() {
            found.extend(keep_signatures(&mut graphs, signatures, &called("signature")).map_err(context)?);
        }
        for graph in graphs.iter().filter_map(|graph| graph.graph_def.as_ref()) {
            needs.add(graph).map_err(context)?;
        }
    }
    if let Some(name) = signatures.iter().find(|name| !found.contains(*name)) {
        let message = format!("{}: no model has a signature `{}`", called("signature"), shortened(name));
        return Err(Error::not_found(message));
    }
    let unknown = lacking::lines(needs.unknown_ops(), |op, nodes| registry.missing_op(op, nodes));
    let allow = called("allow_unknown");
    if !unknown.is_empty() && !allow_unknown {
        return Err(Error::not_found(format!(
            "the models need ops that are unknown here:{}\nif they are declared elsewhere, \
             {allow} selects them by the attrs of their nodes",
            indented(&unknown)
        )));
    }
    let underived: Vec<String> = needs.missing_gradients().map(str::to_owned).collect();
    if !underived.is_empty() && !allow_unknown {
        return Err(Error::not_found(format!(
            "the models ask for gradients that cannot be derived here:{}\nif nothing runs these nodes, or what they need is \
             declared elsewhere, {allow} selects the rest; lines for what such gradients are made of can be added \
             by hand, or your program makes the selection itself (`kernlink::graph::Needs`)",
            indented(&underived)
        )));
    }
    let names: Vec<_> = models.iter().map(|model| model.file_name().unwrap_or_default().display()).collect();
    let names = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ").replace(['\n', '\r'], " ");
    let mut text = String::from(
        "# Kernlink selection: the ops and kernels that stay in a program built with KERNLINK_SELECT=<this file>.\n",
    );
    let _ = writeln!(text, "# Written by kernlink {} select for: {names}", env!("CARGO_PKG_VERSION"));
    text.push_str("# A line: OP DEVICE ATTR=VALUE ...; what it does not mention may be anything.\n");
    let _ = write!(text, "{needs}");
    let missing_kernels = needs.missing_kernels().map(str::to_owned).collect();
    Ok(Selected { text, unknown, underived, missing_kernels })
}

/// Each on a line of its own below what they are.
pub(crate) fn indented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// Leaves of the graphs of a model those that have any of these signatures, and of each what they and its loading need. A
/// model without signatures stays as it is. Returns the names that were found.
fn keep_signatures(graphs: &mut Vec<MetaGraphDef>, wanted: &[String], called: &str) -> Result<Vec<String>> {
    let names = |graph: &MetaGraphDef| formats::signature_names(graph).map(str::to_owned).collect::<Vec<_>>();
    let all: Vec<String> = graphs.iter().flat_map(names).collect();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let found: Vec<String> = wanted.iter().filter(|name| all.contains(name)).cloned().collect();
    if found.is_empty() {
        let all = || all.iter().map(String::as_str);
        let (name, hint) = (shortened(&wanted[0]), did_you_mean(&wanted[0], all()));
        let message = format!("{called}: the model has no signature `{name}`{hint}; it has {}", listed(all()));
        return Err(Error::not_found(message));
    }
    graphs.retain(|graph| found.iter().any(|name| graph.signature_def.contains_key(name)));
    graphs.iter_mut().try_for_each(|graph| prune(graph, &found))?;
    Ok(found)
}

/// Removes the nodes of a graph that neither its loading nor a run of these signatures needs.
fn prune(meta: &mut MetaGraphDef, names: &[String]) -> Result<()> {
    let loading = formats::load_targets(meta)?;
    let Some(def) = &mut meta.graph_def else { return Ok(()) };
    let graph = Graph::import(def, &crate::registry()?)?;
    let loading: Vec<NodeId> = loading.iter().map(|name| graph.find_or_suggest(name)).collect::<Result<_>>()?;
    let mut needed: HashSet<NodeId> = graph.needed(&[], &[], &loading).into_iter().collect();
    for (name, signature) in names.iter().filter_map(|name| meta.signature_def.get_key_value(name)) {
        let context = |error: Error| error.context(format!("signature `{}`", shortened(name)));
        let signature = Signature::from_proto(signature).map_err(context)?;
        let of = |tensor: &formats::SignatureTensor| graph.output(&tensor.tensor).map_err(context);
        let fed = signature.inputs.values().map(of).collect::<Result<Vec<Output>>>()?;
        let wanted = signature.outputs.values().map(of).collect::<Result<Vec<Output>>>()?;
        needed.extend(graph.needed(&fed, &wanted, &[]));
        // A run feeds them, and the graph has them yet.
        needed.extend(fed.iter().map(|input| input.node));
    }
    def.node.retain(|node| graph.find(&node.name).is_some_and(|id| needed.contains(&id)));
    Ok(())
}
