//! What is done with tables: filled, asked, changed.

use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_kernels_common::tables::Table;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::text_file::Lines;

#[register_kernel(device = Cpu, op = [ops::LookupTableFind, ops::LookupTableFindV2])]
fn find(ctx: &mut RawContext<'_>) -> Result<()> {
    let table = ctx.resource_at::<Table>(0)?;
    let output = table.find(ctx, ctx.input_at(1)?, ctx.input_at(2)?)?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, op = [ops::LookupTableInsert, ops::LookupTableInsertV2])]
fn insert(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.resource_at::<Table>(0)?.insert(ctx.input_at(1)?, ctx.input_at(2)?)
}

#[register_kernel(device = Cpu, op = ops::LookupTableRemoveV2)]
fn remove(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.resource_at::<Table>(0)?.remove(ctx.input_at(1)?)
}

#[register_kernel(device = Cpu, op = [ops::LookupTableImport, ops::LookupTableImportV2])]
fn import(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.resource_at::<Table>(0)?.import(ctx.input_at(1)?, ctx.input_at(2)?)
}

#[register_kernel(device = Cpu, op = [ops::LookupTableExport, ops::LookupTableExportV2])]
fn export(ctx: &mut RawContext<'_>) -> Result<()> {
    let table = ctx.resource_at::<Table>(0)?;
    table.ensure_dtypes(ctx.output_dtype_at(0)?, ctx.output_dtype_at(1)?, "exported")?;
    let (keys, values) = table.export(ctx)?;
    ctx.set_output_at(0, keys)?;
    ctx.set_output_at(1, values)
}

#[register_kernel(device = Cpu, op = [ops::LookupTableSize, ops::LookupTableSizeV2])]
fn size(ctx: &mut RawContext<'_>) -> Result<()> {
    let size = ctx.resource_at::<Table>(0)?.size() as i64;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = [ops::InitializeTable, ops::InitializeTableV2])]
fn initialize(ctx: &mut RawContext<'_>) -> Result<()> {
    let table = ctx.resource_at::<Table>(0)?;
    let (keys, values) = (ctx.input_at(1)?, ctx.input_at(2)?);
    table.ensure_dtypes(keys.dtype(), values.dtype(), "to initialize")?;
    ensure!(keys.rank() == 1, InvalidArgument, "Keys must be a vector, but received shape {}", keys.shape());
    ensure!(values.rank() == 1, InvalidArgument, "Values must be a vector, but received shape {}", values.shape());
    ensure!(
        keys.num_elements() == values.num_elements(),
        InvalidArgument,
        "Keys and values must have the same size {} vs {}",
        keys.num_elements(),
        values.num_elements()
    );
    table.initialize(keys, values)
}

#[register_kernel(device = Cpu, op = [ops::InitializeTableFromTextFile, ops::InitializeTableFromTextFileV2])]
fn fill(lines: &Lines, ctx: &mut RawContext<'_>) -> Result<()> {
    lines.fill(ctx)
}
