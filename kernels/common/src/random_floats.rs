//! Floats from random bits.
//!
//! Normal numbers come from logarithms, sines and cosines, and these differ from one mathematical library to the next:
//! of the 2²³ arguments that occur for `f32`, 7.6 % of the logarithms and 1.3 % of the sines of the `libm` crate have
//! another last bit than those of glibc, with which TensorFlow runs. So [`ln`] and [`sin_cos`] are here, as in ARM's
//! Optimized Routines, which glibc took over: equal to it on all those arguments. For `f64` the platform's functions
//! serve, as they do in TensorFlow.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, PI};

/// The float of 23 random bits, from 0 up to but without 1.
#[inline(always)]
pub fn uniform32(bits: u32) -> f32 {
    f32::from_bits(127 << 23 | bits & 0x7f_ffff) - 1.0
}

/// The double of 52 random bits, from 0 up to but without 1.
#[inline(always)]
pub fn uniform64(high: u32, low: u32) -> f64 {
    f64::from_bits(1023 << 52 | u64::from(high & 0xf_ffff) << 32 | u64::from(low)) - 1.0
}

/// Two normal numbers, by Box and Muller.
#[inline(always)]
pub fn normal32(bits: [u32; 2]) -> [f32; 2] {
    let radius = (-2.0 * ln(uniform32(bits[0]).max(1e-7))).sqrt();
    let (sin, cos) = sin_cos((2.0 * PI * f64::from(uniform32(bits[1]))) as f32);
    [sin * radius, cos * radius]
}

/// Two normal doubles, by Box and Muller.
#[inline]
pub fn normal64(bits: [u32; 4]) -> [f64; 2] {
    let radius = (-2.0 * uniform64(bits[0], bits[1]).max(1e-7).ln()).sqrt();
    let (sin, cos) = (2.0 * PI * uniform64(bits[2], bits[3])).sin_cos();
    [sin * radius, cos * radius]
}

/// 1/c and ln c for a c in the middle of each of 16 ranges, from 0.7 on.
const LN_TABLE: [(u64, u64); 16] = [
    (0x3ff661ec79f8f3be, 0xbfd57bf7808caade),
    (0x3ff571ed4aaf883d, 0xbfd2bef0a7c06ddb),
    (0x3ff49539f0f010b0, 0xbfd01eae7f513a67),
    (0x3ff3c995b0b80385, 0xbfcb31d8a68224e9),
    (0x3ff30d190c8864a5, 0xbfc6574f0ac07758),
    (0x3ff25e227b0b8ea0, 0xbfc1aa2bc79c8100),
    (0x3ff1bb4a4a1a343f, 0xbfba4e76ce8c0e5e),
    (0x3ff12358f08ae5ba, 0xbfb1973c5a611ccc),
    (0x3ff0953f419900a7, 0xbfa252f438e10c1e),
    (0x3ff0000000000000, 0x0000000000000000),
    (0x3fee608cfd9a47ac, 0x3faaa5aa5df25984),
    (0x3feca4b31f026aa0, 0x3fbc5e53aa362eb4),
    (0x3feb2036576afce6, 0x3fc526e57720db08),
    (0x3fe9c2d163a1aa2d, 0x3fcbc2860d224770),
    (0x3fe886e6037841ed, 0x3fd1058bc8a07ee1),
    (0x3fe767dcf5534862, 0x3fd4043057b6ee09),
];

/// The natural logarithm of a normal number above zero, or of zero.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    if x == 0.0 {
        return f32::NEG_INFINITY;
    }
    const A: [f64; 3] =
        [f64::from_bits(0xbfd00ea348b88334), f64::from_bits(0x3fd5575b0be00b6a), f64::from_bits(0xbfdffffef20a4123)];
    // x = 2^k z, with z in one of the table's ranges.
    let offset = x.to_bits().wrapping_sub(0x3f33_0000);
    let (inverse, ln) = LN_TABLE[(offset >> 19) as usize % 16];
    let k = f64::from(offset as i32 >> 23);
    let z = f32::from_bits(x.to_bits().wrapping_sub(offset & 0xff80_0000));
    let r = f64::from(z) * f64::from_bits(inverse) - 1.0;
    let r2 = r * r;
    let y = A[0] * r2 + (A[1] * r + A[2]);
    (y * r2 + (f64::from_bits(ln) + k * LN_2 + r)) as f32
}

/// The sine and the cosine of a number from 0 to 2π.
#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    const COS: [f64; 4] = [
        f64::from_bits(0xbfdffffffd0c621c),
        f64::from_bits(0x3fa55553e1068f19),
        f64::from_bits(0xbf56c087e89a359d),
        f64::from_bits(0x3ef99343027bf8c3),
    ];
    const SIN: [f64; 3] =
        [f64::from_bits(0xbfc555545995a603), f64::from_bits(0x3f81107605230bc4), f64::from_bits(0xbf2994eb3774cf24)];
    let quadrant = (f64::from(x) * FRAC_2_PI + 0.5) as i32;
    let rest = f64::from(x) - f64::from(quadrant) * FRAC_PI_2;
    let x2 = rest * rest;
    let x4 = x2 * x2;
    let x3 = x2 * rest;
    let sin = rest + x3 * SIN[0] + x3 * x2 * (SIN[1] + x2 * SIN[2]);
    let cos = 1.0 + x2 * COS[0] + x4 * COS[1] + x4 * x2 * (COS[2] + x2 * COS[3]);
    // Without branches, so that many are computed at once.
    let (sin, cos) = (sin as f32, cos as f32);
    let (sin, cos) = if quadrant & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let signed = |value: f32, negative: i32| f32::from_bits(value.to_bits() ^ (negative as u32 & 2) << 30);
    (signed(sin, quadrant), signed(cos, quadrant + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV hashes of every seventh result; glibc 2.36 gives the same, and so it does for all others.
    #[test]
    fn logarithms_sines_and_cosines_are_those_of_glibc() {
        let mut hashes = [0xcbf2_9ce4_8422_2325u64; 3];
        for bits in (0..1 << 23).step_by(7) {
            let u = uniform32(bits);
            let (sin, cos) = sin_cos((2.0 * PI * f64::from(u)) as f32);
            for (hash, result) in hashes.iter_mut().zip([ln(u.max(1e-7)), sin, cos]) {
                *hash = (*hash ^ u64::from(result.to_bits())).wrapping_mul(0x100_0000_01b3);
            }
        }
        assert_eq!(hashes, [0xffe5_b604_17a3_e4b4, 0xef0a_d842_32ce_5728, 0x2f23_04a4_f08b_4f92]);
        assert_eq!(ln(0.0), f32::NEG_INFINITY);
    }
}
