//! Calls.

use std::collections::HashMap;
use std::rc::Rc;

use super::emit;
use super::joint::{Joint, Plan};
use super::shared::Key;
use crate::attr::{AttrMap, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::gradient::pass::Pass;
use crate::graph::{Function, NodeId, Output, created};

/// How many values a function hands out to its gradient as results of their own. More are handed out in one optional, so that
/// functions that call one another several times do not each hand out all that those below them do.
const MOST_APART: usize = 8;

/// A function that is cut in two: what is called in its place, and its gradient.
#[derive(Clone)]
pub(in crate::gradient) struct Pair {
    /// Returns what the function does, and then what its gradient needs; `None` if the function itself returns all of that.
    pub(in crate::gradient) forward: Option<Function>,
    /// Returns what flows on to those arguments to which something does.
    pub(in crate::gradient) backward: Function,
    /// What `backward` takes.
    pub(in crate::gradient) given: Vec<Given>,
    /// To which arguments something flows on.
    pub(in crate::gradient) found: Vec<bool>,
}

/// What a gradient is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::gradient) enum Given {
    /// What flows back to a result.
    Flow(usize),
    /// An argument.
    Argument(usize),
    /// A result of the forward part.
    Result(usize),
}

impl Pair {
    /// The two parts of a function that takes and returns these dtypes; `None` if nothing flows on to any argument.
    pub(in crate::gradient) fn of(
        pass: &mut Pass<'_>,
        function: &FunctionRef,
        dtypes: (&[DataType], &[DataType]),
        plan: Plan,
    ) -> Result<Rc<Option<Pair>>> {
        let key = Key::new("call").functions([function]).dtypes(dtypes.0).dtypes(dtypes.1).plan(&plan);
        pass.once(key, |pass| Pair::make(pass, function, dtypes, plan))
    }

    fn make(
        pass: &mut Pass<'_>,
        function: &FunctionRef,
        dtypes: (&[DataType], &[DataType]),
        plan: Plan,
    ) -> Result<Option<Pair>> {
        let joint = Joint::find(pass, function, dtypes, |_| plan)?;
        if joint.found.iter().all(Option::is_none) {
            return Ok(None);
        }
        let cut = joint.cut(|_| true)?;
        // What is a result already is handed out.
        let mut places: HashMap<Output, usize> = HashMap::new();
        for (index, result) in joint.results.iter().enumerate() {
            places.entry(*result).or_insert(index);
        }
        let extra = || cut.saved.iter().copied().filter(|saved| !places.contains_key(saved));
        // A handle in an optional would no longer tell what the variable holds.
        let is_packed = extra().count() > MOST_APART;
        let (packed, apart): (Vec<Output>, Vec<Output>) =
            extra().partition(|saved| is_packed && joint.dtype(*saved) != DataType::Resource);
        let forward = match packed.is_empty() && apart.is_empty() {
            true => None,
            false => {
                let specs = joint.specs(joint.arguments.iter().copied())?;
                let base = format!("{}_forward", function.name);
                let (forward, _) = emit::function(pass.graph, &base, specs, |graph, arguments| {
                    let values = joint.emit_forward(&cut, graph, &arguments)?;
                    let mut results: Vec<Output> =
                        joint.results.iter().chain(&apart).map(|output| values[output]).collect();
                    if !packed.is_empty() {
                        let saved: Vec<Output> = packed.iter().map(|saved| values[saved]).collect();
                        results.push(emit::output(graph, created::OPTIONAL_FROM_VALUE, &[&saved], [])?);
                    }
                    Ok(results)
                })?;
                Some(forward)
            }
        };
        places.extend((joint.results.len()..).zip(&apart).map(|(index, saved)| (*saved, index)));
        let flows = joint.flows.iter().enumerate().filter_map(|(index, flow)| Some((Given::Flow(index), (*flow)?)));
        let arguments = cut.arguments.iter().map(|&place| (Given::Argument(place), joint.arguments[place]));
        let saved = cut.saved.iter().filter_map(|saved| Some((Given::Result(*places.get(saved)?), *saved)));
        let (mut given, inside): (Vec<Given>, Vec<Output>) = flows.chain(arguments).chain(saved).unzip();
        let mut specs = joint.specs(inside.iter().copied())?;
        if !packed.is_empty() {
            given.push(Given::Result(joint.results.len() + apart.len()));
            specs.push(emit::optional());
        }
        let base = format!("{}_backward", function.name);
        let (backward, _) = emit::function(pass.graph, &base, specs, |graph, arguments| {
            let mut known: HashMap<Output, Output> = inside.iter().copied().zip(arguments.iter().copied()).collect();
            if let (false, Some(&optional)) = (packed.is_empty(), arguments.last()) {
                known.extend(emit::opened(graph, &joint, &packed, optional)?);
            }
            Ok(joint.emit_backward(&cut, graph, known)?.into_iter().flatten().collect())
        })?;
        Ok(Some(Pair { forward, backward, given, found: joint.found.iter().map(Option::is_some).collect() }))
    }
}

/// Has a node call a function, which takes what the node does and returns these, first what the node gives.
pub(super) fn call_instead(
    pass: &mut Pass<'_>,
    id: NodeId,
    function: FunctionRef,
    returns: Vec<DataType>,
    is_stateful: bool,
) -> Result<()> {
    let node = pass.graph.node(id);
    let own = node.attrs.iter().filter(|(name, _)| name.starts_with('_') && *name != "_output_shapes");
    let mut attrs: AttrMap = own.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    attrs.insert("Tin", node.signature.inputs.iter().map(|slot| slot.dtype).collect::<Vec<_>>());
    attrs.insert("Tout", returns);
    attrs.insert("f", function);
    let op = pass.graph.registry().op(if is_stateful { created::STATEFUL_CALL } else { created::CALL })?;
    pass.graph.supersede(id, op, attrs)
}

pub(super) fn differentiate(pass: &mut Pass<'_>, id: NodeId, flows: &[Option<Output>]) -> Result<Vec<Option<Output>>> {
    let node = pass.graph.node(id);
    let (inputs, signature) = (node.inputs.clone(), node.signature.clone());
    let function: FunctionRef = node.attrs.required("f")?;
    let wanted: Vec<bool> = inputs.iter().map(|input| pass.is_wanted(*input)).collect();
    let plan = Plan { flows: pass.dtypes_of(flows), wanted };
    let dtypes = (&*emit::dtypes(&signature.inputs), &*emit::dtypes(&signature.outputs));
    let pair = Pair::of(pass, &function, dtypes, plan)?;
    let Some(pair) = &*pair else { return Ok(vec![None; inputs.len()]) };
    if let Some(forward) = &pair.forward {
        let node = pass.graph.node(id);
        let (op, mut attrs) = (node.op, node.attrs.clone());
        attrs.remove("_output_shapes");
        attrs.insert("f", forward.reference());
        attrs.insert("Tout", forward.result_dtypes().to_vec());
        pass.graph.supersede(id, op, attrs)?;
    }
    let given = pair.given.iter().map(|given| match *given {
        Given::Flow(index) => flows[index].ok_or_else(|| Error::internal("a flow that there is not")),
        Given::Argument(place) => Ok(inputs[place]),
        Given::Result(index) => Ok(Output { node: id, index }),
    });
    let given = given.collect::<Result<Vec<_>>>()?;
    let backward = &pair.backward;
    let op = emit::call_of(backward);
    let name = format!("{}/{}_grad/{op}", pass.prefix, pass.graph.node(id).name);
    let attrs = [("f", backward.reference().into()), ("Tout", backward.result_dtypes().to_vec().into())];
    let call = pass.add_for(id, op, &name, &[&given], attrs)?;
    let mut results = (0..).map(|index| Output { node: call, index });
    Ok(pair.found.iter().map(|found| if *found { results.next() } else { None }).collect())
}
