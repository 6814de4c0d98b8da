//! Arrays: the moving of elements, which shaders do by the elements' size and not by their dtype.
//!
//! Most of these kernels run a [`StridedCopy`](strided::StridedCopy), as those for the processor do: what becomes of
//! shapes, where elements go and what is wrong is said in [`kernlink::kernel::geometry`] for both. Each is a function;
//! the table below says of which dtypes.
//!
//! Where TensorFlow's kernels for GPUs have `int32` in host memory, because it counts and indexes, so has Kernlink:
//! those registrations are with the kernels for the processor.

mod fill;
mod gather;
mod join;
mod mover;
mod one_hot;
mod repeat;
mod scatter;
mod segments;
mod sequence;
mod slice;
mod space;
mod split;
mod stitch;
mod strided;
mod transpose;
mod unit;
mod variant;
mod window;

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction};
use kernlink::shape_inference::strided_slice::Masks;
use kernlink_geometry::integers;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::shader::Program;
use mover::Moving;
pub(crate) use scatter::{Merge, Merging};
pub(crate) use transpose::turned;

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    variant::Variant::all().into_iter().map(variant::Variant::program).collect()
}

/// Of kernels that need to know nothing of their node.
fn nothing(_: &RawConstruction<'_>) -> Result<()> {
    Ok(())
}

/// Attr `axis`.
fn axis(ctx: &RawConstruction<'_>) -> Result<i64> {
    ctx.attrs.required("axis")
}

/// Registers kernels: the op, the attr of its dtypes and these, arguments in host memory, other attrs with their
/// values, and what the kernel reads of its node and does.
macro_rules! moves {
    ($(
        $op:ident $attr:ident { $([$($dtype:ident),* $(; $requires:literal)?])+ } host $host:tt where $where:tt:
        $read:expr => $compute:expr;
    )*) => {
        $(moves! { @op $op $host $read => $compute; $([$attr = [$($dtype),*] $(; $requires)?] $where)+ })*

        /// The number of kernels of the family.
        pub(crate) const KERNELS: usize = 0 $($(+ moves!(@one $attr $($dtype)*))+)*;
    };
    (@one $($anything:ident)*) => { 1 };
    (
        @op $op:ident $host:tt $read:expr => $compute:expr;
        $([$attr:ident = $dtypes:tt $(; $requires:literal)?] { $($more:ident = $values:tt),* })+
    ) => {
        const _: () = {
            struct Kernel(Moving);

            impl OpKernel<ops::$op> for Kernel {
                fn new(ctx: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                    Moving::new(ctx, $read, $compute).map(Kernel)
                }

                fn compute(&self, ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                    self.0.compute(ctx)
                }
            }

            $(moves! {
                @register $op $host { $(, requires = [$requires])?, $attr = $dtypes $(, $more = $values)* }
            })+
        };
    };
    (@register $op:ident [] { $($more:tt)* }) => {
        const _: () = {
            #[register_kernel(device = Gpu, op = ops::$op $($more)*)]
            type Registered = Kernel;
        };
    };
    (@register $op:ident $host:tt { $($more:tt)* }) => {
        moves! { @register $op [] { , host_memory = $host $($more)* } }
    };
}

moves! {
    Transpose T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["perm"] where {}: nothing => transpose::transpose;
    ConjugateTranspose T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["perm"] where {}:
        nothing => transpose::transpose;
    Slice T { [f32, u32, bool, i64] [f16; "f16"] } host ["begin", "size"] where {}: nothing => slice::slice;
    StridedSlice T { [f32, u32, bool, i64] [f16; "f16"] } host ["begin", "end", "strides"] where {}:
        |ctx| Masks::from_attrs(ctx.attrs) => slice::strided_slice;
    StridedSliceGrad T { [f32, u32, bool, i64] [f16; "f16"] } host ["shape", "begin", "end", "strides"] where {}:
        |ctx| Masks::from_attrs(ctx.attrs) => slice::strided_slice_grad;
    TensorStridedSliceUpdate T { [f32, u32, bool, i64] [f16; "f16"] } host ["begin", "end", "strides"] where {}:
        |ctx| Masks::from_attrs(ctx.attrs) => slice::tensor_strided_slice_update;
    Reverse T { [f32, u32, bool, i64] [f16; "f16"] } host ["dims"] where {}: nothing => slice::reverse;
    ReverseV2 T { [f32, u32, bool, i64] [f16; "f16"] } host ["axis"] where { Tidx = [int32, int64] }:
        nothing => slice::reverse_v2;
    Concat T { [f32, u32, bool, i64] [f16; "f16"] } host ["concat_dim"] where {}: nothing => join::concat_v1;
    ConcatV2 T { [f32, u32, bool, i64] [f16; "f16"] } host ["axis"] where {}: nothing => join::concat_v2;
    Pack T { [f32, u32, bool, i64] [f16; "f16"] } host [] where {}: axis => join::pack;
    Split T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["split_dim"] where {}: nothing => split::split_evenly;
    SplitV T { [f32, u32, bool, i64] [f16; "f16"] } host ["size_splits", "split_dim"] where {
        Tlen = [int32, int64, int8]
    }: nothing => split::split_v;
    Unpack T { [f32, u32, bool] [f16; "f16"] } host [] where {}: axis => split::unpack;
    Tile T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["multiples"] where { Tmultiples = [int32, int64] }:
        nothing => repeat::tile;
    BroadcastTo T { [f32, u32, bool, i64] [f16; "f16"] } host ["shape"] where {}: nothing => repeat::broadcast_to;
    Pad T { [f32, u32, bool, i64] [f16; "f16"] } host ["paddings"] where { Tpaddings = [int32, int64] }:
        nothing => window::pad;
    PadV2 T { [f32, u32, bool, i64] [f16; "f16"] } host ["paddings", "constant_values"] where {
        Tpaddings = [int32, int64]
    }: nothing => window::pad;
    MirrorPad T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["paddings"] where { Tpaddings = [int32, int64] }:
        window::is_reflection => window::mirror_pad;
    MirrorPadGrad T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } host ["paddings"] where {
        Tpaddings = [int32, int64]
    }: window::is_reflection => window::mirror_pad_grad;
    Roll T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["shift", "axis"] where {
        Tshift = [int32, int64],
        Taxis = [int32, int64]
    }: nothing => window::roll;
    DepthToSpace T { [f32, i32, u32, bool, i64] [f16; "f16"] } host [] where {}: space::block => space::depth_to_space;
    SpaceToDepth T { [f32, i32, u32, bool, i64] [f16; "f16"] } host [] where {}: space::block => space::space_to_depth;
    SpaceToBatchND T { [f32, i32, u32, i64] [f16; "f16"] } host ["block_shape", "paddings"] where {
        Tblock_shape = [int32, int64],
        Tpaddings = [int32, int64]
    }: nothing => space::space_to_batch;
    BatchToSpaceND T { [f32, i32, u32, i64] [f16; "f16"] } host ["block_shape", "crops"] where {
        Tblock_shape = [int32, int64],
        Tcrops = [int32, int64]
    }: nothing => space::batch_to_space;
    Fill T { [f32, u32, bool, i64] [f16; "f16"] } host ["dims"] where { index_type = [int32, int64] }:
        nothing => fill::fill_shape;
    ZerosLike T { [f32, u32, bool, i64] [f16; "f16"] } host [] where {}: nothing => fill::zeros_like;
    OnesLike T { [f32, u32, bool, i64] [f16; "f16"] } host [] where {}: nothing => fill::ones_like;
    Range Tidx { [f32] [f16; "f16"] [i64; "i64"] } host ["start", "limit", "delta"] where {}: nothing => fill::range;
    OneHot T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["depth"] where { TI = [int32, int64] }:
        axis => one_hot::one_hot;
    Gather Tparams { [f32, i32, u32, bool, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::refusal => gather::gather_v1;
    GatherV2 Tparams { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["axis"] where { Tindices = [int32, int64] }:
        gather::batch_dims => gather::gather_v2;
    GatherNd Tparams { [f32, i32, u32, bool, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => gather::gather_nd;
    ResourceGather dtype { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["resource"] where {
        Tindices = [int32, int64]
    }: gather::positive_batch_dims => gather::gather_resource;
    ResourceGatherNd dtype { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["resource"] where {
        Tindices = [int32, int64]
    }: gather::refusal => gather::gather_nd_resource;
    ScatterNd T { [f32, u32, bool, i64] [f16; "f16"] } host ["shape"] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::scatter_nd;
    ScatterNdNonAliasingAdd T { [f32, u32, bool, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::tensor_add;
    TensorScatterUpdate T { [f32, u32, bool, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::tensor_update;
    TensorScatterAdd T { [f32, u32, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::tensor_add;
    TensorScatterSub T { [f32, u32, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::tensor_sub;
    TensorScatterMax T { [f32, u32] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::tensor_max;
    ResourceScatterUpdate dtype { [f32, u32, bool, i64] [f16; "f16"] } host ["resource"] where {
        Tindices = [int32, int64]
    }: |ctx| scatter::rows(ctx, None) => scatter::scatter_rows;
    ResourceScatterAdd dtype { [f32, u32, i64] [f16; "f16"] } host ["resource"] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Add)) => scatter::scatter_rows;
    ResourceScatterSub dtype { [f32, u32, i64] [f16; "f16"] } host ["resource"] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Sub)) => scatter::scatter_rows;
    ResourceScatterMax dtype { [f32, u32] [f16; "f16"] } host ["resource"] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Max)) => scatter::scatter_rows;
    ResourceScatterMin dtype { [f32, u32] [f16; "f16"] } host ["resource"] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Min)) => scatter::scatter_rows;
    ResourceScatterMul dtype { [f32, u32] [f16; "f16"] } host ["resource"] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Mul)) => scatter::scatter_rows;
    ResourceScatterDiv dtype { [f32, u32] [f16; "f16"] } host ["resource"] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::DivByNonzero)) => scatter::scatter_rows;
    ScatterUpdate T { [f32, u32, bool, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, None) => scatter::scatter_rows;
    ScatterAdd T { [f32, u32, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Add)) => scatter::scatter_rows;
    ScatterSub T { [f32, u32, i64] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Sub)) => scatter::scatter_rows;
    ScatterMax T { [f32] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Max)) => scatter::scatter_rows;
    ScatterMin T { [f32] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Min)) => scatter::scatter_rows;
    ScatterMul T { [f32] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Mul)) => scatter::scatter_rows;
    ScatterDiv T { [f32] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        |ctx| scatter::rows(ctx, Some(Merge::Div)) => scatter::scatter_rows;
    TensorScatterMin T { [f32, u32] [f16; "f16"] } host [] where { Tindices = [int32, int64] }:
        gather::bad_indices_policy => scatter::tensor_min;
    ReverseSequence T { [f32, i32, u32, bool, i64] [f16; "f16"] } host [] where { Tlen = [int32, int64] }:
        sequence::how => sequence::reverse_sequence;
    DynamicStitch T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["indices"] where {}: nothing => stitch::stitch;
    ParallelDynamicStitch T { [f32, i32, u32, bool, i64] [f16; "f16"] } host ["indices"] where {}:
        nothing => stitch::stitch;
    UnsortedSegmentSum T { [f32, i32, u32, i64] [f16; "f16"] } host ["num_segments"] where {
        Tindices = [int32, int64]
    }: |ctx| segments::how(ctx, Merge::Add) => segments::unsorted;
    UnsortedSegmentProd T { [f32, i32, u32] [f16; "f16"] } host ["num_segments"] where { Tindices = [int32, int64] }:
        |ctx| segments::how(ctx, Merge::Mul) => segments::unsorted;
    UnsortedSegmentMax T { [f32, i32, u32] [f16; "f16"] } host ["num_segments"] where { Tindices = [int32, int64] }:
        |ctx| segments::how(ctx, Merge::Max) => segments::unsorted;
    UnsortedSegmentMin T { [f32, i32, u32] [f16; "f16"] } host ["num_segments"] where { Tindices = [int32, int64] }:
        |ctx| segments::how(ctx, Merge::Min) => segments::unsorted;
}
