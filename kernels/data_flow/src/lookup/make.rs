//! Nodes that make tables.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::ResourceManager;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tables::{Kind, Table, position_of};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Makes a table, and its handle.
struct Maker {
    key: DataType,
    value: DataType,
    spec: Spec,
    place: Place,
}

/// What the attrs say of the table.
enum Spec {
    Fixed,
    Scalars,
    Vectors(PartialShape),
    Dense { value_shape: PartialShape, buckets: i64, max_load: f32 },
}

enum Place {
    Named(NamedResource<Table>),
    Anonymous(Arc<ResourceManager>),
}

fn vector_or_scalar(shape: &PartialShape, what: &str) -> Result<Shape> {
    match shape.to_shape() {
        Some(known) if known.rank() <= 1 => Ok(known),
        _ => bail!(InvalidArgument, "{what} must be a scalar or a vector, got shape {shape}"),
    }
}

impl KernelState for Maker {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let (attrs, has) = (ctx.attrs, |name| ctx.op.attrs.iter().any(|attr| attr.name == name));
        let spec = if has("initial_num_buckets") {
            Spec::Dense {
                value_shape: attrs.required("value_shape")?,
                buckets: attrs.required("initial_num_buckets")?,
                max_load: attrs.required("max_load_factor")?,
            }
        } else if has("value_shape") {
            Spec::Vectors(attrs.required("value_shape")?)
        } else if ctx.op.name.contains("Mutable") {
            Spec::Scalars
        } else {
            Spec::Fixed
        };
        let place = match has("use_node_name_sharing") {
            true if attrs.required("use_node_name_sharing")? => Place::Named(NamedResource::with_node_name(ctx)?),
            true => Place::Named(NamedResource::new(ctx)?),
            false => Place::Anonymous(ctx.resources()?.clone()),
        };
        Ok(Self { key: attrs.required("key_dtype")?, value: attrs.required("value_dtype")?, spec, place })
    }
}

impl Maker {
    fn make(&self, ctx: &RawContext<'_>) -> Result<Table> {
        let key_shape = match self.spec {
            Spec::Dense { .. } => ctx.input_at(0)?.shape().clone(),
            _ => Shape::scalar(),
        };
        let (value_shape, kind) = match &self.spec {
            Spec::Fixed => (Shape::scalar(), Kind::Fixed),
            Spec::Scalars => (Shape::scalar(), Kind::Mutable),
            Spec::Vectors(shape) => match shape.to_shape().filter(|shape| shape.rank() == 1) {
                Some(shape) => (shape, Kind::Mutable),
                None => bail!(InvalidArgument, "Default value must be a vector, got shape {shape}"),
            },
            &Spec::Dense { ref value_shape, buckets, max_load } => {
                ensure!(
                    max_load > 0.0 && max_load < 1.0,
                    InvalidArgument,
                    "max_load_factor must be between 0 and 1, got: {max_load}"
                );
                let value_shape = vector_or_scalar(value_shape, "Empty value")?;
                let empty_key = ctx.input_at(0)?.clone();
                ensure!(
                    key_shape.rank() <= 1,
                    InvalidArgument,
                    "Empty key must be a scalar or a vector, got shape {key_shape}"
                );
                ensure!(key_shape.num_elements() > 0, InvalidArgument, "Empty key must have at least one element");
                let deleted_key = if ctx.num_inputs() > 1 { Some(ctx.input_at(1)?.clone()) } else { None };
                if let Some(deleted_key) = &deleted_key {
                    ensure!(
                        *deleted_key.shape() == key_shape,
                        InvalidArgument,
                        "Empty and deleted keys must have same shape, got shapes: {key_shape} and {}",
                        deleted_key.shape()
                    );
                    ensure!(
                        !position_of(deleted_key, &empty_key, key_shape.num_elements())?[0],
                        InvalidArgument,
                        "Empty and deleted keys cannot be equal"
                    );
                }
                ensure!(
                    buckets >= 4 && buckets & (buckets - 1) == 0,
                    InvalidArgument,
                    "Number of buckets must be at least 4 and a power of 2, got: {buckets}"
                );
                (value_shape, Kind::Dense { empty_key, deleted_key, buckets: buckets as u64, max_load })
            }
        };
        Table::new((self.key, key_shape), (self.value, value_shape), kind)
    }
}

#[register_kernel(
    device = Cpu,
    op = [ops::MutableHashTable, ops::MutableHashTableV2, ops::AnonymousMutableHashTable, ops::MutableHashTableOfTensors, ops::MutableHashTableOfTensorsV2, ops::AnonymousMutableHashTableOfTensors, ops::MutableDenseHashTable, ops::MutableDenseHashTableV2, ops::AnonymousMutableDenseHashTable],
    key_dtype = [int32],
    value_dtype = [double, float, int32],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::HashTable, ops::HashTableV2, ops::AnonymousHashTable],
    key_dtype = [int32],
    value_dtype = [double, float, int32, string],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::HashTable, ops::HashTableV2, ops::AnonymousHashTable, ops::MutableHashTableOfTensors, ops::MutableHashTableOfTensorsV2, ops::AnonymousMutableHashTableOfTensors],
    key_dtype = [int64],
    value_dtype = [double, float, int32, int64, string],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::MutableHashTable, ops::MutableHashTableV2, ops::AnonymousMutableHashTable],
    key_dtype = [int64],
    value_dtype = [double, float, int32, int64, string, variant],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::MutableDenseHashTable, ops::MutableDenseHashTableV2, ops::AnonymousMutableDenseHashTable],
    key_dtype = [int64],
    value_dtype = [bool, double, float, int32, int64, variant],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::MutableHashTable, ops::MutableHashTableV2, ops::AnonymousMutableHashTable, ops::MutableHashTableOfTensors, ops::MutableHashTableOfTensorsV2, ops::AnonymousMutableHashTableOfTensors],
    key_dtype = [string],
    value_dtype = [bool, double, float, int32, int64],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::HashTable, ops::HashTableV2, ops::AnonymousHashTable],
    key_dtype = [string],
    value_dtype = [bool, double, float, int32, int64, string],
    cheap,
)]
#[register_kernel(
    device = Cpu,
    op = [ops::MutableDenseHashTable, ops::MutableDenseHashTableV2, ops::AnonymousMutableDenseHashTable],
    key_dtype = [string],
    value_dtype = [bool, double, float, int32, int64, resource],
    cheap,
)]
fn table(maker: &Maker, ctx: &mut RawContext<'_>) -> Result<()> {
    match &maker.place {
        Place::Named(named) => {
            let table = named.get(|| maker.make(ctx))?;
            table.ensure_dtypes(maker.key, maker.value, named.name())?;
            named.set_handle(ctx)
        }
        Place::Anonymous(resources) => {
            let handle = resources.make_owned_handle(ctx.device_name(), Arc::new(maker.make(ctx)?));
            ctx.set_output_at(0, Tensor::scalar(handle))
        }
    }
}
