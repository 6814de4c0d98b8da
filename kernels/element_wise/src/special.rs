//! Special functions as ops; [`gamma`](super::gamma) computes them.

use kernlink_macros::register_kernel;
use kernlink_ops::{Digamma, Erfinv, Igamma, Igammac, Lgamma, Ndtri, Polygamma, Zeta};

use super::binary::{Binary, binary};
use super::gamma;
use super::unary::{Unary, unary};

unary!(Lgamma, 12000: f32 => |x| libm::lgammaf(x); half; f64 => |x| libm::lgamma(x));
unary!(Digamma, 20000: f32 => |x| gamma::digamma(x.into()) as f32; half; f64 => |x| gamma::digamma(x));
unary!(Ndtri, 12000: f32 => |x| gamma::ndtri(x.into()) as f32; f64 => |x| gamma::ndtri(x));
unary!(Erfinv, 12000: f32 => |x| gamma::erf_inv(x.into()) as f32; f64 => |x| gamma::erf_inv(x));

#[register_kernel(device = Cpu, op = [Lgamma, Digamma], T = [f32, f64, f16])]
#[register_kernel(device = Cpu, op = [Ndtri, Erfinv], T = [f32, f64])]
type UnaryKernels<O, T> = Unary<O, T>;

/// `binary!` for `float`, computed as `double`, and for `double`.
macro_rules! wide {
    ($($op:ident: $function:ident;)+) => {$(
        binary!($op, 50000:
            f32 => |x, y| gamma::$function(x.into(), y.into()) as f32;
            f64 => |x, y| gamma::$function(x, y));
    )+};
}
wide! {
    Igamma: igamma;
    Igammac: igammac;
    Zeta: zeta;
    Polygamma: polygamma;
}

#[register_kernel(device = Cpu, op = [Igamma, Igammac, Zeta, Polygamma], T = [f32, f64])]
type BinaryKernels<O, T> = Binary<O, T>;
