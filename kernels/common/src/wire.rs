//! The little of protobuf's encoding that kernels need: messages are written and read field by field, and memory for them may
//! be refused.

use kernlink::error::Result;
use kernlink::tensor::scratch::MakeRoom;

/// The bytes of a key or of an integer, at most.
const VARINT: usize = 10;

/// Appends an integer, for which there is room.
fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends an integer: seven bits a byte, the lowest first.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn write_varint(bytes: &mut Vec<u8>, value: u64) -> Result<()> {
    bytes.make_room(VARINT)?;
    put_varint(bytes, value);
    Ok(())
}

/// A message that is being written. What is appended fails with RESOURCE_EXHAUSTED if there is not enough memory.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// Appends a key, and makes room for `bytes` behind it.
    fn key(&mut self, field: u32, kind: u64, bytes: usize) -> Result<()> {
        self.0.make_room(VARINT.saturating_add(bytes))?;
        put_varint(&mut self.0, u64::from(field) << 3 | kind);
        Ok(())
    }

    /// Appends the key and the length of bytes that follow, with room for them.
    fn head(&mut self, field: u32, length: usize) -> Result<()> {
        self.key(field, 2, length.saturating_add(VARINT))?;
        put_varint(&mut self.0, length as u64);
        Ok(())
    }

    /// A string, or bytes, or a message within this one.
    pub fn bytes(&mut self, field: u32, bytes: &[u8]) -> Result<()> {
        self.head(field, bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    /// A double; 0 is what is not written.
    pub fn double(&mut self, field: u32, value: f64) -> Result<()> {
        if value.to_bits() != 0 {
            self.key(field, 1, 8)?;
            self.0.extend_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    /// A float, also if it is 0.
    pub fn float(&mut self, field: u32, value: f32) -> Result<()> {
        self.key(field, 5, 4)?;
        self.0.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    /// An integer that is not negative; 0 is what is not written.
    pub fn integer(&mut self, field: u32, value: u64) -> Result<()> {
        if value == 0 { Ok(()) } else { self.varint(field, value) }
    }

    /// An integer, also if it is 0.
    pub fn varint(&mut self, field: u32, value: u64) -> Result<()> {
        self.key(field, 0, VARINT)?;
        put_varint(&mut self.0, value);
        Ok(())
    }

    /// A list of doubles.
    pub fn doubles(&mut self, field: u32, values: &[f64]) -> Result<()> {
        if !values.is_empty() {
            self.head(field, size_of_val(values))?;
            self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        Ok(())
    }

    /// A list of floats.
    pub fn floats(&mut self, field: u32, values: &[f32]) -> Result<()> {
        if !values.is_empty() {
            self.head(field, size_of_val(values))?;
            self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        Ok(())
    }

    /// The message as bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A field of a message that is being read: its number, and its bytes if it has a length.
pub type Field<'a> = (u64, Option<&'a [u8]>);

/// Reads the next field of a message; `None` at its end, an error if it is malformed.
pub fn next_field<'a>(rest: &mut &'a [u8]) -> std::result::Result<Option<Field<'a>>, Malformed> {
    if rest.is_empty() {
        return Ok(None);
    }
    let key = read_varint(rest)?;
    let field = key >> 3;
    if field == 0 || field > 0x1FFF_FFFF {
        return Err(Malformed);
    }
    let bytes = match key & 7 {
        0 => {
            read_varint(rest)?;
            None
        }
        1 => take(rest, 8).map(|_| None)?,
        2 => {
            let length = read_varint(rest)?;
            Some(take(rest, usize::try_from(length).map_err(|_| Malformed)?)?)
        }
        5 => take(rest, 4).map(|_| None)?,
        // Groups are of the past: what ops read here, summaries and TensorProtos, has none.
        _ => return Err(Malformed),
    };
    Ok(Some((field, bytes)))
}

/// Bytes that are no message.
#[derive(Debug)]
pub struct Malformed;

/// Reads an integer.
pub fn read_varint(rest: &mut &[u8]) -> std::result::Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, tail) = rest.split_first().ok_or(Malformed)?;
        *rest = tail;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> std::result::Result<&'a [u8], Malformed> {
    let (taken, tail) = rest.split_at_checked(length).ok_or(Malformed)?;
    *rest = tail;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut message = Message::default();
        message.bytes(1, b"tag").unwrap();
        message.float(2, 0.0).unwrap();
        message.double(3, 1.5).unwrap();
        message.double(4, 0.0).unwrap();
        message.doubles(300, &[1.0; 40]).unwrap();
        let bytes = message.finish();
        let mut rest = bytes.as_slice();
        assert_eq!(next_field(&mut rest).unwrap(), Some((1, Some(&b"tag"[..]))));
        assert_eq!(next_field(&mut rest).unwrap(), Some((2, None)));
        assert_eq!(next_field(&mut rest).unwrap(), Some((3, None)));
        assert_eq!(
            next_field(&mut rest).unwrap().map(|(field, bytes)| (field, bytes.unwrap().len())),
            Some((300, 320))
        );
        assert_eq!(next_field(&mut rest).unwrap(), None);
        for end in 1..bytes.len() {
            let mut rest = &bytes[..end];
            while let Ok(Some(_)) = next_field(&mut rest) {}
        }
    }

    #[test]
    fn malformed_bytes_are_refused() {
        for bytes in [
            &b"\x0a\x05ab"[..],
            b"\x80",
            b"\x03",
            b"\x00",
            b"\x09\x00",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert!(next_field(&mut { bytes }).is_err(), "{bytes:?}");
        }
    }
}
