//! A vocabulary: a resource of one's own, with ops that name it, make it, ask for it, and look words up in it.

use std::collections::HashMap;
use std::sync::Arc;

use kernlink::error::shortened_bytes;
use kernlink::kernel::{Attrs, IsResourceInitialized, ResourceHandleOp};
use kernlink::prelude::*;
use kernlink::resource::Resource;
use kernlink::tensor::scratch::MakeRoom;

/// Words and their ids. It is whole before anything can find it, and does not change: lookups need no lock.
pub struct Vocabulary {
    ids: HashMap<TString, i64>,
}

impl Vocabulary {
    fn new(words: &[TString]) -> Result<Vocabulary> {
        // As much memory as there are words may be refused, and a message quotes no word of any length.
        let mut ids = HashMap::new();
        ids.make_room(words.len())?;
        for (id, word) in words.iter().enumerate() {
            let is_new = ids.insert(word.clone(), id as i64).is_none();
            ensure!(is_new, InvalidArgument, "\"{}\" is there twice", shortened_bytes(word));
        }
        Ok(Vocabulary { ids })
    }
}

impl Resource for Vocabulary {
    fn type_name() -> &'static str {
        "custom_ops::Vocabulary"
    }

    fn debug_string(&self) -> String {
        format!("a vocabulary of {} words", self.ids.len())
    }

    fn memory_used(&self) -> usize {
        self.ids.keys().map(|word| size_of::<(TString, i64)>() + word.len()).sum()
    }
}

/// A handle of a vocabulary, which [`InitializeVocabulary`] makes.
#[register_op(
    attr("container: string = ''", "What is forgotten together."),
    attr("shared_name: string = ''", "Nodes of one name have one vocabulary, in whatever session."),
    output("vocabulary: resource"),
    stateful,
    shape_fn = shape::scalar
)]
pub struct VocabularyHandle;

#[register_kernel(device = Cpu, op = VocabularyHandle)]
type HandleKernel = ResourceHandleOp<Vocabulary>;

/// Makes the vocabulary that a handle names. The ids of the words are their positions.
#[register_op(
    input("vocabulary: resource"),
    input("words: string", "A vector; no word twice."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 0)?;
        c.with_rank(c.input(1), 1).map(drop)
    }
)]
pub struct InitializeVocabulary;

#[register_kernel(device = Cpu)]
fn initialize(ctx: &mut KernelContext<'_, InitializeVocabulary>) -> Result<()> {
    let words = ctx.input(InitializeVocabulary::WORDS)?;
    ensure!(words.rank() == 1, InvalidArgument, "words must be a vector, but got shape {}", words.shape());
    let vocabulary = Arc::new(Vocabulary::new(words.as_slice()?)?);
    ctx.resources()?.create_handle(ctx.handle(InitializeVocabulary::VOCABULARY)?, vocabulary)
}

/// The ids of words.
#[register_op(
    attr("unknown: int = -1", "The id of words that are not in the vocabulary."),
    input("vocabulary: resource"),
    input("words: string"),
    output("ids: int64", "Of the shape of `words`."),
    shape_fn = |c| {
        c.with_rank(c.input(0), 0)?;
        shape::output_shape(c, c.input(1))
    }
)]
pub struct LookUpWords;

#[register_kernel(device = Cpu)]
fn look_up(attrs: &Attrs<LookUpWords>, ctx: &mut KernelContext<'_, LookUpWords>) -> Result<()> {
    let vocabulary = ctx.resource::<Vocabulary>(LookUpWords::VOCABULARY)?;
    let words = ctx.input(LookUpWords::WORDS)?;
    let mut ids = ctx.allocate_output(LookUpWords::IDS, words.shape())?;
    for (id, word) in ids.as_mut_slice::<i64>()?.iter_mut().zip(words.as_slice()?) {
        *id = vocabulary.ids.get::<TString>(word).copied().unwrap_or(attrs.unknown);
    }
    ctx.set_output(LookUpWords::IDS, ids)
}

/// Whether the vocabulary that a handle names was made.
#[register_op(input("vocabulary: resource"), output("is_initialized: bool"), shape_fn = shape::scalar)]
pub struct IsVocabularyInitialized;

#[register_kernel(device = Cpu, op = IsVocabularyInitialized)]
type IsInitializedKernel = IsResourceInitialized<Vocabulary>;
