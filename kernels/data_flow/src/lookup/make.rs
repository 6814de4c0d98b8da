//! Nodes that make tables.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::resource::ResourceManager;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::table::{Kind, Table};
use crate::named::Named;

/// Makes a table, and its handle.
struct TableKernel {
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
    Named(Named<Table>),
    Anonymous(Arc<ResourceManager>),
}

fn vector_or_scalar(shape: &PartialShape, what: &str) -> Result<Shape> {
    match shape.to_shape() {
        Some(known) if known.rank() <= 1 => Ok(known),
        _ => bail!(InvalidArgument, "{what} must be a scalar or a vector, got shape {shape}"),
    }
}

impl TableKernel {
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
                        !super::entries::position_of(deleted_key, &empty_key, key_shape.num_elements())?[0],
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

    fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        match &self.place {
            Place::Named(named) => {
                let table = named.get(|| self.make(ctx))?;
                table.ensure_dtypes(self.key, self.value, named.name())?;
                named.set_handle(ctx)
            }
            Place::Anonymous(resources) => {
                let handle = resources.make_owned_handle(ctx.device_name(), Arc::new(self.make(ctx)?));
                ctx.set_output_at(0, Tensor::scalar(handle))
            }
        }
    }
}

/// Implements kernels that make tables: `Op: spec, key => [values] key => [values]`. The attrs are `$a` in the spec.
macro_rules! tables {
    ($($op:ident $place:ident |$a:ident| $spec:expr, $($alias:ident $key:ident => $values:tt)*;)*) => {$(
        impl OpKernel<ops::$op> for TableKernel {
            fn new(ctx: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                let $a = ctx.attrs();
                Ok(TableKernel { key: $a.key_dtype, value: $a.value_dtype, spec: $spec, place: tables!(@ $place ctx $a) })
            }

            fn compute(&self, ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                self.run(ctx)
            }

            fn is_expensive(&self) -> bool {
                false
            }
        }
        $(
            #[register_kernel(device = Cpu, op = ops::$op, key_dtype = [$key], value_dtype = $values)]
            type $alias = TableKernel;
        )*
    )*};
    (@ named $ctx:ident $a:ident) => { Place::Named(Named::new($ctx, $a.use_node_name_sharing)?) };
    (@ anonymous $ctx:ident $a:ident) => { Place::Anonymous($ctx.resources()?.clone()) };
}

macro_rules! dense {
    ($a:ident) => {
        Spec::Dense {
            value_shape: $a.value_shape.clone(),
            buckets: $a.initial_num_buckets,
            max_load: $a.max_load_factor,
        }
    };
}

tables! {
    HashTable named |a| Spec::Fixed,
        HashTable32 int32 => [double, float, int32, string]
        HashTable64 int64 => [double, float, int32, int64, string]
        HashTableText string => [bool, double, float, int32, int64, string];
    HashTableV2 named |a| Spec::Fixed,
        HashTableV2On32 int32 => [double, float, int32, string]
        HashTableV2On64 int64 => [double, float, int32, int64, string]
        HashTableV2OnText string => [bool, double, float, int32, int64, string];
    AnonymousHashTable anonymous |a| Spec::Fixed,
        AnonymousOn32 int32 => [double, float, int32, string]
        AnonymousOn64 int64 => [double, float, int32, int64, string]
        AnonymousOnText string => [bool, double, float, int32, int64, string];
    MutableHashTable named |a| Spec::Scalars,
        MutableOn32 int32 => [double, float, int32]
        MutableOn64 int64 => [double, float, int32, int64, string, variant]
        MutableOnText string => [bool, double, float, int32, int64];
    MutableHashTableV2 named |a| Spec::Scalars,
        MutableV2On32 int32 => [double, float, int32]
        MutableV2On64 int64 => [double, float, int32, int64, string, variant]
        MutableV2OnText string => [bool, double, float, int32, int64];
    AnonymousMutableHashTable anonymous |a| Spec::Scalars,
        AnonymousMutableOn32 int32 => [double, float, int32]
        AnonymousMutableOn64 int64 => [double, float, int32, int64, string, variant]
        AnonymousMutableOnText string => [bool, double, float, int32, int64];
    MutableHashTableOfTensors named |a| Spec::Vectors(a.value_shape.clone()),
        VectorsOn32 int32 => [double, float, int32]
        VectorsOn64 int64 => [double, float, int32, int64, string]
        VectorsOnText string => [bool, double, float, int32, int64];
    MutableHashTableOfTensorsV2 named |a| Spec::Vectors(a.value_shape.clone()),
        VectorsV2On32 int32 => [double, float, int32]
        VectorsV2On64 int64 => [double, float, int32, int64, string]
        VectorsV2OnText string => [bool, double, float, int32, int64];
    AnonymousMutableHashTableOfTensors anonymous |a| Spec::Vectors(a.value_shape.clone()),
        AnonymousVectorsOn32 int32 => [double, float, int32]
        AnonymousVectorsOn64 int64 => [double, float, int32, int64, string]
        AnonymousVectorsOnText string => [bool, double, float, int32, int64];
    MutableDenseHashTable named |a| dense!(a),
        DenseOn32 int32 => [double, float, int32]
        DenseOn64 int64 => [bool, double, float, int32, int64, variant]
        DenseOnText string => [bool, double, float, int32, int64, resource];
    MutableDenseHashTableV2 named |a| dense!(a),
        DenseV2On32 int32 => [double, float, int32]
        DenseV2On64 int64 => [bool, double, float, int32, int64, variant]
        DenseV2OnText string => [bool, double, float, int32, int64, resource];
    AnonymousMutableDenseHashTable anonymous |a| dense!(a),
        AnonymousDenseOn32 int32 => [double, float, int32]
        AnonymousDenseOn64 int64 => [bool, double, float, int32, int64, variant]
        AnonymousDenseOnText string => [bool, double, float, int32, int64, resource];
}
