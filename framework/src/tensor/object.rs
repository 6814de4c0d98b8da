//! The elements that are objects: resource handles and variants.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::dtype::{DataType, Element, Sealed};
use crate::error::{Error, Result};
use crate::shape::PartialShape;
use crate::tensor::{Tensor, scratch};

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
    fn type_name(&self) -> &str;

    /// What a message tells of the value: metadata and tensors, as TensorFlow's type of that name does; `None` if no message can hold it.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
        Ok(None)
    }

    /// The value with the parts that a message tells, which names its type so; `None` if they are not those of a value of this type.
    /// They may be from a file: nothing holds of them but what is checked here.
    fn from_parts(_type_name: &str, _metadata: &[u8], _tensors: &[Tensor]) -> Option<Self>
    where
        Self: Sized,
    {
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

    /// A value of which a message tells these parts, and names its type so. It becomes a value of the first type that
    /// [`Variant::get`] asks for and that [`VariantValue::from_parts`] finds its own: there is no list of all types. Until then it
    /// has no `ZerosLike`, and can be added only to what is a value already. The name is not empty: it would be no message's.
    pub fn from_parts(type_name: impl Into<String>, metadata: impl Into<Vec<u8>>, tensors: Vec<Tensor>) -> Variant {
        let (type_name, metadata) = (type_name.into(), metadata.into());
        Variant::new(Parts { type_name, metadata, tensors, value: OnceLock::new() })
    }

    /// The value, if it is a `T`.
    pub fn get<T: VariantValue>(&self) -> Option<&T> {
        let value: &dyn Any = self.0.as_deref()?;
        value.downcast_ref().or_else(|| value.downcast_ref::<Parts>()?.get())
    }

    /// The value to change, if it is a `T` and no other variant shares it.
    pub fn get_mut<T: VariantValue>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = Arc::get_mut(self.0.as_mut()?)?;
        if value.is::<T>() {
            return value.downcast_mut();
        }
        value.downcast_mut::<Parts>()?.get_mut()
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
    pub fn type_name(&self) -> &str {
        self.0.as_deref().map_or("", VariantValue::type_name)
    }
}

/// What a message tells of a value, and the value once somebody has asked for its type.
struct Parts {
    type_name: String,
    metadata: Vec<u8>,
    tensors: Vec<Tensor>,
    value: OnceLock<Box<dyn VariantValue>>,
}

impl Parts {
    /// The value, made of the parts if it is not yet; `None` if it is no `T`.
    fn get<T: VariantValue>(&self) -> Option<&T> {
        if self.value.get().is_none() {
            let value = T::from_parts(&self.type_name, &self.metadata, &self.tensors)?;
            // Another thread may have been faster: its value is as good.
            let _ = self.value.set(Box::new(value));
        }
        let value: &dyn Any = self.value.get()?.as_ref();
        value.downcast_ref()
    }

    fn get_mut<T: VariantValue>(&mut self) -> Option<&mut T> {
        self.get::<T>()?;
        // The value may change from here on, and what goes from it is to be free.
        self.metadata = Vec::new();
        self.tensors = Vec::new();
        let value: &mut dyn Any = self.value.get_mut()?.as_mut();
        value.downcast_mut()
    }
}

impl VariantValue for Parts {
    fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Of the value, which may have changed since it was made.
    fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
        match self.value.get() {
            Some(value) => value.parts(),
            None => Ok(Some((scratch::copied(&self.metadata)?, scratch::copied(&self.tensors)?))),
        }
    }

    fn zeros_like(&self) -> Result<Variant> {
        let unknown = || {
            let message = format!("there is no ZerosLike of a '{}' from a message that no op has read", self.type_name);
            Error::unimplemented(message)
        };
        self.value.get().ok_or_else(unknown)?.zeros_like()
    }

    fn add(&self, other: &Variant) -> Result<Variant> {
        if let Some(value) = self.value.get() {
            return value.add(other);
        }
        // Sums are the same either way, and the other asks this one for its own type.
        let known = other.value().and_then(|value| match (value as &dyn Any).downcast_ref::<Parts>() {
            Some(parts) => Some(parts.value.get()?.as_ref()),
            None => Some(value),
        });
        if let Some(value) = known {
            let (metadata, tensors) = (scratch::copied(&self.metadata)?, scratch::copied(&self.tensors)?);
            return value.add(&Variant::from_parts(&*self.type_name, metadata, tensors));
        }
        Err(Error::unimplemented(format!("two '{}' from messages that no op has read cannot be added", self.type_name)))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A number, in the one byte of its metadata.
    #[derive(Debug, PartialEq)]
    struct Digit(u8);

    impl VariantValue for Digit {
        fn type_name(&self) -> &str {
            "Digit"
        }

        fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
            Ok(Some((vec![self.0], Vec::new())))
        }

        fn from_parts(type_name: &str, metadata: &[u8], _: &[Tensor]) -> Option<Self> {
            let [digit @ 0..=9] = *metadata else { return None };
            (type_name == "Digit").then_some(Digit(digit))
        }

        fn add(&self, other: &Variant) -> Result<Variant> {
            let Digit(other) = other.get().expect("a digit");
            Ok(Variant::new(Digit(self.0 + other)))
        }
    }

    struct Other;

    impl VariantValue for Other {
        fn type_name(&self) -> &str {
            "Other"
        }
    }

    #[test]
    fn parts_become_the_value_that_is_asked_for() {
        let mut variant = Variant::from_parts("Digit", [3], Vec::new());
        assert_eq!((variant.type_name(), variant.get::<Other>().is_none()), ("Digit", true));
        assert!(variant.value().unwrap().zeros_like().is_err());
        assert_eq!(variant.get(), Some(&Digit(3)));
        assert!(variant.get::<Other>().is_none());
        variant.get_mut::<Digit>().unwrap().0 = 4;
        assert_eq!(variant.value().unwrap().parts().unwrap().unwrap().0, [4]);
        assert!(variant.clone().get_mut::<Digit>().is_none(), "it is shared");
        assert!(Variant::from_parts("Digit", [10], Vec::new()).get::<Digit>().is_none());
        assert!(Variant::from_parts("Other", [1], Vec::new()).get::<Digit>().is_none());
    }

    #[test]
    fn parts_are_added_to_values() {
        let parts = || Variant::from_parts("Digit", [3], Vec::new());
        let add = |a: &Variant, b: &Variant| Some(a.value()?.add(b).ok()?.get::<Digit>()?.0);
        assert_eq!(add(&parts(), &Variant::new(Digit(2))), Some(5));
        assert_eq!(add(&Variant::new(Digit(2)), &parts()), Some(5));
        assert_eq!(add(&parts(), &parts()), None);
        let read = parts();
        assert!(read.get::<Digit>().is_some());
        assert_eq!((add(&read, &parts()), add(&parts(), &read)), (Some(6), Some(6)));
    }
}
