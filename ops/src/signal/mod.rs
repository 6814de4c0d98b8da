//! Fourier transforms.
//!
//! The transform of `n` numbers is `y[k] = Σ x[j] exp(−2πi jk / n)`, the inverse one `x[j] = Σ y[k] exp(2πi jk / n) / n`.
//! That of several dimensions is one along each of them.

mod fft;

pub use fft::*;
