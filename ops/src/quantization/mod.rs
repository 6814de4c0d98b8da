//! Quantized numbers: integers of a few bits that stand for values of a range, by its ends or by scales and zero points.

mod arithmetic;
mod calibration;
mod convert;
mod convolution;
mod fake;
mod simulated;
mod uniform;
mod windows;

pub use arithmetic::*;
pub use calibration::*;
pub use convert::*;
pub use convolution::*;
pub use fake::*;
pub use simulated::*;
pub use uniform::*;
pub use windows::*;
