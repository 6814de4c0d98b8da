//! Graphs that stay whole when a closure that builds them panics: whoever catches the panic may go on with the graph.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Graph;

impl Graph {
    /// What `build` returns, and what `restore` does, which puts the graph in order. If `build` panics, the panic goes on after
    /// `restore`.
    pub(super) fn restored<R, S>(
        &mut self,
        build: impl FnOnce(&mut Graph) -> R,
        restore: impl FnOnce(&mut Graph, Option<&R>) -> S,
    ) -> (R, S) {
        let built = catch_unwind(AssertUnwindSafe(|| build(self)));
        let restored = restore(self, built.as_ref().ok());
        match built {
            Ok(built) => (built, restored),
            Err(panic) => resume_unwind(panic),
        }
    }
}
