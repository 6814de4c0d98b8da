//! Files that are cut and changed at random: nothing may panic, and what is written must be read again.
//!
//! `KERNLINK_FUZZ_CASES` says how many there are of each format.

use std::panic::{AssertUnwindSafe, catch_unwind};

use image_webp::{ColorType, EncoderParams, WebPEncoder};

use crate::bmp::Bmp;
use crate::gif::Gif;
use crate::jpeg::{self, EncodeOptions, Options};
use crate::png::{self, Png};
use crate::webp::Webp;

/// Numbers that follow each other as if by chance (Marsaglia's xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// A file that is no longer what it was.
    fn change(&mut self, file: &[u8]) -> Vec<u8> {
        let mut file = file.to_vec();
        for _ in 0..1 + self.below(4) {
            let (at, byte) = (self.below(file.len()), self.below(256) as u8);
            match self.below(8) {
                0 => file.truncate(at + 1),
                1 => file.insert(at, byte),
                2 => file[at] ^= 1 << (byte & 7),
                3 => file[at] = [0, 255, 0x7F, 0x80][usize::from(byte & 3)],
                _ => file[at] = byte,
            }
        }
        file
    }
}

fn picture(rows: usize, columns: usize, channels: usize) -> Vec<u8> {
    let mut chance = Chance(7);
    let sample = |at: usize| (at * at / 50 + at / 3 % 40) as u8;
    (0..rows * columns * channels).map(|at| sample(at).wrapping_add(chance.below(9) as u8)).collect()
}

/// How much larger than TensorFlow's own bound no output is asked for: what is larger is refused before.
const LARGE: usize = 1 << 24;

fn jpegs() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (rows, columns) in [(9, 20), (40, 33)] {
        for channels in [1, 3] {
            for (is_progressive, downsamples) in [(false, true), (true, true), (false, false)] {
                let options = EncodeOptions { is_progressive, downsamples, quality: 60, ..EncodeOptions::default() };
                let image = picture(rows, columns, channels);
                files.push(jpeg::encode(&image, [rows, columns, channels], &options).expect("a file"));
            }
        }
    }
    files
}

fn read_jpeg(chance: &mut Chance, file: &[u8]) {
    let options = Options {
        channels: [0, 1, 3][chance.below(3)],
        ratio: 1 << chance.below(4),
        has_fancy_upscaling: chance.below(3) > 0,
        recovers: chance.below(3) == 0,
        acceptable_fraction: 0.1 * chance.below(11) as f32,
        is_fast: chance.below(2) == 0,
        window: (chance.below(4) == 0).then(|| [0; 4].map(|_: i32| chance.below(20) as i32)),
    };
    _ = jpeg::shape(file);
    if let Ok(decoder) = jpeg::Decoder::new(file, options) {
        let length = decoder.shape().iter().product::<usize>();
        if length < LARGE {
            let mut out = vec![0; length];
            _ = decoder.decode().map(|image| image.render(0, &mut out));
        }
    }
}

fn pngs() -> Vec<Vec<u8>> {
    let file = |channels, is_wide: bool, level| {
        png::encode(&picture(9, 14 * (1 + usize::from(is_wide)), channels), [9, 14], channels, is_wide, level)
    };
    [(1, false, 0), (2, false, 9), (3, false, -1), (4, false, 0), (1, true, 0), (3, true, 0), (4, true, -1)]
        .map(|(channels, is_wide, level)| file(channels, is_wide, level).expect("a file"))
        .to_vec()
}

fn read_png(chance: &mut Chance, file: &[u8]) {
    let is_wide = chance.below(2) == 0;
    if let Ok(file) = Png::new(file, [0, 1, 3, 4][chance.below(4)], is_wide) {
        let length = file.rows * file.columns * file.channels;
        match length < LARGE {
            true if is_wide => _ = file.decode_wide(&mut vec![0; length]),
            true => _ = file.decode(&mut vec![0; length]),
            false => {}
        }
    }
}

fn gifs() -> Vec<Vec<u8>> {
    let mut file = b"GIF89a\x04\0\x04\0\x81\0\0".to_vec();
    file.extend(0..12);
    for (transparent, interlaced) in [(0u8, 0u8), (1, 0x40)] {
        file.extend([0x21, 0xF9, 4, transparent, 0, 0, 1, 0]);
        file.extend([0x2C, 0, 0, 0, 0, 4, 0, 3, 0, interlaced, 2]);
        // The codes 4 1 6 4 0 6 4 3 6 4 2 6 5 of three bits, which are twelve pixels.
        let bits = [4u64, 1, 6, 4, 0, 6, 4, 3, 6, 4, 2, 6, 5].iter().rev().fold(0, |bits, code| bits << 3 | code);
        file.push(5);
        file.extend(&bits.to_le_bytes()[..5]);
        file.push(0);
    }
    file.push(b';');
    vec![file]
}

fn read_gif(chance: &mut Chance, file: &[u8]) {
    if let Ok(gif) = Gif::new(file, chance.below(2) == 0) {
        let length = gif.frames() * gif.rows * gif.columns * 3;
        if length < LARGE {
            _ = gif.decode(file.len(), &mut vec![0; length]);
        }
    }
}

fn bmps() -> Vec<Vec<u8>> {
    let file = |bits: u8, rows: i32| {
        let mut file = vec![0; 54];
        file[..2].copy_from_slice(b"BM");
        (file[10], file[18], file[28]) = (54, 5, bits);
        file[22..26].copy_from_slice(&rows.to_le_bytes());
        file.resize(54 + (usize::from(bits) / 8 * 5).next_multiple_of(4) * 3, 9);
        file
    };
    vec![file(8, 3), file(24, -3), file(32, 3)]
}

fn read_bmp(chance: &mut Chance, file: &[u8]) {
    if let Ok(bmp) = Bmp::new(file) {
        let channels = [bmp.channels, 3, 4][chance.below(3)];
        bmp.decode(channels, &mut vec![0; bmp.rows * bmp.columns * channels]);
    }
}

fn webps() -> Vec<Vec<u8>> {
    let file = |channels, color| {
        let mut file = Vec::new();
        let mut encoder = WebPEncoder::new(&mut file);
        encoder.set_params(EncoderParams::default());
        encoder.encode(&picture(12, 17, channels), 17, 12, color).expect("a file");
        file
    };
    let lossy_alpha = include_bytes!("broken/lossy_alpha.webp").to_vec();
    // Its picture alone.
    let at = lossy_alpha.windows(4).position(|name| name == b"VP8 ").expect("a picture");
    let length = (lossy_alpha.len() - at + 4) as u32;
    let lossy = [b"RIFF", &length.to_le_bytes()[..], b"WEBP", &lossy_alpha[at..]].concat();
    let stills = [file(3, ColorType::Rgb8), file(4, ColorType::Rgba8), lossy_alpha, lossy];
    let animation = animation(&stills);
    stills.into_iter().chain([animation]).collect()
}

/// An animation of still files of 17 columns and 12 rows, or two more, on a canvas of 19 by 14, where each frame is blended and made
/// transparent.
fn animation(stills: &[Vec<u8>]) -> Vec<u8> {
    let mut chunks = b"WEBPVP8X\x0a\0\0\0\x12\0\0\0\x12\0\0\x0d\0\0ANIM\x06\0\0\0\0\0\0\0\0\0".to_vec();
    for still in stills {
        let picture = if still[12..].starts_with(b"VP8X") { &still[30..] } else { &still[12..] };
        chunks.extend_from_slice(b"ANMF");
        chunks.extend_from_slice(&(16 + picture.len() as u32).to_le_bytes());
        chunks.extend_from_slice(&[0, 0, 0, 0, 0, 0, 16, 0, 0, 11, 0, 0, 9, 0, 0, 1]);
        chunks.extend_from_slice(picture);
    }
    [b"RIFF", &(chunks.len() as u32).to_le_bytes(), &chunks[..]].concat()
}

#[test]
fn the_animation_is_one() {
    let bytes = animation(&webps()[..3]);
    let file = Webp::new(&bytes).expect("an animation");
    assert_eq!((file.frames(), file.rows, file.columns), (Some(3), 14, 19));
    file.decode(3, &mut vec![0; 3 * 14 * 19 * 4]).expect("frames");
    // A file says how long it is, which may be less than what has been read of it.
    for length in 0..100_u32 {
        let file = [&bytes[..4], &length.to_le_bytes(), &bytes[8..]].concat();
        assert!(Webp::new(&file).is_err(), "{length}");
        assert!(Webp::new(&file[..file.len().min(length as usize + 8)]).is_err(), "{length}");
    }
}

#[test]
fn lossy_pictures_of_any_content_do_not_panic() {
    let cases = std::env::var("KERNLINK_FUZZ_CASES").map_or(300, |text| text.parse().expect("a number"));
    let mut chance = Chance(3);
    for _ in 0..cases {
        let (rows, columns) = (1 + chance.below(200), 1 + chance.below(70));
        // Any code stands for some picture. Much of it are ones or zeros, so that all decisions and large numbers come.
        let (first, behind) = (chance.below(2000), chance.below(60_000));
        let likely = [0, 128, 255][chance.below(3)];
        let code: Vec<u8> =
            (0..first + behind).map(|_| if chance.below(3) == 0 { likely } else { chance.below(256) as u8 }).collect();
        let [low, middle, high, _] = ((first as u32) << 5 | 1 << 4).to_le_bytes();
        let [r, c] = [rows, columns].map(|size| (size as u16).to_le_bytes());
        let start = [low, middle, high, 0x9D, 0x01, 0x2A, c[0], c[1], r[0], r[1]];
        let length = (start.len() + code.len()) as u32;
        let sizes = [(4 + 8 + length).to_le_bytes(), length.to_le_bytes()];
        let file = [b"RIFF", &sizes[0][..], b"WEBPVP8 ", &sizes[1], &start, &code].concat();
        // One whose first part is longer than the file is refused before.
        if let Ok(file) = Webp::new(&file) {
            assert_eq!((file.rows, file.columns, file.channels), (rows, columns, 3));
            _ = file.decode(1, &mut vec![0; rows * columns * 3]);
        }
    }
}

fn read_webp(_: &mut Chance, file: &[u8]) {
    if let Ok(file) = Webp::new(file) {
        let count = file.frames().unwrap_or(1);
        let channels = if file.frames().is_some() { 4 } else { file.channels };
        let length = count.saturating_mul(file.rows * file.columns * channels);
        if length < LARGE {
            _ = file.decode(count, &mut vec![0; length]);
        }
    }
}

/// Reads each file, and changes of it.
fn check(files: &[Vec<u8>], cases: usize, read: fn(&mut Chance, &[u8])) {
    let cases = std::env::var("KERNLINK_FUZZ_CASES").map_or(cases, |text| text.parse().expect("a number"));
    let mut chance = Chance(1);
    for case in 0..cases {
        let file = &files[case % files.len()];
        let file = if case < files.len() { file.clone() } else { chance.change(file) };
        let state = chance.0;
        if catch_unwind(AssertUnwindSafe(|| read(&mut chance, &file))).is_err() {
            panic!("case {case} panicked, in state {state}: {}", file.escape_ascii());
        }
    }
}

#[test]
fn changed_jpeg_files_do_not_panic() {
    check(&jpegs(), 4000, read_jpeg);
}

#[test]
fn changed_png_files_do_not_panic() {
    check(&pngs(), 4000, read_png);
}

#[test]
fn changed_gif_files_do_not_panic() {
    check(&gifs(), 40000, read_gif);
}

#[test]
fn changed_bmp_files_do_not_panic() {
    check(&bmps(), 40000, read_bmp);
}

#[test]
fn changed_webp_files_do_not_panic() {
    check(&webps(), 2000, read_webp);
}

#[test]
fn what_is_written_is_read_again() {
    for (channels, is_wide) in [(1, false), (2, false), (3, false), (4, true)] {
        let samples = picture(9, 14 * (1 + usize::from(is_wide)), channels);
        let file = png::encode(&samples, [9, 14], channels, is_wide, -1).expect("a file");
        let read = Png::new(&file, 0, is_wide).expect("a header");
        assert_eq!([read.rows, read.columns, read.channels], [9, 14, channels]);
        if is_wide {
            let mut out = vec![0u16; samples.len() / 2];
            read.decode_wide(&mut out).expect("an image");
            assert_eq!(out.iter().flat_map(|sample| sample.to_be_bytes()).collect::<Vec<u8>>(), samples);
        } else {
            let mut out = vec![0; samples.len()];
            read.decode(&mut out).expect("an image");
            assert_eq!(out, samples);
        }
    }
    for channels in [1, 3] {
        let samples = picture(40, 33, channels);
        let options = EncodeOptions { quality: 100, downsamples: false, ..EncodeOptions::default() };
        let file = jpeg::encode(&samples, [40, 33, channels], &options).expect("a file");
        let decoder = jpeg::Decoder::new(&file, Options { is_fast: false, ..Options::default() }).expect("a header");
        let mut out = vec![0; samples.len()];
        decoder.decode().expect("an image").render(0, &mut out);
        let worst = out.iter().zip(&samples).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst <= Some(if channels == 1 { 2 } else { 5 }), "{worst:?}");
    }
}
