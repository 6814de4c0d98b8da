//! Readers: what they take from files, and how far they are.

use std::sync::{Mutex, PoisonError};

use kernlink::dtype::{DataType, TString};
use kernlink::resource::Resource;
use kernlink::step::Waiters;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::records::{Bytes, Compression};
use prost::Message;

use crate::data_flow::Queue;

/// What a reader takes for a record.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    WholeFile,
    Lines { skipped: i64 },
    FixedLength { header: u64, record: u64, footer: u64, hop: u64, compression: Compression },
    Records { compression: Compression },
    Identity,
}

/// A reader. Whoever uses it holds its state meanwhile, also while it waits for the queue: the others wait, without a thread.
pub(super) struct Reader {
    /// What it is and the node that made it, for errors.
    title: String,
    kind: Kind,
    /// `None` while somebody holds it.
    state: Mutex<Option<State>>,
    released: Waiters,
}

/// How far a reader is. A work is what an element of the queue names.
#[derive(Default)]
pub(super) struct State {
    works_started: i64,
    works_finished: i64,
    produced: i64,
    work: TString,
    reading: Option<Reading>,
    /// Where in the work's file the next record begins. It is not where the file is read after an error.
    place: u64,
}

/// A file that is read.
struct Reading {
    bytes: Bytes,
    /// How many lines or records were read.
    count: i64,
    /// What was read ahead of the end of the last record: a record must have as many bytes as the footer after it.
    ahead: Vec<u8>,
}

/// A record: its key and its value.
pub(super) type Record = (TString, TString);

/// What a work gives next.
enum Next {
    /// A record with more to come.
    Record(Record),
    /// The only record.
    Last(Record),
    End,
}

/// TensorFlow's message of the same name.
#[derive(Clone, PartialEq, Message)]
struct ReaderBaseState {
    #[prost(int64, tag = "1")]
    work_started: i64,
    #[prost(int64, tag = "2")]
    work_finished: i64,
    #[prost(int64, tag = "3")]
    num_records_produced: i64,
    #[prost(bytes = "vec", tag = "4")]
    current_work: Vec<u8>,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::WholeFile => "WholeFileReader",
            Kind::Lines { .. } => "TextLineReader",
            Kind::FixedLength { .. } => "FixedLengthRecordReader",
            Kind::Records { .. } => "TFRecordReader",
            Kind::Identity => "IdentityReader",
        }
    }

    /// Begins with a work, whose file is opened if it is read step by step.
    fn begin(self, work: &TString) -> Result<Option<Reading>> {
        let compression = match self {
            Kind::WholeFile | Kind::Identity => return Ok(None),
            Kind::Lines { .. } => Compression::None,
            Kind::FixedLength { compression, .. } | Kind::Records { compression } => compression,
        };
        let mut reading = Reading { bytes: Bytes::open(&path_of(work)?, compression, 0)?, count: 0, ahead: Vec::new() };
        match self {
            Kind::Lines { skipped } => {
                while reading.count < skipped && reading.bytes.text_line()?.is_some() {
                    reading.count += 1;
                }
            }
            Kind::FixedLength { header, .. } => {
                let skipped = reading.bytes.skip(header)?;
                ensure!(
                    skipped == header,
                    OutOfRange,
                    "{} has {skipped} bytes, and its header should have {header}",
                    reading.bytes.name()
                );
            }
            _ => {}
        }
        Ok(Some(reading))
    }
}

impl State {
    fn is_working(&self) -> bool {
        self.works_finished < self.works_started
    }

    fn key(&self, number: impl std::fmt::Display) -> Result<TString> {
        Ok(scratch::joined(&[self.work.as_bytes(), format!(":{number}").as_bytes()])?.into())
    }

    /// What the work gives next.
    fn next(&mut self, kind: Kind) -> Result<Next> {
        match kind {
            Kind::Identity => return Ok(Next::Last((self.work.clone(), self.work.clone()))),
            Kind::WholeFile => {
                let mut value = Vec::new();
                Bytes::open(&path_of(&self.work)?, Compression::None, 0)?.read(&mut value, u64::MAX)?;
                return Ok(Next::Last((self.work.clone(), value.into())));
            }
            Kind::Lines { .. } | Kind::FixedLength { .. } | Kind::Records { .. } => {}
        }
        if self.reading.is_none() {
            // After an error the same record is tried again.
            self.reading = kind.begin(&self.work)?;
            if let Some(reading) = &mut self.reading {
                reading.bytes.skip(self.place)?;
            }
        }
        let Some(reading) = &mut self.reading else { return Ok(Next::End) };
        let (number, value) = match kind {
            Kind::FixedLength { record, footer, hop, .. } => (reading.count, reading.fixed(record, footer, hop)?),
            Kind::Records { .. } => {
                let place = self.place;
                match reading.bytes.record() {
                    Ok(record) => {
                        self.place = reading.bytes.place();
                        (place as i64, record)
                    }
                    Err(error) => {
                        self.reading = None;
                        return Err(error);
                    }
                }
            }
            _ => (reading.count.wrapping_add(1), reading.bytes.text_line()?),
        };
        let Some(value) = value else { return Ok(Next::End) };
        reading.count = reading.count.wrapping_add(1);
        Ok(Next::Record((self.key(number)?, value.into())))
    }

    /// The next record. A work is taken from the queue if none is under way, or the one that was gives no more; unless
    /// `stays`, in which case there is no record then.
    async fn record(&mut self, kind: Kind, queue: &Queue, stays: bool) -> Result<Option<Record>> {
        loop {
            if !self.is_working() {
                self.work = TString::default();
                self.work = next_work(queue).await?;
                self.place = 0;
                self.reading = kind.begin(&self.work)?;
                self.works_started = self.works_started.wrapping_add(1);
            }
            let next = self.next(kind)?;
            if let Next::Last(_) | Next::End = next {
                self.reading = None;
                self.works_finished = self.works_started;
            }
            match next {
                Next::Record(record) | Next::Last(record) => {
                    self.produced = self.produced.wrapping_add(1);
                    return Ok(Some(record));
                }
                Next::End if stays => return Ok(None),
                Next::End => {}
            }
        }
    }

    fn restore(&mut self, title: &str, bytes: &[u8]) -> Result<()> {
        let Ok(state) = ReaderBaseState::decode(bytes) else {
            bail!(InvalidArgument, "Could not parse state for {title}: {} bytes are no ReaderBaseState", bytes.len());
        };
        ensure!(
            state.work_started >= 0 && state.work_finished >= 0 && state.num_records_produced >= 0,
            InvalidArgument,
            "Unexpected negative value when restoring in {title}: {} works started, {} finished, {} records produced",
            state.work_started,
            state.work_finished,
            state.num_records_produced
        );
        ensure!(
            state.work_started <= state.work_finished,
            InvalidArgument,
            "Inconsistent work started vs. finished when restoring in {title}: {} and {}; what was amid a work cannot be \
             restored",
            state.work_started,
            state.work_finished
        );
        *self = State {
            works_started: state.work_started,
            works_finished: state.work_finished,
            produced: state.num_records_produced,
            work: state.current_work.into(),
            ..State::default()
        };
        Ok(())
    }
}

impl Reading {
    /// The next record of `record` bytes that `footer` bytes follow, `hop` bytes after the beginning of the last.
    fn fixed(&mut self, record: u64, footer: u64, hop: u64) -> Result<Option<Vec<u8>>> {
        if self.count > 0 {
            let held = hop.min(self.ahead.len() as u64);
            self.ahead = scratch::copied(&self.ahead[held as usize..])?;
            if self.bytes.skip(hop - held)? < hop - held {
                return Ok(None);
            }
        }
        let wanted = record.saturating_add(footer).saturating_sub(self.ahead.len() as u64);
        if self.bytes.read(&mut self.ahead, wanted)? < wanted {
            return Ok(None);
        }
        scratch::copied(&self.ahead[..record as usize]).map(Some)
    }
}

/// The next element of a queue, which names a work.
async fn next_work(queue: &Queue) -> Result<TString> {
    let element = queue.dequeue(1, false).await?.pop().unwrap_or_default();
    let [work] = &element[..] else { bail!(InvalidArgument, "Expected single component queue") };
    ensure!(work.dtype() == DataType::String, InvalidArgument, "Expected queue with single string component");
    ensure!(work.num_elements() == 1, InvalidArgument, "Expected to dequeue a one-element string tensor");
    work.to_scalar()
}

impl Reader {
    pub(super) fn new(kind: Kind, node: &str) -> Reader {
        let title = format!("{} '{node}'", kind.name());
        Reader { title, kind, state: Mutex::new(Some(State::default())), released: Waiters::new() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else holds the reader.
    pub(super) async fn hold(&self) -> Held<'_> {
        self.released.until(|| self.lock().take().map(|state| Held { reader: self, state })).await
    }
}

/// A reader that nobody else uses until this is dropped.
pub(super) struct Held<'r> {
    reader: &'r Reader,
    state: State,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.reader.lock() = Some(std::mem::take(&mut self.state));
        self.reader.released.wake_all();
    }
}

impl Held<'_> {
    /// The next record. Waits for the queue if no file is under way.
    ///
    /// # Errors
    /// Those of the queue and of the file. After an error in a file, the next call tries the same place again; a file that
    /// cannot be opened is passed over.
    pub(super) async fn read(&mut self, queue: &Queue) -> Result<Record> {
        match self.state.record(self.reader.kind, queue, false).await? {
            Some(record) => Ok(record),
            None => bail!(Internal, "{} gave no record", self.reader.title),
        }
    }

    /// The next records of one file, at most `count`; `go_on` may end it with an error. Waits for the queue if no file is
    /// under way.
    ///
    /// # Errors
    /// As [`Held::read`], those of `go_on`; RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) async fn read_up_to(
        &mut self,
        count: usize,
        queue: &Queue,
        go_on: impl Fn() -> Result<()>,
    ) -> Result<(Vec<TString>, Vec<TString>)> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        while keys.len() < count {
            go_on()?;
            let record = self.state.record(self.reader.kind, queue, !keys.is_empty()).await?;
            let Some((key, value)) = record else { break };
            scratch::push(&mut keys, key)?;
            scratch::push(&mut values, value)?;
            if !self.state.is_working() {
                break;
            }
        }
        Ok((keys, values))
    }

    pub(super) fn num_records_produced(&self) -> i64 {
        self.state.produced
    }

    pub(super) fn num_works_finished(&self) -> i64 {
        self.state.works_finished
    }

    /// Whether the state of this kind of reader can be saved.
    fn ensure_saved(&self, what: &str) -> Result<()> {
        let is_saved = matches!(self.reader.kind, Kind::WholeFile | Kind::Identity);
        ensure!(
            is_saved,
            Unimplemented,
            "Reader {what}: {} has none that is saved, only readers of wholes have",
            self.reader.title
        );
        Ok(())
    }

    /// # Errors
    /// UNIMPLEMENTED for readers that have a place in a file.
    pub(super) fn serialize(&self) -> Result<Vec<u8>> {
        self.ensure_saved("SerializeState")?;
        let state = ReaderBaseState {
            work_started: self.state.works_started,
            work_finished: self.state.works_finished,
            num_records_produced: self.state.produced,
            current_work: scratch::copied(self.state.work.as_bytes())?,
        };
        kernlink::proto::encoded(&state)
    }

    /// Sets the state; after an error it is that of a new reader.
    ///
    /// # Errors
    /// UNIMPLEMENTED for readers that have a place in a file; INVALID_ARGUMENT for bytes that are no state, or one amid a
    /// work.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let title = &self.reader.title;
        let restored = self.ensure_saved("RestoreState").and_then(|()| self.state.restore(title, bytes));
        if restored.is_err() {
            self.reset();
        }
        restored
    }

    pub(super) fn reset(&mut self) {
        self.state = State::default();
    }
}

impl Resource for Reader {
    fn type_name() -> &'static str {
        "tensorflow::ReaderInterface"
    }

    fn debug_string(&self) -> String {
        "a reader".to_owned()
    }
}
