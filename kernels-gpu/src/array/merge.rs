//! How updates are merged into elements: the module `merge` of shaders, for each kind of merging and of elements.

use kernlink::op::OpDef;

use crate::shader::{ProgramBuilder, Scalar};

/// What becomes of an element that is updated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Merge {
    Add,
    Sub,
    Mul,
    Div,
    /// Division that refuses zeros.
    DivByNonzero,
    Max,
    Min,
}

impl Merge {
    /// What an op does that ends with it; none if it sets elements.
    pub(super) fn of(op: &OpDef) -> Option<Merge> {
        const ENDS: [(&str, Merge); 8] = [
            ("Add", Merge::Add),
            ("Sum", Merge::Add),
            ("Sub", Merge::Sub),
            ("Mul", Merge::Mul),
            ("Prod", Merge::Mul),
            ("Div", Merge::Div),
            ("Max", Merge::Max),
            ("Min", Merge::Min),
        ];
        let (_, merge) = ENDS.into_iter().find(|(end, _)| op.name.ends_with(end))?;
        Some(if op.name == "ResourceScatterDiv" { Merge::DivByNonzero } else { merge })
    }

    /// The names that hold in the module's conditions for elements of a type.
    pub(crate) fn names(self, scalar: Scalar) -> Vec<&'static str> {
        let kind: &[&str] = match self {
            _ if scalar == Scalar::Bool => &[],
            Merge::Add => &["add"],
            Merge::Sub => &["sub"],
            Merge::Mul => &["mul"],
            Merge::Div => &["div"],
            Merge::DivByNonzero => &["div", "nonzero"],
            Merge::Max => &["max"],
            Merge::Min => &["min"],
        };
        let is_built_in = matches!(self, Merge::Add | Merge::Sub | Merge::Max | Merge::Min);
        let way: &[&str] = match scalar {
            Scalar::Bool => &["atomic"],
            Scalar::I32 | Scalar::U32 if is_built_in => &["atomic"],
            Scalar::I64 => &[],
            _ => &["exchanged"],
        };
        [scalar.names(), kind, way].concat()
    }
}

/// Declares `T`, and the elements that are merged.
pub(crate) fn read(program: ProgramBuilder, name: &str, scalar: Scalar) -> ProgramBuilder {
    match scalar {
        Scalar::I64 => program.declare("alias T = vec2<u32>;").read_vectors(name, Scalar::U32, 2),
        scalar => program.alias("T", scalar).read(name, scalar),
    }
}

/// Declares what elements are merged into.
pub(crate) fn write(program: ProgramBuilder, name: &str, scalar: Scalar) -> ProgramBuilder {
    program.write_atomics(name, if scalar == Scalar::I32 { Scalar::I32 } else { Scalar::U32 })
}
