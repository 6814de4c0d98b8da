//! CRC-32C as tables and bundles store it: masked, because a checksum of bytes that hold checksums is weak.

const DELTA: u32 = 0xa282_ead8;

/// The stored form of a checksum.
pub(super) fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(DELTA)
}

/// The checksum in its stored form.
pub(super) fn unmask(masked: u32) -> u32 {
    masked.wrapping_sub(DELTA).rotate_left(15)
}

/// The CRC-32C of `bytes` as TensorFlow stores it, in bundles and TFRecords: masked, because a checksum of bytes that hold
/// checksums is weak.
pub fn masked(bytes: &[u8]) -> u32 {
    mask(crc32c::crc32c(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masking_is_undone() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        for crc in [0, 1, 0xe306_9283, u32::MAX] {
            assert_ne!(mask(crc), crc);
            assert_eq!(unmask(mask(crc)), crc);
        }
    }
}
