//! DecodeWav, EncodeWav: samples of 16 bits, as TensorFlow reads and writes them.

use kernlink::dtype::TString;
use kernlink::error::{Result, shortened_bytes};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_kernels_common::wav;
use kernlink_macros::register_kernel;
use kernlink_ops::{DecodeWav, EncodeWav};

/// The chunks that may stand before the format.
const PASSED_OVER: [&[u8; 4]; 8] = [b"JUNK", b"bext", b"iXML", b"qlty", b"mext", b"levl", b"link", b"axml"];

/// One sample, as a fraction of the highest.
const SCALE: f32 = 32768.0;

/// What a file says of its samples.
struct Wav<'f> {
    channels: usize,
    sample_rate: u32,
    /// Samples of all channels in turn.
    samples: &'f [[u8; 2]],
}

/// Bytes that are read one after the other.
struct Reader<'f>(&'f [u8]);

impl<'f> Reader<'f> {
    fn take(&mut self, length: usize) -> Result<&'f [u8]> {
        let Some((taken, rest)) = self.0.split_at_checked(length) else {
            bail!(InvalidArgument, "Data too short when trying to read a WAV file: {length} bytes of {}", self.0.len());
        };
        self.0 = rest;
        Ok(taken)
    }

    fn id(&mut self) -> Result<[u8; 4]> {
        self.take(4).map(|bytes| bytes.try_into().unwrap_or_default())
    }

    fn number(&mut self, bytes: usize) -> Result<u32> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn expect(&mut self, text: &[u8; 4]) -> Result<()> {
        let found = self.id()?;
        ensure!(
            found == *text,
            InvalidArgument,
            "Header mismatch: Expected {} but found {}",
            text.escape_ascii(),
            found.escape_ascii()
        );
        Ok(())
    }
}

impl<'f> Wav<'f> {
    fn parse(file: &'f [u8]) -> Result<Wav<'f>> {
        ensure!(file.len() <= i32::MAX as usize, InvalidArgument, "WAV contents are too large: {} bytes", file.len());
        let mut reader = Reader(file);
        reader.expect(b"RIFF")?;
        reader.number(4)?;
        reader.expect(b"WAVE")?;
        loop {
            let id = reader.id()?;
            if id == *b"fmt " {
                break;
            }
            ensure!(PASSED_OVER.contains(&&id), InvalidArgument, "Unexpected field {}", id.escape_ascii());
            let length = reader.number(4)? as usize;
            reader.take(length)?;
        }
        let format_length = reader.number(4)?;
        ensure!(
            matches!(format_length, 16 | 18),
            InvalidArgument,
            "Bad format chunk size for WAV: Expected 16 or 18, but got {format_length}"
        );
        let format = reader.number(2)?;
        ensure!(format == 1, InvalidArgument, "Bad audio format for WAV: Expected 1 (PCM), but got {format}");
        let channels = reader.number(2)?;
        ensure!(channels > 0, InvalidArgument, "Bad number of channels for WAV: Expected at least 1, but got 0");
        let sample_rate = reader.number(4)?;
        let bytes_per_second = reader.number(4)?;
        let frame = reader.number(2)?;
        let bits = reader.number(2)?;
        ensure!(bits == 16, InvalidArgument, "Can only read 16-bit WAV files, but received {bits}");
        ensure!(
            frame == channels * 2,
            InvalidArgument,
            "Bad bytes per sample in WAV header: Expected {} but got {frame}",
            channels * 2
        );
        let expected = frame.wrapping_mul(sample_rate);
        ensure!(
            bytes_per_second == expected,
            InvalidArgument,
            "Bad bytes per second in WAV header: Expected {expected} but got {bytes_per_second}"
        );
        if format_length == 18 {
            // Two bytes that say nothing; TensorFlow does not ask whether they are there.
            reader.0 = reader.0.get(2..).unwrap_or_default();
        }
        let mut samples = None;
        while !reader.0.is_empty() {
            let id = reader.id()?;
            let length = reader.number(4)?;
            ensure!(
                i32::try_from(length).is_ok(),
                InvalidArgument,
                "WAV data chunk '{}' is too large: {length} bytes",
                id.escape_ascii()
            );
            if id == *b"data" {
                ensure!(samples.is_none(), InvalidArgument, "More than one data chunk found in WAV");
                let whole = length / frame * frame;
                samples = Some(reader.take(whole as usize)?.as_chunks::<2>().0);
            } else {
                // The last chunk may be cut.
                reader.0 = reader.0.get(length as usize..).unwrap_or_default();
            }
        }
        let Some(samples) = samples else { bail!(InvalidArgument, "No data chunk found in WAV") };
        Ok(Wav { channels: channels as usize, sample_rate, samples })
    }
}

/// How many channels and samples are wanted, if that is said.
struct DecodeWavKernel {
    channels: Option<usize>,
    samples: Option<usize>,
}

#[register_kernel(device = Cpu)]
impl OpKernel<DecodeWav> for DecodeWavKernel {
    fn new(ctx: &KernelConstruction<'_, DecodeWav>) -> Result<Self> {
        let desired = |name: &str, number: i64| {
            ensure!(
                (-1..=i64::from(i32::MAX)).contains(&number),
                InvalidArgument,
                "{name} must be >= -1 and an int32, got {number}"
            );
            Ok(usize::try_from(number).ok())
        };
        let attrs = ctx.attrs();
        Ok(Self {
            channels: desired("desired_channels", attrs.desired_channels)?,
            samples: desired("desired_samples", attrs.desired_samples)?,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, DecodeWav>) -> Result<()> {
        let contents = ctx.input(DecodeWav::CONTENTS)?;
        let [file] = contents.as_slice::<TString>()? else {
            bail!(InvalidArgument, "contents must be scalar, got shape {}", contents.shape());
        };
        ensure!(contents.rank() == 0, InvalidArgument, "contents must be scalar, got shape {}", contents.shape());
        let wav = Wav::parse(file).map_err(|error| error.context(format!("WAV '{}'", shortened_bytes(file))))?;
        let channels = self.channels.unwrap_or(wav.channels);
        let samples = self.samples.unwrap_or(wav.samples.len() / wav.channels);
        let mut audio = ctx.allocate_output(DecodeWav::AUDIO, [samples, channels])?;
        let places = audio.as_mut_slice::<f32>()?;
        let value = |sample: &[u8; 2]| f32::from(i16::from_le_bytes(*sample)) / SCALE;
        if channels == wav.channels {
            let there = places.len().min(wav.samples.len());
            places[..there].iter_mut().zip(wav.samples).for_each(|(place, sample)| *place = value(sample));
            places[there..].fill(0.0);
        } else if channels > 0 {
            let mut frames = wav.samples.chunks_exact(wav.channels);
            for row in places.chunks_exact_mut(channels) {
                match frames.next() {
                    // The last channel stands for those that miss.
                    Some(frame) => {
                        let last = frame.len() - 1;
                        row.iter_mut().enumerate().for_each(|(index, place)| *place = value(&frame[index.min(last)]));
                    }
                    None => row.fill(0.0),
                }
            }
        }
        let rate = Tensor::scalar(wav.sample_rate as i32);
        ctx.set_output(DecodeWav::AUDIO, audio)?;
        ctx.set_output(DecodeWav::SAMPLE_RATE, rate)
    }
}

#[register_kernel(device = Cpu)]
fn encode(ctx: &mut KernelContext<'_, EncodeWav>) -> Result<()> {
    let (audio, rate) = (ctx.input(EncodeWav::AUDIO)?, ctx.input(EncodeWav::SAMPLE_RATE)?);
    let &[_, channels] = audio.shape().dims() else {
        bail!(InvalidArgument, "audio must be 2-dimensional, not {}", audio.shape());
    };
    ensure!(
        rate.rank() == 0,
        InvalidArgument,
        "Input sample_rate should be a scalar tensor, got {} instead.",
        rate.shape()
    );
    let rate = rate.to_scalar::<i32>()?;
    ensure!(
        audio.num_elements() < i32::MAX as usize,
        InvalidArgument,
        "Cannot encode audio with >= max int32 elements"
    );
    ensure!(rate > 0, InvalidArgument, "sample_rate must be in (0, 2^32), got: {rate}");
    ensure!(
        (1..=usize::from(u16::MAX)).contains(&channels),
        InvalidArgument,
        "num_channels must be in (0, 2^16), got: {channels}"
    );
    let file = wav::encode(audio.as_slice()?, rate as u32, channels)?;
    ctx.set_output(EncodeWav::CONTENTS, Tensor::scalar(TString::from(file)))
}
