//! What a plan of a partial run has in the place of feeds and fetches: nodes that wait for the ones and hand out the others.

use std::sync::Arc;

use super::draft::{Act, Draft, Own};
use super::layout::Source;
use super::resolve::Resolver;
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::graph::{Output, created};
use crate::kernel::{DynKernel, RawContext};
use crate::op::{OpDef, Signature};
use crate::optimize::Ends;
use crate::runtime::index::NodeIndex;
use crate::step::BoxFuture;

/// Waits for a feed.
struct FeedLater {
    index: usize,
}

/// Hands a fetch to whoever asks for it.
struct FetchEarly {
    index: usize,
}

/// The name under which a feed is handed to the node that waits for it.
pub(in crate::runtime) fn feed_key(index: usize) -> String {
    format!("feed;{index}")
}

/// The name under which a fetch is handed to whoever asks for it.
pub(in crate::runtime) fn fetch_key(index: usize) -> String {
    format!("fetch;{index}")
}

impl DynKernel for FeedLater {
    fn compute(&self, _: &mut RawContext<'_>) -> Result<()> {
        Err(Error::internal("a feed of a partial run is waited for"))
    }

    fn is_async(&self) -> bool {
        true
    }

    fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let tensor = ctx.step()?.rendezvous().receive(&feed_key(self.index)).await?;
            let tensor = tensor.ok_or_else(|| Error::internal("a feed is never dead"))?;
            ctx.set_output_at(0, tensor)
        })
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

impl DynKernel for FetchEarly {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let mut tensor = ctx.take_input_at(0)?;
        if let Some(reference) = tensor.reference() {
            let value = reference.lock()?.clone();
            tensor = value.ok_or_else(|| reference.uninitialized())?;
        }
        ctx.step()?.rendezvous().send(&fetch_key(self.index), Some(tensor))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

impl Resolver<'_> {
    /// Adds a node that waits for each feed.
    pub(super) fn feed_later(&mut self, ends: &Ends) -> Result<()> {
        let op = self.context.graph.registry().op(created::RECV)?.def;
        for (index, &feed) in ends.feeds().iter().enumerate() {
            let dtype = self.context.graph.node(feed.node).signature.outputs[feed.index].dtype;
            let attrs = [("tensor_type".to_owned(), AttrValue::Type(dtype))].into_iter().collect();
            let kernel = Arc::new(FeedLater { index });
            let draft = self.end(feed, op, &attrs, kernel, Vec::new())?;
            self.define(feed, Source::Node { node: draft, output: 0 });
        }
        self.feeds.clear();
        Ok(())
    }

    /// Adds a node that hands each fetch out.
    pub(super) fn fetch_early(&mut self, ends: &Ends) -> Result<()> {
        let op = self.context.graph.registry().op(created::SEND)?.def;
        for (index, &fetch) in ends.fetches().iter().enumerate() {
            let dtype = self.context.graph.node(fetch.node).signature.outputs[fetch.index].dtype;
            let attrs = [("T".to_owned(), AttrValue::Type(dtype))].into_iter().collect();
            let source = self.source(fetch).ok_or_else(|| Error::internal("a fetch was not planned"))?;
            self.end(fetch, op, &attrs, Arc::new(FetchEarly { index }), vec![source])?;
        }
        Ok(())
    }

    /// Adds a node by which a partial run takes a feed or gives a fetch.
    fn end(
        &mut self,
        output: Output,
        op: &'static OpDef,
        attrs: &AttrMap,
        kernel: Arc<dyn DynKernel>,
        inputs: Vec<Source>,
    ) -> Result<NodeIndex> {
        let name = format!("{}/{}", self.context.graph.output_name(output), op.name);
        let own = Some(Box::new(Own { name, op, signature: Arc::new(Signature::new(op, attrs)?) }));
        let device = self.context.places.host(self.context.device_index(output.node));
        let draft = Draft::of(output.node, Act::Kernel(kernel), device, inputs, Vec::new());
        Ok(self.drafts.push(Draft { own, ..draft }))
    }
}
