//! What models are kept in: SavedModels, MetaGraphs and checkpoints.
//!
//! | module | idea |
//! |---|---|
//! | `checksum`, `coding` | checksums, and numbers and strings as bytes |
//! | `table` | sorted tables with checksums, which indices are |
//! | `slice` | parts of tensors |
//! | `checkpoint` | the values of variables |
//! | `object_graph` | the variables that a saver leaves alone |
//! | `signature` | what a model takes and gives, by name |
//! | `meta_graph` | a graph with what its saver is called |
//! | `saved_model` | a folder with graphs, variables and assets |
//!
//! Files are mapped where they are large, checked before they are believed, and written under temporary names.

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
pub use meta_graph::{LoadOptions, MetaGraph, signatures};
pub use saved_model::{SavedModel, read_saved_model_folder};
pub use signature::{Signature, SignatureRunner, SignatureTensor};
pub use slice::{TensorSlice, parse_shape_and_slice};
