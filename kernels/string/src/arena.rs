//! Many short strings in few allocations.

use std::ops::Range;

use bytes::Bytes;
use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::tensor::scratch;

/// Bytes that one allocation holds: a string that outlives the others keeps no more than this.
const BLOCK: usize = 32 << 10;

/// Makes strings one after another; neighbours share an allocation.
#[derive(Default)]
pub(super) struct Arena {
    block: Vec<u8>,
    ends: Vec<usize>,
    /// Where the finished strings go, by index.
    done: usize,
}

impl Arena {
    /// Appends the next string: what `write` adds to the buffer. `out` holds all strings that are to come.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory, and what `write` gives.
    pub(super) fn push(&mut self, out: &mut [TString], write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        if self.block.capacity() == 0 {
            self.block = scratch::room(BLOCK)?;
        }
        write(&mut self.block)?;
        scratch::push(&mut self.ends, self.block.len())?;
        if self.block.len() >= BLOCK {
            self.finish(out);
        }
        Ok(())
    }

    /// Hands over what is not yet in `out`.
    pub(super) fn finish(&mut self, out: &mut [TString]) {
        let block = Bytes::from(std::mem::take(&mut self.block));
        let mut start = 0;
        for (slot, &end) in out[self.done..].iter_mut().zip(&self.ends) {
            *slot = TString::from(block.slice(Range { start, end }));
            start = end;
        }
        self.done += self.ends.len();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_in_order_over_many_blocks() {
        let mut out = vec![TString::default(); 1000];
        let mut arena = Arena::default();
        for i in 0..1000 {
            arena.push(&mut out, |block| scratch::resize(block, block.len() + i, i as u8)).unwrap();
        }
        arena.finish(&mut out);
        assert!(out.iter().enumerate().all(|(i, text)| text.len() == i && text.iter().all(|&byte| byte == i as u8)));
    }
}
