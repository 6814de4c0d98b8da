//! What is moved at once: elements by their size, whatever their dtype, or several of them.

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;

use crate::shader::{Program, ProgramBuilder, Scalar};
use crate::transfer::device_bytes;

/// A size of which things are moved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Unit {
    /// Two bytes; the device needs the capability `f16`.
    Half,
    Word,
    Pair,
    Quad,
}

impl Unit {
    /// Those that elements of a dtype are moved by: one, or several at once.
    pub(super) fn all_of(dtype: DataType) -> Result<impl Iterator<Item = Unit>> {
        let least = Unit::of(dtype)?.bytes();
        Ok([Unit::Half, Unit::Word, Unit::Pair, Unit::Quad].into_iter().filter(move |unit| unit.bytes() >= least))
    }

    /// An element of a dtype.
    pub(super) fn of(dtype: DataType) -> Result<Unit> {
        Ok(match device_bytes(dtype, 1) {
            2 => Unit::Half,
            4 => Unit::Word,
            8 => Unit::Pair,
            16 => Unit::Quad,
            _ => bail!(Internal, "no shader moves {dtype}"),
        })
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Unit::Half => 2,
            Unit::Word => 4,
            Unit::Pair => 8,
            Unit::Quad => 16,
        }
    }

    /// The largest unit that holds a number of these of which everything is a multiple, with that number.
    pub(super) fn widest(self, is_multiple: impl Fn(usize) -> bool) -> (Unit, usize) {
        let wider = [Unit::Quad, Unit::Pair, Unit::Word].map(|unit| (unit, unit.bytes() / self.bytes()));
        wider.into_iter().find(|&(_, times)| times > 1 && is_multiple(times)).unwrap_or((self, 1))
    }

    /// The scalars that it consists of, and how many they are.
    fn scalars(self) -> (Scalar, u32) {
        match self {
            Unit::Half => (Scalar::F16, 1),
            Unit::Word => (Scalar::U32, 1),
            Unit::Pair => (Scalar::U32, 2),
            Unit::Quad => (Scalar::U32, 4),
        }
    }

    /// The name that holds in files' conditions.
    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Half => "half",
            Unit::Word => "word",
            Unit::Pair => "pair",
            Unit::Quad => "quad",
        }
    }

    /// Begins a shader in which it is `U`.
    pub(super) fn program(self, label: impl Into<String>) -> ProgramBuilder {
        let program = Program::trusted(label);
        match self.scalars() {
            (scalar, 1) => program.alias("U", scalar),
            (scalar, width) => program.declare(&format!("alias U = vec{width}<{}>;", scalar.wgsl())),
        }
    }

    /// Declares a buffer of units that is read.
    pub(super) fn read(self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        let (scalar, width) = self.scalars();
        program.read_vectors(name, scalar, width)
    }

    /// Declares a buffer of units that is written.
    pub(super) fn write(self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        let (scalar, width) = self.scalars();
        program.write_vectors(name, scalar, width)
    }
}

/// A number of elements or a distance as a parameter: whatever is bound at once has fewer than 2³² of them.
pub(super) fn word(number: usize) -> u32 {
    number as u32
}

/// The eight bytes that an element in host memory fills, again and again if it is smaller.
pub(super) fn pattern(value: &Tensor) -> Result<[u32; 2]> {
    if value.dtype() == DataType::Bool {
        return Ok([u32::from(value.to_scalar::<bool>()?); 2]);
    }
    Ok(match *value.bytes()? {
        [a, b] => [u32::from_le_bytes([a, b, a, b]); 2],
        [a, b, c, d] => [u32::from_le_bytes([a, b, c, d]); 2],
        [a, b, c, d, e, f, g, h] => [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])],
        _ => bail!(Internal, "no shader fills with {} of shape {}", value.dtype(), value.shape()),
    })
}
