//! Shape inference of one node from what is known of its inputs: their shapes, what they hold, and their values where
//! the op's shape function asks for them.

use super::budget::Budget;
use super::remembered::{Asked, Known};
use super::{Graph, NodeClass, Output};
use crate::attr::{AttrMap, AttrValue};
use crate::collect::OpEntry;
use crate::error::{Error, Result, catch_panic};
use crate::op::{InOutType, Signature};
use crate::shape::PartialShape;
use crate::shape_inference::{InferenceContext, LinkedDim, LinkedShape, LinkedShapeAndType, Links};

/// Where nodes are inferred: in a graph of its own, or in a function's body with the arguments of one call.
pub(super) struct Scope<'a> {
    pub(super) call: Option<Call<'a>>,
    /// What of function bodies may still be looked into.
    pub(super) budget: &'a Budget,
    /// How many calls deep this is.
    pub(super) depth: u32,
    pub(super) faults: Faults,
}

/// What becomes of the faults that shape inference finds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Faults {
    /// They are errors: a graph that is being built, or a body on behalf of a call, which counts as the call's own fault.
    Refuse,
    /// Those of the bodies of called functions are noted with the call: a graph that is imported. They may come from shapes
    /// that a run's feeds do not have.
    NoteCalls,
    /// They are none: the body of a function that is to run. TensorFlow runs none of its shape functions, and what they
    /// cannot tell without a call's arguments may be right. What is unknown is for kernels to check.
    Ignore,
}

/// What a function is called with.
pub(super) struct Call<'a> {
    /// The graph that calls it.
    pub(super) graph: &'a Graph,
    pub(super) scope: &'a Scope<'a>,
    /// The arguments in that graph, for their values; `None` where they differ from call to call.
    pub(super) arguments: &'a [Option<Output>],
    pub(super) known: &'a [Known],
    /// Their types.
    pub(super) types: &'a [InOutType],
    pub(super) asked: Asked,
}

/// A node before it is in the graph.
pub(super) struct Site<'n> {
    pub(super) name: &'n str,
    pub(super) op: &'static OpEntry,
    pub(super) class: NodeClass,
    pub(super) attrs: &'n AttrMap,
    pub(super) signature: &'n Signature,
    pub(super) inputs: &'n [Output],
}

impl Scope<'_> {
    /// That of a graph that is being built.
    pub(super) fn root(budget: &Budget) -> Scope<'_> {
        Scope { call: None, budget, depth: 0, faults: Faults::Refuse }
    }

    /// That of a graph that is imported.
    pub(super) fn of_import(budget: &Budget) -> Scope<'_> {
        Scope { faults: Faults::NoteCalls, ..Scope::root(budget) }
    }

    /// That of a function's body which is to run.
    pub(super) fn of_body(budget: &Budget) -> Scope<'_> {
        Scope { faults: Faults::Ignore, ..Scope::root(budget) }
    }
}

impl Graph {
    /// What is known of an output's shape, with the identity of what is not: equal symbols stand for equal sizes in the
    /// whole graph.
    pub fn linked_shape(&self, output: Output) -> LinkedShape {
        match self.links.get(&output) {
            Some(shape) => shape.clone(),
            None => {
                let dims = self.shape(output).dims().unwrap_or_default();
                LinkedShape::Dims(dims.iter().map(|dim| LinkedDim::Known(dim.unwrap_or_default())).collect())
            }
        }
    }

    /// What is known of the shapes and dtypes behind an output that is a resource or variant.
    pub fn handle_shapes_and_types(&self, output: Output) -> Option<&[LinkedShapeAndType]> {
        self.held.get(&output).map(Vec::as_slice)
    }

    /// What is known of an output; nothing if its node is still to come.
    pub(super) fn known(&self, output: Output, next_symbol: &mut u64) -> Known {
        if output.node.index() < self.nodes.len() {
            Known { shape: self.linked_shape(output), held: self.held.get(&output).cloned() }
        } else {
            Known { shape: LinkedShape::new(&PartialShape::unknown(), next_symbol), held: None }
        }
    }

    /// Adds what the caller knows of an output's shape to what was inferred.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output, or its shape is another one.
    pub fn set_shape(&mut self, output: Output, shape: &PartialShape) -> Result<()> {
        if self.slot(output).is_none() {
            return Err(Error::invalid_argument(format!("a shape is set: {}", self.absent(output))));
        }
        let mut next_symbol = self.next_symbol;
        let mut known = self.known(output, &mut next_symbol);
        let told = known.shape.to_partial();
        let merged = told.merge(shape).map_err(|error| error.context(format!("`{}`", self.output_name(output))))?;
        if merged != told {
            known.shape = LinkedShape::new(&merged, &mut next_symbol);
            self.note(output, known);
            self.next_symbol = next_symbol;
        }
        Ok(())
    }

    /// Notes what is known of an output.
    pub(super) fn note(&mut self, output: Output, known: Known) {
        let Known { shape, held } = known;
        let partial = shape.to_partial();
        if partial.to_shape().is_some() {
            self.links.remove(&output);
        } else {
            self.links.insert(output, shape);
        }
        match held {
            Some(held) => self.held.insert(output, held),
            None => self.held.remove(&output),
        };
        let node = self.nodes.get_mut(output.node.index());
        if let Some(slot) = node.and_then(|node| node.output_shapes.get_mut(output.index)) {
            *slot = partial;
        }
    }

    /// What will be known of a node's outputs.
    pub(super) fn infer(&self, site: &Site<'_>, scope: &Scope<'_>, next_symbol: &mut u64) -> Result<Vec<Known>> {
        if let Some(outputs) = self.infer_argument(site, scope)? {
            return Ok(outputs);
        }
        if let Some(outputs) = self.infer_call(site, scope, next_symbol)? {
            return Ok(outputs);
        }
        let inputs: Vec<Known> = site.inputs.iter().map(|&input| self.known(input, next_symbol)).collect();
        self.run_shape_fn(site, &inputs, scope, next_symbol)
    }

    /// An `_Arg` in a function's body is what the call gives it.
    fn infer_argument(&self, site: &Site<'_>, scope: &Scope<'_>) -> Result<Option<Vec<Known>>> {
        let (Some(call), NodeClass::Arg) = (&scope.call, site.class) else { return Ok(None) };
        let index: i64 = site.attrs.required("index")?;
        let argument = usize::try_from(index).ok().and_then(|i| Some((call.known.get(i)?, call.types.get(i)?)));
        let (known, given) = argument.ok_or_else(|| {
            Error::invalid_argument(format!("argument {index} is asked for of a call that has {}", call.known.len()))
        })?;
        match site.signature.outputs.first() {
            Some(expected) if expected.dtype != given.dtype => Err(Error::invalid_argument(format!(
                "argument {index} is {} in the function, but the call gives it {}",
                expected.dtype, given.dtype
            ))),
            _ => Ok(Some(vec![known.clone()])),
        }
    }

    /// Runs the op's shape function: first without the inputs' values, and again with those that it asked for, for as
    /// long as that tells more.
    pub(super) fn run_shape_fn(
        &self,
        site: &Site<'_>,
        inputs: &[Known],
        scope: &Scope<'_>,
        next_symbol: &mut u64,
    ) -> Result<Vec<Known>> {
        let mut unknown = || Known { shape: LinkedShape::new(&PartialShape::unknown(), next_symbol), held: None };
        let Some(shape_fn) = site.op.shape_fn else {
            return Ok(site.signature.outputs.iter().map(|_| unknown()).collect());
        };
        let mut links = Links::default();
        let (op, signature) = (site.op.def, site.signature);
        let mut c = InferenceContext::new(op, site.attrs, signature, Vec::new(), Vec::new());
        c.set_graph_def_version(self.versions.producer);
        for (index, input) in inputs.iter().enumerate() {
            c.set_input(index, links.enter(&c, &input.shape));
            if let Some(held) = &input.held {
                let held = links.enter_held(&c, held);
                c.set_input_handle_shapes_and_types(index, &held);
            }
        }
        catch_panic("the shape function", || c.run(shape_fn))?;
        let mut tried = vec![(false, false); inputs.len()];
        loop {
            let mut again = false;
            for (index, tried) in tried.iter_mut().enumerate() {
                // A shape that an input holds is only looked for where its value was asked for too, as in TensorFlow.
                if !c.requested_input_tensor(index) {
                    continue;
                }
                if !std::mem::replace(&mut tried.0, true)
                    && let Some(value) = self.evaluate(site.inputs[index], scope)?
                {
                    c.set_input_tensor(index, value);
                    again = true;
                }
                if c.requested_input_tensor_as_partial_shape(index) && !std::mem::replace(&mut tried.1, true) {
                    let shape = self.constant_partial_shape(site.inputs[index], scope, next_symbol)?;
                    c.set_input_tensor_as_shape(index, links.enter(&c, &shape));
                    again = true;
                }
            }
            if !again {
                break;
            }
            catch_panic("the shape function", || c.run(shape_fn))?;
        }
        let known = (0..c.num_outputs()).map(|index| {
            let held = c.output_handle_shapes_and_types(index);
            Known {
                shape: links.leave(&c, c.output(index), next_symbol),
                held: held.map(|held| links.leave_held(&c, &held, next_symbol)),
            }
        });
        Ok(known.collect())
    }

    /// Merges what the node's attr `_output_shapes` says into what was inferred of its outputs. What no longer fits says
    /// nothing: programs that change graphs leave it behind.
    pub(super) fn merge_output_shapes_attr(site: &Site<'_>, known: &mut [Known], next_symbol: &mut u64) {
        let Some(AttrValue::ListShape(shapes)) = site.attrs.get("_output_shapes") else { return };
        if shapes.len() < known.len() {
            return;
        }
        let c = InferenceContext::new(site.op.def, site.attrs, site.signature, Vec::new(), Vec::new());
        let mut links = Links::default();
        for (known, shape) in known.iter_mut().zip(shapes) {
            let inferred = links.enter(&c, &known.shape);
            if let Ok(merged) = c.merge(inferred, c.make_shape_from_partial(shape)) {
                known.shape = links.leave(&c, merged, next_symbol);
            }
        }
    }
}
