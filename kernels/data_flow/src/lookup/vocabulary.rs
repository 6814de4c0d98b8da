//! GenerateVocabRemapping.

use kernlink::dtype::TString;
use kernlink::error::shortened_bytes;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{Result, ensure};
use kernlink_kernels_common::hash::Map;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::text_file::lines;

#[register_kernel(device = Cpu)]
fn generate_vocab_remapping(
    attrs: &Attrs<ops::GenerateVocabRemapping>,
    ctx: &mut KernelContext<'_, ops::GenerateVocabRemapping>,
) -> Result<()> {
    type Op = ops::GenerateVocabRemapping;
    let (new, _) = lines(ctx.input(Op::NEW_VOCAB_FILE)?, -1, "new_vocab_file")?;
    let words = new.as_slice::<TString>()?;
    let end = attrs.new_vocab_offset.saturating_add(attrs.num_new_vocab);
    ensure!(
        end <= words.len() as i64,
        InvalidArgument,
        "lookup table size must be larger than last new vocab entry's line: {} and {end}",
        words.len()
    );
    let words = &words[attrs.new_vocab_offset as usize..end as usize];
    let (old, _) = lines(ctx.input(Op::OLD_VOCAB_FILE)?, attrs.old_vocab_size, "old_vocab_file")?;
    let old = old.as_slice::<TString>()?;
    let mut places: Map<&[u8], i64> = Map::default();
    places.make_room(old.len())?;
    for (word, place) in old.iter().zip(0..) {
        let first = *places.entry(word.as_bytes()).or_insert(place);
        ensure!(
            first == place,
            FailedPrecondition,
            "HashTable has different value for same key. Key {} has {first} and trying to add value {place}",
            shortened_bytes(word)
        );
    }
    let mut remapping = ctx.allocate_output(Op::REMAPPING, [words.len()])?;
    let mut present = 0;
    for (slot, word) in remapping.as_mut_slice::<i64>()?.iter_mut().zip(words) {
        let place = places.get(word.as_bytes()).copied();
        present += i32::from(place.is_some());
        *slot = place.unwrap_or(-1);
    }
    ctx.set_output(Op::REMAPPING, remapping)?;
    ctx.set_output(Op::NUM_PRESENT, Tensor::scalar(present))
}
