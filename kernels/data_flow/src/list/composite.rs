//! CompositeTensorVariantFromComponents, CompositeTensorVariantToComponents.

use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::wire::{Malformed, next_field, read_varint};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// A value of several tensors.
struct Composite {
    class: u64,
    tensors: Vec<Tensor>,
}

impl VariantValue for Composite {
    fn type_name(&self) -> &'static str {
        "CompositeTensorVariant"
    }
}

/// The number of the type's class: of a message `CompositeTensorVariantMetadata` field 1, a `TypeSpecProto`, of which field 1.
fn class_of(metadata: &[u8]) -> Result<u64> {
    let read = || -> std::result::Result<u64, Malformed> {
        let (mut rest, mut class) = (metadata, 0);
        while let Some((field, bytes)) = next_field(&mut rest)? {
            let (1, Some(mut spec)) = (field, bytes) else { continue };
            let mut at = spec;
            while let Some((field, bytes)) = next_field(&mut spec)? {
                if (field, bytes) == (1, None) {
                    read_varint(&mut at)?;
                    class = read_varint(&mut at)?;
                }
                at = spec;
            }
        }
        Ok(class)
    };
    read()
        .map_err(|Malformed| Error::invalid_argument("Error parsing metadata: it is no CompositeTensorVariantMetadata"))
}

/// The name of a class, as messages have it.
fn name(class: u64) -> String {
    const NAMES: [&str; 13] = [
        "UNKNOWN",
        "SPARSE_TENSOR_SPEC",
        "INDEXED_SLICES_SPEC",
        "RAGGED_TENSOR_SPEC",
        "TENSOR_ARRAY_SPEC",
        "DATA_DATASET_SPEC",
        "DATA_ITERATOR_SPEC",
        "OPTIONAL_SPEC",
        "PER_REPLICA_SPEC",
        "VARIABLE_SPEC",
        "ROW_PARTITION_SPEC",
        "REGISTERED_TYPE_SPEC",
        "EXTENSION_TYPE_SPEC",
    ];
    let known = usize::try_from(class).ok().and_then(|class| NAMES.get(class));
    known.map_or_else(|| format!("type of class {class}"), |name| (*name).to_owned())
}

struct FromComponents {
    class: u64,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::CompositeTensorVariantFromComponents> for FromComponents {
    fn new(ctx: &KernelConstruction<'_, ops::CompositeTensorVariantFromComponents>) -> Result<Self> {
        Ok(Self { class: class_of(ctx.attrs().metadata.as_bytes())? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::CompositeTensorVariantFromComponents>) -> Result<()> {
        type Op = ops::CompositeTensorVariantFromComponents;
        let tensors = ctx.input_list(Op::COMPONENTS).iter().cloned().collect();
        let value = Variant::new(Composite { class: self.class, tensors });
        ctx.set_output(Op::ENCODED, Tensor::scalar(value))
    }
}

struct ToComponents {
    class: u64,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::CompositeTensorVariantToComponents> for ToComponents {
    fn new(ctx: &KernelConstruction<'_, ops::CompositeTensorVariantToComponents>) -> Result<Self> {
        Ok(Self { class: class_of(ctx.attrs().metadata.as_bytes())? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::CompositeTensorVariantToComponents>) -> Result<()> {
        let encoded = ctx.input_at(0)?.clone();
        let Some(first) = encoded.as_slice::<Variant>()?.first() else {
            bail!(InvalidArgument, "encoded must not be empty, but it has shape {}", encoded.shape());
        };
        let Some(value) = first.get::<Composite>() else {
            bail!(InvalidArgument, "encoded holds no composite tensor, but {first:?}");
        };
        ensure!(
            value.class == self.class,
            InvalidArgument,
            "Expected a {} (based on `type_spec`), but `encoded` contains a {}",
            name(self.class),
            name(value.class)
        );
        ensure!(
            value.tensors.len() == ctx.num_outputs(),
            InvalidArgument,
            "Encoded value has {} tensor components; expected {} components based on type_spec",
            value.tensors.len(),
            ctx.num_outputs()
        );
        for (index, tensor) in value.tensors.iter().enumerate() {
            let expected = ctx.output_dtype_at(index)?;
            ensure!(
                tensor.dtype() == expected,
                InvalidArgument,
                "Tensor component {index} had dtype {}; expected dtype {expected}",
                tensor.dtype()
            );
            ctx.set_output_at(index, tensor.clone())?;
        }
        Ok(())
    }
}
