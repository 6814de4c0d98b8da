//! Checkpoints: the values of variables, in files that TensorFlow writes and reads.
//!
//! | module | idea |
//! |---|---|
//! | `names` | file names; a file gets its name when it is complete |
//! | `reader`, `writer` | the second format: an index, and data files |
//! | `install` | replacing an older checkpoint |
//! | `merge` | merging checkpoints |
//! | `folder`, `state` | which checkpoints a training run keeps, and the list of them |
//! | `glob` | names with wildcards |
//! | `first` | the first format, that of TensorFlow before 1.0 |

mod first;
mod folder;
mod glob;
mod install;
mod merge;
mod names;
mod reader;
mod state;
mod writer;

pub use first::{SliceFileWriter, SliceFilesReader};
pub use folder::{CheckpointFolder, latest_checkpoint, latest_checkpoint_with_note};
pub use glob::matching_files;
pub use merge::merge_checkpoints;
pub use reader::{CheckpointEntry, CheckpointReader};
pub use writer::CheckpointWriter;
