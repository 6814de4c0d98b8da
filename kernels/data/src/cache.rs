//! Elements that are kept from the first time on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::Result;
use kernlink::dtype::TString;
use kernlink::kernel::RawContext;
use kernlink::resource::Resource;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, Variant, scratch};
use kernlink_kernels_common::files::path_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, scalar, set_dataset};
use crate::file_cache::FileCached;
use crate::saved::Saved;
use crate::transform::Input;

/// The elements of a dataset, once an iterator has gone through all of them.
#[derive(Default)]
pub(crate) struct MemoryCache(Mutex<Option<Arc<[Element]>>>);

impl MemoryCache {
    fn elements(&self) -> MutexGuard<'_, Option<Arc<[Element]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resource for MemoryCache {
    fn type_name() -> &'static str {
        "tensorflow::data::MemoryCacheManager"
    }

    fn memory_used(&self) -> usize {
        self.elements().iter().flat_map(|elements| elements.iter().flatten()).map(Tensor::num_bytes).sum()
    }
}

struct Cached {
    head: Head,
    input: Arc<dyn Dataset>,
    cache: Arc<MemoryCache>,
}

struct CacheIterator {
    dataset: Arc<Cached>,
    does: Does,
}

/// An iterator gives what is kept, or keeps what it gives.
enum Does {
    Read { elements: Arc<[Element]>, at: usize },
    Write { input: Input, elements: Vec<Element> },
}

impl Dataset for Cached {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let kept = self.cache.elements().clone();
        let does = match kept {
            Some(elements) => Does::Read { elements, at: 0 },
            None => Does::Write { input: Input::new(&self.input, cx)?, elements: Vec::new() },
        };
        Ok(Box::new(CacheIterator { dataset: self, does }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        self.input.get(index, cx)
    }
}

impl DatasetIterator for CacheIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            match &mut self.does {
                Does::Read { elements, at } => {
                    let element = elements.get(*at).cloned();
                    *at += usize::from(element.is_some());
                    Ok(element)
                }
                Does::Write { input, elements } => {
                    if input.is_over() {
                        return Ok(None);
                    }
                    let element = input.next(cx).await?;
                    match &element {
                        Some(element) => scratch::push(elements, element.clone())?,
                        None => {
                            let all = std::mem::take(elements);
                            self.dataset.cache.elements().get_or_insert_with(|| all.into());
                        }
                    }
                    Ok(element)
                }
            }
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &mut self.does {
                Does::Read { elements, at } => {
                    saved.set("at", *at as i64);
                    saved.set_elements("kept", scratch::collected(elements.iter().cloned())?);
                }
                Does::Write { input, elements } => {
                    saved.set_elements("elements", scratch::copied(elements)?);
                    input.save(saved).await?;
                }
            }
            Ok(())
        })
    }

    /// The cache is then what it was, too.
    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let cache = &self.dataset.cache;
            if let Ok(kept) = saved.elements("kept") {
                let elements: Arc<[Element]> = scratch::copied(kept)?.into();
                let at = saved.get("at")? as usize;
                let old = cache.elements().replace(elements.clone());
                drop(old);
                self.does = Does::Read { elements, at };
                return Ok(());
            }
            let elements = scratch::copied(saved.elements("elements")?)?;
            let mut input = Input::new(&self.dataset.input, cx)?;
            input.restore(saved, cx).await?;
            let old = cache.elements().take();
            drop(old);
            self.does = Does::Write { input, elements };
            Ok(())
        })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::CacheDataset, ops::CacheDatasetV2])]
fn cache(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let file: TString = scalar(ctx, "filename")?;
    let input = input_dataset(ctx, 0)?;
    if !file.is_empty() {
        return set_dataset(ctx, FileCached::new(spec, input, path_of(&file)?)?);
    }
    let cache = match ctx.op().input_index("cache") {
        Some(_) => {
            let index = ctx.input_range_of("cache")?.start;
            match ctx.resource_at::<MemoryCache>(index) {
                Ok(cache) => cache,
                Err(error) if error.is_missing_resource() => Arc::default(),
                Err(error) => return Err(error),
            }
        }
        None => Arc::default(),
    };
    set_dataset(ctx, Cached { head: Head::above(spec, [&input])?, input, cache })
}

#[register_kernel(device = Cpu, cheap, op = [ops::AnonymousMemoryCache])]
fn memory_cache(ctx: &mut RawContext<'_>) -> Result<()> {
    let handle = ctx.resources()?.make_owned_handle(ctx.device_name(), Arc::new(MemoryCache::default()));
    ctx.set_output_at(0, Tensor::scalar(handle))?;
    ctx.set_output_at(1, Tensor::scalar(Variant::default()))
}

/// A handle that names nothing.
#[register_kernel(device = Cpu, cheap, op = [ops::DummyMemoryCache, ops::DummySeedGenerator])]
fn dummy(ctx: &mut RawContext<'_>) -> Result<()> {
    let resources = ctx.resources()?;
    let handle = match ctx.op().name == "DummyMemoryCache" {
        true => resources.make_handle::<MemoryCache>(ctx.device_name(), "", "dummy_resource"),
        false => resources.make_handle::<crate::random::Seeds>(ctx.device_name(), "", "dummy_resource"),
    };
    ctx.set_output_at(0, Tensor::scalar(handle))
}
