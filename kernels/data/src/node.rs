//! Of which node of a graph a dataset was made.

use std::sync::{Arc, Weak};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::op::{ArgDef, ArgType};
use kernlink::step::FunctionLibrary;
use kernlink::tensor::Tensor;

/// What a node that makes datasets says, beside its inputs.
pub(crate) struct Node {
    pub(crate) op: String,
    /// Those that the op declares.
    pub(crate) attrs: AttrMap,
    /// Where the functions are that the attrs name. The session owns it, whose resources may hold the dataset.
    pub(crate) library: Option<Weak<dyn FunctionLibrary>>,
}

/// The node that a dataset was made of, with what went into it.
pub(crate) struct Made {
    pub(crate) node: Arc<Node>,
    /// The tensors are shared with all others who have them.
    pub(crate) inputs: Box<[Tensor]>,
}

impl Node {
    /// The node for which a kernel is made; `None` if it makes no datasets.
    pub(crate) fn of(ctx: &RawConstruction<'_>) -> Option<Node> {
        if !matches!(&ctx.signature.outputs[..], [output] if output.dtype == DataType::Variant) {
            return None;
        }
        let declared = |name: &str| ctx.op.attrs.iter().any(|attr| attr.name == name);
        let attrs = ctx.attrs.iter().filter(|(name, _)| declared(name));
        let attrs: AttrMap = attrs.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let functions = ctx.surroundings.map(|surroundings| surroundings.functions);
        let functions = functions.filter(|_| attrs.functions().next().is_some());
        let library = functions.map(|library| library.whole().unwrap_or_else(|| Arc::downgrade(library)));
        Some(Node { op: ctx.op.name.to_string(), attrs, library })
    }

    /// The node of a kernel that keeps nothing of it: its attrs are those that the inputs tell, and defaults. Types and shapes of
    /// elements are empty: the dataset has them.
    fn of_call(ctx: &RawContext<'_>) -> Node {
        let op = ctx.op();
        let attrs = op.attrs.iter().filter_map(|attr| {
            let value = match &attr.default {
                Some(default) => kernlink::graph::default_value(default).ok(),
                None => match &*attr.name {
                    "output_types" => Some(AttrValue::ListType(Vec::new())),
                    "output_shapes" => Some(AttrValue::ListShape(Vec::new())),
                    name => told_by_inputs(ctx, name),
                },
            };
            Some((attr.name.to_string(), value?))
        });
        Node { op: op.name.to_string(), attrs: attrs.collect(), library: None }
    }
}

impl Made {
    /// That of a dataset which a kernel has made; `node` is what it has kept.
    pub(crate) fn by(ctx: &RawContext<'_>, node: Option<&Arc<Node>>) -> Option<Made> {
        let inputs = (0..ctx.num_inputs()).map(|index| ctx.input_at(index).cloned());
        let inputs = inputs.collect::<Result<_, _>>().ok()?;
        Some(Made { node: node.cloned().unwrap_or_else(|| Arc::new(Node::of_call(ctx))), inputs })
    }
}

/// The value of an attr that is a dtype, the dtypes or the number of inputs.
fn told_by_inputs(ctx: &RawContext<'_>, attr: &str) -> Option<AttrValue> {
    let op = ctx.op();
    let dtypes = |arg: &ArgDef| -> Option<Vec<DataType>> {
        let slots = &ctx.signature().inputs[ctx.input_range_of(&arg.name).ok()?];
        Some(slots.iter().map(|slot| slot.dtype).collect())
    };
    op.inputs.iter().find_map(|arg| {
        if arg.number_attr.as_ref().is_some_and(|number| number == attr) {
            return Some(AttrValue::Int(dtypes(arg)?.len() as i64));
        }
        match &arg.ty {
            ArgType::Attr(name) if name == attr => Some(AttrValue::Type(*dtypes(arg)?.first()?)),
            ArgType::ListAttr(name) if name == attr => Some(AttrValue::ListType(dtypes(arg)?)),
            _ => None,
        }
    })
}
