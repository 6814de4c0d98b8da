//! Whole files and their names.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    input("basename: string"),
    input("num_shards: int32", "How many files there are."),
    output("filename: string"),
    shape_fn = scalars,
)]
pub enum Sharded {
    /// The name of one of several files that belong together: `basename-00003-of-00016`.
    #[op(input("shard: int32", "The number of the file, from 0.", after = "basename"))]
    ShardedFilename,
    /// A pattern for the names of all files that belong together: `basename-?????-of-00016`.
    ShardedFilespec,
}

/// The contents of a file.
#[register_op(input("filename: string"), output("contents: string"), shape_fn = scalars)]
pub struct ReadFile;

/// Writes a file, and makes the folders that it needs.
#[register_op(input("filename: string"), input("contents: string"), stateful, shape_fn = scalars)]
pub struct WriteFile;

/// The names of the files that patterns stand for, sorted.
///
/// `*` stands for any characters but `/`, `?` for one, `[a-z]` for one of these.
#[register_op(
    input("pattern: string", "One pattern or several."),
    output("filenames: string"),
    shape_fn = matching_files_shape,
)]
pub struct MatchingFiles;

fn scalars(c: &mut InferenceContext<'_>) -> Result<()> {
    for input in 0..c.num_inputs() {
        c.with_rank(c.input(input), 0)?;
    }
    for output in 0..c.num_outputs() {
        c.set_output(output, c.scalar());
    }
    Ok(())
}

fn matching_files_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank_at_most(c.input(0), 1)?;
    shapes::output_shape(c, c.vector(c.unknown_dim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::infer;

    #[test]
    fn names_and_contents_are_scalars() {
        infer::<ShardedFilename>().ok("?;[];[]", "[]");
        infer::<ShardedFilename>().error("Shape must be rank 0 but is rank 1", "?;[2];[]");
        infer::<ReadFile>().ok("[]", "[]");
        infer::<WriteFile>().error("Shape must be rank 0", "[];[1]");
        infer::<MatchingFiles>().ok("[3]", "[?]");
        infer::<MatchingFiles>().error("Shape must be at most rank 1 but is rank 2", "[1,2]");
    }
}
