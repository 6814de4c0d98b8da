//! File formats of models: SavedModels, MetaGraphs and checkpoints.
//!
//! | module | idea |
//! |---|---|
//! | `checksum`, `coding` | checksums, and numbers and strings as bytes |
//! | `table` | sorted tables with checksums: the format of indices |
//! | `slice` | parts of tensors |
//! | `checkpoint` | the values of variables |
//! | `object_graph` | variables that the saver does not restore |
//! | `signature` | a model's inputs and outputs, by name |
//! | `meta_graph` | a graph with its saver, signatures and collections |
//! | `saved_model` | a folder with graphs, variables and assets |
//!
//! Large files are mapped. Files are validated when read, and written under temporary names.

mod checkpoint;
mod checksum;
mod coding;
mod meta_graph;
mod object_graph;
mod saved_model;
mod signature;
mod slice;
mod table;

pub use checkpoint::{
    CheckpointEntry, CheckpointFolder, CheckpointReader, CheckpointWriter, SliceFileWriter, SliceFilesReader,
    latest_checkpoint, latest_checkpoint_with_note, matching_files, merge_checkpoints,
};
pub use checksum::masked as masked_crc32c;
pub use meta_graph::{LoadOptions, MetaGraph, signature_names, signatures};
pub use saved_model::{SavedModel, choose_meta_graph, load_targets, read_saved_model_folder};
pub use signature::{Signature, SignatureRunner, SignatureTensor};
pub use slice::{TensorSlice, parse_shape_and_slice};
