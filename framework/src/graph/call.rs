//! Shape inference through calls: a function's body is inferred with what is known of the arguments.

use super::function::instantiate;
use super::infer::{Call, Faults, Scope, Site};
use super::remembered::Known;
use super::remembered::{Asked, Question};
use super::{Graph, NodeClass, Output};
use crate::attr::{AttrValue, FunctionRef};
use crate::error::{Error, Result};
use crate::proto::op_def::ArgDef;
use crate::shape::PartialShape;
use crate::shape_inference::{LinkedDim, LinkedShape};

/// How many calls deep inference goes; what is called beyond is unknown.
const MAX_DEPTH: u32 = 32;

/// How often the body of a loop is inferred before what still changes is given up.
const MAX_ROUNDS: usize = 16;

impl Graph {
    /// What will be known of the outputs of a node that calls functions; `None` for other nodes, and where the
    /// functions do not tell.
    ///
    /// A call is what its function's body makes of the arguments, as in TensorFlow. So is a conditional or a loop whose
    /// attr `output_shapes` is empty, where TensorFlow gives up or assumes that a loop changes no shape.
    ///
    /// # Errors
    /// Those of a called body. A branch or a loop may never run, so theirs are none.
    pub(super) fn infer_call(
        &self,
        site: &Site<'_>,
        scope: &Scope<'_>,
        next_symbol: &mut u64,
    ) -> Result<Option<Vec<Known>>> {
        // A body that is to run needs no shapes of what it calls, which has a plan of its own.
        if self.functions.is_none() || scope.faults == Faults::Ignore {
            return Ok(None);
        }
        let has_shapes =
            matches!(site.attrs.get("output_shapes"), Some(AttrValue::ListShape(shapes)) if !shapes.is_empty());
        let function = |name: &str| -> Vec<&FunctionRef> {
            site.attrs.get(name).map(AttrValue::functions).unwrap_or_default().iter().collect()
        };
        match site.class {
            NodeClass::Call => {
                if matches!(site.attrs.get("_disable_call_shape_inference"), Some(AttrValue::Bool(true))) {
                    return Ok(None);
                }
                let [function] = function("f")[..] else { return Ok(None) };
                let arguments: Vec<_> = site.inputs.iter().map(|&input| Some(input)).collect();
                let known = self.known_inputs(site.inputs, next_symbol);
                self.infer_body(function, site, &arguments, &known, scope, next_symbol)
            }
            NodeClass::If if !has_shapes => {
                let branches = [function("then_branch"), function("else_branch")].concat();
                Ok(self.infer_branches(&branches, site, scope, next_symbol))
            }
            NodeClass::Case if !has_shapes => Ok(self.infer_branches(&function("branches"), site, scope, next_symbol)),
            NodeClass::While if !has_shapes => match function("body")[..] {
                [body] => Ok(self.infer_loop(body, site, scope, next_symbol)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn known_inputs(&self, inputs: &[Output], next_symbol: &mut u64) -> Vec<Known> {
        inputs.iter().map(|&input| self.known(input, next_symbol)).collect()
    }

    /// What all branches have in common; `None` if nothing is known of one of them.
    fn infer_branches(
        &self,
        branches: &[&FunctionRef],
        site: &Site<'_>,
        scope: &Scope<'_>,
        next_symbol: &mut u64,
    ) -> Option<Vec<Known>> {
        let inputs = site.inputs.get(1..)?;
        let arguments: Vec<_> = inputs.iter().map(|&input| Some(input)).collect();
        let known = self.known_inputs(inputs, next_symbol);
        let mut common: Option<Vec<Known>> = None;
        for branch in branches {
            let outputs = self.infer_body(branch, site, &arguments, &known, scope, next_symbol).ok()??;
            common = Some(match common {
                None => outputs,
                Some(common) => common.iter().zip(&outputs).map(|(a, b)| relax(a, b, u64::MAX, next_symbol)).collect(),
            });
        }
        common
    }

    /// What stays true of the values of a loop, however often it runs.
    fn infer_loop(
        &self,
        body: &FunctionRef,
        site: &Site<'_>,
        scope: &Scope<'_>,
        next_symbol: &mut u64,
    ) -> Option<Vec<Known>> {
        // In TensorFlow a loop gives what it takes, but perhaps not in a user's own registry.
        if site.inputs.len() != site.signature.outputs.len() {
            return None;
        }
        // What no iteration changes has its value inside too.
        let passes_on = self.passed_on(body);
        let arguments = site.inputs.iter().enumerate();
        let arguments: Vec<_> = arguments.map(|(index, &input)| Some(input).filter(|_| passes_on(index))).collect();
        let mut known = self.known_inputs(site.inputs, next_symbol);
        let first_symbol = *next_symbol;
        for round in 0..=MAX_ROUNDS {
            let outputs = self.infer_body(body, site, &arguments, &known, scope, next_symbol).ok()??;
            let mut relaxed: Vec<Known> =
                known.iter().zip(&outputs).map(|(a, b)| relax(a, b, first_symbol, next_symbol)).collect();
            if relaxed == known {
                return Some(known);
            }
            if round + 1 == MAX_ROUNDS {
                for (relaxed, known) in relaxed.iter_mut().zip(&known) {
                    if relaxed != known {
                        *relaxed = unknown(next_symbol);
                    }
                }
            }
            known = relaxed;
        }
        Some(site.signature.outputs.iter().map(|_| unknown(next_symbol)).collect())
    }

    /// Which results of a function are the arguments in the same places.
    pub(crate) fn passed_on(&self, function: &FunctionRef) -> impl Fn(usize) -> bool {
        let def = self.functions.as_ref().and_then(|functions| functions.find(&function.name));
        let signature = def.and_then(|def| def.signature.as_ref());
        move |index| {
            let (Some(def), Some(signature)) = (def, signature) else { return false };
            // Each must be one tensor, so that their places are those of the node.
            let is_list = |arg: &ArgDef| !arg.number_attr.is_empty() || !arg.type_list_attr.is_empty();
            let ends = (signature.input_arg.get(index), signature.output_arg.get(index));
            let (Some(argument), Some(result)) = ends else { return false };
            !signature.input_arg.iter().chain(&signature.output_arg).any(is_list)
                && def.ret.get(&result.name) == Some(&argument.name)
        }
    }

    /// What will be known of the results of a function; `None` if it is not in the library, or too much was looked at.
    fn infer_body(
        &self,
        function: &FunctionRef,
        site: &Site<'_>,
        arguments: &[Option<Output>],
        known: &[Known],
        scope: &Scope<'_>,
        next_symbol: &mut u64,
    ) -> Result<Option<Vec<Known>>> {
        let Some(def) = self.functions.as_ref().and_then(|functions| functions.find(&function.name)) else {
            return Ok(None);
        };
        if scope.depth >= MAX_DEPTH {
            return Ok(None);
        }
        // The arguments are the node's last inputs: before them may stand what chooses a branch.
        let inputs = &site.signature.inputs;
        let types = &inputs[inputs.len().saturating_sub(arguments.len())..];
        let question = function.attrs.is_empty().then(|| {
            let dtypes = types.iter().map(|slot| slot.dtype);
            Question::new(&function.name, scope.depth, dtypes, known, site.signature.outputs.len())
        });
        let remembered = &scope.budget.remembered;
        let has_value = |index: usize| match arguments.get(index).copied().flatten() {
            Some(argument) => !matches!(self.evaluate(argument, scope), Ok(None)),
            None => false,
        };
        if let Some(results) = question.as_ref().and_then(|question| remembered.find(question, has_value, next_symbol))
        {
            return Ok(Some(results));
        }
        let Some(body) = instantiate(def, function, self.functions.as_deref(), &self.registry, scope.budget)? else {
            return Ok(None);
        };
        let call = Call { graph: self, scope, arguments, known, types, asked: Asked::default() };
        let inner = Scope { call: Some(call), budget: scope.budget, depth: scope.depth + 1, faults: Faults::Refuse };
        let mut graph = self.empty_like(*next_symbol);
        graph.import_nodes(&body, &inner).map_err(|error| {
            error.context(format!("in function `{}`, which node `{}` calls", function.name, site.name))
        })?;
        *next_symbol = graph.next_symbol;
        let mut results: Vec<Option<Known>> = vec![None; site.signature.outputs.len()];
        for node in graph.nodes.iter().filter(|node| node.class == NodeClass::Retval) {
            let index: i64 = node.attrs.required("index")?;
            let slot = usize::try_from(index).ok().and_then(|index| results.get_mut(index));
            let slot = slot.ok_or_else(|| {
                Error::invalid_argument(format!("function `{}` has more results than the call", function.name))
            })?;
            *slot = node.inputs.first().map(|&input| graph.known(input, next_symbol));
        }
        let missing = || {
            Error::invalid_argument(format!("function `{}` has fewer results than the call has outputs", function.name))
        };
        let results = results.into_iter().map(|known| known.ok_or_else(missing)).collect::<Result<Vec<Known>>>()?;
        if let (Some(question), Some(call)) = (question, inner.call) {
            remembered.keep(question, call.asked, &results);
        }
        Ok(Some(results))
    }
}

pub(super) fn unknown(next_symbol: &mut u64) -> Known {
    Known { shape: LinkedShape::new(&PartialShape::unknown(), next_symbol), held: None }
}

/// What is known of a value that may be one or the other. Symbols from `own_from` on stand for whatever the value turns
/// out to be, in a loop for instance: they stay.
pub(super) fn relax(a: &Known, b: &Known, own_from: u64, next_symbol: &mut u64) -> Known {
    let held = match (&a.held, &b.held) {
        (Some(a), Some(b)) if a == b => Some(a.clone()),
        _ => None,
    };
    Known { shape: relax_shape(&a.shape, &b.shape, own_from, next_symbol), held }
}

fn relax_shape(a: &LinkedShape, b: &LinkedShape, own_from: u64, next_symbol: &mut u64) -> LinkedShape {
    match (a, b) {
        _ if a == b => a.clone(),
        (LinkedShape::Dims(x), LinkedShape::Dims(y)) if x.len() == y.len() => {
            let dims = x.iter().zip(y).map(|(x, y)| match (x, y) {
                (x, y) if x == y => *x,
                (LinkedDim::Symbol(symbol), _) if *symbol >= own_from => *x,
                _ => {
                    *next_symbol += 1;
                    LinkedDim::Symbol(*next_symbol - 1)
                }
            });
            LinkedShape::Dims(dims.collect())
        }
        (LinkedShape::Symbol(symbol), _) if *symbol >= own_from => a.clone(),
        _ => LinkedShape::new(&PartialShape::unknown(), next_symbol),
    }
}
