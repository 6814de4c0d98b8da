//! What one call makes of functions, each once for all nodes that ask for the same.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use prost::Message as _;

use super::emit;
use super::joint::Plan;
use crate::attr::{AttrMap, AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::gradient::pass::Pass;
use crate::graph::{Graph, TensorSpec};
use crate::op::InOutType;
use crate::proto;

/// What the bodies of functions that are differentiated share with the graph that calls them. Functions are added to the library of
/// whichever of these graphs is worked on, which others take over, so that what is known names functions that they all have.
#[derive(Default)]
pub(in crate::gradient) struct Shared {
    /// How many bodies have been differentiated in all.
    pub(in crate::gradient) bodies: Cell<usize>,
    /// What was made, by [`Key`].
    made: RefCell<HashMap<Vec<u8>, Rc<dyn Any>>>,
    /// The ops of all nodes of bodies and their gradients, if somebody wants to know.
    ops: Option<RefCell<BTreeSet<&'static str>>>,
}

impl Shared {
    /// Of a call that is asked of which ops the bodies and their gradients are, before what nobody needs is left out.
    pub(super) fn noting_ops() -> Shared {
        Shared { ops: Some(RefCell::default()), ..Shared::default() }
    }

    pub(super) fn note_ops(&self, graph: &Graph) {
        if let Some(ops) = &self.ops {
            ops.borrow_mut().extend(graph.nodes().iter().map(|node| &*node.op.def.name));
        }
    }

    pub(super) fn take_ops(&self) -> BTreeSet<&'static str> {
        self.ops.as_ref().map(RefCell::take).unwrap_or_default()
    }
}

impl Pass<'_> {
    /// What `make` makes, or has made when it was asked for the same before.
    pub(super) fn once<T: 'static>(&mut self, key: Key, make: impl FnOnce(&mut Self) -> Result<T>) -> Result<Rc<T>> {
        let Key { bytes, is_whole } = key;
        let known = self.shared.made.borrow().get(&bytes).filter(|_| is_whole).cloned();
        if let Some(known) = known {
            return known.downcast().map_err(|_| Error::internal("what was made of a function is something else"));
        }
        let made = Rc::new(make(self)?);
        if is_whole {
            self.shared.made.borrow_mut().insert(bytes, made.clone());
        }
        Ok(made)
    }
}

/// All that what is made depends on. Each part says how long it is.
pub(super) struct Key {
    bytes: Vec<u8>,
    /// Whether all parts could be written: what could not is made for each.
    is_whole: bool,
}

impl Key {
    /// `kind` says what is made.
    pub(super) fn new(kind: &str) -> Key {
        let mut key = Key { bytes: Vec::new(), is_whole: true };
        key.part(kind.as_bytes());
        key
    }

    fn part(&mut self, part: &[u8]) {
        self.bytes.extend((part.len() as u64).to_le_bytes());
        self.bytes.extend(part);
    }

    pub(super) fn text(mut self, text: &str) -> Key {
        self.part(text.as_bytes());
        self
    }

    fn value(&mut self, value: &AttrValue) {
        match proto::attr_to_proto(value) {
            Ok(message) => self.part(&message.encode_to_vec()),
            Err(_) => self.is_whole = false,
        }
    }

    pub(super) fn functions<'f>(mut self, functions: impl IntoIterator<Item = &'f FunctionRef>) -> Key {
        functions.into_iter().for_each(|function| self.value(&function.clone().into()));
        self
    }

    pub(super) fn attrs(mut self, attrs: &AttrMap) -> Key {
        for (name, value) in attrs.iter() {
            self.part(name.as_bytes());
            self.value(value);
        }
        self.text("")
    }

    pub(super) fn dtypes(self, dtypes: &[DataType]) -> Key {
        self.text(&format!("{dtypes:?}"))
    }

    pub(super) fn slots(self, slots: &[InOutType]) -> Key {
        self.dtypes(&emit::dtypes(slots))
    }

    pub(super) fn specs(self, specs: &[TensorSpec]) -> Key {
        self.text(&format!("{specs:?}"))
    }

    pub(super) fn plan(self, Plan { flows, wanted }: &Plan) -> Key {
        self.text(&format!("{flows:?} {wanted:?}"))
    }
}
