//! Serialized TensorProtos, from whoever wrote them.

use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::proto::{Message, TensorProto};
use kernlink::shape::MAX_RANK;
use kernlink::tensor::scratch::MakeRoom;

use crate::wire::next_field;

/// The message, with room made beforehand for the values that it holds: decoding asks for no more, but for the names of
/// dimensions, resources and variants.
///
/// # Errors
/// INVALID_ARGUMENT if the bytes are no such message, or its shape has too many dimensions; RESOURCE_EXHAUSTED if there is not
/// enough memory.
pub fn tensor_message(bytes: &TString) -> Result<TensorProto> {
    let malformed = |_| Error::invalid_argument("Could not parse serialized proto");
    let (mut rest, mut dims, mut counts) = (bytes.as_bytes(), 0, [0usize; 18]);
    while let Some((field, bytes)) = next_field(&mut rest).map_err(malformed)? {
        counts[field.min(17) as usize] += match (field, bytes) {
            (2, Some(mut shape)) => {
                while let Some((field, _)) = next_field(&mut shape).map_err(malformed)? {
                    dims += usize::from(field == 2);
                }
                0
            }
            // Values stand by themselves, or many in a row.
            (5 | 9, Some(row)) => row.len() / 4,
            (6 | 12, Some(row)) => row.len() / 8,
            (7 | 10 | 11 | 13 | 16 | 17, Some(row)) => row.iter().filter(|&&byte| byte < 0x80).count(),
            _ => 1,
        };
    }
    ensure!(
        dims <= MAX_RANK,
        InvalidArgument,
        "Could not construct tensor from proto: rank {dims} is above {MAX_RANK}"
    );
    let mut proto = TensorProto::default();
    proto.float_val.make_room(counts[5])?;
    proto.double_val.make_room(counts[6])?;
    proto.int_val.make_room(counts[7])?;
    proto.string_val.make_room(counts[8])?;
    proto.scomplex_val.make_room(counts[9])?;
    proto.int64_val.make_room(counts[10])?;
    proto.bool_val.make_room(counts[11])?;
    proto.dcomplex_val.make_room(counts[12])?;
    proto.half_val.make_room(counts[13])?;
    proto.resource_handle_val.make_room(counts[14])?;
    proto.variant_val.make_room(counts[15])?;
    proto.uint32_val.make_room(counts[16])?;
    proto.uint64_val.make_room(counts[17])?;
    // Bytes and strings are parts of the buffer.
    proto.merge(bytes.clone().into_bytes()).map_err(|_| Error::invalid_argument("Could not parse serialized proto"))?;
    Ok(proto)
}
