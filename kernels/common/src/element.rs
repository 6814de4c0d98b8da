//! Elements as bytes, so that a kernel that only moves elements is compiled once, not once for each dtype.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;

/// The elements of a tensor of plain bytes, bool included, as bytes to overwrite.
///
/// # Safety
/// If the tensor is of bools, only 0 and 1 may be written.
#[track_caller]
pub unsafe fn bytes_mut(tensor: &mut Tensor) -> Result<&mut [u8]> {
    if tensor.dtype() != DataType::Bool {
        return tensor.bytes_mut();
    }
    let bools = tensor.as_mut_slice::<bool>()?;
    // SAFETY: a bool is one byte; the caller writes only 0 and 1.
    Ok(unsafe { std::slice::from_raw_parts_mut(bools.as_mut_ptr().cast::<u8>(), bools.len()) })
}

/// Calls a generic function with the Rust type of the elements of a string, resource or variant tensor, or evaluates
/// `$bytes` for a dtype that is plain bytes.
#[macro_export]
macro_rules! match_objects {
    ($dtype:expr, $t:ident => $objects:expr, _ => $bytes:expr) => {
        match $dtype {
            kernlink::dtype::DataType::String => {
                type $t = kernlink::dtype::TString;
                $objects
            }
            kernlink::dtype::DataType::Resource => {
                type $t = kernlink::tensor::ResourceHandle;
                $objects
            }
            kernlink::dtype::DataType::Variant => {
                type $t = kernlink::tensor::Variant;
                $objects
            }
            _ => $bytes,
        }
    };
}
pub use match_objects;
