//! Tensors from serialized messages; what else there is of tensors is `kernlink-library`'s.

use kernlink::Error;
use kernlink::proto::{Message as _, TensorProto, tensor_from_proto};
use kernlink_library::host::{CTensor, bytes_of, report};

use crate::abi::{TF_Buffer, TF_Status, TF_Tensor};

/// Makes `to` the tensor of a serialized TensorProto.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_TensorFromProto(from: *const TF_Buffer, to: *mut TF_Tensor, status: *mut TF_Status) {
    let read = || {
        // SAFETY: as said in `pointer`.
        let (bytes, to) = unsafe { (bytes_of("the message", from)?, to.cast::<CTensor>().as_mut()) };
        let to = to.ok_or_else(|| Error::invalid_argument("the tensor to change is a null pointer"))?;
        let proto = TensorProto::decode(bytes)
            .map_err(|error| Error::invalid_argument(format!("Unparseable tensorflow.TensorProto proto: {error}")))?;
        *to = CTensor::new(tensor_from_proto(&proto)?)?;
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), read) };
}
