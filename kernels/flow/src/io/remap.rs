//! LoadAndRemapMatrix and ImmutableConst.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::formats::{CheckpointReader, TensorSlice};
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::tensor::{FileBytes, Tensor};
use kernlink::{bail, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::hash::Map;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::single;

/// Where each old row or column goes.
fn inverted(remapping: &[i64]) -> Result<Map<i64, usize>> {
    let mut places: Map<i64, usize> = Map::default();
    places.make_room(remapping.len())?;
    for (place, &old) in remapping.iter().enumerate().filter(|(_, old)| **old >= 0) {
        let first = *places.entry(old).or_insert(place);
        ensure!(
            first == place,
            Unimplemented,
            "Old ID {old} is mapped to both new ID {first} and {place}, which is not supported."
        );
    }
    Ok(places)
}

/// The elements of a vector that has as many as an attr says.
fn remapping<'t>(tensor: &'t Tensor, count: i64, what: [&str; 2]) -> Result<&'t [i64]> {
    let [name, attr] = what;
    ensure!(
        tensor.rank() == 1,
        InvalidArgument,
        "The `{name}` tensor must be 1-D, got a tensor of shape {}",
        tensor.shape()
    );
    let elements = tensor.as_slice::<i64>()?;
    ensure!(
        elements.len() as i64 == count || (name == "col_remapping" && elements.is_empty()),
        InvalidArgument,
        "Size of {name} is {} instead of being equal to {attr}={count}",
        elements.len()
    );
    Ok(elements)
}

#[register_kernel(device = Cpu)]
fn load_and_remap_matrix(
    attrs: &Attrs<ops::LoadAndRemapMatrix>,
    ctx: &mut KernelContext<'_, ops::LoadAndRemapMatrix>,
) -> Result<()> {
    type Op = ops::LoadAndRemapMatrix;
    let rows = remapping(ctx.input(Op::ROW_REMAPPING)?, attrs.num_rows, ["row_remapping", "num_rows"])?;
    let columns = remapping(ctx.input(Op::COL_REMAPPING)?, attrs.num_cols, ["col_remapping", "num_cols"])?;
    let (new_rows, new_columns) = (inverted(rows)?, inverted(columns)?);
    let path = single(ctx.input(Op::CKPT_PATH)?, "ckpt_path")?;
    let name = single(ctx.input(Op::OLD_TENSOR_NAME)?, "old_tensor_name")?;
    let reader = CheckpointReader::open(path_of(path)?)?;
    let entry = reader.entry(name.as_bytes())?;
    ensure!(
        entry.dtype == DataType::Float,
        InvalidArgument,
        "Tensor {} has invalid type {} instead of expected type float",
        name.display(),
        entry.dtype
    );
    let &[old_rows, old_columns] = &entry.shape[..] else {
        bail!(
            InvalidArgument,
            "Tensor {} has shape {} of invalid rank {} instead of expected shape of rank 2.",
            name.display(),
            entry.shape,
            entry.shape.rank()
        );
    };
    ensure!(
        !columns.is_empty() || old_columns as i64 == attrs.num_cols,
        InvalidArgument,
        "Tensor {} has shape {}, where the size of its 2nd dimension is {old_columns} instead of being equal to num_cols={}",
        name.display(),
        entry.shape,
        attrs.num_cols
    );
    if let Some(&column) = columns.iter().find(|&&column| column >= old_columns as i64) {
        bail!(
            InvalidArgument,
            "col_remapping has column {column}, but tensor {} has shape {}",
            name.display(),
            entry.shape
        );
    }
    let (mut first, last) = match (rows.iter().filter(|&&row| row >= 0).min(), rows.iter().max()) {
        (Some(&first), Some(&last)) => (first, last),
        _ => (0, -1),
    };
    ensure!(
        last < old_rows as i64,
        Internal,
        "Extent in dimension 0 out of bounds: row_remapping has row {last}, but tensor {} has shape {}",
        name.display(),
        entry.shape
    );
    let width = attrs.num_cols as usize;
    let mut output = Tensor::zeros(DataType::Float, [rows.len(), width])?;
    let slots = output.as_mut_slice::<f32>()?;
    let step = if attrs.max_rows_in_memory > 0 { attrs.max_rows_in_memory } else { i64::MAX };
    while first <= last {
        let count = step.min(last - first + 1);
        let part = reader.read_slice(name.as_bytes(), &TensorSlice::new(&[Some((first, count)), None])?)?;
        for (old, row) in (first..).zip(part.as_slice::<f32>()?.chunks_exact(old_columns.max(1))) {
            let Some(&new) = new_rows.get(&old) else { continue };
            let slots = &mut slots[new * width..][..width];
            if columns.is_empty() {
                slots.copy_from_slice(row);
            }
            for (&old, &new) in &new_columns {
                slots[new] = row[old as usize];
            }
        }
        first += count;
    }
    let mut values = ctx.input(Op::INITIALIZING_VALUES)?.as_slice::<f32>()?.iter();
    let count = values.len();
    let is_new = |place: usize, remapping: &[i64]| remapping.get(place).is_some_and(|&old| old < 0);
    for (n, slot) in slots.iter_mut().enumerate() {
        if is_new(n / width, rows) || is_new(n % width, columns) {
            match values.next() {
                Some(&value) => *slot = value,
                None => bail!(
                    InvalidArgument,
                    "initializing_values contained {count} elements, but more missing values remain."
                ),
            }
        }
    }
    ensure!(
        values.len() == 0,
        InvalidArgument,
        "initializing_values contained {count} elements, but only {} elements were used to fill in missing values.",
        count - values.len()
    );
    ctx.set_output(Op::OUTPUT_MATRIX, output)
}

struct ImmutableConstKernel {
    dtype: DataType,
    shape: Shape,
    name: TString,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::ImmutableConst> for ImmutableConstKernel {
    fn new(ctx: &KernelConstruction<'_, ops::ImmutableConst>) -> Result<Self> {
        let attrs = ctx.attrs();
        ensure!(
            !matches!(attrs.dtype, DataType::Resource | DataType::Variant),
            InvalidArgument,
            "Resource and variant dtypes are invalid for this op."
        );
        let Some(shape) = attrs.shape.to_shape() else {
            bail!(InvalidArgument, "the shape of the tensor must be known, not {}", attrs.shape);
        };
        Ok(ImmutableConstKernel { dtype: attrs.dtype, shape, name: TString::from(attrs.memory_region_name.as_str()) })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ImmutableConst>) -> Result<()> {
        let file = FileBytes::open(path_of(&self.name)?)?;
        let (dtype, name) = (self.dtype, self.name.display());
        ensure!(!file.is_empty(), InvalidArgument, "{name}: the file is empty, which cannot be mapped");
        ensure!(
            dtype != DataType::String,
            Unimplemented,
            "Sorry, DT_STRING is not currently supported for ImmutableConstOp."
        );
        self.shape.check()?;
        let size = self.shape.num_elements().saturating_mul(dtype.size());
        ensure!(
            size <= file.len(),
            Internal,
            "Readonly memory region has wrong length ({}) when allocating {size}: {name} is too short",
            file.len()
        );
        let tensor = Tensor::from_file(dtype, &self.shape, &file)?;
        ctx.set_output(ops::ImmutableConst::TENSOR, tensor)
    }
}
