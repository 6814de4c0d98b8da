//! Readers of TensorFlow 1: what stands in files, whose names come from a queue, record by record.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::shape::{scalars, with_scalars};
use crate::data_flow::{reference_at, reference_shape};
use crate::shapes;

#[register_op(
    attr("container: string = ''", "Where the reader is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the reader; empty for a reader of its own."),
    output("reader_handle: resource", "The reader."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum Readers {
    /// A reader of files as wholes: a record's key is the file's name.
    #[op(output("reader_handle: Ref(string)", "The name of the reader."), shape_fn = reference_shape)]
    WholeFileReader,
    /// A reader of files as wholes: a record's key is the file's name.
    WholeFileReaderV2,
    /// A reader of what it takes from the queue itself: key and value are both that.
    #[op(like = WholeFileReader, deprecated(26, "Use IdentityReaderV2"))]
    IdentityReader,
    /// A reader of what it takes from the queue itself: key and value are both that.
    IdentityReaderV2,
    /// A reader of lines: a record's key is the file's name, a colon, and the number of the line, from 1.
    #[op(
        like = WholeFileReader,
        attr("skip_header_lines: int = 0", "How many lines at the beginning of each file are none.", before = "container"),
        deprecated(26, "Use TextLineReaderV2")
    )]
    TextLineReader,
    /// A reader of lines: a record's key is the file's name, a colon, and the number of the line, from 1.
    #[op(attr(
        "skip_header_lines: int = 0",
        "How many lines at the beginning of each file are none.",
        before = "container"
    ))]
    TextLineReaderV2,
    /// A reader of records of one length: a record's key is the file's name, a colon, and its number, from 0.
    #[op(
        like = WholeFileReader,
        attr("header_bytes: int = 0", "How many bytes at the beginning of each file are none.", before = "container"),
        attr("record_bytes: int", "How long a record is.", before = "container"),
        attr("footer_bytes: int = 0", "How many bytes at the end of each file are none.", before = "container"),
        attr(
            "hop_bytes: int = 0",
            "How far the beginnings of records are apart; 0 for the length of one.",
            before = "container"
        ),
        deprecated(26, "Use FixedLengthRecordReaderV2")
    )]
    FixedLengthRecordReader,
    /// A reader of records of one length: a record's key is the file's name, a colon, and its number, from 0.
    #[op(
        attr("header_bytes: int = 0", "How many bytes at the beginning of each file are none.", before = "container"),
        attr("record_bytes: int", "How long a record is.", before = "container"),
        attr("footer_bytes: int = 0", "How many bytes at the end of each file are none.", before = "container"),
        attr(
            "hop_bytes: int = 0",
            "How far the beginnings of records are apart; 0 for the length of one.",
            before = "container"
        ),
        attr("encoding: string = ''", "How files are compressed: `ZLIB` or `GZIP`; any other for not at all.")
    )]
    FixedLengthRecordReaderV2,
    /// A reader of TFRecords: a record's key is the file's name, a colon, and where it begins, in bytes.
    #[op(
        like = WholeFileReader,
        attr("compression_type: string = ''", "How files are compressed: `ZLIB` or `GZIP`; empty for not at all."),
        deprecated(26, "Use TFRecordReaderV2")
    )]
    TFRecordReader,
    /// A reader of TFRecords: a record's key is the file's name, a colon, and where it begins, in bytes.
    #[op(attr("compression_type: string = ''", "How files are compressed: `ZLIB` or `GZIP`; empty for not at all."))]
    TFRecordReaderV2,
}

#[register_op(
    input("reader_handle: Ref(string)", "The reader."),
    input("queue_handle: Ref(string)", "The queue of names of files."),
    output("key: string", "Which record it is."),
    output("value: string", "The record."),
    shape_fn = all_references,
)]
pub enum Reading {
    /// Takes the next record of a reader; waits for the queue when a file has ended.
    ReaderRead,
    /// Takes the next record of a reader; waits for the queue when a file has ended.
    #[op(
        input("reader_handle: resource", "The reader."),
        input("queue_handle: resource", "The queue of names of files."),
        stateful,
        shape_fn = |c| with_scalars(c, &[0, 1]),
    )]
    ReaderReadV2,
}

#[register_op(
    input("reader_handle: Ref(string)", "The reader."),
    input("queue_handle: Ref(string)", "The queue of names of files."),
    input("num_records: int64", "How many at most, a scalar."),
    output("keys: string", "Which records they are, a vector."),
    output("values: string", "The records, a vector."),
    shape_fn = |c| several(c, 1),
)]
pub enum ReadingSeveral {
    /// Takes the next records of a reader, all of one file: fewer than `num_records` at its end.
    ReaderReadUpTo,
    /// Takes the next records of a reader, all of one file: fewer than `num_records` at its end.
    #[op(
        input("reader_handle: resource", "The reader."),
        input("queue_handle: resource", "The queue of names of files."),
        stateful,
        shape_fn = |c| several(c, 0),
    )]
    ReaderReadUpToV2,
}

#[register_op(input("reader_handle: Ref(string)", "The reader."), shape_fn = all_references)]
pub enum ReaderStates {
    /// The number of records that a reader gave.
    #[op(output("records_produced: int64"))]
    ReaderNumRecordsProduced,
    /// The number of records that a reader gave.
    #[op(input("reader_handle: resource"), output("records_produced: int64"), stateful, shape_fn = |c| with_scalars(c, &[0]))]
    ReaderNumRecordsProducedV2,
    /// The number of files that a reader has come to the end of.
    #[op(output("units_completed: int64"))]
    ReaderNumWorkUnitsCompleted,
    /// The number of files that a reader has come to the end of.
    #[op(input("reader_handle: resource"), output("units_completed: int64"), stateful, shape_fn = |c| with_scalars(c, &[0]))]
    ReaderNumWorkUnitsCompletedV2,
    /// What a reader has done, as a message; of readers of wholes alone.
    #[op(output("state: string", "A `ReaderBaseState`, serialized."))]
    ReaderSerializeState,
    /// What a reader has done, as a message; of readers of wholes alone.
    #[op(
        input("reader_handle: resource"),
        output("state: string", "A `ReaderBaseState`, serialized."),
        stateful,
        shape_fn = |c| with_scalars(c, &[0]),
    )]
    ReaderSerializeStateV2,
    /// Sets a reader to a state that was serialized.
    #[op(input("state: string", "A `ReaderBaseState`, serialized."), shape_fn = restored_reference)]
    ReaderRestoreState,
    /// Sets a reader to a state that was serialized.
    #[op(
        input("reader_handle: resource"),
        input("state: string", "A `ReaderBaseState`, serialized."),
        stateful,
        shape_fn = |c| with_scalars(c, &[0, 1]),
    )]
    ReaderRestoreStateV2,
    /// Sets a reader to how it was when it was made.
    ReaderReset,
    /// Sets a reader to how it was when it was made.
    #[op(input("reader_handle: resource"), stateful, shape_fn = |c| with_scalars(c, &[0]))]
    ReaderResetV2,
}

/// All inputs are container and name, all outputs scalars.
fn all_references(c: &mut InferenceContext<'_>) -> Result<()> {
    (0..c.num_inputs()).try_for_each(|index| reference_at(c, index))?;
    scalars(c)
}

/// The handles have a rank, the number of records is a scalar, the records are vectors.
fn several(c: &mut InferenceContext<'_>, handles: usize) -> Result<()> {
    c.with_rank(c.input(0), handles)?;
    c.with_rank(c.input(1), handles)?;
    c.with_rank(c.input(2), 0)?;
    let records = c.vector(-1);
    c.set_output(0, records);
    c.set_output(1, records);
    Ok(())
}

fn restored_reference(c: &mut InferenceContext<'_>) -> Result<()> {
    reference_at(c, 0)?;
    c.with_rank(c.input(1), 0)?;
    Ok(())
}
