//! Einsum: the gradient of an operand is an Einsum of what flows back and the other operand.

use kernlink::dtype::DataType;
use kernlink::error::Error;
use kernlink::gradient::{GradientScope, ShapeOf, Value};
use kernlink::{Result, ensure};
use kernlink_macros::register_gradient;

use super::{conjugate, shape_of, unbroadcast};
use crate::*;

const ELLIPSIS: &str = "...";

/// The labels of a tensor's dimensions: those before an ellipsis and those behind it, if there is one.
#[derive(Clone)]
struct Labels {
    before: Vec<char>,
    behind: Option<Vec<char>>,
}

impl Labels {
    fn new(text: &str) -> Labels {
        match text.split_once(ELLIPSIS) {
            Some((before, behind)) => {
                Labels { before: before.chars().collect(), behind: Some(behind.chars().collect()) }
            }
            None => Labels { before: text.chars().collect(), behind: None },
        }
    }

    fn all(&self) -> impl Iterator<Item = char> + '_ {
        self.before.iter().chain(self.behind.iter().flatten()).copied()
    }

    fn has(&self, label: char) -> bool {
        self.all().any(|own| own == label)
    }

    fn text(&self) -> String {
        let mut text: String = self.before.iter().collect();
        if let Some(behind) = &self.behind {
            text.push_str(ELLIPSIS);
            text.extend(behind);
        }
        text
    }

    /// The place of a label's dimension, from the front or, behind an ellipsis, from the end.
    fn place(&self, label: char) -> Option<i32> {
        let find = |labels: &[char]| labels.iter().position(|&own| own == label);
        match (find(&self.before), &self.behind) {
            (Some(place), _) => Some(place as i32),
            (None, Some(behind)) => find(behind).map(|place| place as i32 - behind.len() as i32),
            (None, None) => None,
        }
    }
}

/// What flows on to one operand.
fn of_operand(
    g: &mut GradientScope<'_>,
    flow: Value,
    output: &Labels,
    own: (&Labels, &ShapeOf),
    other: Option<(&Labels, Value)>,
) -> Result<Value> {
    let (labels, shape) = own;
    // Each label once, dimensions of an ellipsis first: those along which the operand was broadcast are summed from there.
    let mut once: Vec<char> = Vec::new();
    labels.all().for_each(|label| {
        if !once.contains(&label) {
            once.push(label)
        }
    });
    let is_summed = |&label: &char| !output.has(label) && !other.is_some_and(|(other, _)| other.has(label));
    let front = if output.behind.is_some() { ELLIPSIS } else { "" };
    let named = |labels: &[char]| format!("{front}{}", labels.iter().collect::<String>());

    let (summed, kept): (Vec<char>, Vec<char>) = once.iter().partition(|&label| is_summed(label));
    let mut found = match other {
        Some((other, value)) => {
            let value = conjugate(g, value)?;
            let equation = format!("{},{}->{}", output.text(), other.text(), named(&kept));
            einsum(g, [flow, value], &equation).build()?
        }
        None if output.text() == named(&kept) => flow,
        None => einsum(g, [flow], &format!("{}->{}", output.text(), named(&kept))).build()?,
    };
    if !summed.is_empty() {
        // What was summed gets the same everywhere.
        let (dims, dtype) = (g.dims(shape)?, g.dtype(found)?);
        let places: Vec<i32> = summed.iter().filter_map(|&label| labels.place(label)).collect();
        let rank = size(g, dims).build()?;
        let places = floor_mod(g, &places[..], rank).build()?;
        let along = gather_v2(g, dims, places, 0).build()?;
        let one = g.scalar(dtype, 1.0)?;
        let ones = fill(g, along, one).build()?;
        let equation = format!("{},{}->{}", named(&kept), summed.iter().collect::<String>(), named(&once));
        found = einsum(g, [found, ones], &equation).build()?;
    }
    let leads = labels.before.is_empty() && labels.behind.is_some();
    if output.behind.is_some() && !leads {
        let target = Labels { before: Vec::new(), behind: Some(once.clone()) };
        found = unbroadcast_front(g, found, labels, &target, shape)?;
    }
    let front = if labels.behind.is_some() { ELLIPSIS } else { "" };
    let now = format!("{front}{}", once.iter().collect::<String>());
    let found =
        if now == labels.text() { found } else { einsum(g, [found], &format!("{now}->{}", labels.text())).build()? };
    if leads { unbroadcast(g, found, shape) } else { Ok(found) }
}

/// Sums dimensions of an ellipsis that stands first: to those that an operand has for its own, or to none.
fn unbroadcast_front(
    g: &mut GradientScope<'_>,
    found: Value,
    labels: &Labels,
    target: &Labels,
    shape: &ShapeOf,
) -> Result<Value> {
    let dims = g.dims(shape)?;
    let now = shape_of(g, found);
    let now = g.dims(&now)?;
    let count = target.behind.as_ref().map_or(0, Vec::len) as i32;
    let labelled = match count {
        0 => strided_slice(g, now, &[0i32][..], &[0i32][..], &[1i32][..]).build()?,
        _ => strided_slice(g, now, &[-count][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?,
    };
    let own = match &labels.behind {
        Some(behind) => {
            let (begin, end) = (labels.before.len() as i32, -(behind.len() as i32));
            let own = strided_slice(g, dims, &[begin][..], &[end][..], &[1i32][..]);
            let own = if behind.is_empty() { own.end_mask(1) } else { own }.build()?;
            let (own, labelled) = (cast(g, own, DataType::Int64).build()?, cast(g, labelled, DataType::Int64).build()?);
            concat_v2(g, [own, labelled], 0).build()?
        }
        None => cast(g, labelled, DataType::Int64).build()?,
    };
    let now = cast(g, now, DataType::Int64).build()?;
    let axes = broadcast_gradient_args(g, own, now).build()?;
    let summed = sum(g, found, axes.r0).build()?;
    reshape(g, summed, own).build()
}

#[register_gradient(op = Einsum)]
fn einsum_gradient(
    g: &mut GradientScope<'_>,
    equation: String,
    inputs: Vec<Value>,
    d_output: Value,
) -> Result<Vec<Value>> {
    let malformed = || Error::invalid_argument(format!("{equation} is no equation of {} operands", inputs.len()));
    let (operands, output) = equation.split_once("->").ok_or_else(malformed)?;
    let operands: Vec<Labels> = operands.split(',').map(Labels::new).collect();
    let output = Labels::new(output);
    ensure!(operands.len() == inputs.len(), InvalidArgument, "{}", malformed().message());
    let shapes: Vec<ShapeOf> = inputs.iter().map(|&input| shape_of(g, input)).collect();
    match (&operands[..], &inputs[..], &shapes[..]) {
        ([labels], [_], [shape]) => Ok(vec![of_operand(g, d_output, &output, (labels, shape), None)?]),
        ([a, b], &[x, y], [of_x, of_y]) => Ok(vec![
            of_operand(g, d_output, &output, (a, of_x), Some((b, y)))?,
            of_operand(g, d_output, &output, (b, of_y), Some((a, x)))?,
        ]),
        _ => Err(malformed()),
    }
}
