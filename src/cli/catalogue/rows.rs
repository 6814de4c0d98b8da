//! The kernels of an op, as few rows as tell all: registrations that differ only in the dtypes they are for, as one
//! `#[register_kernel]` makes them, share a row.

use std::collections::BTreeSet;

use crate::dtype::DataType;
use crate::kernel::{ConstraintValues, KernelDef};
use crate::op::{AllowedValues, OpDef};

use super::words;

/// Some kernels of an op.
pub(super) struct Row {
    /// One of them, for all that they have in common.
    pub(super) kernel: &'static KernelDef,
    /// How many.
    pub(super) count: usize,
    /// The values of attrs that they are for.
    pub(super) constraints: Vec<(&'static str, Values)>,
    /// Their Rust types.
    types: BTreeSet<&'static str>,
}

impl Row {
    /// The Rust type, with `_` for what differs: `MatMulKernel<_>`.
    pub(super) fn type_name(&self) -> String {
        let parts = |name: &'static str| name.split_inclusive(['<', '>', ',', ' ']).collect::<Vec<_>>();
        let mut types = self.types.iter().map(|name| parts(name));
        let mut common: Vec<String> = types.next().unwrap_or_default().into_iter().map(str::to_owned).collect();
        for other in types {
            if other.len() != common.len() {
                return format!("{}<_>", base(self.kernel.type_name));
            }
            for (part, other) in common.iter_mut().zip(other).filter(|(part, other)| part != other) {
                let end = other.trim_start_matches(|c| !['<', '>', ',', ' '].contains(&c));
                *part = format!("_{end}");
            }
        }
        common.concat()
    }
}

/// A type without its arguments.
fn base(type_name: &str) -> &str {
    type_name.split_once('<').map_or(type_name, |(base, _)| base)
}

/// Values of an attr.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Values {
    Types(BTreeSet<DataType>),
    Words(BTreeSet<String>),
}

impl Values {
    fn of(values: ConstraintValues) -> Values {
        match values {
            ConstraintValues::Types(types) => Values::Types(types.iter().copied().collect()),
            ConstraintValues::Strings(strings) => Values::Words(strings.iter().map(|s| format!("{s:?}")).collect()),
            ConstraintValues::Ints(ints) => Values::Words(ints.iter().map(i64::to_string).collect()),
            ConstraintValues::Bools(bools) => Values::Words(bools.iter().map(bool::to_string).collect()),
        }
    }

    fn add(&mut self, other: &Values) {
        match (self, other) {
            (Values::Types(mine), Values::Types(other)) => mine.extend(other),
            (Values::Words(mine), Values::Words(other)) => mine.extend(other.iter().cloned()),
            _ => {}
        }
    }

    /// Each as it is to be shown, in order.
    pub(super) fn shown(&self) -> Vec<String> {
        match self {
            Values::Types(types) => {
                words::in_order(&types.iter().copied().collect::<Vec<_>>()).iter().map(DataType::to_string).collect()
            }
            Values::Words(words) => words.iter().cloned().collect(),
        }
    }
}

/// The rows for some kernels of one op, in the kernels' order.
pub(super) fn of(kernels: &[&'static KernelDef]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for kernel in kernels {
        let constraints = kernel.constraints.iter().map(|c| (c.attr, Values::of(c.values))).collect();
        rows.push(Row { kernel, count: 1, constraints, types: BTreeSet::from([kernel.type_name]) });
    }
    let most = kernels.iter().map(|kernel| kernel.constraints.len()).max().unwrap_or_default();
    for attr in 0..most {
        let mut joined: Vec<Row> = Vec::new();
        for row in rows {
            match joined.iter_mut().find(|other| differ_only_in(attr, other, &row)) {
                Some(other) => {
                    other.count += row.count;
                    other.types.extend(&row.types);
                    other.constraints[attr].1.add(&row.constraints[attr].1);
                }
                None => joined.push(row),
            }
        }
        rows = joined;
    }
    rows
}

fn differ_only_in(attr: usize, a: &Row, b: &Row) -> bool {
    let common = |row: &Row| {
        let KernelDef { device, host_memory, requires, label, priority, system, location, .. } = row.kernel;
        let (ty, krate) = (base(row.kernel.type_name), row.kernel.provider.name);
        (*device, *host_memory, *requires, *label, *priority, *system, ty, krate, *location)
    };
    let same_kind = |a: &Values, b: &Values| std::mem::discriminant(a) == std::mem::discriminant(b);
    common(a) == common(b)
        && attr < a.constraints.len()
        && a.constraints.len() == b.constraints.len()
        && a.constraints
            .iter()
            .zip(&b.constraints)
            .enumerate()
            .all(|(i, (a, b))| a.0 == b.0 && if i == attr { same_kind(&a.1, &b.1) } else { a.1 == b.1 })
}

/// The dtypes that the op allows and no kernel is for, by attr.
pub(super) fn without_kernel(op: &OpDef, kernels: &[&'static KernelDef]) -> Vec<(String, Vec<DataType>)> {
    let missing = op.attrs.iter().filter_map(|attr| {
        let Some(AllowedValues::Types(allowed)) = &attr.allowed else { return None };
        let has = |kernel: &&KernelDef, dtype: &DataType| {
            let of_attr = kernel.constraints.iter().find(|constraint| attr.name == constraint.attr);
            of_attr.is_none_or(|of_attr| match of_attr.values {
                ConstraintValues::Types(types) => types.contains(dtype),
                _ => true,
            })
        };
        let missing: Vec<DataType> =
            allowed.iter().copied().filter(|dtype| !kernels.iter().any(|kernel| has(kernel, dtype))).collect();
        (!kernels.is_empty() && !missing.is_empty()).then(|| (attr.name.to_string(), words::in_order(&missing)))
    });
    missing.collect()
}
