//! Datasets that are saved in folders, and read from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::step::BoxFuture;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{
    Dataset, DatasetIterator, Element, Head, Spec, UNKNOWN, input_dataset, scalar, set_dataset, to_tensor,
};
use crate::function::{Captured, Closure};
use crate::resource::Running;
use crate::saved::Saved;
use crate::snapshot_files::{Compression, ElementReader, Metadata, VERSION, ensure_version, snapshot_file};
use crate::snapshot_run::{Progress, Saving};
use crate::transform::{Input, Transform, set_transformed};
use crate::window::Elements;

/// The state of kernels that save datasets.
struct SaveKernel {
    compression: Compression,
    /// What gives the number of the shard; without it there is one shard.
    shard: Option<Arc<Captured>>,
}

impl KernelState for SaveKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let compression = Compression::named(&ctx.attrs.required::<String>("compression")?)?;
        let shard = Captured::new(ctx, "shard_func")?;
        Ok(Self { compression, shard: ctx.attrs.required("use_shard_func").map(|used: bool| used.then_some(shard))? })
    }
}

impl SaveKernel {
    fn saving(&self, ctx: &RawContext<'_>, dtypes: &[DataType]) -> Result<Saving> {
        let path: TString = scalar(ctx, "path")?;
        let closure = |function| Closure::new(function, ctx, "shard_func_other_args");
        Ok(Saving {
            folder: path_of(&path)?,
            compression: self.compression,
            shard: self.shard.as_ref().map(closure).transpose()?,
            dtypes: scratch::copied(dtypes)?,
            graph_hash: String::new(),
        })
    }
}

#[register_kernel(device = Cpu)]
async fn save(state: &SaveKernel, ctx: &mut KernelContext<'_, ops::SaveDataset>) -> Result<()> {
    let dataset = input_dataset(ctx, 0)?;
    let saving = state.saving(ctx, &dataset.head().spec.dtypes)?;
    let mut run = saving.begin()?;
    let running = Running::new(dataset, ctx)?;
    let cx = running.cx(ctx)?;
    let mut count = 0;
    while let Some(element) = running.next(&cx).await? {
        cx.check()?;
        saving.write(&mut run, &element, &cx).await?;
        count += 1;
    }
    saving.finish(&mut run, count)
}

/// Saves what goes through it.
struct SavedOnTheWay {
    saving: Saving,
    /// How many elements there are, as far as it is known.
    count: i64,
}

impl Transform for SavedOnTheWay {
    type State = Progress;

    fn begin(&self, _: &Cx) -> Result<Progress> {
        Ok(Progress::default())
    }

    async fn next<'a>(
        &'a self,
        progress: &'a mut Progress,
        input: &'a mut Input,
        cx: &'a Cx,
    ) -> Result<Option<Element>> {
        progress.next(&self.saving, self.count, input, cx).await
    }

    fn cardinality(&self, input: i64) -> i64 {
        input
    }

    async fn save<'a>(&'a self, progress: &'a mut Progress, saved: &'a mut Saved) -> Result<()> {
        progress.save(saved)
    }

    async fn restore<'a>(
        &'a self,
        progress: &'a mut Progress,
        _: &'a mut Input,
        saved: &'a Saved,
        _: &'a Cx,
    ) -> Result<()> {
        progress.restore(&self.saving, saved)?;
        progress.run().map_or(Ok(()), |run| self.saving.announce(run))
    }
}

/// The state of the kernel of datasets that are saved by whoever goes through them.
struct SaveOnTheWayKernel {
    spec: Spec,
    save: SaveKernel,
}

impl KernelState for SaveOnTheWayKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, save: SaveKernel::new(ctx)? })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn save_on_the_way(state: &SaveOnTheWayKernel, ctx: &mut KernelContext<'_, ops::SaveDatasetV2>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let saving = state.save.saving(ctx, &input.head().spec.dtypes)?;
    set_transformed(ctx, &state.spec, SavedOnTheWay { saving, count: input.cardinality() })
}

/// The files of a shard.
pub(crate) enum Files {
    /// Those of a folder, in order.
    In(PathBuf),
    /// These.
    These(Vec<PathBuf>),
}

/// The elements of the files of a snapshot.
pub(crate) struct Shard {
    pub(crate) head: Head,
    pub(crate) files: Files,
    pub(crate) compression: Compression,
    pub(crate) version: i64,
    /// How many elements are passed over.
    pub(crate) start: i64,
}

struct ShardIterator {
    shard: Arc<Shard>,
    reader: Option<ElementReader>,
    file: i64,
    /// How many elements of the file were read.
    at: i64,
    is_over: bool,
}

impl Shard {
    fn open(&self, file: i64) -> Result<ElementReader> {
        match &self.files {
            Files::In(folder) => ElementReader::open(&snapshot_file(folder, file), self.compression, self.version),
            Files::These(paths) => {
                let path = usize::try_from(file).ok().and_then(|file| paths.get(file));
                let path = path.ok_or_else(|| Error::internal("the files have ended"))?;
                ElementReader::open(path, self.compression, self.version)
            }
        }
    }

    fn has(&self, file: i64) -> bool {
        match &self.files {
            Files::In(folder) => snapshot_file(folder, file).exists(),
            Files::These(paths) => usize::try_from(file).is_ok_and(|file| file < paths.len()),
        }
    }
}

impl Dataset for Shard {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        UNKNOWN
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let at = self.start.max(0);
        Ok(Box::new(ShardIterator { shard: self, reader: None, file: 0, at, is_over: false }))
    }
}

impl ShardIterator {
    fn next_element(&mut self, cx: &Cx) -> Result<Option<Element>> {
        let spec = &self.shard.head.spec;
        while !self.is_over {
            cx.check()?;
            let reader = match &mut self.reader {
                Some(reader) => reader,
                none => {
                    let reader = none.insert(self.shard.open(self.file)?);
                    for _ in 0..self.at {
                        cx.check()?;
                        ensure!(
                            reader.next(spec)?.is_some(),
                            OutOfRange,
                            "file {} of a snapshot has fewer than {} elements, which are to be passed over",
                            self.file,
                            self.at
                        );
                    }
                    reader
                }
            };
            match reader.next(spec) {
                Ok(Some(element)) => {
                    self.at += 1;
                    return Ok(Some(element));
                }
                Ok(None) => {
                    (self.reader, self.at) = (None, 0);
                    self.file += 1;
                    self.is_over = !self.shard.has(self.file);
                }
                // Nobody knows where the next element begins: it is over.
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl DatasetIterator for ShardIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        let element = self.next_element(cx);
        if element.is_err() {
            match cx.check() {
                // That a run ends is no fault of the file, whose reader may stand amid what is passed over.
                Err(_) => self.reader = None,
                Ok(()) => self.is_over = true,
            }
        }
        Box::pin(std::future::ready(element))
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("file", self.file);
        saved.set("at", self.at);
        saved.set("is_over", self.is_over.into());
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            (self.file, self.at) = (saved.get("file")?, saved.get("at")?);
            self.is_over = saved.get("is_over")? != 0;
            self.reader = None;
            Ok(())
        })
    }
}

/// The state of kernels that read snapshots.
struct ReadKernel {
    spec: Spec,
    compression: Compression,
    version: i64,
}

impl KernelState for ReadKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let compression = Compression::named(&ctx.attrs.required::<String>("compression")?)?;
        let version = match ctx.attrs.get("version") {
            Some(_) => ctx.attrs.required("version")?,
            None => VERSION,
        };
        Ok(Self { spec: Spec::of(ctx)?, compression, version })
    }
}

impl ReadKernel {
    fn shard(&self, files: Files, start: i64) -> Shard {
        let (compression, version) = (self.compression, self.version);
        Shard { head: Head::source(&self.spec), files, compression, version, start }
    }
}

#[register_kernel(device = Cpu, cheap)]
fn shard_reader(state: &ReadKernel, ctx: &mut KernelContext<'_, ops::SnapshotDatasetReader>) -> Result<()> {
    let (path, start): (TString, i64) = (scalar(ctx, "shard_dir")?, scalar(ctx, "start_index")?);
    set_dataset(ctx, state.shard(Files::In(path_of(&path)?), start))
}

#[register_kernel(device = Cpu, cheap)]
fn chunk(state: &ReadKernel, ctx: &mut KernelContext<'_, ops::SnapshotChunkDataset>) -> Result<()> {
    let path: TString = scalar(ctx, "chunk_file")?;
    set_dataset(ctx, state.shard(Files::These(vec![path_of(&path)?]), 0))
}

/// What a dataset of datasets gives.
fn datasets() -> Spec {
    Spec::new(vec![DataType::Variant], vec![Shape::scalar().into()])
}

#[register_kernel(device = Cpu, cheap)]
fn nested(ctx: &mut KernelContext<'_, ops::SnapshotNestedDatasetReader>) -> Result<()> {
    let mut elements = Vec::new();
    for index in 0..ctx.num_inputs() {
        scratch::push(&mut elements, vec![to_tensor(input_dataset(ctx, index)?)])?;
    }
    set_dataset(ctx, Elements::new(&datasets(), elements))
}

/// The state of the kernel of datasets that are read from folders.
struct LoadKernel {
    read: ReadKernel,
    function: Arc<Captured>,
}

impl KernelState for LoadKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { read: ReadKernel::new(ctx)?, function: Captured::new(ctx, "reader_func")? })
    }
}

/// How the folders of snapshots are read.
pub(crate) struct Reading {
    pub(crate) spec: Spec,
    pub(crate) compression: Compression,
    /// What makes one dataset of that of the shards.
    pub(crate) reader: Closure,
}

/// The dataset that the function has made, and an iterator over it.
pub(crate) struct Open {
    dataset: Arc<dyn Dataset>,
    iterator: Box<dyn DatasetIterator>,
}

impl Reading {
    fn shards(&self, folder: &Path, metadata: &Metadata) -> Result<Arc<dyn Dataset>> {
        let (compression, version) = (self.compression, metadata.version);
        let mut elements = Vec::new();
        for path in metadata.shards(folder)? {
            let files = Files::In(path);
            let shard = Shard { head: Head::source(&self.spec), files, compression, version, start: 0 };
            scratch::push(&mut elements, vec![to_tensor(Arc::new(shard))])?;
        }
        Ok(Arc::new(Elements::new(&datasets(), elements)))
    }

    pub(crate) async fn open(&self, folder: &Path, metadata: &Metadata, cx: &Cx) -> Result<Open> {
        ensure_version(metadata.version)?;
        let shards = to_tensor(self.shards(folder, metadata)?);
        let dataset = self.reader.dataset(vec![shards], cx).await?;
        self.spec.ensure_accepts(&dataset.head().spec)?;
        let iterator = dataset.clone().iterator(&cx.within(&dataset)?)?;
        Ok(Open { dataset, iterator })
    }
}

impl Open {
    pub(crate) async fn next(&mut self, cx: &Cx) -> Result<Option<Element>> {
        self.iterator.next(&cx.within(&self.dataset)?).await
    }

    pub(crate) async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        self.iterator.save(saved.part("shards", 0)).await
    }

    pub(crate) async fn restore(&mut self, saved: &Saved, cx: &Cx) -> Result<()> {
        self.iterator.restore(saved.required_part("shards", 0)?, &cx.within(&self.dataset)?).await
    }
}

/// What a function makes of the shards of a folder.
struct Loaded {
    head: Head,
    folder: PathBuf,
    metadata: Metadata,
    reading: Reading,
}

struct LoadedIterator {
    dataset: Arc<Loaded>,
    open: Option<Open>,
}

impl Loaded {
    async fn open(&self, cx: &Cx) -> Result<Open> {
        self.reading.open(&self.folder, &self.metadata, cx).await
    }
}

impl Dataset for Loaded {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.metadata.num_elements.max(UNKNOWN)
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(LoadedIterator { dataset: self, open: None }))
    }
}

impl DatasetIterator for LoadedIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let open = match &mut self.open {
                Some(open) => open,
                none => none.insert(self.dataset.open(cx).await?),
            };
            open.next(cx).await
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &mut self.open {
                Some(open) => open.save(saved).await,
                None => Ok(()),
            }
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if saved.saved_part("shards", 0).is_some() {
                let mut open = self.dataset.open(cx).await?;
                open.restore(saved, cx).await?;
                self.open = Some(open);
            }
            Ok(())
        })
    }
}

#[register_kernel(device = Cpu)]
fn load(state: &LoadKernel, ctx: &mut KernelContext<'_, ops::LoadDataset>) -> Result<()> {
    let path: TString = scalar(ctx, "path")?;
    let folder = path_of(&path)?;
    let metadata = Metadata::read(&folder)?;
    ensure_version(metadata.version)?;
    let reader = Closure::new(&state.function, ctx, "reader_func_other_args")?;
    let ReadKernel { spec, compression, .. } = &state.read;
    let reading = Reading { spec: spec.clone(), compression: *compression, reader };
    set_dataset(ctx, Loaded { head: Head::source(spec), folder, metadata, reading })
}
