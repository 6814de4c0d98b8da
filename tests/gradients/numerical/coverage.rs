//! Which gradients have been held against differences, and which need not be.

use std::collections::{BTreeMap, BTreeSet};

use kernlink::gradient::{find_gradient, registered_gradients};
use kernlink::kernel::{AttrConstraint, CPU, ConstraintValues};
use kernlink::op::{AllowedValues, ArgDef, ArgType, OpDef};
use kernlink::prelude::*;

use super::differences::{Function, Precision, slopes};
use super::exempt::{ARGUMENTS, Exempt, NOT_COMPLEX, NOT_DOUBLE, OPS};
use super::paths::{Step, is_trainable, precision, steps};

/// In what an input of an op has been checked.
#[derive(Clone, Copy, Default, Debug)]
struct Checked {
    double: bool,
    complex: bool,
    float: bool,
}

/// What has been checked so far.
#[derive(Default)]
pub(super) struct Coverage {
    /// By the op and the position of its argument.
    checked: BTreeMap<(&'static str, usize), Checked>,
    /// Exemptions that differences disagreed with, or could not tell of.
    needed: BTreeSet<Exempt>,
    /// Ops that were not to be checked in complex numbers, and cannot be.
    refused: BTreeSet<&'static str>,
}

/// How many ops have been checked, and how many are listed as those that cannot be.
pub(super) struct Counts {
    pub(super) all: usize,
    pub(super) double: usize,
    pub(super) complex: usize,
    /// In `float` alone.
    pub(super) float: usize,
    pub(super) listed: usize,
}

impl Coverage {
    /// Checks a function by each input, and counts what gradients flow through.
    pub(super) fn check(&mut self, function: &Function) -> Result<(), String> {
        let Function { graph, xs, ys, .. } = function;
        let ways: Vec<Way> = xs.iter().map(|&x| Way::new(graph, x, ys)).collect();
        let all: BTreeSet<Step> = ways.iter().flat_map(|way| &way.steps).copied().collect();
        let Some(precision) = precision(graph, &all) else { return Ok(()) };
        let found = match slopes(function, precision) {
            Ok(found) => found,
            Err(_) if ways.iter().any(|way| !way.exempt.is_empty()) => {
                self.needed.extend(ways.into_iter().flat_map(|way| way.exempt));
                return Ok(());
            }
            Err(error) => return Err(format!("{}: {error}", function.name)),
        };
        let mut failures = Vec::new();
        for (x, (found, way)) in found.iter().zip(ways).enumerate() {
            let is_exempt = !way.exempt.is_empty();
            match found.difference(precision) {
                Some(_) if is_exempt => self.needed.extend(way.exempt),
                Some(difference) => failures.push(format!("{} by x {x}: {difference}", function.name)),
                // An input without elements tells nothing.
                None if found.numerical.is_empty() => self.needed.extend(way.exempt),
                None if is_exempt => {}
                None => {
                    let is_complex = function.fed[x].1.dtype().is_complex();
                    way.steps.iter().for_each(|step| self.count(graph, step, precision, is_complex));
                }
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }

    /// Checks a function of complex numbers that is one of real numbers, if its ops take them.
    pub(super) fn check_complex(&mut self, function: &Function) -> Result<(), String> {
        let Err(failure) = self.check(function) else { return Ok(()) };
        let ops = function.graph.nodes().iter().map(|node| &*node.op.def.name);
        let listed: Vec<&str> = ops.filter(|op| is_not_complex(op)).collect();
        if listed.is_empty() {
            return Err(failure);
        }
        self.refused.extend(listed);
        Ok(())
    }

    /// Whether an op has been checked with complex numbers.
    pub(super) fn is_complex_checked(&self, op: &str) -> bool {
        self.checked.iter().any(|((name, _), checked)| *name == op && checked.complex)
    }

    fn count(&mut self, graph: &Graph, step: &Step, precision: Precision, is_complex: bool) {
        let node = graph.node(step.node);
        if find_gradient(&node.op.def.name).is_none() {
            // What calls functions has the gradients of their bodies.
            return;
        }
        let checked = self.checked.entry((&node.op.def.name, step.argument)).or_default();
        let own = graph.node(step.from.node).signature.outputs[step.from.index].dtype;
        let holds_complex = is_complex && matches!(own, DataType::Resource | DataType::Variant);
        let mut dtypes = node.signature.outputs.iter().map(|slot| slot.dtype).chain([own]);
        match precision {
            Precision::Float => checked.float = true,
            Precision::Double => {
                checked.complex |= holds_complex || dtypes.any(DataType::is_complex);
                checked.double |= !(holds_complex || own.is_complex());
            }
        }
    }

    /// What is lacking, and what is listed without need.
    pub(super) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for op in differentiable_ops() {
            let arguments = op.inputs.iter().enumerate().filter(|(_, argument)| takes_trainable(op, argument));
            for (position, argument) in arguments {
                let name = format!("{} by `{}`", op.name, argument.name);
                let checked = self.checked.get(&(&*op.name, position));
                match checked {
                    None if exemption(op, argument).is_none() => complaints.push(format!("{name}: nothing checks it")),
                    Some(Checked { double: false, .. }) if takes(op, DataType::Double) && !is_not_double(&op.name) => {
                        complaints.push(format!("{name}: not checked in double"));
                    }
                    _ => {}
                }
            }
            let is_checked = self.checked.keys().any(|(name, _)| *name == op.name);
            let is_lacking = takes(op, DataType::Complex128) && !self.is_complex_checked(&op.name);
            if is_checked && is_lacking && !is_not_complex(&op.name) {
                complaints.push(format!("{}: not checked in complex128", op.name));
            }
        }
        let ops = OPS.iter().map(|(op, _)| Exempt { op, argument: None });
        let arguments = ARGUMENTS.iter().map(|(op, argument, _)| Exempt { op, argument: Some(argument) });
        for exempt in ops.chain(arguments).filter(|exempt| !self.needed.contains(exempt)) {
            complaints.push(format!("{exempt:?} is listed, and nothing shows that differences cannot tell of it"));
        }
        for (op, _) in NOT_COMPLEX.iter().filter(|(op, _)| !self.refused.contains(op) || self.is_complex_checked(op)) {
            complaints.push(format!("{op} is listed as one without complex numbers, and nothing shows that"));
        }
        for (op, _) in NOT_DOUBLE {
            let mut checked =
                self.checked.iter().filter(|((name, _), _)| name == op).map(|(_, checked)| checked).peekable();
            let is_float = checked.peek().is_some() && checked.all(|checked| checked.float && !checked.double);
            if !is_float || has_kernel_of_double(op) {
                complaints.push(format!("{op} is listed as one that is checked in float alone, and is not"));
            }
        }
        complaints
    }

    pub(super) fn counts(&self) -> Counts {
        let ops = |is_one: fn(&Checked) -> bool| -> BTreeSet<&str> {
            self.checked.iter().filter(|(_, checked)| is_one(checked)).map(|((op, _), _)| *op).collect()
        };
        let (double, complex) = (ops(|checked| checked.double), ops(|checked| checked.complex));
        let float = ops(|checked| checked.float && !checked.double && !checked.complex);
        let wide: BTreeSet<&str> = double.union(&complex).copied().collect();
        let float = float.difference(&wide).count();
        Counts {
            all: wide.len() + float + OPS.len(),
            double: double.len(),
            complex: complex.len(),
            float,
            listed: OPS.len(),
        }
    }
}

/// What gradients flow through from an input to the results.
struct Way {
    steps: BTreeSet<Step>,
    /// What differences cannot tell of, on it.
    exempt: BTreeSet<Exempt>,
}

impl Way {
    fn new(graph: &Graph, x: Output, ys: &[Output]) -> Way {
        let found = steps(graph, x, ys, |op, argument| exempt_argument(op, argument).is_some());
        let whole = steps(graph, x, ys, |_, _| false);
        let exemptions = |steps: &BTreeSet<Step>, find: fn(&OpDef, &ArgDef) -> Option<Exempt>| {
            let found = steps.iter().filter_map(|step| {
                let op = graph.node(step.node).op.def;
                find(op, &op.inputs[step.argument])
            });
            found.collect()
        };
        match found.is_empty() {
            true => Way { exempt: exemptions(&whole, exempt_argument), steps: whole },
            false => Way { exempt: exemptions(&found, exemption), steps: found },
        }
    }
}

fn exempt_argument(op: &OpDef, argument: &ArgDef) -> Option<Exempt> {
    let found = ARGUMENTS.iter().find(|(name, input, _)| *name == op.name && *input == argument.name);
    found.map(|(op, argument, _)| Exempt { op, argument: Some(argument) })
}

/// The exemption that an input of an op has, if any.
fn exemption(op: &OpDef, argument: &ArgDef) -> Option<Exempt> {
    let of_op = || OPS.iter().find(|(name, _)| *name == op.name).map(|(op, _)| Exempt { op, argument: None });
    exempt_argument(op, argument).or_else(of_op)
}

pub(super) fn is_not_double(op: &str) -> bool {
    NOT_DOUBLE.iter().any(|(name, _)| *name == op)
}

/// Whether a kernel for the CPU may compute an op in `double`.
fn has_kernel_of_double(op: &str) -> bool {
    let kernels = kernlink::registry().unwrap().kernels_of(op);
    let is_one = |constraint: &AttrConstraint| match constraint.values {
        ConstraintValues::Types(types) => types.contains(&DataType::Double),
        _ => true,
    };
    kernels.iter().any(|kernel| kernel.device == CPU && kernel.constraints.iter().all(is_one))
}

fn is_not_complex(op: &str) -> bool {
    NOT_COMPLEX.iter().any(|(name, _)| *name == op)
}

/// Kernlink's ops that have gradients.
pub(super) fn differentiable_ops() -> impl Iterator<Item = &'static OpDef> {
    let all = registered_gradients().iter().filter(|gradient| gradient.provider.name == "kernlink-ops");
    all.filter(|gradient| gradient.differentiation.is_some()).map(|gradient| gradient.op)
}

/// The dtypes that an argument may have: all that its attr allows, or one; `None` for any.
fn dtypes(op: &OpDef, argument: &ArgDef) -> Option<Vec<DataType>> {
    match &argument.ty {
        ArgType::Fixed(dtype) => Some(vec![*dtype]),
        ArgType::Attr(name) | ArgType::ListAttr(name) => match &op.attr(name)?.allowed {
            Some(AllowedValues::Types(types)) => Some(types.to_vec()),
            _ => None,
        },
    }
}

fn takes_trainable(op: &OpDef, argument: &ArgDef) -> bool {
    dtypes(op, argument).is_none_or(|dtypes| dtypes.into_iter().any(is_trainable))
}

/// Whether all inputs and outputs of an op that gradients flow through may have a dtype, or its parts.
fn takes(op: &OpDef, dtype: DataType) -> bool {
    let arguments = op.inputs.iter().chain(op.outputs.iter());
    let mut trainable = arguments.filter(|argument| takes_trainable(op, argument)).peekable();
    trainable.peek().is_some() && trainable.all(|argument| dtypes(op, argument).is_none_or(|all| all.contains(&dtype)))
}
