//! Vectors of words, learned from the words around them (word2vec).

use kernlink_macros::register_op;

use crate::shapes;

/// Pairs of words that stand near each other in a text.
///
/// Words that are frequent are passed over at times. A word that is as frequent as another may have another id than in
/// TensorFlow, where these have no particular order.
#[register_op(
    deprecated(19, "Moving word2vec into tensorflow_models/tutorials and deprecating its ops here as a result"),
    output(
        "vocab_word: string",
        "The words: `UNK`, which stands for those that are rare, and then the most frequent first."
    ),
    output("vocab_freq: int32", "How often each of them is in the text."),
    output("words_per_epoch: int64", "How many words the text has."),
    output("current_epoch: int32", "How often the text was gone through, a scalar."),
    output("total_words_processed: int64", "How many words were taken so far, a scalar."),
    output("examples: int32", "Ids of words."),
    output("labels: int32", "The id of a word near each of them."),
    stateful,
    attr("filename: string", "The text, whose words stand between white space."),
    attr("batch_size: int", "How many pairs there are."),
    attr("window_size: int = 5", "How far apart the words of a pair may be."),
    attr("min_count: int = 5", "How often a word must be in the text to have an id."),
    attr(
        "subsample: float = 0.001",
        "The share of the text from which on a word is passed over at times; 0 for none."
    ),
    shape_fn = shapes::unknown_shape,
)]
pub struct Skipgram;

/// Learns vectors of words from pairs of words, and from words that are drawn at random.
#[register_op(
    deprecated(19, "Moving word2vec into tensorflow_models/tutorials and deprecating its ops here as a result"),
    input("w_in: Ref(float)", "The vectors of words, `[words, size]`."),
    input("w_out: Ref(float)", "The vectors of words that are near others, `[words, size]`."),
    input("examples: int32", "Ids of words."),
    input("labels: int32", "The id of a word near each of them."),
    input("lr: float", "The learning rate, a scalar."),
    stateful,
    attr("vocab_count: list(int)", "How often each word is in the text."),
    attr("num_negative_samples: int", "How many words are drawn for each pair."),
    shape_fn = shapes::no_outputs,
)]
pub struct NegTrain;
