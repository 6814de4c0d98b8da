//! One result for each element: a function in WGSL, and how the elements of its arguments are found.

mod unary;

use crate::shader::Program;

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    unary::programs()
}
