//! Every registered gradient, held against central differences: of the cases whose gradients TensorFlow has computed, and of
//! functions for the ops that these lack.
//!
//! A gradient that nothing here checks fails the test: it wants a case (`../generate.py`), a function (`inputs`), or an entry in
//! the lists of `exempt` with a reason. An entry that differences agree with fails it, too.

mod coverage;
mod differences;
mod exempt;
mod inputs;
mod paths;
mod widened;

use std::cell::RefCell;
use std::collections::BTreeSet;

use kernlink::prelude::*;

use self::coverage::{Counts, Coverage, differentiable_ops, is_not_double};
use self::differences::Function;
use self::exempt::OTHER_POINTS;
use self::widened::{Width, widened};
use super::cases::{Case, each_case, each_control_flow_case};

#[test]
fn every_gradient_is_that_of_differences() {
    let functions = RefCell::new(inputs::functions());
    let used = RefCell::new(BTreeSet::new());
    let of_case = |case: &Case| {
        let elsewhere = OTHER_POINTS.iter().find(|(prefix, _)| case.name.starts_with(prefix));
        match elsewhere {
            Some((prefix, _)) => _ = used.borrow_mut().insert(*prefix),
            None => functions.borrow_mut().extend(function(case)),
        }
        Ok(())
    };
    each_case(of_case);
    each_control_flow_case(of_case);

    let (mut coverage, mut failures) = (Coverage::default(), Vec::new());
    let functions: Vec<Function> = functions.into_inner().into_iter().map(in_double).collect();
    failures.extend(functions.iter().filter_map(|function| coverage.check(function).err()));
    // In complex numbers, what was in real ones alone.
    let missing: BTreeSet<&str> =
        differentiable_ops().map(|op| &*op.name).filter(|op| !coverage.is_complex_checked(op)).collect();
    for function in &functions {
        let is_missing = function.graph.nodes().iter().any(|node| missing.contains(&*node.op.def.name));
        let complex = is_missing.then(|| widened(function, Width::Complex));
        failures.extend(complex.and_then(Result::ok).and_then(|function| coverage.check_complex(&function).err()));
    }
    failures.extend(coverage.complaints());
    let unused = OTHER_POINTS.iter().filter(|(prefix, _)| !used.borrow().contains(prefix));
    failures.extend(unused.map(|(prefix, _)| format!("no case is called `{prefix}...`")));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));

    let counts = coverage.counts();
    assert_eq!(counts.all, differentiable_ops().count());
    let Counts { double, complex, float, listed, .. } = counts;
    let stated =
        format!("{double} ops in `double`, {complex} in `complex128`, {float} in `float` alone; {listed} cannot be");
    println!("{stated}");
    let page = include_str!("../../../docs/gradients.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&stated), "docs/gradients.md should say: {stated}");
}

/// The function in `double` where that is wider, if its ops take that.
fn in_double(function: Function) -> Function {
    if function.graph.nodes().iter().any(|node| is_not_double(&node.op.def.name)) {
        return function;
    }
    let mut slots = function.graph.nodes().iter().flat_map(|node| &node.signature.outputs);
    match slots.any(|slot| matches!(slot.dtype, DataType::Float | DataType::Complex64)) {
        true => widened(&function, Width::Double).unwrap_or(function),
        false => function,
    }
}

/// The function of a case; `None` where it is at a point that has no slopes, stops gradients, or is of numbers too short for
/// differences.
fn function(case: &Case) -> Option<Function> {
    let Case { name, graph, xs, ys, values, .. } = case;
    let has_slopes = !["_edges", "_ties", "_zeros"].iter().any(|point| name.contains(point));
    let is_short = |value: &Tensor| matches!(value.dtype(), DataType::Half | DataType::Bfloat16);
    let stops = graph.nodes().iter().any(|node| &*node.op.def.name == "StopGradient");
    let is_one = has_slopes && !stops && !ys.is_empty() && !values.iter().any(is_short);
    is_one.then(|| Function {
        name: name.clone(),
        graph: graph.clone(),
        fed: xs.iter().copied().zip(values.iter().cloned()).collect(),
        xs: xs.clone(),
        ys: ys.clone(),
    })
}
