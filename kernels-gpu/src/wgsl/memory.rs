//! How much memory a shader's threads and workgroups take: WGSL's front end takes any amount, and drivers end the process where there
//! is too little.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{AddressSpace, Function, GlobalVariable, Module, TypeInner};

/// The most bytes of a value, of a function's variables and of a thread's: WGSL guarantees 8 KiB of the latter.
const MOST: u64 = 64 << 10;

/// The bytes of a workgroup's variables.
///
/// # Errors
/// What takes too much of a thread.
pub(super) fn of_workgroups(module: &Module, info: &ModuleInfo) -> Result<u64, String> {
    let size = |inner: &TypeInner| u64::from(inner.try_size(module.to_ctx()).unwrap_or(0));
    let of_variables = |space: AddressSpace| -> u64 {
        let variables = module.global_variables.iter().filter(|(_, variable)| variable.space == space);
        variables.map(|(_, GlobalVariable { ty, .. })| size(&module.types[*ty].inner)).sum()
    };
    let bounded = |bytes: u64, what: &str| match bytes {
        0..=MOST => Ok(()),
        _ => Err(format!("{what} {bytes} bytes, and no thread has more than {MOST}")),
    };
    bounded(of_variables(AddressSpace::Private), "its private variables take")?;
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    for (function, info) in functions.chain(entries) {
        let name = function.name.as_deref().unwrap_or("main");
        let variables: u64 = function.local_variables.iter().map(|(_, own)| size(&module.types[own.ty].inner)).sum();
        bounded(variables, &format!("the variables of `{name}` take"))?;
        bounded(largest(module, function, info, size), &format!("a value in `{name}` takes"))?;
    }
    Ok(of_variables(AddressSpace::WorkGroup))
}

/// The largest of a function's values.
fn largest(module: &Module, function: &Function, info: &FunctionInfo, size: impl Fn(&TypeInner) -> u64) -> u64 {
    let values = function.expressions.iter().map(|(handle, _)| info[handle].ty.inner_with(&module.types));
    // Pointers lead to what is elsewhere.
    let values = values.filter(|inner| !matches!(inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }));
    values.map(size).max().unwrap_or(0)
}
