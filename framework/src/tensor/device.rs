//! Elements that are in the memory of a device.

use std::any::Any;

use crate::error::{Code, Error};

/// Begins the error of reading elements on the host that are on a device.
pub(super) const ELSEWHERE: &str = "the elements are in the memory of";

/// Whether an error says that elements are not on the host.
pub(crate) fn is_elsewhere(error: &Error) -> bool {
    error.code() == Code::Internal && error.message().contains(ELSEWHERE)
}

/// A piece of a device's own memory, which holds the elements of tensors: what
/// [`Tensor::from_device`](super::Tensor::from_device) takes. The device that made it gives it meaning.
pub trait DeviceMemory: Any + Send + Sync {
    /// The full name of the device, such as `/device:GPU:0`.
    fn device(&self) -> &str;

    /// How many bytes it takes up there.
    fn num_bytes(&self) -> usize;
}

impl dyn DeviceMemory {
    /// The memory as the device's own type, if it is of that type.
    pub fn downcast_ref<T: DeviceMemory>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::dtype::DataType;
    use crate::tensor::Tensor;

    struct Memory(Vec<u8>);

    impl DeviceMemory for Memory {
        fn device(&self) -> &str {
            "/device:GPU:0"
        }

        fn num_bytes(&self) -> usize {
            self.0.len()
        }
    }

    #[test]
    fn the_host_does_not_see_the_elements() {
        let mut tensor = Tensor::from_device(DataType::Float, [2, 3], Arc::new(Memory(vec![0; 24])));
        assert_eq!(tensor.device_memory().unwrap().downcast_ref::<Memory>().unwrap().0.len(), 24);
        let errors = [
            tensor.as_slice::<f32>().unwrap_err(),
            tensor.as_mut_slice::<f32>().unwrap_err(),
            tensor.bytes().unwrap_err(),
            tensor.bytes_mut().unwrap_err(),
            tensor.slice_rows(0, 1).unwrap_err(),
            tensor.clone().bitcast(DataType::Int32, [2, 3]).unwrap_err(),
        ];
        for error in errors {
            assert!(is_elsewhere(&error), "{error}");
            assert!(error.message().contains("in the memory of /device:GPU:0"), "{error}");
        }
        assert_eq!(tensor.to_string(), "float [2,3] (in the memory of /device:GPU:0)");
        assert!(tensor.device_memory().is_some() && Tensor::scalar(1.0f32).device_memory().is_none());
    }

    #[test]
    fn clones_and_other_shapes_share_the_memory() {
        let mut tensor = Tensor::from_device(DataType::Float, [2, 3], Arc::new(Memory(vec![0; 24])));
        assert!(tensor.is_unique());
        let mut other = tensor.clone().reshaped([6]).unwrap();
        assert!(!tensor.is_unique() && !other.is_unique());
        assert!(Arc::ptr_eq(tensor.device_memory().unwrap(), other.device_memory().unwrap()));
        drop(tensor);
        assert!(other.is_unique());
        assert_eq!(other.to_string(), "float [6] (in the memory of /device:GPU:0)");
    }
}
