//! Transforms of the last one to three dimensions; those before them are batches.
//!
//! TensorFlow declares transforms along axes of one's choice (`FFTND` and its kind) and those that `FFT` and its kind took the
//! place of (`BatchFFT`), but has no kernel of them on any device.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64"),
    input("input: Tcomplex"),
    output("output: Tcomplex", "In the shape of `input`.")
)]
pub enum ComplexTransforms {
    /// The Fourier transform along the last dimension.
    #[op(shape_fn = shapes::unchanged_shape_with_rank_at_least::<1>)]
    FFT,
    /// The inverse Fourier transform along the last dimension.
    #[op(shape_fn = shapes::unchanged_shape_with_rank_at_least::<1>)]
    IFFT,
    /// The Fourier transform along the last two dimensions.
    #[op(shape_fn = shapes::unchanged_shape_with_rank_at_least::<2>)]
    FFT2D,
    /// The inverse Fourier transform along the last two dimensions.
    #[op(shape_fn = shapes::unchanged_shape_with_rank_at_least::<2>)]
    IFFT2D,
    /// The Fourier transform along the last three dimensions.
    #[op(shape_fn = shapes::unchanged_shape_with_rank_at_least::<3>)]
    FFT3D,
    /// The inverse Fourier transform along the last three dimensions.
    #[op(shape_fn = shapes::unchanged_shape_with_rank_at_least::<3>)]
    IFFT3D,
}

/// The last dimension of the output has `fft_length / 2 + 1` elements: the others are their conjugates. Where `input` has more
/// elements than `fft_length` says, the first ones count; it may not have fewer.
#[register_op(
    attr("Treal: {float, double} = DT_FLOAT"),
    attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64", "The dtype whose parts are `Treal`."),
    input("input: Treal"),
    input("fft_length: int32", "How many elements of each of the transformed dimensions take part."),
    output("output: Tcomplex")
)]
pub enum RealTransforms {
    /// The Fourier transform of real numbers along the last dimension, the half that says all.
    #[op(shape_fn = shapes::rfft_shape::<1, true>)]
    RFFT,
    /// The Fourier transform of real numbers along the last two dimensions, the half that says all.
    #[op(shape_fn = shapes::rfft_shape::<2, true>)]
    RFFT2D,
    /// The Fourier transform of real numbers along the last three dimensions, the half that says all.
    #[op(shape_fn = shapes::rfft_shape::<3, true>)]
    RFFT3D,
}

/// The last dimension of `input` is a half, `fft_length / 2 + 1` elements, of which the other is the conjugate. Where `input` has
/// more elements, the first ones count; it may not have fewer.
#[register_op(
    attr("Treal: {float, double} = DT_FLOAT", "The dtype of the parts of `Tcomplex`."),
    attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64"),
    input("input: Tcomplex"),
    input("fft_length: int32", "The sizes of the output's transformed dimensions."),
    output("output: Treal")
)]
pub enum InverseRealTransforms {
    /// The real numbers whose Fourier transform along the last dimension has the half that is given.
    #[op(shape_fn = shapes::rfft_shape::<1, false>)]
    IRFFT,
    /// The real numbers whose Fourier transform along the last two dimensions has the half that is given.
    #[op(shape_fn = shapes::rfft_shape::<2, false>)]
    IRFFT2D,
    /// The real numbers whose Fourier transform along the last three dimensions has the half that is given.
    #[op(shape_fn = shapes::rfft_shape::<3, false>)]
    IRFFT3D,
}
