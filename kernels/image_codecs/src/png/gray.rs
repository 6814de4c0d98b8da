//! Brightness of colours as libpng computes it: of light, if the file says how its numbers stand for light.

use png::Info;

/// What of red, green and blue is brightness, in parts of 2^15: 0.299 and 0.587, cut, and what is left.
const PARTS: [u32; 3] = [9797, 19234, 3737];

/// A gamma of 1, as files hold it.
const ONE: u32 = 100_000;

/// The gamma of sRGB.
const SRGB: u32 = 45455;

/// The sums, rendering intents and lengths of the ICC profiles that libpng knows to be sRGB.
const SRGB_PROFILES: [(u32, u32, usize); 7] = [
    (0x0A3F_D9F6, 0, 3048),
    (0x4909_E5E1, 1, 3052),
    (0xFD21_44A1, 0, 60988),
    (0x209C_35D2, 0, 60960),
    (0xA054_D762, 1, 3024),
    (0xF784_F3FB, 0, 3144),
    (0x0398_F3FC, 1, 3144),
];

fn is_srgb(profile: &[u8]) -> bool {
    let Some(intent) = profile.get(64..68) else { return false };
    let intent = u32::from_be_bytes([intent[0], intent[1], intent[2], intent[3]]);
    // Adler's sum, by which libpng tells them.
    let (a, b) = profile.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (a + b) % 65521)
    });
    SRGB_PROFILES.contains(&(b << 16 | a, intent, profile.len()))
}

/// From colours to brightness.
pub(crate) enum ToGray {
    /// Of the numbers.
    Eight,
    Sixteen,
    /// By tables to light and back.
    EightByLight(Box<[[u8; 256]; 2]>),
    SixteenByLight(Box<Tables>),
}

/// Tables by the highest bits of samples of 16 bits.
pub(crate) struct Tables {
    /// How many low bits are left away.
    shift: u32,
    to_light: Vec<u16>,
    from_light: Vec<u16>,
    /// What becomes of colours that are gray.
    same: Vec<u16>,
}

/// Whether a gamma is not about 1.
fn is_significant(gamma: u32) -> bool {
    !(95_000..=105_000).contains(&gamma)
}

fn reciprocal(gamma: u32) -> u32 {
    (1e10 / f64::from(gamma) + 0.5).floor() as u32
}

/// `x` of `most`, by a power.
fn power(x: u32, most: f64, gamma: u32) -> f64 {
    (most * (f64::from(x) / most).powf(f64::from(gamma) * 1e-5) + 0.5).floor()
}

impl ToGray {
    pub(crate) fn new(info: &Info<'_>, is_wide: bool) -> ToGray {
        let gamma = match (info.srgb, info.gama_chunk) {
            (Some(_), _) => SRGB,
            _ if info.icc_profile.as_deref().is_some_and(is_srgb) => SRGB,
            (None, Some(gamma)) => gamma.into_scaled(),
            (None, None) => ONE,
        };
        let is_deep = info.bit_depth == png::BitDepth::Sixteen;
        // libpng passes over values that cannot be meant.
        let gamma = if (16..=625_000_000).contains(&gamma) { gamma } else { ONE };
        let screen = reciprocal(gamma);
        if !is_significant(gamma) && !is_significant(screen) {
            return if is_deep { ToGray::Sixteen } else { ToGray::Eight };
        }
        let (to, from) = (reciprocal(gamma), reciprocal(screen));
        if !is_deep {
            let table =
                |gamma: u32| {
                    std::array::from_fn(|x| {
                        if is_significant(gamma) { power(x as u32, 255.0, gamma) as u8 } else { x as u8 }
                    })
                };
            return ToGray::EightByLight(Box::new([table(to), table(from)]));
        }
        let bits = info.sbit.as_deref().and_then(|bits| bits.iter().take(3).max()).copied().unwrap_or(0);
        let mut shift = if (1..16).contains(&bits) { 16 - u32::from(bits) } else { 0 };
        if !is_wide {
            shift = shift.max(5);
        }
        let shift = shift.min(8);
        let most = (1u32 << (16 - shift)) - 1;
        let table = |gamma: u32| -> Vec<u16> {
            (0..=most)
                .map(|x| {
                    if is_significant(gamma) {
                        let share = f64::from(x) * (1.0 / f64::from(most));
                        (65535.0 * share.powf(f64::from(gamma) * 1e-5) + 0.5).floor() as u16
                    } else if shift > 0 {
                        ((x * 65535 + (1 << (15 - shift))) / most) as u16
                    } else {
                        x as u16
                    }
                })
                .collect()
        };
        let product = (f64::from(gamma) * 1e-5 * f64::from(screen) * 1e-5 * 1e5 + 0.5).floor() as u32;
        let same = if is_wide { table(product) } else { rounded(product, most) };
        ToGray::SixteenByLight(Box::new(Tables { shift, to_light: table(to), from_light: table(from), same }))
    }

    /// The brightness of a colour, of as many bits as its samples.
    pub(crate) fn gray(&self, color: [u16; 3]) -> u16 {
        let weighted = |color: [u32; 3]| color.iter().zip(PARTS).map(|(x, part)| x * part).sum::<u32>();
        let wide = color.map(u32::from);
        let is_gray = color == [color[0]; 3];
        match self {
            ToGray::Eight | ToGray::EightByLight(_) if is_gray => color[0],
            ToGray::Eight => (weighted(wide) >> 15) as u16,
            ToGray::Sixteen => ((weighted(wide) + 16384) >> 15) as u16,
            ToGray::EightByLight(tables) => {
                let light = wide.map(|x| u32::from(tables[0][x as usize & 255]));
                tables[1][((weighted(light) + 16384) >> 15) as usize & 255].into()
            }
            ToGray::SixteenByLight(tables) => {
                let at = |table: &[u16], x: u32| table[(x >> tables.shift) as usize];
                if is_gray {
                    at(&tables.same, wide[0])
                } else {
                    let light = wide.map(|x| u32::from(at(&tables.to_light, x)));
                    at(&tables.from_light, (weighted(light) + 16384) >> 15)
                }
            }
        }
    }
}

/// Samples rounded to the nearest of eight bits, in 16.
fn rounded(gamma: u32, most: u32) -> Vec<u16> {
    let mut table = Vec::new();
    for value in 0..255u32 {
        let bound = power(value * 257 + 128, 65535.0, gamma) as u32;
        let bound = (bound * most + 32768) / 65535 + 1;
        while table.len() < bound as usize {
            table.push((value * 257) as u16);
        }
    }
    table.resize(most as usize + 1, u16::MAX);
    table
}
