//! What is asked of datasets as a whole.

use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::error::Code;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::{Tensor, Variant, VariantValue, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::listed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::{Cx, EndsWith};
use crate::dataset::{
    Dataset, Element, INFINITE, UNKNOWN, input_dataset, scalar, set_components, tensors, with_inputs,
};
use crate::function::Closure;
use crate::map::FunctionKernel;
use crate::resource::Running;

#[register_kernel(device = Cpu, cheap, op = [ops::DatasetCardinality, ops::ExperimentalDatasetCardinality])]
fn cardinality(ctx: &mut RawContext<'_>) -> Result<()> {
    let cardinality = input_dataset(ctx, 0)?.cardinality();
    ctx.set_output_at(0, Tensor::scalar(cardinality))
}

/// The next element, which is an error if it is not as the attrs say.
#[register_kernel(device = Cpu)]
async fn single_element(
    attrs: &Attrs<ops::DatasetToSingleElement>,
    ctx: &mut KernelContext<'_, ops::DatasetToSingleElement>,
) -> Result<()> {
    let running = Running::new(input_dataset(ctx, 0)?, ctx)?;
    let cx = running.cx(ctx)?;
    let Some(element) = running.next(&cx).await? else { bail!(InvalidArgument, "Dataset was empty.") };
    check(&element, &attrs.output_types)?;
    ensure!(running.next(&cx).await?.is_none(), InvalidArgument, "Dataset had more than one element.");
    set_components(ctx, element)
}

fn check(element: &Element, expected: &[DataType]) -> Result<()> {
    let given: Vec<DataType> = element.iter().map(Tensor::dtype).collect();
    ensure!(
        given == expected,
        InvalidArgument,
        "The element has components of the dtypes {}, but {} are expected.",
        listed(&given),
        listed(expected)
    );
    Ok(())
}

#[register_kernel(device = Cpu)]
async fn reduce(state: &FunctionKernel, ctx: &mut KernelContext<'_, ops::ReduceDataset>) -> Result<()> {
    let function = Closure::new(&state.function, ctx, "other_arguments")?;
    let mut reduced = tensors(ctx, "initial_state")?;
    let dtypes: Vec<DataType> = reduced.iter().map(Tensor::dtype).collect();
    let running = Running::new(input_dataset(ctx, 0)?, ctx)?;
    let cx = running.cx(ctx)?;
    while let Some(element) = running.next(&cx).await? {
        cx.check()?;
        reduced.extend(element);
        reduced = match function.call(reduced, &cx).await {
            Err(error) if error.code() == Code::OutOfRange => {
                bail!(InvalidArgument, "Function invocation produced OutOfRangeError: {}", error.message())
            }
            result => result?,
        };
        check(&reduced, &dtypes)?;
    }
    set_components(ctx, reduced)
}

#[register_kernel(device = Cpu)]
async fn element_at(ctx: &mut KernelContext<'_, ops::GetElementAtIndex>) -> Result<()> {
    let dataset = input_dataset(ctx, 0)?;
    let index: i64 = scalar(ctx, "index")?;
    // No iterator is made: it would take seeds.
    let shared = EndsWith(Arc::default());
    let cx = Cx::new(ctx, &dataset, &shared.0)?;
    let no_access = || Error::unimplemented("Random access is not implemented for this dataset.");
    let count = dataset.cardinality();
    // As in TensorFlow, whether the dataset itself has it counts before the index does, and whether its inputs do after that.
    if !dataset.has_random_access() {
        return Err(no_access());
    }
    match count {
        INFINITE => {
            bail!(FailedPrecondition, "Dataset has infinite cardinality, which does not support random access.")
        }
        UNKNOWN => bail!(FailedPrecondition, "Dataset has unknown cardinality, which does not support random access."),
        _ => {}
    }
    ensure!((0..count).contains(&index), OutOfRange, "Index out of range [0, {count}):{index}");
    let element = dataset.get(index, &cx).ok_or_else(no_access)?;
    let element = element.await?;
    set_components(ctx, element)
}

/// The options of a dataset and of those that it is made of, its own last, so that they count.
pub(crate) fn options_of(dataset: &Arc<dyn Dataset>) -> Result<Vec<u8>> {
    // A message that follows another is merged into it.
    let mut options = Vec::new();
    for dataset in with_inputs(dataset).iter().rev() {
        scratch::append(&mut options, dataset.options().unwrap_or_default())?;
    }
    Ok(options)
}

#[register_kernel(device = Cpu, cheap)]
fn options(ctx: &mut KernelContext<'_, ops::GetOptions>) -> Result<()> {
    let options = options_of(&input_dataset(ctx, 0)?)?;
    ctx.set_output_at(0, Tensor::scalar(TString::from(options)))
}

/// A dataset that copies between devices leave alone.
struct Wrapped(Tensor);

impl VariantValue for Wrapped {
    fn type_name(&self) -> &'static str {
        "tensorflow::WrappedDatasetVariant"
    }
}

#[register_kernel(device = Cpu, cheap)]
fn wrap(ctx: &mut KernelContext<'_, ops::WrapDatasetVariant>) -> Result<()> {
    input_dataset(ctx, 0)?;
    let tensor = ctx.take_input_at(0)?;
    ctx.set_output_at(0, Tensor::scalar(Variant::new(Wrapped(tensor))))
}

#[register_kernel(device = Cpu, cheap)]
fn unwrap(ctx: &mut KernelContext<'_, ops::UnwrapDatasetVariant>) -> Result<()> {
    let tensor = ctx.input_at(0)?;
    let wrapped = match tensor.as_slice::<Variant>()? {
        [variant] => variant.get::<Wrapped>(),
        _ => None,
    };
    let Some(Wrapped(dataset)) = wrapped else {
        return Err(Error::invalid_argument("Tensor must be a WrappedDataset variant object."));
    };
    let dataset = dataset.clone();
    ctx.set_output_at(0, dataset)
}
