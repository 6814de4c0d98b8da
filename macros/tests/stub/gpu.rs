//! As much of `kernlink::gpu` as what `#[register_kernel]` writes needs to compile: the real one would have all of wgpu
//! built for a few lines of errors.

pub use kernlink_framework::*;

pub mod gpu {
    pub const WORKGROUP: u32 = 64;

    pub mod wgsl {
        use std::marker::PhantomData;

        use kernlink_framework::{Code, Result};
        use kernlink_framework::dtype::DataType;
        use kernlink_framework::kernel::{KernelConstruction, KernelContext, Location, OpKernel, Provider};
        use kernlink_framework::op::{Op, OpDef};
        use kernlink_framework::shape::Shape;

        pub struct Launch<'a, O>(PhantomData<(&'a (), fn() -> O)>);

        pub trait WgslKernel<O: Op>: Send + Sync + 'static {
            fn source() -> &'static Source;
            fn computed(launch: &Launch<'_, O>) -> Result<Vec<u32>>;
            fn outputs(_: &Launch<'_, O>) -> Option<Result<Vec<Shape>>> {
                None
            }
            fn groups(_: &Launch<'_, O>) -> Result<[u32; 3]> {
                Ok([1; 3])
            }
        }

        pub struct Source {
            pub name: &'static str,
            pub location: Location,
            pub file: &'static str,
            pub text: &'static str,
            pub op: &'static OpDef,
            pub host_memory: &'static [&'static str],
            pub requires: &'static [&'static str],
            pub variants: &'static [&'static [(&'static str, DataType)]],
            pub is_raw: bool,
            pub dispatch: Dispatch,
            pub params: &'static [Param],
            pub vectors: &'static [&'static str],
            pub workgroup: u32,
            pub refusal: Option<(Code, &'static str)>,
            pub provider: &'static Provider,
            pub checked: Checked,
        }

        pub enum Dispatch {
            Elements { of: &'static str, each: u32 },
            Rows { of: &'static str },
            Tiles { of: &'static str, rows: u32, columns: u32 },
            ElementWise(Operands),
            Function,
        }

        pub enum Operands {
            Broadcast,
            Equal,
            Alike,
        }

        pub struct Param {
            pub name: &'static str,
            pub value: ParamValue,
        }

        pub enum ParamValue {
            Attr(Option<ParamType>),
            Computed(ParamType),
            Shape { rank: u32 },
        }

        pub enum ParamType {
            I32,
            U32,
            F32,
        }

        pub const fn assert_capability(name: &str) {
            assert!(matches!(name.as_bytes(), b"f16"), "`requires` names what no GPU can have: the capabilities are `f16`");
        }

        pub struct Checked;

        impl Checked {
            pub const fn new() -> Checked {
                Checked
            }
        }

        pub struct Kernel<K, O>(PhantomData<fn() -> (K, O)>);

        impl<K: WgslKernel<O>, O: Op> OpKernel<O> for Kernel<K, O> {
            fn new(_: &KernelConstruction<'_, O>) -> Result<Self> {
                Ok(Kernel(PhantomData))
            }
            fn compute(&self, _: &mut KernelContext<'_, O>) -> Result<()> {
                Ok(())
            }
        }

        pub type ElementWise<K, O> = Kernel<K, O>;
    }
}
