//! Special functions as ops; [`gamma`](super::gamma) computes them.

use kernlink_ops::{Digamma, Erfinv, Igamma, Igammac, Lgamma, Ndtri, Polygamma, Zeta};

use super::binary::{binary, register_binary};
use super::gamma;
use super::unary::{register_unary, unary};

unary!(Lgamma, 12000: f32 => |x| libm::lgammaf(x); half; f64 => |x| libm::lgamma(x));
unary!(Digamma, 20000: f32 => |x| gamma::digamma(x.into()) as f32; half; f64 => |x| gamma::digamma(x));
unary!(Ndtri, 12000: f32 => |x| gamma::ndtri(x.into()) as f32; f64 => |x| gamma::ndtri(x));
unary!(Erfinv, 12000: f32 => |x| gamma::erf_inv(x.into()) as f32; f64 => |x| gamma::erf_inv(x));

register_unary! {
    Lgamma: Lgamma = [f32, f64, f16];
    Digamma: Digamma = [f32, f64, f16];
    Ndtri: Ndtri = [f32, f64];
    Erfinv: Erfinv = [f32, f64];
}

/// `binary!` for `float`, computed as `double`, and for `double`.
macro_rules! wide {
    ($($op:ident: $function:ident;)+) => {$(
        binary!($op, 50000:
            f32 => |x, y| gamma::$function(x.into(), y.into()) as f32;
            f64 => |x, y| gamma::$function(x, y));
        register_binary! { $op: $op = [f32, f64]; }
    )+};
}
wide! {
    Igamma: igamma;
    Igammac: igammac;
    Zeta: zeta;
    Polygamma: polygamma;
}
