//! FarmHash's 64-bit fingerprint: the same number for the same bytes, for ever and everywhere.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

fn fetch(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

fn fetch32(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |chunk| u64::from(u32::from_le_bytes(*chunk)))
}

fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

fn mix(u: u64, v: u64, factor: u64) -> u64 {
    let a = shift_mix((u ^ v).wrapping_mul(factor));
    shift_mix((v ^ a).wrapping_mul(factor)).wrapping_mul(factor)
}

fn rotate(value: u64, by: u32) -> u64 {
    value.rotate_right(by)
}

/// The factor that depends on the length.
fn factor(length: usize) -> u64 {
    K2.wrapping_add((length as u64).wrapping_mul(2))
}

fn up_to_16(s: &[u8]) -> u64 {
    let length = s.len();
    match length {
        8.. => {
            let mul = factor(length);
            let (a, b) = (fetch(s, 0).wrapping_add(K2), fetch(s, length - 8));
            let c = rotate(b, 37).wrapping_mul(mul).wrapping_add(a);
            let d = rotate(a, 25).wrapping_add(b).wrapping_mul(mul);
            mix(c, d, mul)
        }
        4..8 => mix((length as u64).wrapping_add(fetch32(s, 0) << 3), fetch32(s, length - 4), factor(length)),
        1..4 => {
            let (a, b, c) = (u64::from(s[0]), u64::from(s[length >> 1]), u64::from(s[length - 1]));
            let (y, z) = (a + (b << 8), length as u64 + (c << 2));
            shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
        }
        0 => K2,
    }
}

fn up_to_32(s: &[u8]) -> u64 {
    let (length, mul) = (s.len(), factor(s.len()));
    let (a, b) = (fetch(s, 0).wrapping_mul(K1), fetch(s, 8));
    let (c, d) = (fetch(s, length - 8).wrapping_mul(mul), fetch(s, length - 16).wrapping_mul(K2));
    mix(
        rotate(a.wrapping_add(b), 43).wrapping_add(rotate(c, 30)).wrapping_add(d),
        a.wrapping_add(rotate(b.wrapping_add(K2), 18)).wrapping_add(c),
        mul,
    )
}

fn up_to_64(s: &[u8]) -> u64 {
    let (length, mul) = (s.len(), factor(s.len()));
    let (a, b) = (fetch(s, 0).wrapping_mul(K2), fetch(s, 8));
    let (c, d) = (fetch(s, length - 8).wrapping_mul(mul), fetch(s, length - 16).wrapping_mul(K2));
    let y = rotate(a.wrapping_add(b), 43).wrapping_add(rotate(c, 30)).wrapping_add(d);
    let z = mix(y, a.wrapping_add(rotate(b.wrapping_add(K2), 18)).wrapping_add(c), mul);
    let (e, f) = (fetch(s, 16).wrapping_mul(mul), fetch(s, 24));
    let g = y.wrapping_add(fetch(s, length - 32)).wrapping_mul(mul);
    let h = z.wrapping_add(fetch(s, length - 24)).wrapping_mul(mul);
    mix(
        rotate(e.wrapping_add(f), 43).wrapping_add(rotate(g, 30)).wrapping_add(h),
        e.wrapping_add(rotate(f.wrapping_add(a), 18)).wrapping_add(g),
        mul,
    )
}

/// Mixes 32 bytes into two seeds.
fn weak(s: &[u8], a: u64, b: u64) -> (u64, u64) {
    let (w, x, y, z) = (fetch(s, 0), fetch(s, 8), fetch(s, 16), fetch(s, 24));
    let a = a.wrapping_add(w);
    let b = rotate(b.wrapping_add(a).wrapping_add(z), 21);
    let c = a;
    let a = a.wrapping_add(x).wrapping_add(y);
    let b = b.wrapping_add(rotate(a, 44));
    (a.wrapping_add(z), b.wrapping_add(c))
}

/// FarmHash's `Fingerprint64`.
pub fn fingerprint64(s: &[u8]) -> u64 {
    match s.len() {
        0..=16 => return up_to_16(s),
        17..=32 => return up_to_32(s),
        33..=64 => return up_to_64(s),
        _ => {}
    }
    const SEED: u64 = 81;
    let mut y = SEED.wrapping_mul(K1).wrapping_add(113);
    let mut z = shift_mix(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let (mut v, mut w) = ((0u64, 0u64), (0u64, 0u64));
    let mut x = SEED.wrapping_mul(K2).wrapping_add(fetch(s, 0));
    let last = s.len() - 64;
    let rest = ((s.len() - 1) & 63) as u64;
    // All whole blocks but one; the last 64 bytes follow, which may overlap them.
    for block in s[..s.len() - 1].chunks_exact(64) {
        x = rotate(x.wrapping_add(y).wrapping_add(v.0).wrapping_add(fetch(block, 8)), 37).wrapping_mul(K1);
        y = rotate(y.wrapping_add(v.1).wrapping_add(fetch(block, 48)), 42).wrapping_mul(K1);
        x ^= w.1;
        y = y.wrapping_add(v.0).wrapping_add(fetch(block, 40));
        z = rotate(z.wrapping_add(w.0), 33).wrapping_mul(K1);
        v = weak(block, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = weak(&block[32..], z.wrapping_add(w.1), y.wrapping_add(fetch(block, 16)));
        std::mem::swap(&mut z, &mut x);
    }
    let block = &s[last..];
    let mul = K1.wrapping_add((z & 0xff) << 1);
    w.0 = w.0.wrapping_add(rest);
    v.0 = v.0.wrapping_add(w.0);
    w.0 = w.0.wrapping_add(v.0);
    x = rotate(x.wrapping_add(y).wrapping_add(v.0).wrapping_add(fetch(block, 8)), 37).wrapping_mul(mul);
    y = rotate(y.wrapping_add(v.1).wrapping_add(fetch(block, 48)), 42).wrapping_mul(mul);
    x ^= w.1.wrapping_mul(9);
    y = y.wrapping_add(v.0.wrapping_mul(9)).wrapping_add(fetch(block, 40));
    z = rotate(z.wrapping_add(w.0), 33).wrapping_mul(mul);
    v = weak(block, v.1.wrapping_mul(mul), x.wrapping_add(w.0));
    w = weak(&block[32..], z.wrapping_add(w.1), y.wrapping_add(fetch(block, 16)));
    std::mem::swap(&mut z, &mut x);
    mix(
        mix(v.0, w.0, mul).wrapping_add(shift_mix(y).wrapping_mul(K0)).wrapping_add(z),
        mix(v.1, w.1, mul).wrapping_add(x),
        mul,
    )
}

/// TensorFlow's `FingerprintCat64`: the fingerprint of two fingerprints, in this order.
pub fn fingerprint_cat64(first: u64, second: u64) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let joined = first ^ FACTOR ^ shift_mix(second.wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    shift_mix(shift_mix(joined.wrapping_mul(FACTOR)).wrapping_mul(FACTOR))
}

/// Mixes two numbers into one.
fn mix16(u: u64, v: u64) -> u64 {
    mix(u, v, 0x9ddf_ea08_eb38_2d69)
}

/// FarmHash's `Fingerprint128`, its lower half first.
pub fn fingerprint128(s: &[u8]) -> [u64; 2] {
    match s.len() {
        0..16 => murmur(s, K0, K1),
        16..144 => murmur(&s[16..], fetch(s, 0), fetch(s, 8).wrapping_add(K0)),
        _ => fingerprint128_of_long(&s[16..], fetch(s, 0), fetch(s, 8).wrapping_add(K0)),
    }
}

/// Of less than 128 bytes.
fn murmur(s: &[u8], mut a: u64, mut b: u64) -> [u64; 2] {
    let length = s.len() as u64;
    let (mut c, mut d);
    if s.len() <= 16 {
        a = shift_mix(a.wrapping_mul(K1)).wrapping_mul(K1);
        c = b.wrapping_mul(K1).wrapping_add(up_to_16(s));
        d = shift_mix(a.wrapping_add(if s.len() >= 8 { fetch(s, 0) } else { c }));
    } else {
        c = mix16(fetch(s, s.len() - 8).wrapping_add(K1), a);
        d = mix16(b.wrapping_add(length), c.wrapping_add(fetch(s, s.len() - 16)));
        a = a.wrapping_add(d);
        // As many pieces of 16 bytes as it takes to leave at most 16.
        for piece in (0..s.len() - 16).step_by(16) {
            a = (a ^ shift_mix(fetch(s, piece).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            b ^= a;
            c = (c ^ shift_mix(fetch(s, piece + 8).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            d ^= c;
        }
    }
    a = mix16(a, c);
    b = mix16(d, b);
    [a ^ b, mix16(b, a)]
}

/// Of 128 bytes and more.
fn fingerprint128_of_long(s: &[u8], mut x: u64, mut y: u64) -> [u64; 2] {
    let mut z = (s.len() as u64).wrapping_mul(K1);
    let mut v = (rotate(y ^ K1, 49).wrapping_mul(K1).wrapping_add(fetch(s, 0)), 0);
    v.1 = rotate(v.0, 42).wrapping_mul(K1).wrapping_add(fetch(s, 8));
    let mut w = (
        rotate(y.wrapping_add(z), 35).wrapping_mul(K1).wrapping_add(x),
        rotate(x.wrapping_add(fetch(s, 88)), 53).wrapping_mul(K1),
    );
    let whole = s.len() / 128 * 128;
    for block in s[..whole].chunks_exact(64) {
        x = rotate(x.wrapping_add(y).wrapping_add(v.0).wrapping_add(fetch(block, 8)), 37).wrapping_mul(K1);
        y = rotate(y.wrapping_add(v.1).wrapping_add(fetch(block, 48)), 42).wrapping_mul(K1);
        x ^= w.1;
        y = y.wrapping_add(v.0).wrapping_add(fetch(block, 40));
        z = rotate(z.wrapping_add(w.0), 33).wrapping_mul(K1);
        v = weak(block, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = weak(&block[32..], z.wrapping_add(w.1), y.wrapping_add(fetch(block, 16)));
        std::mem::swap(&mut z, &mut x);
    }
    x = x.wrapping_add(rotate(v.0.wrapping_add(z), 49).wrapping_mul(K0));
    y = y.wrapping_mul(K0).wrapping_add(rotate(w.1, 37));
    z = z.wrapping_mul(K0).wrapping_add(rotate(w.0, 27));
    w.0 = w.0.wrapping_mul(9);
    v.0 = v.0.wrapping_mul(K0);
    // What is left, 32 bytes at a time from the end; the last of them may have been seen.
    let pieces = (s.len() - whole).div_ceil(32);
    for piece in 1..=pieces {
        let tail = &s[s.len() - 32 * piece..];
        y = rotate(x.wrapping_add(y), 42).wrapping_mul(K0).wrapping_add(v.1);
        w.0 = w.0.wrapping_add(fetch(tail, 16));
        x = x.wrapping_mul(K0).wrapping_add(w.0);
        z = z.wrapping_add(w.1).wrapping_add(fetch(tail, 0));
        w.1 = w.1.wrapping_add(v.0);
        v = weak(tail, v.0.wrapping_add(z), v.1);
        v.0 = v.0.wrapping_mul(K0);
    }
    x = mix16(x, v.0);
    y = mix16(y.wrapping_add(z), w.0);
    [mix16(x.wrapping_add(v.1), w.1).wrapping_add(y), mix16(x.wrapping_add(w.1), y.wrapping_add(v.1))]
}
