//! How much memory a shader's threads and workgroups take: WGSL's front end takes any amount, and drivers end the process where there
//! is too little.

use std::collections::HashSet;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{AddressSpace, Expression, Function, GlobalVariable, Handle, Module, Statement, TypeInner};

/// The most bytes of a value and of a thread's variables: WGSL guarantees 8 KiB of the latter.
const MOST: u64 = 64 << 10;

/// What a shader takes, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Memory {
    /// The variables of a workgroup.
    pub(crate) workgroup: u64,
    /// The variables of a thread, those of each call by themselves.
    pub(crate) thread: u64,
}

impl Memory {
    /// Whether one shader may have these functions after each other.
    pub(crate) fn join(all: impl Iterator<Item = Memory>) -> bool {
        all.fold(0, |sum: u64, one| sum.saturating_add(one.thread)) <= MOST
    }
}

/// The bytes that a shader takes.
///
/// # Errors
/// What takes too much of a thread.
pub(super) fn of(module: &Module, info: &ModuleInfo) -> Result<Memory, String> {
    let size = |inner: &TypeInner| u64::from(inner.try_size(module.to_ctx()).unwrap_or(0));
    let of_variables = |space: AddressSpace| -> u64 {
        let variables = module.global_variables.iter().filter(|(_, variable)| variable.space == space);
        variables.map(|(_, GlobalVariable { ty, .. })| size(&module.types[*ty].inner)).sum()
    };
    let bounded = |bytes: u64, what: &str| match bytes {
        0..=MOST => Ok(()),
        _ => Err(format!("{what} {bytes} bytes, and no thread has more than {MOST}")),
    };
    let private = of_variables(AddressSpace::Private);
    bounded(private, "its private variables take")?;
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    // By the functions' numbers: what is called comes before what calls it.
    let mut taken: Vec<u64> = Vec::with_capacity(module.functions.len() + module.entry_points.len());
    for (function, info) in functions.chain(entries) {
        let name = function.name.as_deref().unwrap_or("main");
        let variables: u64 = function.local_variables.iter().map(|(_, own)| size(&module.types[own.ty].inner)).sum();
        bounded(variables, &format!("the variables of `{name}` take"))?;
        bounded(largest(module, function, info, size), &format!("a value in `{name}` takes"))?;
        // Compilers put the functions into each other, so that each call has variables of its own.
        let own = variables.saturating_add(copied(module, function, info, size));
        let called = calls(function).into_iter().filter_map(|function| taken.get(function.index()));
        let all = called.fold(own, |all, &one| all.saturating_add(one));
        bounded(all.saturating_add(private), &format!("the variables of `{name}` and of all that it calls take"))?;
        taken.push(all);
    }
    let thread = private.saturating_add(taken[module.functions.len()..].iter().copied().max().unwrap_or(0));
    Ok(Memory { workgroup: of_variables(AddressSpace::WorkGroup), thread })
}

/// The largest of a function's values.
fn largest(module: &Module, function: &Function, info: &FunctionInfo, size: impl Fn(&TypeInner) -> u64) -> u64 {
    let values = function.expressions.iter().map(|(handle, _)| info[handle].ty.inner_with(&module.types));
    // Pointers lead to what is elsewhere.
    let values = values.filter(|inner| !matches!(inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }));
    values.map(size).max().unwrap_or(0)
}

/// The bytes of those of a function's values of which an element is taken by a number that is computed: such a value is copied to
/// a variable.
fn copied(module: &Module, function: &Function, info: &FunctionInfo, size: impl Fn(&TypeInner) -> u64) -> u64 {
    let indexed = function.expressions.iter().filter_map(|(_, expression)| match *expression {
        Expression::Access { base, .. } => Some(base),
        _ => None,
    });
    let indexed: HashSet<_> = indexed.collect();
    let values = indexed.into_iter().map(|base| info[base].ty.inner_with(&module.types));
    let values = values.filter(|inner| matches!(inner, TypeInner::Array { .. } | TypeInner::Matrix { .. }));
    values.map(size).fold(0, u64::saturating_add)
}

/// The functions that a function calls, each as often as it stands there.
fn calls(function: &Function) -> Vec<Handle<Function>> {
    let (mut calls, mut blocks) = (Vec::new(), vec![&function.body]);
    while let Some(block) = blocks.pop() {
        for statement in block.iter() {
            match statement {
                Statement::Call { function, .. } => calls.push(*function),
                Statement::Block(inner) => blocks.push(inner),
                Statement::If { accept, reject, .. } => blocks.extend([accept, reject]),
                Statement::Switch { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body)),
                Statement::Loop { body, continuing, .. } => blocks.extend([body, continuing]),
                _ => {}
            }
        }
    }
    calls
}
