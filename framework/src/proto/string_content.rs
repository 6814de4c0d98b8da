//! Strings as the content of a `TensorProto`: their lengths, each in as few bytes as hold it, and then their bytes. TensorFlow
//! writes constants so that it adds to graphs itself.

use std::ops::Range;

use bytes::Bytes;
use prost::encoding::{decode_varint, encode_varint, encoded_len_varint};

use crate::dtype::TString;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::{Tensor, scratch};

/// Where each string of a tensor of this shape is in its content.
///
/// # Errors
/// INVALID_ARGUMENT if there are others than `shape` says; RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn places_in_content(shape: &Shape, content: &[u8]) -> Result<Vec<Range<usize>>> {
    let malformed =
        || Error::invalid_argument(format!("{} bytes of content are not the strings of shape {shape}", content.len()));
    let mut rest = content;
    // Each has a byte for its length.
    let count = Some(shape.num_elements()).filter(|&count| count <= content.len()).ok_or_else(malformed)?;
    let mut places = scratch::room(count)?;
    let mut end = 0_usize;
    for _ in 0..count {
        let length = decode_varint(&mut rest).ok().and_then(|length| usize::try_from(length).ok());
        let start = end;
        end = start.checked_add(length.ok_or_else(malformed)?).ok_or_else(malformed)?;
        places.push(start..end);
    }
    if end != rest.len() {
        return Err(malformed());
    }
    let head = content.len() - rest.len();
    places.iter_mut().for_each(|place| *place = head + place.start..head + place.end);
    Ok(places)
}

/// The tensor of the strings in a content.
///
/// # Errors
/// As [`places_in_content`].
pub(super) fn strings_from_content(shape: Shape, content: &Bytes) -> Result<Tensor> {
    let places = places_in_content(&shape, content)?;
    Tensor::from_vec(shape, scratch::collected(places.into_iter().map(|place| TString::from(&content[place])))?)
}

/// The content that holds strings.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn content_of_strings(strings: &[TString]) -> Result<Bytes> {
    let lengths = strings.iter().map(|text| encoded_len_varint(text.len() as u64) + text.len());
    let mut content = scratch::room(lengths.sum())?;
    strings.iter().for_each(|text| encode_varint(text.len() as u64, &mut content));
    strings.iter().for_each(|text| content.extend_from_slice(text.as_bytes()));
    Ok(content.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_from_their_content() {
        let long = "x".repeat(300);
        let strings: Vec<TString> = ["", "a", "bc", &long].map(TString::from).to_vec();
        let content = content_of_strings(&strings).unwrap();
        assert_eq!(content[..7], [0, 1, 2, 0xac, 2, b'a', b'b']);
        let tensor = strings_from_content(Shape::from([2, 2]), &content).unwrap();
        assert_eq!(tensor.as_slice::<TString>().unwrap(), strings);
    }

    #[test]
    fn what_is_not_as_many_strings_is_refused() {
        let content = content_of_strings(&["a", "bc"].map(TString::from)).unwrap();
        for count in [0, 1, 3, usize::MAX] {
            assert!(strings_from_content(Shape::from([count]), &content).is_err(), "{count}");
        }
        let huge = Bytes::from_static(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2]);
        assert!(strings_from_content(Shape::from([2]), &huge).is_err());
    }
}
