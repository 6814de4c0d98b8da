//! The elements that are objects: resource handles and variants.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::dtype::{DataType, Element, Sealed};
use crate::error::{Error, Result};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// An element of dtype `resource`: names a resource that the runtime keeps, or holds one itself.
#[derive(Clone, Default)]
pub struct ResourceHandle {
    /// The device that holds the resource.
    pub device: String,
    /// The container in which it is kept.
    pub container: String,
    /// Its name there.
    pub name: String,
    /// The resource's type, for errors.
    pub type_name: String,
    /// The dtypes and shapes of what the resource holds, if they are known.
    pub dtypes_and_shapes: Vec<(DataType, PartialShape)>,
    /// The resource itself, if it lives as long as its handles and no container keeps it.
    pub owned: Option<Arc<dyn Any + Send + Sync>>,
}

impl Sealed for ResourceHandle {}
impl Element for ResourceHandle {
    const DTYPE: DataType = DataType::Resource;
}

impl ResourceHandle {
    /// The `shared_name` by which a node says that what it names has no name that others could know.
    pub const ANONYMOUS_NAME: &'static str = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

    fn owned_address(&self) -> *const () {
        self.owned.as_ref().map_or(std::ptr::null(), |owned| Arc::as_ptr(owned).cast())
    }
}

impl PartialEq for ResourceHandle {
    /// Whether both name the same resource.
    fn eq(&self, other: &ResourceHandle) -> bool {
        (&self.device, &self.container, &self.name) == (&other.device, &other.container, &other.name)
            && self.owned_address() == other.owned_address()
    }
}

impl Eq for ResourceHandle {}

impl Hash for ResourceHandle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.device, &self.container, &self.name, self.owned_address()).hash(state);
    }
}

impl fmt::Display for ResourceHandle {
    /// As TensorFlow prints a handle within a tensor.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResourceHandle { device, container, name, type_name, dtypes_and_shapes, .. } = self;
        let held =
            |(dtype, shape): &(DataType, PartialShape)| format!("DType enum: {}, Shape: {shape}", dtype.number());
        let held: Vec<_> = dtypes_and_shapes.iter().map(held).collect();
        write!(
            f,
            "<ResourceHandle(name=\"{name}\", device=\"{device}\", container=\"{container}\", type=\"{type_name}\", \
             dtype and shapes : \"[ {} ]\")>",
            held.join(",")
        )
    }
}

impl fmt::Debug for ResourceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResourceHandle { device, container, name, type_name, .. } = self;
        let owned = if self.owned.is_some() { ", owned" } else { "" };
        write!(f, "<resource {name:?} of type {type_name:?} in container {container:?} on {device:?}{owned}>")
    }
}

/// What a [`Variant`] may hold.
pub trait VariantValue: Any + Send + Sync {
    /// The name under which TensorFlow knows the type, for errors and for `DebugString`.
    fn type_name(&self) -> &'static str;

    /// What a message tells of the value: metadata and tensors, as TensorFlow's type of that name does; `None` if no message can hold it.
    fn parts(&self) -> Option<(Vec<u8>, Vec<Tensor>)> {
        None
    }

    /// What op `ZerosLike` makes of the value.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the type has no zeros.
    fn zeros_like(&self) -> Result<Variant> {
        Err(Error::invalid_argument(format!("there is no ZerosLike of the variant type {}", self.type_name())))
    }

    /// What op `AddN` makes of two values.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the values cannot be added.
    fn add(&self, other: &Variant) -> Result<Variant> {
        let (own, other) = (self.type_name(), other.type_name());
        Err(Error::invalid_argument(format!("variants of types {own} and {other} cannot be added")))
    }
}

/// An element of dtype `variant`: a value whose type is known at run time.
#[derive(Clone, Default)]
pub struct Variant(Option<Arc<dyn VariantValue>>);

impl Sealed for Variant {}
impl Element for Variant {
    const DTYPE: DataType = DataType::Variant;
}

impl Variant {
    /// Wraps a value.
    pub fn new<T: VariantValue>(value: T) -> Variant {
        Variant(Some(Arc::new(value)))
    }

    /// The value, if it is a `T`.
    pub fn get<T: VariantValue>(&self) -> Option<&T> {
        let value: &dyn Any = self.0.as_deref()?;
        value.downcast_ref()
    }

    /// The value to change, if it is a `T` and no other variant shares it.
    pub fn get_mut<T: VariantValue>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = Arc::get_mut(self.0.as_mut()?)?;
        value.downcast_mut()
    }

    /// The value, whatever its type.
    pub fn value(&self) -> Option<&dyn VariantValue> {
        self.0.as_deref()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The name of the value's type; empty if it holds nothing.
    pub fn type_name(&self) -> &'static str {
        self.0.as_deref().map_or("", VariantValue::type_name)
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => write!(f, "<{}>", value.type_name()),
            None => f.write_str("<empty variant>"),
        }
    }
}
