//! Runs: what one iterator over a dataset writes to the folder of a snapshot, in format 2.
//!
//! Where the state of the iterator is saved, its files end, and what comes then goes to further ones. Whoever takes the state
//! up goes on in the files that ended, as TensorFlow does, and removes what was written after the state.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use kernlink::dtype::DataType;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result};

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
    /// The number of the files that are written in each shard, or the greatest where a shard has fewer.
    file: i64,
    writers: BTreeMap<i64, (i64, ElementWriter)>,
    /// How many bytes those of them have that are not open, by the numbers of their shards.
    ended: BTreeMap<i64, u64>,
}

impl Saving {
    /// A run that begins.
    pub(crate) fn begin(&self) -> Result<Run> {
        let run = Run { id: random(), file: 0, writers: BTreeMap::new(), ended: BTreeMap::new() };
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
        let (_, writer) = match run.writers.entry(shard) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let folder = shard_folder(&self.folder.join(run.id.to_string()), shard);
                // A shard that comes later begins with its first file all the same: readers look for that.
                let mut file = run.file;
                while file > 0 && !snapshot_file(&folder, file - 1).exists() {
                    file -= 1;
                }
                let path = snapshot_file(&folder, file);
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
        let ended = files.as_chunks::<2>().0.iter().map(|&[shard, size]| (shard, size as u64)).collect();
        let (id, file) = (saved.get("run")? as u64, saved.get("file")?);
        let mut run = Run { id, file, writers: BTreeMap::new(), ended };
        Metadata::reopen(&self.folder, &id.to_string())?;
        run.remove_later(&self.run_folder(&run))?;
        if self.compression == Compression::Zlib {
            // What is behind the end of such a file nobody reads.
            run.file = run.file.checked_add(1).ok_or_else(|| Error::resource_exhausted("a run has too many files"))?;
            run.ended.clear();
        }
        Ok(run)
    }
}

/// Where an iterator is that saves what goes through it.
#[derive(Default)]
pub(crate) struct Progress {
    run: Option<Run>,
    is_over: bool,
    failed: Option<Error>,
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
        let Some(element) = input.next(cx).await? else {
            self.is_over = true;
            saving.finish(run, count)?;
            return Ok(None);
        };
        let written = saving.write(run, &element, cx).await;
        written.inspect_err(|error| self.failed = Some(error.clone()))?;
        Ok(Some(element))
    }

    pub(crate) fn save(&mut self, saved: &mut Saved) -> Result<()> {
        saved.set("is_over", self.is_over.into());
        match &mut self.run {
            Some(run) => run.save(saved.part("run", 0)),
            None => Ok(()),
        }
    }

    pub(crate) fn restore(&mut self, saving: &Saving, saved: &Saved) -> Result<()> {
        self.is_over = saved.get("is_over")? != 0;
        if let Some(run) = saved.saved_part("run", 0).filter(|_| !self.is_over) {
            self.run = Some(saving.restored(run)?);
        }
        Ok(())
    }
}

impl Run {
    fn end_files(&mut self) -> Result<()> {
        for (shard, (file, writer)) in std::mem::take(&mut self.writers) {
            let size = writer.finish()?;
            if file == self.file {
                self.ended.insert(shard, size);
            }
        }
        Ok(())
    }

    /// Puts down where it is.
    pub(crate) fn save(&mut self, saved: &mut Saved) -> Result<()> {
        self.end_files()?;
        let files = std::mem::take(&mut self.ended);
        let numbers = scratch::collected(files.iter().flat_map(|(&shard, &size)| [shard, size as i64]))?;
        saved.set_elements("files", vec![vec![Tensor::vector(&numbers)?]]);
        saved.set("run", self.id as i64);
        saved.set("file", self.file);
        self.file = self.file.checked_add(1).ok_or_else(|| Error::resource_exhausted("a run has too many files"))?;
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
                match (number_of(&path, "snapshot"), ended) {
                    (Some(file), Some(size)) if file == self.file as u64 => {
                        let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(size));
                        cut.map_err(failed(&path))?;
                    }
                    // Whoever has it open writes to what nobody sees.
                    (Some(file), _) if file >= self.file as u64 => fs::remove_file(&path).map_err(failed(&path))?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
