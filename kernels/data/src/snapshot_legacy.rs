//! SnapshotDataset, the first version: whoever goes through the elements writes them to files, in format 1, unless another does.
//!
//! What TensorFlow's threads do beside, here whoever asks for an element does. With one of them the files are TensorFlow's;
//! of several, TensorFlow's take elements as they come, and here they take turns. A state of an iterator that reads goes on
//! where it was; in TensorFlow such an iterator begins again.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::registry::Registry;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::mersenne::Mersenne32;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, scalar, set_dataset};
use crate::hash::{combined, hash, hash_graph};
use crate::nodes::Nodes;
use crate::saved::Saved;
use crate::snapshot::{Files, Shard};
use crate::snapshot_files::{Compression, Metadata, behind, ensure_version, entries, failed, now, number_of, random};
use crate::snapshot_write::{ElementWriter, Format};
use crate::transform::Input;

/// How many files a run writes at a time at most, however many threads are asked for.
const MOST_WRITERS: usize = 64;

/// The run of a snapshot that has a name.
const CUSTOM: &str = "custom";

/// What an iterator is to do.
#[derive(Clone, Copy)]
enum Wanted {
    Auto,
    Read,
    Write,
    Pass,
}

/// What attrs say.
#[derive(Clone)]
struct Options {
    compression: Compression,
    compression_name: String,
    reader_prefix: String,
    writer_prefix: String,
    /// From how many bytes on a file is followed by another.
    file_size: u64,
    /// For how many microseconds nobody else writes.
    expiry: i64,
    writers: usize,
    /// What the order of files is drawn by.
    shuffled: Option<(i64, i64)>,
    wanted: Wanted,
    name: String,
}

impl KernelState for Options {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let text = |name| ctx.attrs.required::<String>(name);
        let number = |name| match ctx.attrs.required::<i64>(name) {
            Ok(-1) => Ok(NUMBERS.iter().find(|(other, _)| *other == name).map_or(-1, |(_, number)| *number)),
            given => given,
        };
        let compression = text("compression")?;
        ensure!(
            matches!(&*compression, "" | "GZIP" | "SNAPPY"),
            InvalidArgument,
            "compression must be either '', 'GZIP' or 'SNAPPY'."
        );
        let expiry = number("pending_snapshot_expiry_seconds")?;
        ensure!(expiry >= 1, InvalidArgument, "pending_snapshot_expiry_seconds must be at least 1 second.");
        let wanted = match &*text("mode")? {
            "auto" => Wanted::Auto,
            "read" => Wanted::Read,
            "write" => Wanted::Write,
            "passthrough" => Wanted::Pass,
            _ => bail!(InvalidArgument, "mode must be either 'auto', 'read', 'write', or 'passthrough'."),
        };
        let seeds = (ctx.attrs.required("seed")?, ctx.attrs.required("seed2")?);
        Ok(Self {
            compression: Compression::named(&compression)?,
            compression_name: compression,
            reader_prefix: text("reader_path_prefix")?,
            writer_prefix: text("writer_path_prefix")?,
            file_size: number("shard_size_bytes")? as u64,
            expiry: expiry.saturating_mul(1_000_000),
            writers: number("num_writer_threads")?.clamp(1, MOST_WRITERS as i64) as usize,
            shuffled: ctx.attrs.required("shuffle_on_read").map(|shuffled: bool| shuffled.then_some(seeds))?,
            wanted,
            name: text("snapshot_name")?,
        })
    }
}

struct Snapshot {
    head: Head,
    input: Arc<dyn Dataset>,
    options: Options,
    folder: PathBuf,
    graph_hash: String,
}

/// What an iterator does.
enum Mode {
    Reads(Reads),
    Writes(Writes),
    /// Another writes.
    Passes(Input),
}

const READS: i64 = 0;
const WRITES: i64 = 1;
const PASSES: i64 = 2;

struct SnapshotIterator {
    dataset: Arc<Snapshot>,
    /// What it does, once its first element was asked for.
    mode: Option<Mode>,
}

impl Dataset for Snapshot {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
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
    fn begin(&self, cx: &Cx) -> Result<Mode> {
        let passes = || Input::new(&self.input, cx).map(Mode::Passes);
        let metadata = Metadata::find(&self.folder)?;
        match (self.options.wanted, metadata) {
            (Wanted::Read, None) => bail!(NotFound, "Metadata file does not exist."),
            (Wanted::Read, Some(metadata)) => self.reads(&metadata, cx),
            (Wanted::Write, _) | (Wanted::Auto, None) => self.writes(cx),
            (Wanted::Pass, _) => passes(),
            (Wanted::Auto, Some(metadata)) if metadata.finalized => self.reads(&metadata, cx),
            (Wanted::Auto, Some(metadata)) => {
                let is_pending = metadata.creation_timestamp >= now().saturating_sub(self.options.expiry);
                if is_pending { passes() } else { self.writes(cx) }
            }
        }
    }

    fn reads(&self, metadata: &Metadata, cx: &Cx) -> Result<Mode> {
        let options = &self.options;
        let Spec { dtypes, .. } = &self.head.spec;
        let run = match options.name.is_empty() {
            true if metadata.run_id.is_empty() => bail!(NotFound, "Could not find a valid snapshot to read."),
            true => metadata.run_folder(&self.folder)?,
            false => self.folder.join(CUSTOM),
        };
        ensure!(
            metadata.dtype.len() == dtypes.len(),
            Internal,
            "Expected number of dtypes: {} but number in snapshot: {}",
            dtypes.len(),
            metadata.dtype.len()
        );
        for (index, (found, dtype)) in metadata.dtype.iter().zip(dtypes).enumerate() {
            ensure!(
                *found == dtype.number(),
                Internal,
                "Type: {index} doesn't match. Snapshot: {found}; dataset: {}",
                dtype.number()
            );
        }
        ensure_version(metadata.version)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(&run).map_err(failed(&run))? {
            scratch::push(&mut files, entry.map_err(failed(&run))?.path())?;
        }
        ensure!(!files.is_empty(), NotFound, "Could not find any files in dir: {}", run.display());
        match options.shuffled {
            // As in TensorFlow, from the order in which the system names them.
            Some((0, 0)) => Mersenne32::new(random() as u32).shuffle(&mut files),
            Some((seed, seed2)) => Mersenne32::new(seed.wrapping_add(seed2) as u32).shuffle(&mut files),
            None => files.sort_unstable(),
        }
        self.read(files, metadata.version, cx).map(Mode::Reads)
    }

    /// Reads files in this order.
    fn read(&self, files: Vec<PathBuf>, version: i64, cx: &Cx) -> Result<Reads> {
        let prefixed = files.iter().map(|file| behind(&self.options.reader_prefix, file));
        let shard = Shard {
            head: Head::source(&self.head.spec),
            files: Files::These(scratch::collected_ok(prefixed)?),
            compression: self.options.compression,
            version,
            start: 0,
        };
        let shard: Arc<dyn Dataset> = Arc::new(shard);
        let iterator = shard.iterator(cx)?;
        Ok(Reads { files, version, iterator })
    }

    fn writes(&self, cx: &Cx) -> Result<Mode> {
        let run = match self.options.name.is_empty() {
            true => format!("{:04x}", random()),
            false => CUSTOM.to_owned(),
        };
        self.write(run, cx).map(Mode::Writes)
    }

    /// Writes to the folder of a run.
    fn write(&self, run: String, cx: &Cx) -> Result<Writes> {
        let folder = behind(&self.options.writer_prefix, &self.folder)?.join(&run);
        let input = Input::new(&self.input, cx)?;
        Ok(Writes {
            run,
            folder,
            input,
            ahead: Ahead::Begins,
            files: Vec::new(),
            turn: 0,
            next: 0,
            ratio: None,
            failed: None,
        })
    }

    async fn restored(&self, saved: &Saved, cx: &Cx) -> Result<Option<Mode>> {
        let text = |name: &str| -> Result<TString> {
            saved.element(name)?.first().map_or(Ok(TString::default()), Tensor::to_scalar)
        };
        if text("folder")?.as_bytes() != self.folder.as_os_str().as_encoded_bytes() {
            // As in TensorFlow, the snapshot of another dataset is none of this one, which begins.
            return Ok(None);
        }
        Ok(Some(match saved.get("mode")? {
            READS => {
                let names = saved.element("files")?;
                let names = names.first().map_or(Ok(&[][..]), Tensor::as_slice::<TString>)?;
                let files = scratch::collected_ok(names.iter().map(path_of))?;
                let mut reads = self.read(files, saved.get("version")?, cx)?;
                reads.iterator.restore(saved.required_part("files", 0)?, cx).await?;
                Mode::Reads(reads)
            }
            WRITES => {
                let mut writes = self.write(text("run")?.display().to_string(), cx)?;
                writes.restore(self, saved, cx).await?;
                Mode::Writes(writes)
            }
            _ => {
                let mut input = Input::new(&self.input, cx)?;
                input.restore(saved, cx).await?;
                Mode::Passes(input)
            }
        }))
    }
}

struct Reads {
    /// Without the prefix.
    files: Vec<PathBuf>,
    version: i64,
    iterator: Box<dyn DatasetIterator>,
}

impl Reads {
    async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        let name = |file: &PathBuf| TString::from(file.as_os_str().as_encoded_bytes());
        let names = scratch::collected(self.files.iter().map(name))?;
        saved.set_elements("files", vec![vec![Tensor::vector(&names)?]]);
        saved.set("version", self.version);
        self.iterator.save(saved.part("files", 0)).await
    }
}

/// What comes next: one element is known ahead, so that the run is complete when the last one is given out.
enum Ahead {
    /// Nothing was asked for.
    Begins,
    Unknown,
    Is(Element),
    Failed(Error),
    Over,
}

/// A file and how many bytes its elements have, but for the first, which made it.
struct Piece {
    writer: ElementWriter,
    bytes: u64,
}

struct Writes {
    run: String,
    folder: PathBuf,
    input: Input,
    ahead: Ahead,
    files: Vec<Piece>,
    /// The file that takes the next element.
    turn: usize,
    /// The number of the next file.
    next: i64,
    /// How many bytes of elements a byte of files holds, once it is known.
    ratio: Option<f64>,
    /// Why no more can be written.
    failed: Option<Error>,
}

/// How many bytes a tensor takes in TensorFlow, with the strings and what leads to them.
fn size_of(tensor: &Tensor) -> Result<u64> {
    /// Of TensorFlow's strings.
    const STRING: usize = 24;
    let size = match tensor.dtype() {
        DataType::String => tensor.as_slice::<TString>()?.iter().map(|string| STRING + string.len()).sum(),
        _ => tensor.num_bytes(),
    };
    Ok(size as u64)
}

impl Writes {
    /// Says that a run has begun.
    fn announce(&mut self, snapshot: &Snapshot) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        let metadata = Metadata::new(self.run.clone(), Format::Framed.version(), &snapshot.head.spec.dtypes);
        Metadata { graph_hash: snapshot.graph_hash.clone(), ..metadata }.write(&snapshot.folder)?;
        self.begin_files(&snapshot.options)
    }

    fn begin_files(&mut self, options: &Options) -> Result<()> {
        while self.files.len() < options.writers {
            let writer = self.create(options)?;
            self.files.push(Piece { writer, bytes: 0 });
        }
        Ok(())
    }

    fn create(&mut self, options: &Options) -> Result<ElementWriter> {
        ElementWriter::create(&self.folder, &mut self.next, options.compression, Format::Framed)
    }

    /// Whether the file that takes the next element is full.
    fn is_full(&mut self, most: u64) -> Result<bool> {
        let piece = &mut self.files[self.turn];
        // As TensorFlow has it: the ratio is found out once, of however much of the file is there.
        if let Some(ratio) = self.ratio.filter(|ratio| *ratio > 0.0) {
            return Ok(piece.bytes as f64 > ratio * most as f64);
        }
        if piece.bytes <= most {
            return Ok(false);
        }
        let size = piece.writer.size()?;
        self.ratio = Some(piece.bytes as f64 / size as f64);
        Ok(size >= most)
    }

    fn write(&mut self, element: &Element, options: &Options) -> Result<()> {
        self.begin_files(options)?;
        for component in element {
            let bytes = &mut self.files[self.turn].bytes;
            *bytes = bytes.saturating_add(size_of(component)?);
        }
        if self.is_full(options.file_size)? {
            let writer = self.create(options)?;
            let full = std::mem::replace(&mut self.files[self.turn], Piece { writer, bytes: 0 });
            full.writer.finish()?;
        }
        self.files[self.turn].writer.write(element)?;
        self.turn = (self.turn + 1) % self.files.len();
        Ok(())
    }

    fn end_files(&mut self) -> Result<()> {
        std::mem::take(&mut self.files).into_iter().try_for_each(|piece| piece.writer.finish().map(|_| ()))
    }

    /// Says that all is there, unless another has begun a run meanwhile.
    fn finish(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.end_files()?;
        match Metadata::find(&snapshot.folder)? {
            Some(metadata) if metadata.run_id == self.run => {
                Metadata { finalized: true, ..metadata }.write(&snapshot.folder)
            }
            _ => Ok(()),
        }
    }

    /// Makes the next element and writes it.
    async fn filled(&mut self, snapshot: &Snapshot, cx: &Cx) -> Result<Ahead> {
        let Some(element) = self.input.next(cx).await.map_err(Error::before_end)? else {
            return self.finish(snapshot).inspect_err(|error| self.failed = Some(error.clone())).map(|()| Ahead::Over);
        };
        self.write(&element, &snapshot.options).inspect_err(|error| self.failed = Some(error.clone()))?;
        Ok(Ahead::Is(element))
    }

    async fn next(&mut self, snapshot: &Snapshot, cx: &Cx) -> Result<Option<Element>> {
        if matches!(self.ahead, Ahead::Begins) {
            self.announce(snapshot)?;
            self.ahead = Ahead::Unknown;
        }
        if matches!(self.ahead, Ahead::Unknown) {
            if let Some(failed) = &self.failed {
                return Err(failed.clone());
            }
            self.ahead = self.filled(snapshot, cx).await?;
        }
        match std::mem::replace(&mut self.ahead, Ahead::Unknown) {
            Ahead::Is(element) => {
                // What goes wrong from here on is told whoever asks for the element after this, but for the end of this run.
                self.ahead = match self.filled(snapshot, cx).await {
                    Ok(ahead) => ahead,
                    Err(_) if cx.check().is_err() => Ahead::Unknown,
                    Err(error) => Ahead::Failed(error),
                };
                Ok(Some(element))
            }
            Ahead::Failed(error) => Err(error),
            Ahead::Begins | Ahead::Unknown | Ahead::Over => {
                self.ahead = Ahead::Over;
                Ok(None)
            }
        }
    }

    async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        // What is written from here on is not of this state.
        self.end_files()?;
        saved.set_elements("run", vec![vec![Tensor::scalar(TString::from(&*self.run))]]);
        saved.set("next", self.next);
        saved.set("has_begun", i64::from(!matches!(self.ahead, Ahead::Begins)));
        saved.set_results(
            "ahead",
            match &self.ahead {
                Ahead::Begins | Ahead::Unknown => Vec::new(),
                Ahead::Is(element) => vec![Ok(Some(scratch::copied(element)?))],
                Ahead::Failed(error) => vec![Err(error.clone())],
                Ahead::Over => vec![Ok(None)],
            },
        );
        self.input.save(saved).await
    }

    async fn restore(&mut self, snapshot: &Snapshot, saved: &Saved, cx: &Cx) -> Result<()> {
        self.input.restore(saved, cx).await?;
        self.next = saved.get("next")?;
        self.ahead = match saved.results("ahead")? {
            [Ok(Some(element)), ..] => Ahead::Is(scratch::copied(element)?),
            [Ok(None), ..] => Ahead::Over,
            [Err(error), ..] => Ahead::Failed(error.clone()),
            [] if saved.get("has_begun")? != 0 => Ahead::Unknown,
            [] => Ahead::Begins,
        };
        // Where runs have one name, what came after the state may be another's, and stays, as in TensorFlow.
        if matches!(self.ahead, Ahead::Over) || self.run == CUSTOM {
            return Ok(());
        }
        Metadata::reopen(&snapshot.folder, &self.run)?;
        for path in entries(&self.folder)? {
            let path = path?;
            if number_of(&path, "snapshot").is_some_and(|file| file >= self.next as u64) {
                fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        Ok(())
    }
}

impl DatasetIterator for SnapshotIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let mode = match &mut self.mode {
                Some(mode) => mode,
                none => none.insert(self.dataset.begin(cx)?),
            };
            match mode {
                Mode::Reads(reads) => reads.iterator.next(cx).await,
                Mode::Writes(writes) => writes.next(&self.dataset, cx).await,
                Mode::Passes(input) => input.next(cx).await,
            }
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Some(mode) = &mut self.mode else { return Ok(()) };
            let folder = TString::from(self.dataset.folder.as_os_str().as_encoded_bytes());
            saved.set_elements("folder", vec![vec![Tensor::scalar(folder)]]);
            match mode {
                Mode::Reads(reads) => {
                    saved.set("mode", READS);
                    reads.save(saved).await
                }
                Mode::Writes(writes) => {
                    saved.set("mode", WRITES);
                    writes.save(saved).await
                }
                Mode::Passes(input) => {
                    saved.set("mode", PASSES);
                    input.save(saved).await
                }
            }
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if saved.get("mode").is_ok() {
                self.mode = self.dataset.restored(saved, cx).await?;
            }
            Ok(())
        })
    }
}

/// The state of the kernel.
struct SnapshotKernel {
    spec: Spec,
    options: Options,
    /// The ops that there are.
    registry: Arc<Registry>,
}

/// Attrs of which -1 stands for another number.
const NUMBERS: [(&str, i64); 6] = [
    ("shard_size_bytes", 10 << 30),
    ("pending_snapshot_expiry_seconds", 86_400),
    ("num_reader_threads", 1),
    ("reader_buffer_size", 1),
    ("num_writer_threads", 1),
    ("writer_buffer_size", 1),
];

impl KernelState for SnapshotKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let defaults =
            NUMBERS.iter().filter(|(name, _)| ctx.attrs.required(name).is_ok_and(|number: i64| number == -1));
        let spec = Spec::of(ctx)?.saying(defaults.map(|&(name, number)| (name, AttrValue::Int(number))));
        Ok(Self { spec, options: Options::new(ctx)?, registry: ctx.registry.clone() })
    }
}

impl SnapshotKernel {
    /// What stands for a dataset that is saved so.
    fn hash_of(&self, input: &Arc<dyn Dataset>, path: &TString) -> Result<u64> {
        let graph = Nodes::of(input)?.to_def()?;
        let Options { compression_name, reader_prefix, writer_prefix, file_size, .. } = &self.options;
        let texts = [path.as_bytes(), compression_name.as_bytes(), reader_prefix.as_bytes(), writer_prefix.as_bytes()];
        let of_graph = hash_graph(&graph, &self.registry)?;
        let of_all = texts.into_iter().fold(of_graph, |so_far, text| combined(so_far, hash(text)));
        Ok(combined(of_all, *file_size))
    }
}

#[register_kernel(device = Cpu)]
fn snapshot(state: &SnapshotKernel, ctx: &mut KernelContext<'_, ops::SnapshotDataset>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let path: TString = scalar(ctx, "path")?;
    let folder = path_of(&path)?;
    let graph_hash = format!("{:016x}", state.hash_of(&input, &path)?);
    let options = state.options.clone();
    let folder = match options.name.is_empty() {
        true => folder.join(&graph_hash),
        false => folder.join(format!("custom-{}", options.name)),
    };
    let head = Head::above(&state.spec.with(input.head().spec.clone()), [&input])?;
    set_dataset(ctx, Snapshot { head, input, options, folder, graph_hash })
}
