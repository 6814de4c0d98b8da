//! What the families of kernels share: how a kernel is registered for its dtypes.

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};

use crate::shader::Scalar;

/// The scalar of a dtype.
///
/// # Errors
/// INTERNAL for a dtype that shaders cannot compute with: no kernel is registered for it.
pub(crate) fn scalar_of(dtype: DataType) -> Result<Scalar> {
    Scalar::of(dtype).ok_or_else(|| Error::internal(format!("no shader computes with {dtype}")))
}

/// Registers a type with `fn compute(&self, &mut RawContext) -> Result<()>` as the kernel of an op, for the values of
/// its attr `T`: groups of dtypes, each with the capability of the device that it needs, if any. Arguments that stay in
/// host memory follow the dtypes: `host ["axis", "shape"]`. An op without attrs has no groups. Groups of the values of
/// several attrs come last: `{ T = [f32], Tout = [int64]; "i64" }`.
macro_rules! gpu_kernels {
    ($op:ident $groups:tt as $kernel:ty: |$ctx:ident| $new:expr) => {
        $crate::family::gpu_kernels! { $op T $groups host [] as $kernel: |$ctx| $new }
    };
    (
        $op:ident $attr:ident { $([$($dtype:ident),* $(; $requires:literal)?])* } host $host:tt
        as $kernel:ty: |$ctx:ident| $new:expr
    ) => {
        $crate::family::gpu_kernels! {
            $op host $host as $kernel: |$ctx| $new; $({ $attr = [$($dtype),*] $(; $requires)? })*
        }
    };
    ($op:ident as $kernel:ty: |$ctx:ident| $new:expr) => {
        $crate::family::gpu_kernels! { $op host [] as $kernel: |$ctx| $new; {} }
    };
    (
        $op:ident host $host:tt as $kernel:ty: |$ctx:ident| $new:expr;
        $({ $($attr:ident = $dtypes:tt),* $(; $($requires:literal),+)? })*
    ) => {
        const _: () = {
            struct Kernel($kernel);

            impl kernlink::kernel::OpKernel<ops::$op> for Kernel {
                fn new($ctx: &kernlink::kernel::KernelConstruction<'_, ops::$op>) -> kernlink::error::Result<Self> {
                    Ok(Self($new?))
                }

                fn compute(
                    &self,
                    ctx: &mut kernlink::kernel::KernelContext<'_, ops::$op>,
                ) -> kernlink::error::Result<()> {
                    self.0.compute(ctx)
                }

                fn is_expensive(&self) -> bool {
                    false
                }
            }

            $($crate::family::gpu_kernels! {
                @register $op $host { $(, requires = [$($requires),+])? $(, $attr = $dtypes)* }
            })*
        };
    };
    (@register $op:ident [] { $($more:tt)* }) => {
        const _: () = {
            #[kernlink_macros::register_kernel(device = Gpu, op = ops::$op $($more)*)]
            type Registered = Kernel;
        };
    };
    (@register $op:ident $host:tt { $($more:tt)* }) => {
        $crate::family::gpu_kernels! { @register $op [] { , host_memory = $host $($more)* } }
    };
}
pub(crate) use gpu_kernels;
