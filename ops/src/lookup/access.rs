//! What is done with tables: filled, asked, changed.

use kernlink::dtype::DataType;
use kernlink::shape_inference::{InferenceContext, ShapeAndType, ShapeHandle};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("Tkey: type"),
    attr("Tval: type"),
    input("table_handle: Ref(string)", "The table."),
    input("keys: Tkey", "The keys, a vector."),
    input("values: Tval", "The values, a vector."),
    shape_fn = initialize_reference_shape,
)]
pub enum Initializing {
    /// Fills a table that is filled once.
    InitializeTable,
    /// Fills a table that is filled once.
    #[op(input("table_handle: resource"), stateful, shape_fn = initialize_shape)]
    InitializeTableV2,
}

#[register_op(
    attr(
        "key_index: int >= -2",
        "Where the key stands in a line: −2 for the whole line, −1 for the number of the line, else the number of the \
         column.",
    ),
    attr("value_index: int >= -2", "Where the value stands, likewise."),
    attr("vocab_size: int >= -1 = -1", "How many lines are read, or −1 for all."),
    attr("delimiter: string = '\t'", "The one character between columns."),
    attr("offset: int = 0", "What is added to numbers of lines."),
    input("table_handle: Ref(string)", "The table."),
    input("filename: string", "The file, a scalar."),
    shape_fn = text_file_reference_shape,
)]
pub enum InitializingFromFiles {
    /// Fills a table that is filled once from the lines of a text file.
    InitializeTableFromTextFile,
    /// Fills a table that is filled once from the lines of a text file.
    #[op(input("table_handle: resource"), stateful, shape_fn = text_file_shape)]
    InitializeTableFromTextFileV2,
}

#[register_op(
    attr("Tin: type"),
    attr("Tout: type"),
    input("table_handle: Ref(string)", "The table."),
    input("keys: Tin", "The keys, of any shape."),
    input("default_value: Tout"),
    output("values: Tout"),
    shape_fn = find_reference_shape,
)]
pub enum Finding {
    /// The values to which `keys` lead in a table, and `default_value` for keys that it lacks.
    LookupTableFind,
    /// The values to which `keys` lead in a table, and `default_value` for keys that it lacks.
    #[op(input("table_handle: resource"), stateful, shape_fn = find_shape)]
    LookupTableFindV2,
}

#[register_op(
    attr("Tin: type"),
    attr("Tout: type"),
    input("table_handle: Ref(string)", "The table."),
    input("keys: Tin", "The keys, of any shape."),
    input("values: Tout"),
    shape_fn = reference,
)]
pub enum Changing {
    /// Adds entries to a table; keys that it has get new values.
    LookupTableInsert,
    /// Adds entries to a table; keys that it has get new values.
    #[op(input("table_handle: resource"), stateful, shape_fn = handle)]
    LookupTableInsertV2,
    /// Replaces all entries of a table.
    #[op(input("keys: Tin", "The keys."), input("values: Tout", "The values."))]
    LookupTableImport,
    /// Replaces all entries of a table.
    #[op(like = LookupTableImport, input("table_handle: resource"), stateful, shape_fn = import_shape)]
    LookupTableImportV2,
}

/// Takes the entries of `keys` out of a table, as far as it has them.
#[register_op(
    attr("Tin: type"),
    input("table_handle: resource", "The table."),
    input("keys: Tin", "The keys, of any shape."),
    stateful,
    shape_fn = remove_shape,
)]
pub struct LookupTableRemoveV2;

#[register_op(
    attr("Tkeys: type"),
    attr("Tvalues: type"),
    input("table_handle: Ref(string)", "The table."),
    output("keys: Tkeys", "The keys, a vector."),
    output("values: Tvalues"),
    shape_fn = export_reference_shape,
)]
pub enum Exporting {
    /// All entries of a table, in no particular order.
    LookupTableExport,
    /// All entries of a table, in no particular order.
    #[op(input("table_handle: resource"), stateful, shape_fn = export_shape)]
    LookupTableExportV2,
}

/// The number of entries of a table.
#[register_op(input("table_handle: Ref(string)", "The table."), output("size: int64"), shape_fn = size_reference_shape)]
pub struct LookupTableSize;

/// The number of entries of a table.
#[register_op(input("table_handle: resource", "The table."), output("size: int64"), stateful, shape_fn = size_shape)]
pub struct LookupTableSizeV2;

/// Container and name of the table.
#[track_caller]
fn reference(c: &mut InferenceContext<'_>) -> Result<()> {
    let handle = c.with_rank(c.input(0), 1)?;
    c.with_value(c.dim(handle, 0), 2)?;
    Ok(())
}

#[track_caller]
fn handle(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    Ok(())
}

fn entries(c: &InferenceContext<'_>) -> Result<()> {
    let keys = c.with_rank(c.input(1), 1)?;
    c.merge(keys, c.input(2))?;
    Ok(())
}

fn initialize_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    entries(c)
}

fn initialize_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    entries(c)
}

fn import_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    let keys = c.with_rank(c.input(1), 1)?;
    let values = c.with_rank_at_least(c.input(2), 1)?;
    c.merge_dim(c.dim(keys, 0), c.dim(values, 0))?;
    Ok(())
}

fn text_file_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    c.with_rank(c.input(1), 0)?;
    Ok(())
}

fn text_file_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    c.with_rank(c.input(1), 0)?;
    Ok(())
}

fn find_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    c.with_rank_at_most(c.input(2), 1)?;
    shapes::unknown_shape(c)
}

/// What is known of keys and values of the table behind input 0, which must have the dtypes of these attrs.
#[track_caller]
fn key_and_value(c: &InferenceContext<'_>, key: &str, value: &str) -> Result<Option<(ShapeHandle, ShapeHandle)>> {
    let Some(&[keys, values]) = c.input_handle_shapes_and_types(0) else { return Ok(None) };
    let check = |held: ShapeAndType, attr: &str| {
        let dtype: DataType = c.attr(attr)?;
        ensure!(
            held.dtype == Some(dtype),
            InvalidArgument,
            "Trying to read value with wrong dtype. Expected {} got {dtype}",
            held.dtype.map_or("unknown", DataType::name)
        );
        Ok(())
    };
    check(keys, key)?;
    check(values, value)?;
    Ok(Some((keys.shape, values.shape)))
}

fn find_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    let keys = c.input(1);
    let known = key_and_value(c, "Tin", "Tout")?;
    let ranks = known.and_then(|(key, value)| Some((c.rank(keys)?, c.rank(key)?, key, value)));
    let Some((rank, suffix, key, value)) = ranks else { return shapes::unknown_shape(c) };
    ensure!(
        rank >= suffix,
        InvalidArgument,
        "Expected keys to have suffix {} but saw shape: {}",
        c.debug_string(key),
        c.debug_string(keys)
    );
    let prefix = c.subshape_range(keys, 0, (rank - suffix) as i64)?;
    shapes::output_shape(c, c.concatenate(prefix, value)?)
}

fn remove_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    c.with_rank_at_least(c.input(1), 1)?;
    Ok(())
}

fn export_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    c.set_output(0, c.vector(-1));
    c.set_output(1, c.unknown_shape());
    Ok(())
}

fn export_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    key_and_value(c, "Tkeys", "Tvalues")?;
    c.set_output(0, c.unknown_shape());
    c.set_output(1, c.unknown_shape());
    Ok(())
}

fn size_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    shapes::scalar_shape(c)
}

fn size_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle(c)?;
    shapes::scalar_shape(c)
}
