//! Elements that a function gives again and again.

use std::sync::Arc;

use kernlink::error::Code;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::step::BoxFuture;
use kernlink::{Error, Result, bail};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::{Cx, LastCx};
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, UNKNOWN, set_dataset};
use crate::function::{Captured, Closure};
use crate::saved::Saved;

/// The functions of the node.
struct Functions {
    spec: Spec,
    init: Arc<Captured>,
    next: Arc<Captured>,
    finalize: Arc<Captured>,
}

impl KernelState for Functions {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let function = |attr| Captured::new(ctx, attr);
        Ok(Self {
            spec: Spec::of(ctx)?,
            init: function("init_func")?,
            next: function("next_func")?,
            finalize: function("finalize_func")?,
        })
    }
}

struct Generator {
    head: Head,
    init: Closure,
    next: Closure,
    finalize: Closure,
}

struct GeneratorIterator {
    dataset: Arc<Generator>,
    /// What the first function gave, before the end, and how the last one is called if nobody comes to the end.
    state: Option<(Element, LastCx)>,
    is_over: bool,
}

impl Drop for GeneratorIterator {
    fn drop(&mut self) {
        if let Some((state, cx)) = self.state.take() {
            let dataset = self.dataset.clone();
            cx.begin(|cx| async move { dataset.finalize.call(state, &cx).await.map(drop) });
        }
    }
}

impl Dataset for Generator {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        UNKNOWN
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(GeneratorIterator { dataset: self, state: None, is_over: false }))
    }
}

impl DatasetIterator for GeneratorIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            if self.is_over {
                return Ok(None);
            }
            let state = match &self.state {
                Some((state, _)) => state.clone(),
                None => {
                    let state = self.dataset.init.call(Vec::new(), cx).await?;
                    self.state.insert((state, cx.last())).0.clone()
                }
            };
            match self.dataset.next.call(state.clone(), cx).await {
                Ok(element) => Ok(Some(element)),
                Err(error) if error.code() == Code::OutOfRange => {
                    self.is_over = true;
                    // It is called here, and not once more.
                    self.state = None;
                    self.dataset.finalize.call(state, cx).await.map_err(Error::at_end)?;
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        })
    }

    fn save<'a>(&'a mut self, _: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { bail!(Unimplemented, "what a GeneratorDataset keeps outside cannot be saved") })
    }

    fn restore<'a>(&'a mut self, _: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { bail!(Unimplemented, "what a GeneratorDataset keeps outside cannot be restored") })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn generator(state: &Functions, ctx: &mut KernelContext<'_, ops::GeneratorDataset>) -> Result<()> {
    let generator = Generator {
        head: Head::source(&state.spec),
        init: Closure::new(&state.init, ctx, "init_func_other_args")?,
        next: Closure::new(&state.next, ctx, "next_func_other_args")?,
        finalize: Closure::new(&state.finalize, ctx, "finalize_func_other_args")?,
    };
    set_dataset(ctx, generator)
}
