//! One result for each element: a function in WGSL, and how the elements of its arguments are found.

mod add_n;
mod attr;
mod bias;
mod binary;
mod bitcast;
mod cast;
mod driver;
mod gradient;
mod helpers;
mod logic;
mod narrow;
mod select;
mod table;
mod unary;

pub(crate) use bias::has_channels_last;
pub(crate) use driver::computed;
pub(crate) use helpers::for_text;

use crate::shader::Program;

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    [
        unary::programs(),
        binary::programs(),
        gradient::programs(),
        logic::programs(),
        attr::programs(),
        select::programs(),
        cast::programs(),
        narrow::programs(),
        add_n::programs(),
    ]
    .concat()
}
