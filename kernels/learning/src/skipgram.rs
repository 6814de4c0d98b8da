//! Skipgram.

use std::sync::{Mutex, PoisonError};

use kernlink::dtype::TString;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::sort::CompactSort;
use kernlink::tensor::{FileBytes, Tensor, scratch};
use kernlink::{Error, Result, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::hash::Map;
use kernlink_macros::register_kernel;
use kernlink_ops::Skipgram;

use crate::draw::Draw;

/// How many pairs are made at a time.
const PAIRS: usize = 3000;

/// How many words pairs are made of at a time.
const SENTENCE: usize = 1000;

/// How many words are passed over before somebody looks whether the run goes on.
const PATIENCE: usize = 1 << 16;

/// A text, as ids of words.
struct Corpus {
    words: Tensor,
    frequencies: Tensor,
    ids: Vec<i32>,
    /// The probability that a word is taken, of each id; empty if all are.
    kept: Vec<f32>,
    window: u32,
}

/// A word of the text.
#[derive(Clone, Copy)]
struct Word {
    count: usize,
    id: i32,
}

fn words_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b' ' | 9..=13)).filter(|word| !word.is_empty())
}

impl Corpus {
    /// Gives ids to the words of a text that are in it `least` times.
    fn new(text: &[u8], name: &TString, window: u32, least: i32, subsample: f32) -> Result<Corpus> {
        let mut size = 0usize;
        let mut words = Map::<&[u8], Word>::default();
        for word in words_of(text) {
            size += 1;
            if let Some(word) = words.get_mut(word) {
                word.count += 1;
                continue;
            }
            words.try_reserve(1).map_err(|_| Error::resource_exhausted("not enough memory for the words of a text"))?;
            words.insert(word, Word { count: 1, id: 0 });
        }
        ensure!(
            size > 0 && size as u64 >= 10 * u64::from(window) && i32::try_from(size).is_ok(),
            InvalidArgument,
            "The text file {} contains {}: {size} words",
            name.display(),
            if size > i32::MAX as usize { "too much data" } else { "too little data" }
        );
        // Those that are as frequent as each other in the order of their bytes.
        let frequent = words.iter().filter(|(_, word)| word.count as i64 >= i64::from(least));
        let mut ordered: Vec<(usize, &[u8])> = scratch::collected(frequent.map(|(&name, word)| (word.count, name)))?;
        ordered.compact_sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let unknown = size - ordered.iter().map(|(count, _)| count).sum::<usize>();
        let mut names = scratch::room(ordered.len() + 1)?;
        let mut counts = scratch::room(ordered.len() + 1)?;
        names.push(TString::from("UNK"));
        counts.push(unknown as i32);
        for &(count, name) in &ordered {
            if let Some(word) = words.get_mut(name) {
                word.id = names.len() as i32;
            }
            names.push(TString::from(scratch::copied(name)?));
            counts.push(count as i32);
        }
        let ids = scratch::collected(words_of(text).map(|word| words.get(word).map_or(0, |word| word.id)))?;
        // Equation 5 of Mikolov and others, Distributed Representations of Words and Phrases, 2013.
        let share = subsample * size as f32;
        let kept = |&count: &i32| ((count as f32 / share).sqrt() + 1.0) * share / count as f32;
        let kept = if subsample > 0.0 { scratch::collected(counts.iter().map(kept))? } else { Vec::new() };
        Ok(Corpus { words: Tensor::vector(&names)?, frequencies: Tensor::vector(&counts)?, ids, kept, window })
    }
}

/// Where in the text the pairs are.
struct Cursor {
    draw: Draw,
    /// Pairs that were made, and how many of them were given.
    pairs: Vec<[i32; 2]>,
    given: usize,
    sentence: Vec<i32>,
    /// The word of the sentence whose pairs are made, and which of its neighbours are left.
    word: usize,
    labels: std::ops::Range<usize>,
    /// The next word of the text.
    next: usize,
    epoch: i32,
    processed: i64,
}

impl Cursor {
    fn new(size: usize) -> Cursor {
        Cursor {
            draw: Draw::new(0),
            pairs: Vec::new(),
            given: 0,
            sentence: Vec::new(),
            word: SENTENCE,
            labels: 0..0,
            next: size,
            epoch: -1,
            processed: 0,
        }
    }

    /// Takes words of the text.
    fn read_sentence(&mut self, corpus: &Corpus, check: &dyn Fn() -> Result<()>) -> Result<()> {
        self.sentence.clear();
        let mut patience = PATIENCE;
        while self.sentence.len() < SENTENCE {
            if self.next >= corpus.ids.len() {
                self.epoch = self.epoch.wrapping_add(1);
                self.next = 0;
            }
            let id = corpus.ids[self.next];
            let is_passed_over = corpus.kept.get(id as usize).is_some_and(|&kept| self.draw.float() > kept);
            if !is_passed_over {
                self.sentence.push(id);
            }
            self.next += 1;
            patience -= 1;
            if patience == 0 {
                check()?;
                patience = PATIENCE;
            }
        }
        Ok(())
    }

    fn pair(&mut self, corpus: &Corpus, check: &dyn Fn() -> Result<()>) -> Result<[i32; 2]> {
        loop {
            if self.labels.is_empty() {
                self.processed += 1;
                self.word += 1;
                if self.word >= SENTENCE {
                    self.read_sentence(corpus, check)?;
                    self.word = 0;
                }
                let skip = 1 + self.draw.below32(corpus.window) as usize;
                self.labels = self.word.saturating_sub(skip)..SENTENCE.min(self.word + skip + 1);
            }
            let label = self.labels.start;
            self.labels.start += 1;
            if label != self.word {
                return Ok([self.sentence[self.word], self.sentence[label]]);
            }
        }
    }

    fn make_pairs(&mut self, corpus: &Corpus, check: &dyn Fn() -> Result<()>) -> Result<()> {
        self.pairs.clear();
        for _ in 0..PAIRS {
            let pair = self.pair(corpus, check)?;
            self.pairs.push(pair);
        }
        self.given = 0;
        Ok(())
    }
}

struct SkipgramKernel {
    corpus: Corpus,
    cursor: Mutex<Cursor>,
    batch: usize,
}

/// An attr that TensorFlow reads as an `int32`.
fn int32(value: i64, name: &str) -> Result<i32> {
    i32::try_from(value)
        .map_err(|_| Error::invalid_argument(format!("Attr {name} has value {value} out of range for an int32")))
}

#[register_kernel(device = Cpu)]
impl OpKernel<Skipgram> for SkipgramKernel {
    fn new(ctx: &KernelConstruction<'_, Skipgram>) -> Result<Self> {
        let attrs = ctx.attrs();
        let name = TString::from(attrs.filename.as_str());
        let batch = int32(attrs.batch_size, "batch_size")?;
        let window = int32(attrs.window_size, "window_size")?;
        let least = int32(attrs.min_count, "min_count")?;
        let (Ok(batch), Ok(window)) = (usize::try_from(batch), u32::try_from(window)) else {
            return Err(Error::invalid_argument(format!(
                "batch_size and window_size must not be negative, but are {batch} and {window}"
            )));
        };
        let text = FileBytes::read(path_of(&name)?)?;
        let corpus = Corpus::new(&text, &name, window, least, attrs.subsample)?;
        let cursor = Mutex::new(Cursor::new(corpus.ids.len()));
        Ok(Self { corpus, cursor, batch })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Skipgram>) -> Result<()> {
        let mut examples = ctx.allocate_output(Skipgram::EXAMPLES, [self.batch])?;
        let mut labels = ctx.allocate_output(Skipgram::LABELS, [self.batch])?;
        let step = ctx.step()?.clone();
        let check = || step.check();
        let (epoch, processed) = {
            // A run that was ended leaves no pairs, and the next one makes others.
            let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
            let slots = examples.as_mut_slice::<i32>()?.iter_mut().zip(labels.as_mut_slice::<i32>()?);
            if cursor.pairs.len() < PAIRS {
                cursor.make_pairs(&self.corpus, &check)?;
            }
            for (example, label) in slots {
                [*example, *label] = cursor.pairs[cursor.given];
                cursor.given += 1;
                if cursor.given == PAIRS {
                    cursor.make_pairs(&self.corpus, &check)?;
                    check()?;
                }
            }
            (cursor.epoch, cursor.processed)
        };
        ctx.set_output(Skipgram::VOCAB_WORD, self.corpus.words.clone())?;
        ctx.set_output(Skipgram::VOCAB_FREQ, self.corpus.frequencies.clone())?;
        ctx.set_output(Skipgram::WORDS_PER_EPOCH, Tensor::scalar(self.corpus.ids.len() as i64))?;
        ctx.set_output(Skipgram::CURRENT_EPOCH, Tensor::scalar(epoch))?;
        ctx.set_output(Skipgram::TOTAL_WORDS_PROCESSED, Tensor::scalar(processed))?;
        ctx.set_output(Skipgram::EXAMPLES, examples)?;
        ctx.set_output(Skipgram::LABELS, labels)
    }
}
