//! A gradient as a registration, and the list of all that are linked.

use std::any::Any;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::place::{ParameterKind, Place, Side};
use super::result::InputGradients;
use super::scope::GradientScope;
use crate::collect;
use crate::error::Result;
use crate::kernel::{Location, Provider};
use crate::op::OpDef;
use crate::sort::CompactSort as _;

/// A gradient of an op. Made by `#[register_gradient]` and `not_differentiable!`.
pub struct GradientDef {
    /// By which nodes ask for it: the name of the op, or of a gradient that a node's attr `_gradient_op_type` asks for.
    pub name: &'static str,
    /// The op.
    pub op: &'static OpDef,
    /// How it is computed; `None` if nothing flows back through the op.
    pub differentiation: Option<Differentiation>,
    /// The crate that registered it.
    pub provider: &'static Provider,
    /// Where.
    pub location: Location,
}

/// The function of a gradient, and what it takes.
pub struct Differentiation {
    /// What its parameters stand for. Nothing else of the node is kept for it.
    pub uses: &'static [Place],
    /// The function.
    pub call: fn(&mut GradientScope<'_>) -> Result<InputGradients>,
}

impl GradientDef {
    /// Whether the value of this input or output is used, and not only its shape.
    pub fn uses_value(&self, side: Side, argument: usize) -> bool {
        self.uses(side, argument, |kind| matches!(kind, ParameterKind::Value | ParameterKind::Values))
    }

    /// Whether the shape of this input or output is used, be it by its value.
    pub fn uses_shape(&self, side: Side, argument: usize) -> bool {
        self.uses(side, argument, |_| true)
    }

    fn uses(&self, side: Side, argument: usize, is_one: impl Fn(ParameterKind) -> bool) -> bool {
        let uses = self.differentiation.iter().flat_map(|differentiation| differentiation.uses);
        uses.into_iter().any(|place| place.side == side && place.argument == argument && is_one(place.kind))
    }
}

/// The gradients of all linked crates that selective registration keeps, by name.
pub fn registered_gradients() -> &'static [&'static GradientDef] {
    static ALL: OnceLock<Vec<&'static GradientDef>> = OnceLock::new();
    ALL.get_or_init(|| {
        let kept = collect::linked_gradients().filter_map(|entry| entry.gradient);
        let mut all: Vec<&'static GradientDef> =
            kept.filter_map(|gradient| (gradient as &dyn Any).downcast_ref::<GradientDef>()).collect();
        all.compact_sort_by_key(|gradient| (gradient.name, gradient.location));
        all
    })
}

/// The gradient by this name, which is that of an op or one that a node asks for.
pub fn find_gradient(name: &str) -> Option<&'static GradientDef> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static GradientDef>> = OnceLock::new();
    let by_name =
        BY_NAME.get_or_init(|| registered_gradients().iter().map(|gradient| (gradient.name, *gradient)).collect());
    by_name.get(name).copied()
}
