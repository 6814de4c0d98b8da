//! Runs: what one iterator over a dataset writes to the folder of a snapshot, in format 2.
//!
//! Where the state of the iterator is saved, its files end, and what comes then goes to further ones. Whoever takes the state
//! up goes on in the files that ended, as TensorFlow does, and removes what was written after the state.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use kernlink::dtype::DataType;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, ensure};

use crate::context::Cx;
use crate::dataset::Element;
use crate::function::Closure;
use crate::saved::Saved;
use crate::snapshot_files::{
    Compression, Metadata, VERSION, entries, failed, number_of, random, shard_folder, snapshot_file,
};
use crate::snapshot_write::{ElementWriter, Format};
use crate::transform::Input;

/// How a dataset is saved.
pub(crate) struct Saving {
    pub(crate) folder: PathBuf,
    pub(crate) compression: Compression,
    /// What gives the number of the shard; without it there is one shard.
    pub(crate) shard: Option<Closure>,
    pub(crate) dtypes: Vec<DataType>,
    /// What stands for the dataset.
    pub(crate) graph_hash: String,
}

/// Where elements are written to.
pub(crate) struct Run {
    id: u64,
    /// What writes to each shard that has been written to since the state was last put down or restored, and the number of its
    /// file.
    writers: BTreeMap<i64, (i64, ElementWriter)>,
    /// The number of the last file of each shard, and how many bytes it has, unless it is open.
    ended: BTreeMap<i64, (i64, u64)>,
    /// Whether a shard goes on with its last file, or with the next.
    goes_on: bool,
}

impl Saving {
    /// A run that begins.
    pub(crate) fn begin(&self) -> Result<Run> {
        let run = Run { id: random(), writers: BTreeMap::new(), ended: BTreeMap::new(), goes_on: false };
        self.announce(&run)?;
        Ok(run)
    }

    /// Says in the folder that a run has begun.
    pub(crate) fn announce(&self, run: &Run) -> Result<()> {
        let folder = self.run_folder(run);
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
        self.metadata(run).write(&self.folder)
    }

    fn run_folder(&self, run: &Run) -> PathBuf {
        self.folder.join(run.id.to_string())
    }

    fn metadata(&self, run: &Run) -> Metadata {
        let metadata = Metadata::new(run.id.to_string(), VERSION, &self.dtypes);
        Metadata { graph_hash: self.graph_hash.clone(), ..metadata }
    }

    pub(crate) async fn write(&self, run: &mut Run, element: &Element, cx: &Cx) -> Result<()> {
        let shard = match &self.shard {
            Some(function) => function.integer(scratch::copied(element)?, "shard_func", cx).await?,
            None => 0,
        };
        let folder = self.run_folder(run);
        let (_, writer) = match run.writers.entry(shard) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let file = match run.ended.get(&shard) {
                    // However late it comes: readers look for its first file.
                    None => Some(0),
                    Some(&(file, _)) if run.goes_on => Some(file),
                    Some(&(file, _)) => file.checked_add(1),
                };
                let file = file.ok_or_else(|| Error::resource_exhausted("a shard has too many files"))?;
                let path = snapshot_file(&shard_folder(&folder, shard), file);
                entry.insert((file, ElementWriter::append(path, self.compression, Format::Records)?))
            }
        };
        writer.write(element)
    }

    /// Says in the folder that all is there.
    pub(crate) fn finish(&self, run: &mut Run, count: i64) -> Result<()> {
        run.end_files()?;
        Metadata { num_elements: count, finalized: true, ..self.metadata(run) }.write(&self.folder)
    }

    /// The run whose state was put down.
    pub(crate) fn restored(&self, saved: &Saved) -> Result<Run> {
        let files = saved.element("files")?;
        let files = files.first().map_or(Ok(&[][..]), Tensor::as_slice::<i64>)?;
        let ended = files.as_chunks::<3>().0.iter().map(|&[shard, file, size]| (shard, (file, size as u64))).collect();
        let id = saved.get("run")? as u64;
        // What is behind the end of a file of ZLIB's nobody reads.
        let goes_on = self.compression != Compression::Zlib;
        let run = Run { id, writers: BTreeMap::new(), ended, goes_on };
        Metadata::reopen(&self.folder, &id.to_string())?;
        run.remove_later(&self.run_folder(&run))?;
        Ok(run)
    }
}

/// Where an iterator is that saves what goes through it.
#[derive(Default)]
pub(crate) struct Progress {
    run: Option<Run>,
    is_over: bool,
    failed: Option<Error>,
    /// An element that was not written as its run ended meanwhile.
    pending: Option<Element>,
}

impl Progress {
    pub(crate) fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// The next element of the input, which is written; `count` is how many there are, as far as it is known.
    pub(crate) async fn next(
        &mut self,
        saving: &Saving,
        count: i64,
        input: &mut Input,
        cx: &Cx,
    ) -> Result<Option<Element>> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        if self.is_over {
            return Ok(None);
        }
        let run = match &mut self.run {
            Some(run) => run,
            none => none.insert(saving.begin()?),
        };
        let element = match self.pending.take() {
            Some(element) => Some(element),
            None => input.next(cx).await?,
        };
        let Some(element) = element else {
            self.is_over = true;
            saving.finish(run, count)?;
            return Ok(None);
        };
        if let Err(error) = saving.write(run, &element, cx).await {
            match cx.check() {
                Err(_) => self.pending = Some(element),
                Ok(()) => self.failed = Some(error.clone()),
            }
            return Err(error);
        }
        Ok(Some(element))
    }

    pub(crate) fn save(&mut self, saved: &mut Saved) -> Result<()> {
        saved.set("is_over", self.is_over.into());
        saved.set_elements("pending", self.pending.iter().cloned().collect());
        match &mut self.run {
            Some(run) => run.save(saved.part("run", 0)),
            None => Ok(()),
        }
    }

    pub(crate) fn restore(&mut self, saving: &Saving, saved: &Saved) -> Result<()> {
        self.is_over = saved.get("is_over")? != 0;
        self.pending = saved.elements("pending")?.first().cloned();
        if let Some(run) = saved.saved_part("run", 0).filter(|_| !self.is_over) {
            self.run = Some(saving.restored(run)?);
        }
        Ok(())
    }
}

/// Takes away what is behind so many bytes of a file.
fn cut(path: &Path, size: u64) -> Result<()> {
    let file = OpenOptions::new().write(true).open(path).map_err(failed(path))?;
    let found = file.metadata().map_err(failed(path))?.len();
    ensure!(found >= size, DataLoss, "{} has {found} bytes, of {size} when the state was saved", path.display());
    file.set_len(size).map_err(failed(path))
}

impl Run {
    fn end_files(&mut self) -> Result<()> {
        for (shard, (file, writer)) in std::mem::take(&mut self.writers) {
            self.ended.insert(shard, (file, writer.finish()?));
        }
        Ok(())
    }

    /// Puts down where it is.
    pub(crate) fn save(&mut self, saved: &mut Saved) -> Result<()> {
        self.end_files()?;
        let files = self.ended.iter().flat_map(|(&shard, &(file, size))| [shard, file, size as i64]);
        saved.set_elements("files", vec![vec![Tensor::vector(&scratch::collected(files)?)?]]);
        saved.set("run", self.id as i64);
        self.goes_on = false;
        Ok(())
    }

    /// Removes what was written after the state that this was restored from.
    fn remove_later(&self, folder: &Path) -> Result<()> {
        for shard in entries(folder)? {
            let shard = shard?;
            let Some(number) = number_of(&shard, "shard") else { continue };
            let ended = self.ended.get(&(number as i64)).copied();
            for path in entries(&shard)? {
                let path = path?;
                let Some(file) = number_of(&path, "snapshot") else { continue };
                match ended {
                    Some((last, _)) if file < last as u64 => {}
                    Some((last, size)) if file == last as u64 => cut(&path, size)?,
                    // Whoever has it open writes to what nobody sees.
                    _ => fs::remove_file(&path).map_err(failed(&path))?,
                }
            }
        }
        for (&shard, &(last, _)) in &self.ended {
            let path = snapshot_file(&shard_folder(folder, shard), last);
            ensure!(path.exists(), DataLoss, "{} is missing, which was there when the state was saved", path.display());
        }
        Ok(())
    }
}
