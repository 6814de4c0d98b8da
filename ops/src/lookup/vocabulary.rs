//! Vocabularies: files with a word a line.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

/// Where the words of a new vocabulary stand in an old one.
#[register_op(
    attr("new_vocab_offset: int >= 0", "How many words of the new vocabulary are left out at the beginning."),
    attr("num_new_vocab: int >= 0", "How many of its words are looked up."),
    attr("old_vocab_size: int >= -1 = -1", "How many words of the old vocabulary count; −1 for all."),
    input("new_vocab_file: string", "A file with a word a line, a scalar."),
    input("old_vocab_file: string", "A file with a word a line, a scalar."),
    output("remapping: int64", "For each word the line where it stands in the old vocabulary; −1 if it does not."),
    output("num_present: int32", "How many words are in both."),
    shape_fn = remapping_shape,
)]
pub struct GenerateVocabRemapping;

fn remapping_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    c.with_rank(c.input(1), 0)?;
    c.set_output(0, c.vector(c.attr::<i64>("num_new_vocab")?));
    c.set_output(1, c.scalar());
    Ok(())
}
