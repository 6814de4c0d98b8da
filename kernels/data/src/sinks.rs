//! What is made of all elements of a dataset: files of records, tables.

use std::fs::File;
use std::io::Write;

use flate2::Compression as Level;
use flate2::write::{GzEncoder, ZlibEncoder};
use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::event_file::append_record;
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::records::Compression;
use kernlink_kernels_common::snappy::BlockWriter;
use kernlink_kernels_common::tables::Table;
use kernlink_kernels_common::tensors::copy_elements;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::{Element, input_dataset, scalar};
use crate::resource::Running;

/// How many bytes of records are written at once, or a little more.
const CHUNK: usize = 1 << 16;

/// Writes a file as it is compressed.
enum Writer {
    Plain(File),
    Zlib(ZlibEncoder<File>),
    Gzip(GzEncoder<File>),
    Snappy(BlockWriter<File>),
}

impl Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Writer::Plain(file) => file.write_all(bytes),
            Writer::Zlib(encoder) => encoder.write_all(bytes),
            Writer::Gzip(encoder) => encoder.write_all(bytes),
            Writer::Snappy(blocks) => blocks.write_all(bytes),
        }
    }

    /// Writes what is left: only here errors of it are told.
    fn finish(self) -> std::io::Result<()> {
        match self {
            Writer::Plain(_) => Ok(()),
            Writer::Zlib(encoder) => encoder.finish().map(drop),
            Writer::Gzip(encoder) => encoder.finish().map(drop),
            Writer::Snappy(mut blocks) => blocks.flush(),
        }
    }
}

#[register_kernel(device = Cpu, op = [ops::DatasetToTFRecord, ops::ExperimentalDatasetToTFRecord])]
async fn to_records(ctx: &mut RawContext<'_>) -> Result<()> {
    let name: TString = scalar(ctx, "filename")?;
    let compression = Compression::of_records(&scalar::<TString>(ctx, "compression_type")?);
    let dataset = input_dataset(ctx, 0)?;
    let path = path_of(&name)?;
    let failed = |error: std::io::Error| Error::from_io(path.display(), &error);
    let file = File::create(&path).map_err(failed)?;
    let mut writer = match compression {
        Compression::None => Writer::Plain(file),
        Compression::Zlib => Writer::Zlib(ZlibEncoder::new(file, Level::default())),
        Compression::Gzip => Writer::Gzip(GzEncoder::new(file, Level::default())),
        Compression::Snappy => Writer::Snappy(BlockWriter::new(file)),
    };
    let &[dtype] = dataset.head().spec.dtypes.as_slice() else {
        bail!(
            InvalidArgument,
            "ToTFRecordOp currently only support datasets of 1 single column, but got {}",
            dataset.head().spec.dtypes.len()
        );
    };
    ensure!(
        dtype == DataType::String,
        InvalidArgument,
        "ToTFRecordOp currently only supports DT_STRING dataypes, but got {dtype}"
    );
    let running = Running::new(dataset, ctx)?;
    let cx = running.cx(ctx)?;
    let mut records = Vec::new();
    while let Some(element) = running.next(&cx).await? {
        cx.check()?;
        let record = match element.as_slice() {
            [record] if record.rank() == 0 && record.dtype() == DataType::String => record.to_scalar::<TString>()?,
            _ => bail!(InvalidArgument, "Records are scalars of strings, and an element of the dataset is none"),
        };
        append_record(&mut records, &record)?;
        if records.len() >= CHUNK {
            writer.write(&records).map_err(failed)?;
            records.clear();
        }
    }
    writer.write(&records).map_err(failed)?;
    writer.finish().map_err(failed)
}

#[register_kernel(device = Cpu)]
async fn initialize_table(ctx: &mut KernelContext<'_, ops::InitializeTableFromDataset>) -> Result<()> {
    let table = ctx.resource_at::<Table>(0)?;
    ensure!(table.is_initializable(), InvalidArgument, "the table is not initializable");
    let dataset = input_dataset(ctx, 1)?;
    let spec = &dataset.head().spec;
    let &[key, value] = spec.dtypes.as_slice() else {
        bail!(InvalidArgument, "Dataset should have two output types only");
    };
    for (what, expected, given) in [("Key", table.key_dtype, key), ("Value", table.value_dtype, value)] {
        ensure!(
            expected == given,
            InvalidArgument,
            "{what} dtype expected: {expected} but obtained: {given} from the dataset"
        );
    }
    for (what, shape) in ["key", "value"].into_iter().zip(&spec.shapes) {
        ensure!(
            shape.is_compatible(&Shape::scalar().into()),
            InvalidArgument,
            "Expected scalar for {what}. Obtained: {shape}"
        );
    }
    if table.is_filled() {
        return Ok(());
    }
    let running = Running::new(dataset.clone(), ctx)?;
    let cx = running.cx(ctx)?;
    let mut pairs: Vec<Element> = Vec::new();
    let mut count = 0;
    while let Some(pair) = running.next(&cx).await? {
        cx.check()?;
        ensure!(
            pair.len() == 2 && pair[0].dtype() == key && pair[1].dtype() == value && pair[0].shape() == pair[1].shape(),
            InvalidArgument,
            "An element is a key and its value, of dtypes {key} and {value}, and one of the dataset is not"
        );
        count += pair[0].num_elements();
        scratch::push(&mut pairs, pair)?;
    }
    if pairs.is_empty() {
        // As TensorFlow says it; the table stays as it was.
        return Err(Error::out_of_range("end of iterator: the dataset has no elements to fill the table with"));
    }
    let column = |index: usize, dtype| -> Result<Tensor> {
        let mut column = Tensor::zeros(dtype, [count])?;
        let mut at = 0;
        for pair in &pairs {
            copy_elements(&mut column, at, &pair[index])?;
            at += pair[index].num_elements();
        }
        Ok(column)
    };
    let (keys, values) = (column(0, key)?, column(1, value)?);
    match table.fill(&keys, &values) {
        // Somebody else was faster.
        Err(_) if table.is_filled() => Ok(()),
        result => result,
    }
}
