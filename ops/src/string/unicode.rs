//! Characters and their encodings.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("input_encoding: string", "The strings' encoding, such as `UTF-8`, `UTF-16-BE` or `ISO-8859-1`."),
    attr(
        "errors: {'strict', 'replace', 'ignore'} = 'replace'",
        "What is done about bytes that are no character: fail, put `replacement_char` in their place, or skip them.",
    ),
    attr("replacement_char: int = 65533", "The character that stands for bytes that are none."),
    attr("replace_control_characters: bool = false", "Whether the characters below U+0020 are treated as errors."),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("input: string", "Of any shape; each element is a row."),
    output("row_splits: Tsplits", "Where each row begins, and where the last ends."),
    output("char_values: int32", "The characters of all rows."),
    shape_fn = unicode_decode_shape,
)]
pub enum Decoding {
    /// The characters of each string, as the rows of a ragged matrix.
    UnicodeDecode,
    /// [`UnicodeDecode`] that also says where each character begins.
    #[op(output("char_to_byte_starts: int64", "Where in its string each character begins, in bytes."))]
    UnicodeDecodeWithOffsets,
}

fn unicode_decode_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let splits = c.add(c.num_elements(c.input(0)), 1)?;
    c.set_output(0, c.vector(splits));
    let characters = c.unknown_dim();
    (1..c.num_outputs()).for_each(|index| c.set_output(index, c.vector(characters)));
    Ok(())
}

/// The rows of a ragged matrix of characters as strings.
#[register_op(
    attr(
        "errors: {'ignore', 'replace', 'strict'} = 'replace'",
        "What is done about numbers that are no character: skip them, put `replacement_char` in their place, or fail.",
    ),
    attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"),
    attr("replacement_char: int = 65533", "The character that stands for numbers that are none."),
    attr("Tsplits: {int32, int64} = DT_INT64"),
    input("input_values: int32", "The characters of all rows, a vector."),
    input("input_splits: Tsplits", "Where each row begins, and where the last ends."),
    output("output: string", "A string a row."),
    shape_fn = unicode_encode_shape,
)]
pub struct UnicodeEncode;

fn unicode_encode_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 1)?;
    let splits = c.with_rank(c.input(1), 1)?;
    shapes::output_shape(c, c.vector(c.subtract(c.dim(splits, 0), 1)?))
}

/// Each string in another encoding.
#[register_op(
    attr("input_encoding: string", "The strings' encoding, such as `UTF-8`, `UTF-16-BE` or `ISO-8859-1`."),
    attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}"),
    attr(
        "errors: {'strict', 'replace', 'ignore'} = 'replace'",
        "What is done about bytes that are no character: fail, put `replacement_char` in their place, or skip them.",
    ),
    attr("replacement_char: int = 65533", "The character that stands for bytes that are none."),
    attr("replace_control_characters: bool = false", "Whether the characters below U+0020 are treated as errors."),
    input("input: string"),
    output("output: string"),
    shape_fn = shapes::unchanged,
)]
pub struct UnicodeTranscode;

/// The script of each character, by the numbers of ICU; −1 for what is no character.
#[register_op(input("input: int32", "Characters."), output("output: int32"), shape_fn = shapes::unchanged)]
pub struct UnicodeScript;
