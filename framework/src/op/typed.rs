//! An op as a Rust type: what `#[register_op]` implements, and what kernels name their arguments with.

use std::marker::PhantomData;

use super::OpDef;
use crate::attr::AttrMap;
use crate::error::Result;

/// An op known at compile time. Implemented by `#[register_op]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no op",
    note = "declare it with `#[register_op(...)] pub struct {Self};`"
)]
pub trait Op: Sized + Send + Sync + 'static {
    /// The declaration.
    const DEF: &'static OpDef;

    /// Whether the build keeps the op, which a selection may leave out.
    const IS_SELECTED: bool = true;

    /// The attrs, one field each, with the names of the declaration.
    type Attrs: Send + Sync + 'static;

    /// Reads the attrs of a node, defaults included.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if an attr is missing or of the wrong type.
    fn read_attrs(attrs: &AttrMap) -> Result<Self::Attrs>;
}

/// Says, for the type checker alone, that a crate (`Self`) declares one op of this name, of which `NAME` is a hash. Two
/// declarations of an op are two implementations, which do not compile.
#[doc(hidden)]
pub trait DeclaresOneOpOfEachName<const NAME: u64> {}

macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<O> {
            index: usize,
            op: PhantomData<fn() -> O>,
        }

        impl<O> $name<O> {
            #[doc(hidden)]
            pub const fn new(index: usize) -> Self {
                Self { index, op: PhantomData }
            }

            /// The position among the arguments of the [`OpDef`].
            pub const fn index(self) -> usize {
                self.index
            }
        }

        impl<O> Clone for $name<O> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<O> Copy for $name<O> {}
    )*};
}

arguments! {
    /// Names an input of op `O` that is one tensor.
    InputArg;
    /// Names an input of op `O` that is a list of tensors.
    InputListArg;
    /// Names an output of op `O` that is one tensor.
    OutputArg;
    /// Names an output of op `O` that is a list of tensors.
    OutputListArg;
}
