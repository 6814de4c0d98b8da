//! Files of events, which TensorBoard reads: summaries and graphs, each with its step and its time, as TFRecords.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kernlink::formats::masked_crc32c;
use kernlink::resource::Resource;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{Error, Result, ensure};

use crate::wire::Message;

/// Fields of `Event`.
const WALL_TIME: u32 = 1;
const STEP: u32 = 2;
const FILE_VERSION: u32 = 3;
const GRAPH_DEF: u32 = 4;
const SUMMARY: u32 = 5;
const SOURCE_METADATA: u32 = 10;

/// What an event holds beside its step and its time.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// Nothing.
    Empty,
    /// A `Summary` message.
    Summary(&'e [u8]),
    /// A `GraphDef` message.
    Graph(&'e [u8]),
}

/// When events are written to the file.
#[derive(Clone, Copy, Debug)]
pub struct Flushing {
    /// How many events may wait; no number of them is too many if it is negative.
    pub most_waiting: i32,
    /// How many milliseconds after the last time the next event is written at once.
    pub millis: i32,
}

/// Writes events to a file of its own.
pub struct EventFile {
    flushing: Flushing,
    name: String,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// Records that were not written yet.
    waiting: Vec<u8>,
    count: usize,
    flushed: Instant,
}

impl Resource for EventFile {
    fn type_name() -> &'static str {
        "tensorflow::SummaryWriterInterface"
    }

    fn debug_string(&self) -> String {
        format!("EventFile {}", self.name)
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The name of this machine, which TensorBoard shows.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let name: String = name.trim().chars().filter(is_plain).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// Appends a record of a TFRecord file: its length, its bytes, and a checksum of each.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn append_record(records: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    records.make_room(bytes.len().saturating_add(16))?;
    let length = (bytes.len() as u64).to_le_bytes();
    records.extend_from_slice(&length);
    records.extend_from_slice(&masked_crc32c(&length).to_le_bytes());
    records.extend_from_slice(bytes);
    records.extend_from_slice(&masked_crc32c(bytes).to_le_bytes());
    Ok(())
}

impl EventFile {
    /// Makes a file in a folder, which is made too if it is not there. Its name begins with `events.out.tfevents` and ends with
    /// `suffix`; no other of this process has it.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if `folder` is none; [`Error::from_io`]'s if nothing can be made there.
    pub fn create(folder: &str, suffix: &str, flushing: Flushing) -> Result<EventFile> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = PathBuf::from(if folder.is_empty() { "." } else { folder });
        ensure!(path.is_dir() || !path.exists(), FailedPrecondition, "{folder} is not a folder");
        let failed = |path: &std::path::Path, error| Error::from_io(path.display(), &error);
        fs::create_dir_all(&path).map_err(|error| failed(&path, error))?;
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let file = format!("events.out.tfevents.{:010}.{}.{process}.{number}{suffix}", now() as u64, host());
        let path = path.join(file);
        let file = File::create(&path).map_err(|error| failed(&path, error))?;
        let state = State { file, waiting: Vec::new(), count: 0, flushed: Instant::now() };
        let events = EventFile { flushing, name: path.display().to_string(), state: Mutex::new(state) };
        // What every file begins with.
        let (mut event, mut source) = (Message::default(), Message::default());
        source.bytes(1, b"tensorflow.core.util.events_writer")?;
        event.double(WALL_TIME, now().floor())?;
        event.bytes(FILE_VERSION, b"brain.Event:2")?;
        event.bytes(SOURCE_METADATA, &source.finish())?;
        let mut state = events.state();
        append_record(&mut state.waiting, &event.finish())?;
        events.write_out(&mut state)?;
        drop(state);
        Ok(events)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whoever panicked left whole records.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_out(&self, state: &mut State) -> Result<()> {
        let written = state.file.write_all(&state.waiting);
        state.waiting.clear();
        (state.count, state.flushed) = (0, Instant::now());
        written.map_err(|error| Error::from_io(&self.name, &error))
    }

    /// Adds an event of a step, at the present time.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if events are written and cannot be; RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn add(&self, step: i64, event: Event<'_>) -> Result<()> {
        let mut message = Message::default();
        message.double(WALL_TIME, now())?;
        message.integer(STEP, step as u64)?;
        match event {
            Event::Empty => {}
            Event::Summary(bytes) => message.bytes(SUMMARY, bytes)?,
            Event::Graph(bytes) => message.bytes(GRAPH_DEF, bytes)?,
        }
        self.add_whole(&message.finish())
    }

    /// Adds an `Event` message.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_whole(&self, event: &[u8]) -> Result<()> {
        let mut state = self.state();
        append_record(&mut state.waiting, event)?;
        state.count += 1;
        let too_many = usize::try_from(self.flushing.most_waiting).is_ok_and(|most| state.count > most);
        let is_late = match u64::try_from(self.flushing.millis) {
            Ok(millis) => state.flushed.elapsed() > Duration::from_millis(millis),
            Err(_) => true,
        };
        if too_many || is_late { self.write_out(&mut state) } else { Ok(()) }
    }

    /// Writes all events that were added.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if they cannot be written.
    pub fn flush(&self) -> Result<()> {
        self.write_out(&mut self.state())
    }
}

impl Drop for EventFile {
    fn drop(&mut self) {
        // There is nobody left to be told.
        let _ = self.flush();
    }
}
