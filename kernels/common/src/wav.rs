//! WAV files of 16-bit samples, as TensorFlow writes them.

use kernlink::tensor::scratch;
use kernlink::{Result, bail};

/// The bytes before the samples.
const HEADER: u32 = 44;

/// A file of `samples`, those of all `channels` in turn, `rate` frames a second. What is beyond -1 and 1 is cut.
///
/// # Errors
/// INVALID_ARGUMENT if its header cannot say how long it is or how many channels it has; RESOURCE_EXHAUSTED if there is not
/// enough memory.
pub fn encode(samples: &[f32], rate: u32, channels: usize) -> Result<Vec<u8>> {
    let sizes = || {
        let size = u32::try_from(samples.len().checked_mul(2)?).ok()?;
        let channels = u16::try_from(channels).ok().filter(|&channels| channels > 0)?;
        Some((size, size.checked_add(HEADER)?, channels))
    };
    let Some((size, whole, channels)) = sizes() else {
        bail!(
            InvalidArgument,
            "Provided channels and frames cannot be encoded as a WAV: there are {} samples of {channels} channels",
            samples.len()
        );
    };
    // What has no room in the header is cut off there, as in TensorFlow.
    let frame = u32::from(channels) * 2;
    let mut file = scratch::room(whole as usize)?;
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(whole - 8).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16u32.to_le_bytes());
    file.extend_from_slice(&1u16.to_le_bytes());
    file.extend_from_slice(&channels.to_le_bytes());
    file.extend_from_slice(&rate.to_le_bytes());
    file.extend_from_slice(&rate.wrapping_mul(frame).to_le_bytes());
    file.extend_from_slice(&(frame as u16).to_le_bytes());
    file.extend_from_slice(&16u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&size.to_le_bytes());
    // A cast to an integer saturates, and takes NaN for 0.
    file.extend(samples.iter().flat_map(|sample| ((sample * 32768.0).round() as i16).to_le_bytes()));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::Code;

    #[test]
    fn samples_are_cut_to_16_bits() {
        let file = encode(&[0.5, -2.0, f32::NAN, 1.0], 8000, 2).unwrap();
        assert_eq!(
            file,
            b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x40\x1f\0\0\0\x7d\0\0\x04\0\x10\0data\x08\0\0\0\0\x40\0\x80\0\0\xff\x7f"
        );
    }

    #[test]
    fn a_header_has_room_for_16_bits_of_channels() {
        // TensorFlow writes what is left of the size of a frame.
        let file = encode(&[], 1, 65535).unwrap();
        assert_eq!((&file[22..24], &file[28..34]), (&b"\xff\xff"[..], &b"\xfe\xff\x01\0\xfe\xff"[..]));
        for channels in [0, 65536, usize::MAX] {
            assert_eq!(encode(&[], 8000, channels).unwrap_err().code(), Code::InvalidArgument, "{channels}");
        }
    }
}
