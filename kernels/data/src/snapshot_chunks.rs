//! ListSnapshotChunksDataset: the files of a snapshot that several processes write, as they come.
//!
//! The folder `chunks` holds the files that are complete, each named `chunk_STREAM_INDEX_ELEMENTS`. A file `DONE` beside it says
//! that no more come, a file `ERROR` why none will. Whoever asks for a file before there is one waits, without a thread.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::alarm::sleep_until;
use kernlink_kernels_common::files::path_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, UNKNOWN, scalar, set_dataset};
use crate::saved::Saved;
use crate::snapshot_files::{ensure_file, entries, failed};
use crate::status_text::status_of;

/// The first time that is waited before the folder is looked at again, and the longest: each is longer than the one before.
const FIRST_WAIT: Duration = Duration::from_millis(1);
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// The longest text that says why writers have failed.
const LONGEST_STATUS: u64 = 1 << 20;

struct Chunks {
    head: Head,
    folder: PathBuf,
    /// The folder's name as it was given.
    text: TString,
}

/// The place of a file in the order in which they are given out: by its index, then by its stream, and those of other names
/// behind, by their names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_other: bool,
    index: u64,
    stream: u64,
    name: OsString,
}

fn place_of(name: OsString) -> Place {
    let numbers = || {
        let mut numbers = name.to_str()?.strip_prefix("chunk_")?.split('_').map(|part| part.parse::<u64>().ok());
        let (stream, index, _elements) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some((index, stream))
    };
    let found = numbers();
    let (index, stream) = found.unwrap_or_default();
    Place { is_other: found.is_none(), index, stream, name }
}

impl Chunks {
    fn is_done(&self) -> Result<bool> {
        exists(&self.folder.join("DONE"))
    }

    /// The files that are complete; `None` if there is no folder for them.
    fn names(&self) -> Result<Option<Vec<OsString>>> {
        let folder = self.folder.join("chunks");
        if !exists(&folder)? {
            return Ok(None);
        }
        let mut names = Vec::new();
        for path in entries(&folder)? {
            let path = path?;
            // What is being written.
            let is_temporary = path.as_os_str().as_encoded_bytes().ends_with(b".tmp");
            if let Some(name) = path.file_name().filter(|_| !is_temporary) {
                scratch::push(&mut names, name.to_owned())?;
            }
        }
        Ok(Some(names))
    }

    /// Refuses a snapshot whose writers have failed, for their reason.
    fn ensure_sound(&self) -> Result<()> {
        let path = self.folder.join("ERROR");
        if !exists(&path)? {
            return Ok(());
        }
        ensure_file(&path)?;
        let mut text = Vec::new();
        // A code and a message.
        let read = File::open(&path).and_then(|file| file.take(LONGEST_STATUS).read_to_end(&mut text));
        read.map_err(failed(&path))?;
        let name = path.display();
        match status_of(&text) {
            Some((Some(code), message)) => Err(Error::new(code, message)),
            Some((None, _)) => bail!(Internal, "Unexpected snapshot ERROR file contains an OK status at {name}."),
            None => bail!(Internal, "Can't parse {name} as text proto"),
        }
    }

    /// The name of a file, as it is given out.
    fn text(&self, name: &OsString) -> Result<TString> {
        let folder = self.text.as_bytes();
        let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
        Ok(TString::from(scratch::joined(&[folder, slash, b"chunks/", name.as_encoded_bytes()])?))
    }

    /// The element that names a file.
    fn element(&self, name: &OsString) -> Result<Element> {
        let Spec { dtypes, shapes, .. } = &self.head.spec;
        ensure!(dtypes.len() == 1, Internal, "Expected {} components but got 1.", dtypes.len());
        ensure!(
            dtypes[0] == DataType::String,
            InvalidArgument,
            "Data type mismatch at component 0: expected {} but got string.",
            dtypes[0]
        );
        ensure!(
            shapes.first().is_none_or(|shape| shape.is_compatible(&Shape::scalar().into())),
            InvalidArgument,
            "Incompatible shapes at component 0: expected {} but got [].",
            shapes[0]
        );
        Ok(vec![Tensor::scalar(self.text(name)?)])
    }
}

fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(failed(path))
}

impl Dataset for Chunks {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        match (self.is_done(), self.names()) {
            (Ok(true), Ok(Some(names))) => names.len() as i64,
            _ => UNKNOWN,
        }
    }

    fn cardinality(&self) -> i64 {
        // It is known once all are there.
        self.counted()
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(ChunksIterator { chunks: self, read: BTreeSet::new(), unread: BTreeSet::new(), is_done: false }))
    }

    fn has_random_access(&self) -> bool {
        false
    }
}

struct ChunksIterator {
    chunks: Arc<Chunks>,
    read: BTreeSet<OsString>,
    unread: BTreeSet<Place>,
    is_done: bool,
}

impl ChunksIterator {
    fn update(&mut self) -> Result<()> {
        self.chunks.ensure_sound()?;
        // First, as the last files may come while the folder is read.
        self.is_done = self.chunks.is_done()?;
        let names = self.chunks.names()?.unwrap_or_default();
        self.unread.extend(names.into_iter().filter(|name| !self.read.contains(name)).map(place_of));
        Ok(())
    }

    async fn next_element(&mut self, cx: &Cx) -> Result<Option<Element>> {
        let mut wait = Duration::ZERO;
        loop {
            if let Some(place) = self.unread.pop_first() {
                let name = place.name;
                let element = self.chunks.element(&name);
                self.read.insert(name);
                return element.map(Some);
            }
            if self.is_done {
                return Ok(None);
            }
            if let Some(time) = Instant::now().checked_add(wait).filter(|_| !wait.is_zero()) {
                sleep_until(time).await?;
            }
            cx.check()?;
            wait = (wait * 13 / 10).clamp(FIRST_WAIT, LONGEST_WAIT);
            self.update()?;
        }
    }
}

impl DatasetIterator for ChunksIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(self.next_element(cx))
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let read = scratch::collected(self.read.iter().map(|name| TString::from(name.as_encoded_bytes())))?;
            saved.set_elements("read", vec![vec![Tensor::vector(&read)?]]);
            Ok(())
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let read = saved.element("read")?;
            let read = read.first().map_or(Ok(&[][..]), Tensor::as_slice::<TString>)?;
            self.read = read.iter().map(|name| path_of(name).map(OsString::from)).collect::<Result<_>>()?;
            self.update()
        })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn chunks(spec: &Spec, ctx: &mut KernelContext<'_, ops::ListSnapshotChunksDataset>) -> Result<()> {
    let text: TString = scalar(ctx, "snapshot_path")?;
    ensure!(!text.as_bytes().is_empty(), InvalidArgument, "snapshot_path is required to list snapshot chunks.");
    set_dataset(ctx, Chunks { head: Head::source(spec), folder: path_of(&text)?, text })
}
