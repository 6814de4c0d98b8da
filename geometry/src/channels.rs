//! Tensors with channels: biases, and normalisation of batches.

use kernlink::attr::AttrMap;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

/// A shape as `[outer, channels, inner]`; `inner` is 1 if channels are last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The elements before the channels.
    pub outer: usize,
    /// The channels.
    pub channels: usize,
    /// The elements behind the channels.
    pub inner: usize,
}

impl Layout {
    /// Of a shape with at least 2 dimensions, whose channels are the last one or the second.
    pub fn new(shape: &Shape, channels_last: bool) -> Layout {
        let axis = if channels_last { shape.rank() - 1 } else { 1 };
        let product = |dims: &[usize]| dims.iter().fold(1usize, |product, &dim| product.saturating_mul(dim));
        Layout { outer: product(&shape[..axis]), channels: shape[axis], inner: product(&shape[axis + 1..]) }
    }

    /// Elements of a channel.
    #[inline]
    pub fn count(&self) -> usize {
        self.outer * self.inner
    }
}

/// The dimension of `value` along which a bias is added.
///
/// # Errors
/// INVALID_ARGUMENT unless there is a bias for each channel.
pub fn biased(value: &Shape, bias: &Shape, channels_last: bool) -> Result<usize> {
    ensure!(value.rank() >= 2, InvalidArgument, "value must be at least 2-dimensional, not {value}");
    ensure!(bias.rank() == 1, InvalidArgument, "bias must be 1-dimensional, not {bias}");
    let axis = if channels_last { value.rank() - 1 } else { 1 };
    ensure!(
        bias[0] == value[axis],
        InvalidArgument,
        "there must be as many biases as channels: bias is {bias}, value is {value}, channels are dimension {axis}"
    );
    Ok(axis)
}

/// The layout of what the gradient of a bias is summed up from.
///
/// # Errors
/// INVALID_ARGUMENT if it has fewer than 2 dimensions.
pub fn bias_gradient(gradient: &Shape, channels_last: bool) -> Result<Layout> {
    ensure!(gradient.rank() >= 2, InvalidArgument, "out_backprop must be at least 2-dimensional, not {gradient}");
    Ok(Layout::new(gradient, channels_last))
}

/// What the ops that normalise batches, and their gradients, have in common.
#[derive(Clone, Copy, Debug)]
pub struct Norm {
    /// Attr `epsilon`.
    pub epsilon: f32,
    /// Attr `is_training`.
    pub training: bool,
    /// Whether attr `data_format` says so.
    pub channels_last: bool,
}

impl Norm {
    /// What the attrs of a node say.
    ///
    /// # Errors
    /// As [`Norm::new`], and for attrs that are missing.
    pub fn from_attrs(attrs: &AttrMap) -> Result<Norm> {
        let format: String = attrs.required("data_format")?;
        Norm::new(attrs.required("epsilon")?, attrs.required("is_training")?, &format)
    }

    /// What the attrs say.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an unknown format.
    pub fn new(epsilon: f32, training: bool, format: &str) -> Result<Norm> {
        let channels_last = match format {
            "NHWC" | "NDHWC" => true,
            "NCHW" | "NCDHW" => false,
            _ => bail!(InvalidArgument, "data_format `{format}` is not supported"),
        };
        Ok(Norm { epsilon, training, channels_last })
    }

    fn layout(&self, x: &Shape) -> Result<Layout> {
        ensure!(matches!(x.rank(), 4 | 5), InvalidArgument, "x must be 4- or 5-dimensional, not {x}");
        Ok(Layout::new(x, self.channels_last))
    }

    /// The layout of `x`. `vectors` are scale, offset, mean and variance, of which the last two are only looked at if
    /// statistics are `running`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shapes do not fit.
    pub fn forward(&self, x: &Shape, vectors: [&Shape; 4], running: bool) -> Result<Layout> {
        let layout = self.layout(x)?;
        for (index, (vector, name)) in vectors.into_iter().zip(["scale", "offset", "mean", "variance"]).enumerate() {
            let channels = if index < 2 || running { Some(layout.channels) } else { None };
            ensure_vector(name, vector, channels)?;
        }
        Ok(layout)
    }

    /// The layout of `x` and its gradient. `vectors` are scale and two reserve spaces.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shapes do not fit.
    pub fn backward(&self, x: &Shape, gradient: &Shape, vectors: [&Shape; 3]) -> Result<Layout> {
        let layout = self.layout(x)?;
        ensure!(gradient == x, InvalidArgument, "x and y_backprop must have the same shape, not {x} and {gradient}");
        for (vector, name) in vectors.into_iter().zip(["scale", "reserve_space_1", "reserve_space_2"]) {
            ensure_vector(name, vector, Some(layout.channels))?;
        }
        Ok(layout)
    }
}

/// The length of the vectors of the last dimension, each of which is brought to mean 0 and variance 1.
///
/// # Errors
/// INVALID_ARGUMENT unless scale and offset are as long.
pub fn layer_norm(x: &Shape, scale: &Shape, offset: &Shape) -> Result<usize> {
    ensure!(x.rank() > 0, InvalidArgument, "x must have at least one dimension");
    let length = x[x.rank() - 1];
    for (name, vector) in [("scale", scale), ("offset", offset)] {
        ensure!(vector[..] == [length], InvalidArgument, "{name} must have shape [{length}], not {vector}");
    }
    Ok(length)
}

/// Fails unless it is a vector, with an element for each of so many channels.
fn ensure_vector(name: &str, vector: &Shape, channels: Option<usize>) -> Result<()> {
    ensure!(vector.rank() == 1, InvalidArgument, "{name} must be 1-dimensional, not {vector}");
    if let Some(channels) = channels {
        ensure!(
            vector[0] == channels,
            InvalidArgument,
            "{name} must have as many elements as x has channels, {channels}, not {}",
            vector[0]
        );
    }
    Ok(())
}

/// Bessel's correction of the variance of so many elements.
pub fn bessel(count: usize) -> f32 {
    count as f32 / (count.max(2) - 1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_last_or_second() {
        let shape = Shape::from([2, 3, 4, 5]);
        assert_eq!(Layout::new(&shape, true), Layout { outer: 24, channels: 5, inner: 1 });
        assert_eq!(Layout::new(&shape, false), Layout { outer: 2, channels: 3, inner: 20 });
        assert_eq!(biased(&shape, &Shape::from([5]), true).unwrap(), 3);
        assert!(biased(&shape, &Shape::from([5]), false).is_err());
        assert!(bias_gradient(&Shape::from([5]), true).is_err());
    }

    #[test]
    fn statistics_that_are_not_read_may_be_empty() {
        let (x, three, none) = (Shape::from([2, 4, 4, 3]), Shape::from([3]), Shape::from([0]));
        let norm = Norm::new(0.0, true, "NHWC").unwrap();
        assert!(norm.forward(&x, [&three, &three, &none, &none], false).is_ok());
        assert!(norm.forward(&x, [&three, &three, &none, &none], true).is_err());
        assert!(norm.forward(&x, [&none, &three, &three, &three], false).is_err());
        let frozen = Norm::new(0.0, false, "NCHW").unwrap();
        let planes = Shape::from([2, 3, 4, 5]);
        let layout = frozen.backward(&planes, &planes, [&three; 3]).unwrap();
        assert_eq!(layout, Layout { outer: 2, channels: 3, inner: 20 });
        assert!(frozen.backward(&planes, &x, [&three; 3]).is_err());
        assert!(Norm::new(0.0, true, "HWCN").is_err());
    }
}
