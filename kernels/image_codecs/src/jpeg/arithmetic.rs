//! Arithmetic coding.

use super::entropy::{Blocks, Entropy};
use super::header::Header;
use super::source::{Read, Source, Stop};

pub(crate) struct Arithmetic;

impl Arithmetic {
    pub(crate) fn new(_: &Header<'_>) -> Read<Arithmetic> {
        Err(Stop::Error("arithmetic coding is not supported"))
    }
}

impl Entropy for Arithmetic {
    fn decode(&mut self, _: &mut Source<'_>, _: &mut dyn Blocks) -> Read<()> {
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        false
    }
}
