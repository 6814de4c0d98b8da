//! Special functions as ops; [`bessel`](super::bessel), [`gamma`](super::gamma), [`integrals`](super::integrals) and
//! [`quantile`](super::quantile) compute them.

use kernlink_kernels_common::fast::Real;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    BesselI0, BesselI0e, BesselI1, BesselI1e, BesselJ0, BesselJ1, BesselK0, BesselK0e, BesselK1, BesselK1e, BesselY0,
    BesselY1, Dawsn, Digamma, Erfinv, Expint, FresnelCos, FresnelSin, Igamma, IgammaGradA, Igammac, Lgamma, Ndtri,
    Polygamma, RandomGammaGrad, Spence, Zeta,
};

use super::binary::{Binary, binary};
use super::easy::mostly_easy;
use super::unary::{Unary, unary};
use super::{bessel, gamma, integrals, quantile};

unary!(Lgamma, 12000: f32 => |x| libm::lgammaf(x); half; f64 => |x| libm::lgamma(x));
unary!(Digamma, 6000: f32 => |x| gamma::digamma(x.into()) as f32; half; f64 => |x| gamma::digamma(x));
mostly_easy! {
    Ndtri, 4000: f32, f64 => |p| if quantile::is_middle(p) => quantile::ndtri_middle(p), quantile::ndtri(p);
    Erfinv, 4000: f32, f64 => |x| if quantile::is_near(x) => quantile::erf_inv_middle(x), quantile::erf_inv(x);
}

/// `unary!` for functions of floats, of 16 bits too.
macro_rules! modified {
    ($($op:ident, $cost:literal: $function:ident;)+) => {$(
        unary!($op, $cost: f32, f64 => |x| bessel::$function(x); half);
    )+};
}
modified! {
    BesselI0, 6000: i0;
    BesselI0e, 5000: i0e;
    BesselI1, 6000: i1;
    BesselI1e, 5000: i1e;
    BesselK0, 9000: k0;
    BesselK0e, 9000: k0e;
    BesselK1, 9000: k1;
    BesselK1e, 9000: k1e;
}

/// `mostly_easy!` for functions whose phase may be large.
macro_rules! turning {
    ($($op:ident: $function:ident;)+) => {
        mostly_easy! {$(
            // The phase is somewhat less than the argument.
            $op, 8000: f32, f64 => |x| if x.abs() <= Real::MOST_TURNED
                => bessel::$function::<_, true>(x), bessel::$function::<_, false>(x);
        )+}
        $(unary!(@half $op, 8000);)+
    };
}
turning! {
    BesselJ0: j0;
    BesselJ1: j1;
    BesselY0: y0;
    BesselY1: y1;
}

unary!(Dawsn, 8000: f32, f64 => |x| integrals::dawson(x));
unary!(Expint, 12000: f32, f64 => |x| integrals::exponential(x));
unary!(FresnelCos, 12000: f32, f64 => |x| integrals::fresnel_cos(x));
unary!(FresnelSin, 12000: f32, f64 => |x| integrals::fresnel_sin(x));
unary!(Spence, 12000: f32, f64 => |x| integrals::spence(x));

#[register_kernel(device = Cpu, op = [Lgamma, Digamma], T = [f32, f64, f16])]
#[register_kernel(
    device = Cpu,
    op = [
        BesselI0, BesselI0e, BesselI1, BesselI1e, BesselJ0, BesselJ1, BesselK0, BesselK0e, BesselK1, BesselK1e, BesselY0,
        BesselY1,
    ],
    T = [f32, f64, f16]
)]
#[register_kernel(device = Cpu, op = [Ndtri, Erfinv, Dawsn, Expint, FresnelCos, FresnelSin, Spence], T = [f32, f64])]
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
