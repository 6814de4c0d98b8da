//! Windows that slide over spatial dimensions: padding, and how many positions a window has.

use super::TensorFormat;
use super::axis::ensure_steps;
use kernlink::shape_inference::common::attr_or;
use kernlink::shape_inference::{DimHandle, DimOrConstant, InferenceContext, ShapeHandle};
use kernlink::{Error, Result, bail, ensure};

/// The most dimensions that a data format with paddings has.
const MAX_RANK: usize = 5;

/// What lies around the input of a window that slides over it: with explicit paddings for each dimension of the data
/// format, or for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Padding<Explicit = [(i64, i64); MAX_RANK]> {
    /// Nothing.
    Valid,
    /// As much as makes the output as large as the input, divided by the stride, the odd one at the end.
    Same,
    /// So much before and so much after.
    Explicit(Explicit),
}

impl Padding {
    /// From the attrs `padding` and `explicit_paddings` of an op with data format `format`, whose strides have `rank`
    /// values.
    ///
    /// # Errors
    /// NOT_FOUND for another word; INVALID_ARGUMENT for explicit paddings that are negative, too many or too few, pad
    /// the batch or the channels, or go with another `padding`.
    #[track_caller]
    pub fn new(padding: &str, explicit: &[i64], format: TensorFormat, rank: usize) -> Result<Padding> {
        let known = match padding {
            "VALID" => Padding::Valid,
            "SAME" => Padding::Same,
            "EXPLICIT" => {
                ensure!(
                    explicit.len() == 2 * rank && rank <= MAX_RANK,
                    InvalidArgument,
                    "explicit_paddings attribute must contain {} values, but got: {}",
                    2 * rank,
                    explicit.len()
                );
                ensure!(
                    explicit.iter().all(|&size| size >= 0),
                    InvalidArgument,
                    "All elements of explicit_paddings must be nonnegative, not {explicit:?}"
                );
                let mut sizes = [(0, 0); MAX_RANK];
                sizes.iter_mut().zip(explicit.chunks_exact(2)).for_each(|(size, pair)| *size = (pair[0], pair[1]));
                let spatial = rank.saturating_sub(2);
                ensure!(
                    [format.batch(spatial), format.channel(spatial)].iter().all(|&dim| sizes.get(dim) == Some(&(0, 0))),
                    InvalidArgument,
                    "Nonzero explicit padding in the batch or depth dimensions is not supported"
                );
                return Ok(Padding::Explicit(sizes));
            }
            _ => bail!(NotFound, "'{padding}' is not an allowed padding type."),
        };
        ensure!(
            explicit.is_empty(),
            InvalidArgument,
            "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
        );
        Ok(known)
    }

    /// That of one dimension of the data format.
    pub fn along(self, axis: usize) -> Padding<(i64, i64)> {
        match self {
            Padding::Valid => Padding::Valid,
            Padding::Same => Padding::Same,
            Padding::Explicit(sizes) => Padding::Explicit(sizes.get(axis).copied().unwrap_or_default()),
        }
    }

    /// From the attr `padding` of an op that knows no explicit paddings. Attr `padding_list`, if there is one that is
    /// not empty, gives them all the same.
    #[track_caller]
    pub(super) fn from_attrs_without_explicit(
        c: &InferenceContext<'_>,
        format: TensorFormat,
        rank: usize,
    ) -> Result<Padding> {
        let padding: String = c.attr("padding")?;
        if padding == "EXPLICIT" {
            bail!(InvalidArgument, "Expected non-explicit padding but got explicit padding");
        }
        let list = attr_or(c, "padding_list", Vec::<i64>::new())?;
        Padding::new(if list.is_empty() { &padding } else { "EXPLICIT" }, &list, format, rank)
    }

    #[track_caller]
    pub(super) fn from_attrs(c: &InferenceContext<'_>, format: TensorFormat, rank: usize) -> Result<Padding> {
        let explicit = attr_or(c, "explicit_paddings", Vec::<i64>::new())?;
        Padding::new(&c.attr::<String>("padding")?, &explicit, format, rank)
    }
}

/// The number of positions of a window of `window` places that moves by `stride` over `input` places.
///
/// # Errors
/// INVALID_ARGUMENT if the window is larger than the input or the stride is not positive; INTERNAL for explicit
/// padding, which [`get_windowed_output_size_from_dims_v2`] takes.
#[track_caller]
pub fn get_windowed_output_size_from_dims(
    c: &InferenceContext<'_>,
    input: DimHandle,
    window: impl Into<DimOrConstant>,
    stride: i64,
    padding: &Padding,
) -> Result<DimHandle> {
    if matches!(padding, Padding::Explicit(_)) {
        return Err(Error::internal("get_windowed_output_size_from_dims does not handle EXPLICIT padding"));
    }
    get_windowed_output_size_from_dims_v2(c, input, window, 1, stride, padding, 0)
}

/// The number of positions of a window of `window` places, `dilation` apart, that moves by `stride` over `input` places
/// of dimension `axis`.
///
/// # Errors
/// INVALID_ARGUMENT if the window is larger than the padded input, or stride or dilation is not positive.
#[track_caller]
pub fn get_windowed_output_size_from_dims_v2(
    c: &InferenceContext<'_>,
    input: DimHandle,
    window: impl Into<DimOrConstant>,
    dilation: i64,
    stride: i64,
    padding: &Padding,
    axis: usize,
) -> Result<DimHandle> {
    let window = window.into();
    ensure_steps(stride, dilation)?;
    let (before, after) = match padding.along(axis) {
        Padding::Same => return c.divide(c.add(input, stride - 1)?, stride, false),
        Padding::Valid => (0, 0),
        Padding::Explicit(sizes) => sizes,
    };
    let padded = c.add(c.add(input, before)?, after)?;
    let reach = match window {
        // No kernel has such a window. TensorFlow's shape functions subtract it as it is, and count -1 as unknown.
        DimOrConstant::Constant(size) if size < -1 && dilation == 1 => c.add(padded, size.saturating_neg())?,
        _ if dilation == 1 => c.subtract(padded, window)?,
        _ => c.subtract(padded, c.add(c.multiply(c.subtract(window, 1)?, dilation)?, 1)?)?,
    };
    c.divide(c.add(reach, stride)?, stride, false)
}

/// Checks that the channels that lie together in NCHW_VECT_C are 4 or 32.
#[track_caller]
pub(super) fn check_inner(c: &InferenceContext<'_>, format: TensorFormat, shape: ShapeHandle) -> Result<()> {
    if let (TensorFormat::NchwVectC, Some(axis)) = (format, format.inner(2)) {
        match c.value(c.dim(shape, axis as i64)) {
            Some(4 | 32) => {}
            size => {
                let message = format!("VECT_C dimension must be 4 or 32, but is {}", size.unwrap_or(-1));
                return Err(Error::invalid_argument(message));
            }
        }
    }
    Ok(())
}

/// A shape of this format; `channel` counts the outer channels of NCHW_VECT_C, of which 4 lie together.
pub fn make_shape_from_format(
    c: &InferenceContext<'_>,
    format: TensorFormat,
    batch: DimHandle,
    spatial: &[DimHandle],
    channel: DimHandle,
) -> ShapeHandle {
    let inner = format.inner(spatial.len()).map_or(channel, |_| c.make_dim(4));
    shape_with_inner(c, format, batch, spatial, channel, inner)
}

/// As [`make_shape_from_format`], with another number of channels or places that lie together.
pub(super) fn shape_with_inner(
    c: &InferenceContext<'_>,
    format: TensorFormat,
    batch: DimHandle,
    spatial: &[DimHandle],
    channel: DimHandle,
    inner: DimHandle,
) -> ShapeHandle {
    let count = spatial.len();
    let mut dims = vec![batch; format.rank(count)];
    dims[format.channel(count)] = channel;
    dims[format.first_spatial()..][..count].copy_from_slice(spatial);
    if let Some(axis) = format.inner(count) {
        dims[axis] = inner;
    }
    c.make_shape(dims)
}

/// An attr with one value for each dimension of the data format. `what` begins the error about another number of them.
#[track_caller]
pub(super) fn sizes_attr(
    c: &InferenceContext<'_>,
    name: &str,
    what: &str,
    count: usize,
    default: Option<i64>,
) -> Result<Vec<i64>> {
    let sizes = match default {
        Some(value) => attr_or(c, name, vec![value; count])?,
        None => c.attr::<Vec<i64>>(name)?,
    };
    if sizes.len() != count {
        let message = format!("{what} attribute to contain {count} values, but got: {}", sizes.len());
        return Err(Error::invalid_argument(message));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Axis;
    use kernlink::shape_inference::testing::context;

    /// The size for an input `[size, window]`.
    fn size(input: &str, dilation: i64, stride: i64, padding: &Padding) -> Result<Option<i64>> {
        let mut result = Ok(None);
        context(input, |c| {
            let (input, window) = (c.dim(c.input(0), 0), c.dim(c.input(0), 1));
            result = get_windowed_output_size_from_dims_v2(c, input, window, dilation, stride, padding, 1)
                .map(|dim| c.value(dim));
        });
        result
    }

    #[test]
    fn windows() {
        assert_eq!(size("[5,3]", 1, 1, &Padding::Valid).unwrap(), Some(3));
        assert_eq!(size("[5,3]", 1, 2, &Padding::Valid).unwrap(), Some(2));
        assert_eq!(size("[5,3]", 2, 1, &Padding::Valid).unwrap(), Some(1));
        assert_eq!(size("[2,3]", 1, 2, &Padding::Same).unwrap(), Some(1));
        assert_eq!(size("[5,3]", 1, 2, &Padding::Same).unwrap(), Some(3));
        assert_eq!(size("[?,3]", 1, 2, &Padding::Same).unwrap(), None);
        assert_eq!(size("[5,?]", 1, 2, &Padding::Same).unwrap(), Some(3));
        assert_eq!(size("[5,?]", 1, 2, &Padding::Valid).unwrap(), None);
        let explicit = Padding::Explicit([(0, 0), (2, 1), (0, 0), (0, 0), (0, 0)]);
        assert_eq!(size("[5,3]", 1, 1, &explicit).unwrap(), Some(6));
        assert_eq!(size("[0,3]", 1, 1, &explicit).unwrap(), Some(1));
    }

    #[test]
    fn windows_are_checked() {
        let message = |result: Result<Option<i64>>| result.unwrap_err().message().to_owned();
        assert_eq!(message(size("[5,3]", 1, 0, &Padding::Same)), "Stride must be > 0, but got 0");
        assert_eq!(message(size("[5,3]", 0, 1, &Padding::Same)), "Dilation rate must be >= 1, but got 0");
        let error = message(size("[2,3]", 1, 1, &Padding::Valid));
        assert_eq!(error, "Negative dimension size caused by subtracting 3 from 2");
        assert!(size("[5,0]", 2, 1, &Padding::Valid).is_err());
        assert!(size("[5,3]", i64::MAX, 1, &Padding::Valid).is_err());
        assert!(size("[5,3]", 1, i64::MAX, &Padding::Same).is_err());
        let huge = Padding::Explicit([(i64::MAX, i64::MAX); MAX_RANK]);
        assert!(size("[5,3]", 1, 1, &huge).is_err());
    }

    #[test]
    fn kernels_compute_the_sizes_that_are_inferred() {
        let explicit = Padding::Explicit([(2, 1); MAX_RANK]);
        let mut inferred = 0;
        for (input, window, stride, dilation) in
            (0..6).flat_map(|i| (1..4).flat_map(move |w| (1..4).flat_map(move |s| (1..3).map(move |d| (i, w, s, d)))))
        {
            for padding in [Padding::Valid, Padding::Same, explicit] {
                let axis = Axis::new(input, window, stride, dilation, padding.along(1));
                if let Ok(size) = size(&format!("[{input},{window}]"), dilation, stride, &padding) {
                    assert_eq!(
                        axis.unwrap().output as i64,
                        size.unwrap(),
                        "{input} {window} {stride} {dilation} {padding:?}"
                    );
                    inferred += 1;
                }
            }
        }
        assert!(inferred > 200, "{inferred}");
    }

    #[test]
    fn explicit_paddings_are_checked() {
        let new = |padding, explicit: &[i64], format| Padding::new(padding, explicit, format, 4);
        let nhwc = TensorFormat::Nhwc;
        assert_eq!(new("SAME", &[], nhwc).unwrap(), Padding::Same);
        assert!(new("SAME", &[0; 8], nhwc).unwrap_err().message().contains("must be empty"));
        assert!(new("EXPLICIT", &[0; 6], nhwc).unwrap_err().message().contains("8 values, but got: 6"));
        assert!(new("EXPLICIT", &[0, 0, -1, 0, 0, 0, 0, 0], nhwc).unwrap_err().message().contains("nonnegative"));
        assert!(new("EXPLICIT", &[0, 0, 0, 0, 0, 0, 1, 0], nhwc).unwrap_err().message().contains("batch or depth"));
        assert!(new("EXPLICIT", &[0, 0, 0, 0, 0, 0, 1, 0], TensorFormat::Nchw).is_ok());
        assert!(new("EXPLICIT", &[0, 0, 1, 0, 0, 0, 0, 0], TensorFormat::NchwVectC).is_err());
        assert!(new("AROUND", &[], nhwc).unwrap_err().message().contains("is not an allowed padding type"));
    }
}
