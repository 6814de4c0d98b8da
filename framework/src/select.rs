//! Selective registration: which ops and kernels this build keeps, by the file that `KERNLINK_SELECT` named.
//!
//! The build script turns the file into constants; the registrations that the macros write ask [`keeps_op`] and
//! [`keeps_kernel`] while their crate is compiled, in any crate that uses the framework. What is not kept stays as a
//! stub, which is what errors are made of.

use std::borrow::Cow;
use std::sync::atomic::AtomicU64;

use crate::collect::OpEntry;
use crate::dtype::DataType;
use crate::error::{Advice, Error, Result};
use crate::kernel::check::{any, same};
use crate::kernel::{
    AttrConstraint, ConstraintValues, CreateKernel, DeviceType, DynKernel, KernelDef, Location, Provider,
    RawConstruction,
};
use crate::op::OpDef;

/// What a selection file says.
struct Selection {
    /// The file as it was named.
    source: &'static str,
    lines: &'static [Line],
}

/// One need; see `kernlink_spec::SelectedLine`.
struct Line {
    op: &'static str,
    kernel: Option<Kernel>,
}

struct Kernel {
    device: &'static str,
    label: &'static str,
    attrs: &'static [(&'static str, Value)],
}

/// The value of an attr by which kernels are chosen.
#[allow(dead_code, reason = "which of them are made depends on the file")]
#[derive(Clone, Copy)]
enum Value {
    Types(&'static [DataType]),
    String(&'static str),
    Int(i64),
    Bool(bool),
}

mod built {
    #[allow(unused_imports, reason = "without a file there is nothing to name")]
    use super::{DataType, Kernel, Line, Selection, Value};

    include!(concat!(env!("OUT_DIR"), "/selection.rs"));
}

/// The file by which this program was built, as `KERNLINK_SELECT` named it; `None` if everything was kept.
pub const fn source() -> Option<&'static str> {
    match built::SELECTION {
        Some(Selection { source, .. }) => Some(source),
        None => None,
    }
}

/// Whether the build keeps an op that is no system op.
pub const fn keeps_op(op: &str) -> bool {
    match built::SELECTION {
        Some(selection) => selection.keeps_op(op),
        None => true,
    }
}

/// Whether the build keeps a kernel that is no system kernel.
pub const fn keeps_kernel(op: &str, device: &str, label: &str, constraints: &[AttrConstraint]) -> bool {
    match built::SELECTION {
        Some(selection) => selection.keeps_kernel(op, device, label, constraints),
        None => true,
    }
}

impl Selection {
    const fn keeps_op(&self, op: &str) -> bool {
        let first = self.first(op);
        first < self.lines.len() && same(self.lines[first].op, op)
    }

    const fn keeps_kernel(&self, op: &str, device: &str, label: &str, constraints: &[AttrConstraint]) -> bool {
        let mut i = self.first(op);
        while i < self.lines.len() && same(self.lines[i].op, op) {
            if let Some(kernel) = &self.lines[i].kernel
                && (same(kernel.device, device) || same(device, "DEFAULT"))
                && same(kernel.label, label)
                && kernel.suits(constraints)
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The first line whose op is not less. The lines are sorted as text, and what follows the op in it is less than
    /// any letter of an op.
    const fn first(&self, op: &str) -> usize {
        let (mut low, mut high) = (0, self.lines.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if less(self.lines[middle].op, op) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

const fn less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}

impl Kernel {
    /// Whether no constraint contradicts the need.
    const fn suits(&self, constraints: &[AttrConstraint]) -> bool {
        !any!(constraint in constraints => any!(attr in self.attrs =>
            same(attr.0, constraint.attr) && !attr.1.is_among(&constraint.values)))
    }
}

impl Value {
    const fn is_among(&self, values: &ConstraintValues) -> bool {
        match (*self, *values) {
            (Value::Types(types), ConstraintValues::Types(allowed)) => {
                !any!(dtype in types => !any!(other in allowed => other.equals(*dtype)))
            }
            (Value::String(text), ConstraintValues::Strings(allowed)) => any!(other in allowed => same(other, text)),
            (Value::Int(value), ConstraintValues::Ints(allowed)) => any!(other in allowed => *other == value),
            (Value::Bool(value), ConstraintValues::Bools(allowed)) => any!(other in allowed => *other == value),
            _ => false,
        }
    }
}

/// Says that something was left out, by which file, and what to do: `op Softmax was left out of this program by the
/// selection `model.select` ...`.
pub fn explain(what: impl std::fmt::Display) -> String {
    format!("{}; {}", left_out(what), advice())
}

/// The first half of [`explain`], for lists of which [`advice`] is the end.
pub fn left_out(what: impl std::fmt::Display) -> String {
    format!("{what} was left out when this program was built, by the selection `{}`", source().unwrap_or("?"))
}

/// The second half of [`explain`].
pub fn advice() -> Advice {
    Advice::Select(source().unwrap_or("FILE").to_owned())
}

/// [`explain`] of an op, if it is a stub.
pub fn explain_op(entry: &OpEntry) -> Option<String> {
    (!entry.selected).then(|| explain(format_args!("op `{}`", entry.def.name)))
}

/// [`explain`] of a kernel, if it is a stub.
pub fn explain_kernel(kernel: &KernelDef) -> Option<String> {
    (!kernel.selected).then(|| explain(format_args!("the kernel {kernel}")))
}

/// The declaration that a stub of an op has: its name alone.
#[doc(hidden)]
pub const fn op_stub(name: &'static str) -> OpDef {
    OpDef { name: Cow::Borrowed(name), ..OpDef::EMPTY }
}

/// What the kernels that one `#[register_kernel]` registers have in common: all that is linked of those that were left
/// out, so that a program stays small however many they are.
#[doc(hidden)]
pub struct LeftOut {
    pub op: &'static str,
    pub device: &'static str,
    /// With every value that any of the kernels is for.
    pub constraints: &'static [AttrConstraint],
    pub label: &'static str,
    pub priority: i32,
    pub provider: &'static Provider,
    pub location: Location,
}

impl LeftOut {
    /// In a choice: all values of the constraint.
    pub const ALL: u8 = u8::MAX;

    /// The stub of one of the kernels. Byte `i` of `choice` says which of the values of constraint `i` it was for.
    pub(crate) fn stub(&self, choice: u64) -> KernelDef {
        let choices = choice.to_le_bytes().into_iter().chain(std::iter::repeat(LeftOut::ALL));
        let constraints = self.constraints.iter().zip(choices).map(|(constraint, choice)| AttrConstraint {
            attr: constraint.attr,
            values: match choice {
                LeftOut::ALL => constraint.values,
                choice => only(constraint.values, choice.into()),
            },
        });
        KernelDef {
            op: self.op,
            device: DeviceType(self.device),
            constraints: Vec::leak(constraints.collect()),
            host_memory: &[],
            requires: &[],
            label: self.label,
            priority: self.priority,
            system: false,
            selected: false,
            type_name: "",
            provider: self.provider,
            location: self.location,
            element_wise: None,
            shader: None,
            waits: false,
            create: CreateKernel::Function(create_left_out),
            created: AtomicU64::new(0),
        }
    }
}

/// One of several values.
fn only(values: ConstraintValues, i: usize) -> ConstraintValues {
    fn one<T>(items: &'static [T], i: usize) -> &'static [T] {
        items.get(i..=i).unwrap_or(items)
    }
    match values {
        ConstraintValues::Types(values) => ConstraintValues::Types(one(values, i)),
        ConstraintValues::Strings(values) => ConstraintValues::Strings(one(values, i)),
        ConstraintValues::Ints(values) => ConstraintValues::Ints(one(values, i)),
        ConstraintValues::Bools(values) => ConstraintValues::Bools(one(values, i)),
    }
}

/// The factory of stubs.
fn create_left_out(node: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
    Err(Error::not_found(explain(format_args!("the kernel of op {} on {}", node.op.name, node.device))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: &str = "T";
    const FLOAT: AttrConstraint =
        AttrConstraint { attr: T, values: ConstraintValues::Types(&[DataType::Float, DataType::Int32]) };
    const DOUBLE: AttrConstraint = AttrConstraint { attr: T, values: ConstraintValues::Types(&[DataType::Double]) };
    const SELECTION: Selection = Selection {
        source: "x",
        lines: &[
            Line {
                op: "IdentityN",
                kernel: Some(Kernel {
                    device: "GPU",
                    label: "x",
                    attrs: &[
                        (T, Value::Types(&[DataType::Float, DataType::Int32])),
                        ("s", Value::String("b")),
                        ("i", Value::Int(2)),
                        ("b", Value::Bool(true)),
                    ],
                }),
            },
            Line {
                op: "MatMul",
                kernel: Some(Kernel { device: "CPU", label: "", attrs: &[(T, Value::Types(&[DataType::Float]))] }),
            },
            Line {
                op: "MatMul",
                kernel: Some(Kernel { device: "CPU", label: "", attrs: &[(T, Value::Types(&[DataType::Int64]))] }),
            },
            Line { op: "Op", kernel: None },
            Line { op: "Op2", kernel: None },
        ],
    };

    // Asked as the macros ask: while the crate is compiled.
    const KEPT: bool = SELECTION.keeps_kernel("MatMul", "CPU", "", &[FLOAT]);
    const _: () = assert!(KEPT && !SELECTION.keeps_kernel("MatMul", "CPU", "", &[DOUBLE]));

    #[test]
    fn an_op_is_kept_by_any_line() {
        for op in ["IdentityN", "MatMul", "Op", "Op2"] {
            assert!(SELECTION.keeps_op(op), "{op}");
        }
        for op in ["", "A", "Mat", "MatMul2", "Op1", "Op3", "op", "IdentityO"] {
            assert!(!SELECTION.keeps_op(op), "{op}");
        }
    }

    #[test]
    fn a_kernel_is_kept_if_a_line_asks_for_it() {
        let matmul = |device, label, constraints: &[_]| SELECTION.keeps_kernel("MatMul", device, label, constraints);
        assert!(matmul("CPU", "", &[]) && matmul("DEFAULT", "", &[FLOAT]));
        assert!(!matmul("GPU", "", &[FLOAT]) && !matmul("CPU", "x", &[FLOAT]));
        assert!(!matmul("CPU", "", &[FLOAT, DOUBLE]));
        assert!(!SELECTION.keeps_kernel("Op", "CPU", "", &[]), "the line keeps the op alone");
        assert!(!SELECTION.keeps_kernel("Abs", "CPU", "", &[]));
        // What a line does not mention may be anything.
        let other = AttrConstraint { attr: "U", ..DOUBLE };
        assert!(matmul("CPU", "", &[FLOAT, other]));
    }

    #[test]
    fn constraints_of_every_kind_can_contradict() {
        let keeps = |attr, values| {
            let constraints = [FLOAT, AttrConstraint { attr, values }];
            SELECTION.keeps_kernel("IdentityN", "GPU", "x", &constraints)
        };
        assert!(!keeps(T, ConstraintValues::Types(&[DataType::Float])), "every dtype of the list must be served");
        assert!(keeps("s", ConstraintValues::Strings(&["a", "b"])) && !keeps("s", ConstraintValues::Strings(&["a"])));
        assert!(keeps("i", ConstraintValues::Ints(&[1, 2])) && !keeps("i", ConstraintValues::Ints(&[1])));
        assert!(keeps("b", ConstraintValues::Bools(&[true])) && !keeps("b", ConstraintValues::Bools(&[false])));
        assert!(!keeps("b", ConstraintValues::Ints(&[1])), "values of another kind match nothing");
    }

    #[test]
    fn the_explanation_names_what_and_what_to_do() {
        let text = explain("op Softmax");
        assert!(text.starts_with("op Softmax was left out when this program was built, by the selection `"), "{text}");
        assert!(text.contains("kernlink select MODEL... > ") && text.contains("KERNLINK_SELECT="), "{text}");
    }

    #[test]
    fn a_stub_tells_which_kernel_it_stands_for() {
        static PROVIDER: Provider = Provider::new("x", HERE);
        const HERE: Location = Location { file: "x.rs", line: 3 };
        let left_out = LeftOut {
            op: "MatMul",
            device: "CPU",
            constraints: const { &[FLOAT, AttrConstraint { attr: "i", values: ConstraintValues::Ints(&[1, 2]) }, DOUBLE] },
            label: "",
            priority: 0,
            provider: &PROVIDER,
            location: HERE,
        };
        let stub = left_out.stub(u64::from_le_bytes([LeftOut::ALL, 1, 0, 0, 0, 0, 0, 0]));
        let text = "MatMul on CPU, T in [float, int32], i in [2], T in [double], registered at x.rs:3";
        assert_eq!((stub.to_string().as_str(), stub.selected), (text, false));
        assert!(explain_kernel(&stub).is_some_and(|explanation| explanation.contains(text)));
    }
}
