//! SnapshotDatasetV2: the elements of a dataset, which whoever goes through them first writes to a folder, from which all others
//! read them.
//!
//! The folder has the dataset's hash as its name. There the metadata says which run is complete; each iterator that finds none
//! writes one of its own, whoever else writes.

use std::path::PathBuf;
use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::dtype::TString;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::registry::Registry;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, scalar, set_dataset};
use crate::function::{Captured, Closure};
use crate::hash::{combined, hash as hash_bytes, hash_graph};
use crate::nodes::Nodes;
use crate::saved::Saved;
use crate::snapshot::{Open, Reading};
use crate::snapshot_files::{Compression, Metadata, behind, failed, now};
use crate::snapshot_run::{Progress, Saving};
use crate::transform::Input;

struct Snapshot {
    head: Head,
    input: Arc<dyn Dataset>,
    /// The folder without the prefixes: what a state tells the snapshot by.
    name: TString,
    /// The folder that is read from; that which is written to may have another prefix.
    folder: PathBuf,
    reading: Reading,
    saving: Saving,
}

/// What an iterator does.
enum Mode {
    Reads(Open),
    Writes {
        input: Input,
        progress: Progress,
    },
    /// Another writes, and what it said of its run has a time that is still to come.
    Passes(Input),
}

struct SnapshotIterator {
    dataset: Arc<Snapshot>,
    /// What it does, once its first element was asked for.
    mode: Option<Mode>,
}

const READS: i64 = 0;
const WRITES: i64 = 1;
const PASSES: i64 = 2;

impl Dataset for Snapshot {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let folder = &self.saving.folder;
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        Ok(Box::new(SnapshotIterator { dataset: self, mode: None }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }

    fn has_random_access(&self) -> bool {
        false
    }
}

impl Snapshot {
    fn writes(&self, cx: &Cx) -> Result<Mode> {
        Ok(Mode::Writes { input: Input::new(&self.input, cx)?, progress: Progress::default() })
    }

    async fn reads(&self, metadata: &Metadata, cx: &Cx) -> Result<Mode> {
        self.reading.open(&self.folder, metadata, cx).await.map(Mode::Reads)
    }

    /// What an iterator does that begins.
    async fn begin(&self, cx: &Cx) -> Result<Mode> {
        match Metadata::find(&self.folder)? {
            Some(metadata) if metadata.finalized => self.reads(&metadata, cx).await,
            Some(metadata) if metadata.creation_timestamp >= now() => Ok(Mode::Passes(Input::new(&self.input, cx)?)),
            _ => self.writes(cx),
        }
    }

    /// What an iterator did when its state was put down.
    async fn restored(&self, saved: &Saved, cx: &Cx) -> Result<Mode> {
        let name = saved.element("folder")?;
        let name = name.first().map_or(Ok(TString::default()), Tensor::to_scalar::<TString>)?;
        ensure!(
            name == self.name,
            DataLoss,
            "Dataset has changed while restoring from the checkpoint. Old hash directory: {}; new hash directory: {}",
            name.display(),
            self.name.display()
        );
        let Some(metadata) = Metadata::find(&self.folder)? else {
            bail!(DataLoss, "Snapshot metadata file in {} does not exist any more.", self.name.display())
        };
        let mut mode = match saved.get("mode")? {
            READS => self.reads(&metadata, cx).await?,
            WRITES => self.writes(cx)?,
            _ => Mode::Passes(Input::new(&self.input, cx)?),
        };
        match &mut mode {
            Mode::Reads(open) => open.restore(saved, cx).await?,
            Mode::Passes(input) => input.restore(saved, cx).await?,
            Mode::Writes { input, progress } => {
                input.restore(saved, cx).await?;
                progress.restore(&self.saving, saved)?;
            }
        }
        Ok(mode)
    }
}

impl DatasetIterator for SnapshotIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let mode = match &mut self.mode {
                Some(mode) => mode,
                none => none.insert(self.dataset.begin(cx).await?),
            };
            match mode {
                Mode::Reads(open) => open.next(cx).await,
                Mode::Passes(input) => input.next(cx).await,
                // How many there are is not told.
                Mode::Writes { input, progress } => progress.next(&self.dataset.saving, 0, input, cx).await,
            }
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Some(mode) = &mut self.mode else { return Ok(()) };
            saved.set_elements("folder", vec![vec![Tensor::scalar(self.dataset.name.clone())]]);
            match mode {
                Mode::Reads(open) => {
                    saved.set("mode", READS);
                    open.save(saved).await
                }
                Mode::Passes(input) => {
                    saved.set("mode", PASSES);
                    input.save(saved).await
                }
                Mode::Writes { input, progress } => {
                    saved.set("mode", WRITES);
                    progress.save(saved)?;
                    input.save(saved).await
                }
            }
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if saved.get("mode").is_ok() {
                self.mode = Some(self.dataset.restored(saved, cx).await?);
            }
            Ok(())
        })
    }
}

/// The state of the kernel.
struct SnapshotKernel {
    spec: Spec,
    /// The ops that there are.
    registry: Arc<Registry>,
    compression: Compression,
    /// Its name, as the dataset's hash takes it up.
    compression_name: String,
    reader_prefix: String,
    writer_prefix: String,
    /// The hash, if it is given.
    hash: Option<u64>,
    reader: Arc<Captured>,
    shard: Arc<Captured>,
}

impl KernelState for SnapshotKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let name: String = ctx.attrs.required("compression")?;
        let name = if name == "AUTO" { "SNAPPY".to_owned() } else { name };
        let (is_valid, hash): (bool, i64) = (ctx.attrs.required("hash_valid")?, ctx.attrs.required("hash")?);
        Ok(Self {
            spec: Spec::of(ctx)?,
            registry: ctx.registry.clone(),
            compression: Compression::named(&name)?,
            compression_name: name,
            reader_prefix: ctx.attrs.required("reader_prefix")?,
            writer_prefix: ctx.attrs.required("writer_prefix")?,
            hash: is_valid.then_some(hash as u64),
            reader: Captured::new(ctx, "reader_func")?,
            shard: Captured::new(ctx, "shard_func")?,
        })
    }
}

#[register_kernel(device = Cpu)]
fn snapshot(state: &SnapshotKernel, ctx: &mut KernelContext<'_, ops::SnapshotDatasetV2>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let path: TString = scalar(ctx, "path")?;
    let hash = match state.hash {
        Some(hash) => hash,
        None => {
            let graph = Nodes::of(&input)?.to_def()?;
            combined(hash_graph(&graph, &state.registry)?, hash_bytes(state.compression_name.as_bytes()))
        }
    };
    let folder = path_of(&path)?.join(hash.to_string());
    let said = [
        ("hash_valid", AttrValue::Bool(true)),
        ("hash", AttrValue::Int(hash as i64)),
        ("compression", AttrValue::String(state.compression_name.clone().into())),
    ];
    let spec = state.spec.with(input.head().spec.clone()).saying(said);
    let saving = Saving {
        folder: behind(&state.writer_prefix, &folder)?,
        compression: state.compression,
        shard: Some(Closure::new(&state.shard, ctx, "shard_func_other_args")?),
        dtypes: scratch::copied(&spec.dtypes)?,
        graph_hash: hash.to_string(),
    };
    let reading = Reading {
        spec: spec.clone(),
        compression: state.compression,
        reader: Closure::new(&state.reader, ctx, "reader_func_other_args")?,
    };
    let name = TString::from(folder.as_os_str().as_encoded_bytes());
    let folder = behind(&state.reader_prefix, &folder)?;
    set_dataset(ctx, Snapshot { head: Head::above(&spec, [&input])?, input, name, folder, reading, saving })
}
