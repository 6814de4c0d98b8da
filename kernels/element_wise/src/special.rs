//! Special functions as ops; [`gamma`](super::gamma) and [`quantile`](super::quantile) compute them.

use kernlink_macros::register_kernel;
use kernlink_ops::{Digamma, Erfinv, Igamma, IgammaGradA, Igammac, Lgamma, Ndtri, Polygamma, RandomGammaGrad, Zeta};

use super::binary::{Binary, binary};
use super::easy::mostly_easy;
use super::unary::{Unary, unary};
use super::{gamma, quantile};

unary!(Lgamma, 12000: f32 => |x| libm::lgammaf(x); half; f64 => |x| libm::lgamma(x));
unary!(Digamma, 6000: f32 => |x| gamma::digamma(x.into()) as f32; half; f64 => |x| gamma::digamma(x));
mostly_easy! {
    Ndtri, 4000: f32, f64 => |p| if quantile::is_middle(p) => quantile::ndtri_middle(p), quantile::ndtri(p);
    Erfinv, 4000: f32, f64 => |x| if quantile::is_near(x) => quantile::erf_inv_middle(x), quantile::erf_inv(x);
}

#[register_kernel(device = Cpu, op = [Lgamma, Digamma], T = [f32, f64, f16])]
#[register_kernel(device = Cpu, op = [Ndtri, Erfinv], T = [f32, f64])]
type UnaryKernels<O, T> = Unary<O, T>;

/// `binary!` for `float`, computed as `double`, and for `double`.
macro_rules! wide {
    ($($op:ident: $function:ident;)+) => {$(
        binary!($op, 50000:
            f32 => |x, y| gamma::$function(x.into(), y.into(), gamma::SINGLE) as f32;
            f64 => |x, y| gamma::$function(x, y, gamma::DOUBLE));
    )+};
}
wide! {
    Igamma: igamma;
    Igammac: igammac;
    IgammaGradA: igamma_slope;
    RandomGammaGrad: gamma_sample_slope;
    Zeta: zeta;
    Polygamma: polygamma;
}

#[register_kernel(device = Cpu, op = [Igamma, Igammac, IgammaGradA, RandomGammaGrad, Zeta, Polygamma], T = [f32, f64])]
type BinaryKernels<O, T> = Binary<O, T>;
