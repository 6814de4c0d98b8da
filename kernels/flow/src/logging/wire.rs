//! The little of protobuf's encoding that summaries need.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u32, kind: u64) {
        self.varint(u64::from(field) << 3 | kind);
    }

    /// A string, or bytes, or a message within this one.
    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A double; 0 is what is not written.
    pub(super) fn double(&mut self, field: u32, value: f64) {
        if value.to_bits() != 0 {
            self.key(field, 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A float, also if it is 0.
    pub(super) fn float(&mut self, field: u32, value: f32) {
        self.key(field, 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// An integer that is not negative; 0 is what is not written.
    pub(super) fn integer(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, 0);
            self.varint(value);
        }
    }

    /// A list of doubles.
    pub(super) fn doubles(&mut self, field: u32, values: &[f64]) {
        if !values.is_empty() {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            self.bytes(field, &bytes);
        }
    }

    /// The message as bytes.
    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A field of a message that is being read: its number, and its bytes if it has a length.
pub(super) type Field<'a> = (u64, Option<&'a [u8]>);

/// Reads the next field of a message; `None` at its end, an error if it is malformed.
pub(super) fn next_field<'a>(rest: &mut &'a [u8]) -> Result<Option<Field<'a>>, Malformed> {
    if rest.is_empty() {
        return Ok(None);
    }
    let key = varint(rest)?;
    let field = key >> 3;
    if field == 0 || field > 0x1FFF_FFFF {
        return Err(Malformed);
    }
    let bytes = match key & 7 {
        0 => {
            varint(rest)?;
            None
        }
        1 => take(rest, 8).map(|_| None)?,
        2 => {
            let length = varint(rest)?;
            Some(take(rest, usize::try_from(length).map_err(|_| Malformed)?)?)
        }
        5 => take(rest, 4).map(|_| None)?,
        // Groups are of the past: no summary has them.
        _ => return Err(Malformed),
    };
    Ok(Some((field, bytes)))
}

/// Bytes that are no message.
#[derive(Debug)]
pub(super) struct Malformed;

fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
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

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
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
        message.bytes(1, b"tag");
        message.float(2, 0.0);
        message.double(3, 1.5);
        message.double(4, 0.0);
        message.doubles(300, &[1.0; 40]);
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
