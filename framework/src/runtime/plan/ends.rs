//! What a plan of a partial run has in the place of feeds and fetches: nodes that wait for the ones and hand out the others.

use std::sync::Arc;

use super::Source;
use super::build::Builder;
use super::draft::{Act, Draft, Own};
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::graph::{Output, created};
use crate::kernel::DynKernel;
use crate::op::{OpDef, Signature};
use crate::optimize::Ends;
use crate::runtime::partial::{FeedLater, FetchEarly};

impl Builder<'_> {
    /// Adds a node that waits for each feed.
    pub(super) fn feed_later(&mut self, ends: &Ends) -> Result<()> {
        let op = self.graph.registry().op(created::RECV)?.def;
        for (index, &feed) in ends.feeds.iter().enumerate() {
            let dtype = self.graph.node(feed.node).signature.outputs[feed.index].dtype;
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
        let op = self.graph.registry().op(created::SEND)?.def;
        for (index, &fetch) in ends.fetches.iter().enumerate() {
            let dtype = self.graph.node(fetch.node).signature.outputs[fetch.index].dtype;
            let attrs = [("T".to_owned(), AttrValue::Type(dtype))].into_iter().collect();
            let source = self.source(fetch).ok_or_else(|| Error::internal("a fetch was not planned"))?;
            let source = self.on_host(source)?;
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
    ) -> Result<u32> {
        let name = format!("{}/{}", self.graph.output_name(output), op.name);
        let own = Some(Box::new(Own { name, op, signature: Arc::new(Signature::new(op, attrs)?) }));
        let device = self.places.host(self.device_index(output.node));
        let draft = Draft::of(output.node, Act::Kernel(kernel), device, inputs, Vec::new());
        self.drafts.push(Draft { own, ..draft });
        Ok(self.drafts.len() as u32 - 1)
    }
}
