//! Elements that are kept in files from the first time on, as TensorFlow keeps them.
//!
//! A checkpoint holds them, with one tensor for each component: that with number 1 of element 23 has the key
//! `"     23_1"`. Whoever goes through the input first writes the checkpoint `NAME_0` beside a lock file; at the end it gets
//! the name `NAME`. Each time the state of the iterator is saved, a further checkpoint `NAME_1`, ... is begun, and at the
//! end all are merged.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use kernlink::formats::{CheckpointReader, CheckpointWriter, merge_checkpoints};
use kernlink::step::BoxFuture;
use kernlink::tensor::scratch;
use kernlink::{Code, Error, Result, bail, ensure};

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec};
use crate::saved::Saved;
use crate::transform::Input;

/// The most elements that a cache holds, so that their numbers have seven digits.
const MOST_ELEMENTS: i64 = 10_000_000;

pub(crate) struct FileCached {
    head: Head,
    input: Arc<dyn Dataset>,
    prefix: PathBuf,
}

impl FileCached {
    /// The elements of `input`, which files hold whose names begin with `prefix`.
    pub(crate) fn new(spec: &Spec, input: Arc<dyn Dataset>, prefix: PathBuf) -> Result<FileCached> {
        Ok(FileCached { head: Head::above(spec, [&input])?, input, prefix })
    }

    fn with(&self, suffix: impl AsRef<str>) -> PathBuf {
        let mut name = self.prefix.clone().into_os_string();
        name.push(suffix.as_ref());
        name.into()
    }

    fn part(&self, part: i64) -> PathBuf {
        self.with(format!("_{part}"))
    }

    fn lock_file(&self, part: i64) -> PathBuf {
        self.with(format!("_{part}.lockfile"))
    }

    fn key(&self, element: i64, component: usize) -> String {
        let width = self.head.spec.dtypes.len().saturating_sub(1).checked_ilog10().unwrap_or(0) as usize + 1;
        format!("{element:7}_{component:width$}")
    }

    fn reads(&self, at: i64) -> Result<Mode> {
        Ok(Mode::Reads { reader: CheckpointReader::open(&self.prefix)?, at })
    }

    /// Refuses what the files of another dataset hold.
    fn ensure_is_own(&self, element: &Element) -> Result<()> {
        let Spec { dtypes, shapes, .. } = &self.head.spec;
        for (index, component) in element.iter().enumerate() {
            ensure!(
                dtypes.get(index) == Some(&component.dtype())
                    && shapes.get(index).is_none_or(|shape| shape.is_compatible(&component.shape().into())),
                InvalidArgument,
                "component {index} of an element in the cache {} is a {} of shape {}, and the dataset has others: the \
                 cache is that of another dataset; delete it or name another",
                self.prefix.display(),
                component.dtype(),
                component.shape()
            );
        }
        Ok(())
    }
}

impl Dataset for FileCached {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let mode = match CheckpointReader::exists(&self.prefix) {
            true => self.reads(0)?,
            false => Mode::Writes(Writes::new(self.clone(), cx)?),
        };
        Ok(Box::new(FileCacheIterator { cache: self, mode }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }
}

struct FileCacheIterator {
    cache: Arc<FileCached>,
    mode: Mode,
}

enum Mode {
    Reads { reader: CheckpointReader, at: i64 },
    Writes(Writes),
}

/// The lock file of a part, which goes with this.
struct Lock {
    path: PathBuf,
    is_kept: bool,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock {
    fn take(path: PathBuf) -> Result<Lock> {
        let name = path.display().to_string();
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Whoever wrote it: a few bytes of it say when.
                let mut contents = Vec::new();
                if let Ok(file) = File::open(&path) {
                    let _ = file.take(150).read_to_end(&mut contents);
                }
                bail!(
                    AlreadyExists,
                    "There appears to be a concurrent caching iterator running - cache lockfile already exists ('{name}'). \
                     If you are sure no other running TF computations are using this cache prefix, delete the lockfile \
                     and re-initialize the iterator. Lockfile contents: {}",
                    contents.escape_ascii()
                );
            }
            Err(error) => return Err(Error::from_io(&name, &error)),
        };
        let lock = Lock { path, is_kept: false };
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        write!(file, "Created at: {seconds}").map_err(|error| Error::from_io(&name, &error))?;
        Ok(lock)
    }
}

/// A part that is being written. What is not finished goes.
struct Part {
    writer: CheckpointWriter,
    lock: Lock,
}

/// Goes through the input and writes what it gives.
struct Writes {
    cache: Arc<FileCached>,
    input: Input,
    /// How many elements were written.
    at: i64,
    /// The number of the part that is written, or is next.
    part: i64,
    writing: Option<Part>,
    is_over: bool,
    /// Why no more can be written.
    failed: Option<Error>,
}

impl Writes {
    fn new(cache: Arc<FileCached>, cx: &Cx) -> Result<Writes> {
        let input = Input::new(&cache.input, cx)?;
        Ok(Writes { cache, input, at: 0, part: 0, writing: None, is_over: false, failed: None })
    }

    /// Begins a part if none is being written.
    fn begin(&mut self) -> Result<&mut CheckpointWriter> {
        if self.writing.is_none() {
            let prefix = self.cache.part(self.part);
            if CheckpointReader::exists(&prefix) {
                let prefix = prefix.display();
                bail!(
                    AlreadyExists,
                    "Existing cache files found: \n{prefix}.index\n{prefix}.data-00000-of-00001\nTo continue delete the \
                     above files."
                );
            }
            let lock = Lock::take(self.cache.lock_file(self.part))?;
            self.writing = Some(Part { writer: CheckpointWriter::create(&prefix)?, lock });
        }
        match &mut self.writing {
            Some(part) => Ok(&mut part.writer),
            None => unreachable!("it was just begun"),
        }
    }

    async fn next(&mut self, cx: &Cx) -> Result<Option<Element>> {
        if self.is_over {
            return Ok(None);
        }
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        self.begin()?;
        if self.at >= MOST_ELEMENTS {
            self.finish()?;
            bail!(
                InvalidArgument,
                "Upstream iterator is producing more than {MOST_ELEMENTS} items, which is more than the cache limit."
            );
        }
        let Some(element) = self.input.next(cx).await? else {
            self.finish().map_err(Error::at_end)?;
            return Ok(None);
        };
        let expected = self.cache.head.spec.dtypes.len();
        ensure!(
            element.len() == expected,
            Internal,
            "Upstream iterator returned invalid number of tensors. Expected {expected} got: {}",
            element.len()
        );
        self.write(&element).inspect_err(|error| self.failed = Some(error.clone()))?;
        self.at += 1;
        Ok(Some(element))
    }

    fn write(&mut self, element: &Element) -> Result<()> {
        let (cache, at) = (self.cache.clone(), self.at);
        let writer = self.begin()?;
        element.iter().enumerate().try_for_each(|(index, component)| writer.add(cache.key(at, index), component))
    }

    /// Makes one checkpoint of all parts.
    fn finish(&mut self) -> Result<()> {
        self.is_over = true;
        let Some(Part { writer, lock }) = self.writing.take() else { return Ok(()) };
        writer.finish()?;
        let parts = scratch::collected((0..=self.part).map(|part| self.cache.part(part)))?;
        merge_checkpoints(&parts, &self.cache.prefix, false)?;
        for part in 0..self.part {
            let _ = fs::remove_file(self.cache.lock_file(part));
        }
        drop(lock);
        Ok(())
    }

    async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        saved.set("is_over", self.is_over.into());
        if self.is_over {
            return Ok(());
        }
        if let Some(Part { writer, mut lock }) = self.writing.take() {
            writer.finish()?;
            // Others must leave it alone until all parts are there.
            lock.is_kept = true;
            self.part += 1;
        }
        saved.set("part", self.part);
        self.input.save(saved).await
    }

    async fn restore(&mut self, saved: &Saved, cx: &Cx) -> Result<()> {
        self.is_over = saved.get("is_over")? != 0;
        if self.is_over {
            return Ok(());
        }
        self.part = saved.get("part")?;
        self.input.restore(saved, cx).await
    }
}

impl DatasetIterator for FileCacheIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let cache = &self.cache;
            let (reader, at) = match &mut self.mode {
                Mode::Reads { reader, at } => (reader, at),
                Mode::Writes(writes) => return writes.next(cx).await,
            };
            match reader.entry(cache.key(*at, 0)) {
                Err(error) if error.code() == Code::NotFound => return Ok(None),
                entry => entry?,
            };
            let components = 0..cache.head.spec.dtypes.len();
            let element = components.map(|index| reader.read(cache.key(*at, index))).collect::<Result<Element>>();
            // What is damaged is passed over by whoever goes on.
            *at += 1;
            let element = element?;
            cache.ensure_is_own(&element)?;
            Ok(Some(element))
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &mut self.mode {
                Mode::Reads { at, .. } => {
                    saved.set("reads", 1);
                    saved.set("at", *at);
                    Ok(())
                }
                Mode::Writes(writes) => {
                    saved.set("reads", 0);
                    saved.set("at", writes.at);
                    writes.save(saved).await
                }
            }
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let at = saved.get("at")?;
            ensure!((0..=MOST_ELEMENTS).contains(&at), InvalidArgument, "the state says that {at} elements were made");
            // Since the state was saved the cache may have become complete.
            if saved.get("reads")? != 0 || CheckpointReader::exists(&self.cache.prefix) {
                self.mode = self.cache.reads(at)?;
                return Ok(());
            }
            let mut writes = Writes::new(self.cache.clone(), cx)?;
            writes.at = at;
            writes.restore(saved, cx).await?;
            self.mode = Mode::Writes(writes);
            Ok(())
        })
    }
}
