//! What is moved at once: elements by their size, whatever their dtype, or several of them.

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;

use crate::shader::{ProgramBuilder, Scalar};
use crate::transfer::device_bytes;

/// A size of which things are moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// Two bytes; the device needs the capability `f16`.
    Half,
    Word,
    Pair,
    Quad,
}

impl Unit {
    pub(super) const ALL: [Unit; 4] = [Unit::Half, Unit::Word, Unit::Pair, Unit::Quad];
    /// Those that one element can be.
    pub(super) const OF_ELEMENTS: [Unit; 3] = [Unit::Half, Unit::Word, Unit::Pair];

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
        let wider = Unit::ALL.into_iter().rev().map(|unit| (unit, unit.bytes() / self.bytes()));
        wider.into_iter().find(|&(_, times)| times > 1 && is_multiple(times)).unwrap_or((self, 1))
    }

    /// Declares it as `U` in a shader.
    pub(super) fn declare(self, program: ProgramBuilder) -> ProgramBuilder {
        match self {
            Unit::Half => program.alias("U", Scalar::F16),
            Unit::Word => program.alias("U", Scalar::U32),
            Unit::Pair => program.declare("alias U = vec2<u32>;"),
            Unit::Quad => program.declare("alias U = vec4<u32>;"),
        }
    }

    /// Declares a buffer of units that is read.
    pub(super) fn read(self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        match self {
            Unit::Half => program.read(name, Scalar::F16),
            Unit::Word => program.read(name, Scalar::U32),
            Unit::Pair => program.read_vectors(name, Scalar::U32, 2),
            Unit::Quad => program.read_vectors(name, Scalar::U32, 4),
        }
    }

    /// Declares a buffer of units that is written.
    pub(super) fn write(self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        match self {
            Unit::Half => program.write(name, Scalar::F16),
            Unit::Word => program.write(name, Scalar::U32),
            Unit::Pair => program.write_vectors(name, Scalar::U32, 2),
            Unit::Quad => program.write_vectors(name, Scalar::U32, 4),
        }
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
