//! Normalisation of images by channels, and of channels by their neighbours.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::scalar_like;
use crate::*;

/// In training and in inference, of what is normalised, the scale and the offset alone.
#[register_gradient(op = FusedBatchNorm)]
fn fused_batch_norm_gradient(
    g: &mut GradientScope<'_>,
    epsilon: f32,
    data_format: String,
    is_training: bool,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    reserve_space_1: Value,
    reserve_space_2: Value,
    d_y: Value,
) -> Result<(Value, Value, Value, NoGradient, NoGradient)> {
    let (first, second) = if is_training { (reserve_space_1, reserve_space_2) } else { (mean, variance) };
    let flow = fused_batch_norm_grad(g, d_y, x, scale, first, second);
    let flow = flow.epsilon(epsilon).data_format(&data_format).is_training(is_training).build()?;
    Ok((flow.x_backprop, flow.scale_backprop, flow.offset_backprop, NoGradient, NoGradient))
}

#[register_gradient(op = FusedBatchNormV2)]
fn fused_batch_norm_v2_gradient(
    g: &mut GradientScope<'_>,
    epsilon: f32,
    data_format: String,
    is_training: bool,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    reserve_space_1: Value,
    reserve_space_2: Value,
    d_y: Value,
) -> Result<(Value, Value, Value, NoGradient, NoGradient)> {
    let (first, second) = if is_training { (reserve_space_1, reserve_space_2) } else { (mean, variance) };
    let flow = fused_batch_norm_grad_v2(g, d_y, x, scale, first, second);
    let flow = flow.epsilon(epsilon).data_format(&data_format).is_training(is_training).build()?;
    Ok((flow.x_backprop, flow.scale_backprop, flow.offset_backprop, NoGradient, NoGradient))
}

#[register_gradient(op = FusedBatchNormV3)]
fn fused_batch_norm_v3_gradient(
    g: &mut GradientScope<'_>,
    epsilon: f32,
    data_format: String,
    is_training: bool,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    reserve_space_1: Value,
    reserve_space_2: Value,
    reserve_space_3: Value,
    d_y: Value,
) -> Result<(Value, Value, Value, NoGradient, NoGradient)> {
    let (first, second) = if is_training { (reserve_space_1, reserve_space_2) } else { (mean, variance) };
    let flow = fused_batch_norm_grad_v3(g, d_y, x, scale, first, second, reserve_space_3);
    let flow = flow.epsilon(epsilon).data_format(&data_format).is_training(is_training).build()?;
    Ok((flow.x_backprop, flow.scale_backprop, flow.offset_backprop, NoGradient, NoGradient))
}

/// What the gradient of a normalisation was given, as floats, and what flows back to it.
struct Normalised<'a> {
    y_backprop: Value,
    x: Value,
    scale: Value,
    /// The mean and the variance, where they are those of the whole population.
    population: Option<[Value; 2]>,
    data_format: &'a str,
    epsilon: f32,
    d_x: Value,
    d_scale: Value,
    d_offset: Value,
}

impl Normalised<'_> {
    /// The dimensions over which a channel goes.
    fn axes(&self) -> &'static [i32] {
        match self.data_format {
            "NCHW" => &[0, 2, 3],
            "NDHWC" => &[0, 1, 2, 3],
            "NCDHW" => &[0, 2, 3, 4],
            _ => &[0, 1, 2],
        }
    }

    /// What there is once a channel, so that it is broadcast to images.
    fn by_channel(&self, g: &mut GradientScope<'_>, channels: Value) -> Result<Value> {
        let dims: &[i32] = match self.data_format {
            "NCHW" => &[-1, 1, 1],
            "NCDHW" => &[-1, 1, 1, 1],
            _ => return Ok(channels),
        };
        reshape(g, channels, dims).build()
    }

    /// The sum over each channel, broadcast to images.
    fn sums(&self, g: &mut GradientScope<'_>, images: Value) -> Result<Value> {
        let sums = sum(g, images, self.axes()).build()?;
        self.by_channel(g, sums)
    }

    fn means(&self, g: &mut GradientScope<'_>, images: Value) -> Result<Value> {
        let means = mean(g, images, self.axes()).build()?;
        self.by_channel(g, means)
    }

    fn centred(&self, g: &mut GradientScope<'_>, images: Value) -> Result<Value> {
        let means = self.means(g, images)?;
        sub(g, images, means).build()
    }

    /// What flows on to `y_backprop`, `x` and `scale`.
    fn gradients(&self, g: &mut GradientScope<'_>) -> Result<[Value; 3]> {
        let (scale, d_scale) = (self.by_channel(g, self.scale)?, self.by_channel(g, self.d_scale)?);
        let d_offset = self.by_channel(g, self.d_offset)?;
        match self.population {
            Some(population) => self.of_population(g, population, [scale, d_scale, d_offset]),
            None => self.of_batch(g, [scale, d_scale, d_offset]),
        }
    }

    /// With `r = 1 / √(variance + ε)`: `dx = g s r`, `ds = Σ g (x - mean) r`, `do = Σ g`.
    fn of_population(
        &self,
        g: &mut GradientScope<'_>,
        [mean, variance]: [Value; 2],
        [scale, d_scale, d_offset]: [Value; 3],
    ) -> Result<[Value; 3]> {
        let (mean, variance) = (self.by_channel(g, mean)?, self.by_channel(g, variance)?);
        let (root, centred) = (self.root(g, variance)?.1, sub(g, self.x, mean).build()?);
        let scaled = mul(g, scale, root).build()?;
        let of_x = mul(g, self.d_x, scaled).build()?;
        let of_scale = mul(g, d_scale, root).build()?;
        let through_scale = mul(g, of_scale, centred).build()?;
        let to_flow = add_v2(g, of_x, through_scale).build()?;
        let to_flow = add_v2(g, to_flow, d_offset).build()?;
        let to_x = mul(g, of_scale, self.y_backprop).build()?;
        let product = mul(g, self.d_x, self.y_backprop).build()?;
        let product = mul(g, product, root).build()?;
        Ok([to_flow, to_x, sum(g, product, self.axes()).build()?])
    }

    /// `variance + ε`, and one divided by its root.
    fn root(&self, g: &mut GradientScope<'_>, variance: Value) -> Result<(Value, Value)> {
        let epsilon = scalar_like(g, variance, self.epsilon.into())?;
        let variance = add_v2(g, variance, epsilon).build()?;
        Ok((variance, rsqrt(g, variance).build()?))
    }

    /// With `c` for what is centred by channel, `v = mean(xc²) + ε`, `r = 1 / √v`, `m = mean(g xc)` of `n` elements:
    /// `dx = s r (gc - xc m / v)`, `ds = n r m`, `do = Σ g`. Of `Σ A dx + B ds + C do`, with `p = mean(A xc)` and
    /// `q = Σ Ac g - n m p / v`, the derivatives are
    /// - by `g`: `s r (Ac - xc p / v) + B r xc + C`,
    /// - by `s`: `r q`,
    /// - by `x`: `gc r (B - s p / v) - Ac s r m / v + xc r (s (2 m p / v - q / n) - B m) / v`.
    fn of_batch(&self, g: &mut GradientScope<'_>, [scale, d_scale, d_offset]: [Value; 3]) -> Result<[Value; 3]> {
        let (flow, outer) = (self.y_backprop, self.d_x);
        let x = self.centred(g, self.x)?;
        let squares = square(g, x).build()?;
        let variance = self.means(g, squares)?;
        let (v, r) = self.root(g, variance)?;
        let (flow_centred, outer_centred) = (self.centred(g, flow)?, self.centred(g, outer)?);
        let product = mul(g, flow, x).build()?;
        let m = self.means(g, product)?;
        let product = mul(g, outer, x).build()?;
        let p = self.means(g, product)?;
        let (m_by_v, p_by_v) = (real_div(g, m, v).build()?, real_div(g, p, v).build()?);
        // `q / n`, and `q`.
        let product = mul(g, outer_centred, flow).build()?;
        let mean_product = self.means(g, product)?;
        let both = mul(g, m, p_by_v).build()?;
        let q_mean = sub(g, mean_product, both).build()?;
        let x_normal = mul(g, x, r).build()?;
        let scale_root = mul(g, scale, r).build()?;

        let along = mul(g, x, p_by_v).build()?;
        let to_flow = sub(g, outer_centred, along).build()?;
        let to_flow = mul(g, to_flow, scale_root).build()?;
        let through_scale = mul(g, d_scale, x_normal).build()?;
        let to_flow = add_v2(g, to_flow, through_scale).build()?;
        let to_flow = add_v2(g, to_flow, d_offset).build()?;

        let sums = self.sums(g, product)?;
        let deviation = mul(g, flow, x).build()?;
        let deviation = self.sums(g, deviation)?;
        let deviation = mul(g, deviation, p_by_v).build()?;
        let q = sub(g, sums, deviation).build()?;
        let to_scale = mul(g, r, q).build()?;
        let to_scale = reshape(g, to_scale, &[-1i32][..]).build()?;

        let along_flow = mul(g, scale, p_by_v).build()?;
        let along_flow = sub(g, d_scale, along_flow).build()?;
        let along_flow = mul(g, along_flow, r).build()?;
        let along_flow = mul(g, flow_centred, along_flow).build()?;
        let along_outer = mul(g, scale_root, m_by_v).build()?;
        let along_outer = mul(g, outer_centred, along_outer).build()?;
        let twice = add_v2(g, both, both).build()?;
        let along_x = sub(g, twice, q_mean).build()?;
        let along_x = mul(g, scale, along_x).build()?;
        let through_scale = mul(g, d_scale, m).build()?;
        let along_x = sub(g, along_x, through_scale).build()?;
        let along_x = real_div(g, along_x, v).build()?;
        let along_x = mul(g, x_normal, along_x).build()?;
        let to_x = sub(g, along_flow, along_outer).build()?;
        Ok([to_flow, add_v2(g, to_x, along_x).build()?, to_scale])
    }
}

/// What flows on through the gradient of a normalisation: computed with floats, and returned in the dtype of the images.
fn through_gradient(g: &mut GradientScope<'_>, normalised: Normalised<'_>) -> Result<(Value, Value, Value)> {
    let dtype = g.dtype(normalised.x)?;
    let [y_backprop, x, d_x] = [normalised.y_backprop, normalised.x, normalised.d_x]
        .map(|images| if dtype == DataType::Float { Ok(images) } else { cast(g, images, DataType::Float).build() });
    let [to_flow, to_x, to_scale] =
        Normalised { y_backprop: y_backprop?, x: x?, d_x: d_x?, ..normalised }.gradients(g)?;
    let [to_flow, to_x] = [to_flow, to_x]
        .map(|images| if dtype == DataType::Float { Ok(images) } else { cast(g, images, dtype).build() });
    Ok((to_flow?, to_x?, to_scale))
}

/// The gradients of the three versions, which differ in their arguments.
macro_rules! gradients_of_gradients {
    ($($op:ident $name:ident: $($none:ident)*;)*) => {$(
        #[register_gradient(op = $op)]
        fn $name(
            g: &mut GradientScope<'_>,
            epsilon: f32,
            data_format: String,
            is_training: bool,
            y_backprop: Value,
            x: Value,
            scale: Value,
            reserve_space_1: Value,
            reserve_space_2: Value,
            d_x_backprop: Value,
            d_scale_backprop: Value,
            d_offset_backprop: Value,
        ) -> Result<(Value, Value, Value, $($none),*)> {
            let (to_flow, to_x, to_scale) = through_gradient(g, Normalised {
                y_backprop,
                x,
                scale,
                population: (!is_training).then_some([reserve_space_1, reserve_space_2]),
                data_format: &data_format,
                epsilon,
                d_x: d_x_backprop,
                d_scale: d_scale_backprop,
                d_offset: d_offset_backprop,
            })?;
            Ok((to_flow, to_x, to_scale, $($none),*))
        }
    )*

        /// How many gradients the macro registers.
        pub(super) const BY_MACROS: usize = [$(stringify!($op)),*].len();
    };
}

gradients_of_gradients! {
    FusedBatchNormGrad of_first: NoGradient NoGradient;
    FusedBatchNormGradV2 of_second: NoGradient NoGradient;
    FusedBatchNormGradV3 of_third: NoGradient NoGradient NoGradient;
}

#[register_gradient(op = LRN)]
fn lrn_gradient(
    g: &mut GradientScope<'_>,
    depth_radius: i64,
    bias: f32,
    alpha: f32,
    beta: f32,
    input: Value,
    output: Value,
    d_output: Value,
) -> Result<Value> {
    lrn_grad(g, d_output, input, output).depth_radius(depth_radius).bias(bias).alpha(alpha).beta(beta).build()
}

/// To the mean and the variance, too, though a graph that uses this op does not train them.
#[register_gradient(op = BatchNormWithGlobalNormalization)]
fn batch_norm_with_global_normalization_gradient(
    g: &mut GradientScope<'_>,
    variance_epsilon: f32,
    scale_after_normalization: bool,
    t: Value,
    m: Value,
    v: Value,
    gamma: Value,
    d_result: Value,
) -> Result<(Value, Value, Value, Value, Value)> {
    #[expect(deprecated, reason = "as old as the op itself, which only old graphs may hold")]
    let flow = batch_norm_with_global_normalization_grad(
        g,
        t,
        m,
        v,
        gamma,
        d_result,
        variance_epsilon,
        scale_after_normalization,
    );
    let flow = flow.build()?;
    Ok((flow.dx, flow.dm, flow.dv, flow.db, flow.dg))
}
