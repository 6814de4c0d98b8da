//! Einsum: sums of products over labelled dimensions, as products of stacks of matrices.
//!
//! A label is in both inputs and the output (*batch*), in both inputs only (*contracted*), in one input and the output
//! (*free*), or in one input only (*summed*). Each input is laid out as batch, free and contracted dimensions, unless
//! it lies that way already; the product then has the batch dimensions and the free ones of either side.

use super::products::Side;
use super::strided::StridedCopy;
use kernlink::error::{Error, Result};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// What a device does for a sum of products.
pub trait Device {
    /// A tensor of this shape with the elements that a copy brings, and zeros elsewhere. If it is not `sparse`, the copy
    /// brings all.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED, or what else goes wrong, here and below.
    fn copied(&self, source: &Tensor, copy: &StridedCopy, shape: Shape, sparse: bool) -> Result<Tensor>;

    /// A tensor of this shape, whose elements are the sums of rows of `columns` neighbours each.
    fn row_sums(&self, rows: &Tensor, columns: usize, shape: Shape) -> Result<Tensor>;

    /// The products of stacks of matrices, each stored as its side says.
    fn products(&self, tensors: [&Tensor; 2], sides: [Side<'_>; 2]) -> Result<Tensor>;
}

/// A dimension that has a letter, or the k-th of those that the ellipsis stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Named(char),
    Broadcast(usize),
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Named(letter) => write!(f, "`{letter}`"),
            Label::Broadcast(index) => write!(f, "number {index} of the ellipsis"),
        }
    }
}

/// The labels of an input or of the output: those before the ellipsis, and those behind it if there is one.
#[derive(Debug)]
struct Labels {
    before: Vec<char>,
    after: Option<Vec<char>>,
}

impl Labels {
    fn parse(text: &str) -> Result<Labels> {
        let wrong = || Error::invalid_argument(format!("Expected at most one ellipsis (...) in '{text}'"));
        match (text.matches('.').count(), text.split_once("...")) {
            (0, _) => Ok(Labels { before: text.chars().collect(), after: None }),
            (3, Some((before, after))) => {
                Ok(Labels { before: before.chars().collect(), after: Some(after.chars().collect()) })
            }
            _ => Err(wrong()),
        }
    }

    /// How many dimensions have a letter.
    fn named(&self) -> usize {
        self.before.len() + self.after.as_ref().map_or(0, Vec::len)
    }

    /// A label for every dimension, where the ellipsis stands for those numbered `broadcast`.
    fn all(&self, broadcast: std::ops::Range<usize>) -> Vec<Label> {
        let before = self.before.iter().map(|&letter| Label::Named(letter));
        let Some(after) = &self.after else { return before.collect() };
        before.chain(broadcast.map(Label::Broadcast)).chain(after.iter().map(|&letter| Label::Named(letter))).collect()
    }
}

/// A dimension of an input: what remains of those with one label.
#[derive(Clone, Copy, Debug)]
struct Axis {
    label: Label,
    size: usize,
    /// The distance between neighbours, in elements: along the diagonal if the label occurs several times.
    stride: usize,
}

/// An input with its labels. Dimensions of size 1 that the ellipsis stands for are left out.
struct Input {
    tensor: Tensor,
    axes: Vec<Axis>,
}

impl Input {
    fn new(tensor: &Tensor, labels: &[Label]) -> Result<Input> {
        let mut axes: Vec<Axis> = Vec::new();
        for ((&label, &size), &stride) in labels.iter().zip(tensor.shape().iter()).zip(&tensor.shape().strides()) {
            match axes.iter_mut().find(|axis| axis.label == label) {
                Some(axis) => {
                    ensure!(
                        axis.size == size,
                        InvalidArgument,
                        "Expected dimension {} of {label} but got dimension {size} in shape {}",
                        axis.size,
                        tensor.shape()
                    );
                    axis.stride += stride;
                }
                None if size == 1 && matches!(label, Label::Broadcast(_)) => {}
                None => axes.push(Axis { label, size, stride }),
            }
        }
        Ok(Input { tensor: tensor.clone(), axes })
    }

    fn find(&self, label: Label) -> Option<Axis> {
        self.axes.iter().copied().find(|axis| axis.label == label)
    }

    /// The axes with these labels, as far as it has them.
    fn select(&self, labels: &[Label]) -> Vec<Axis> {
        labels.iter().filter_map(|&label| self.find(label)).collect()
    }

    /// Whether the elements already lie in the order of these axes, which are all that there are.
    fn lies_as(&self, axes: &[Axis]) -> bool {
        let mut expected = 1usize;
        axes.iter().rev().filter(|axis| axis.size != 1).all(|axis| {
            let fits = axis.stride == expected;
            expected = expected.saturating_mul(axis.size);
            fits
        }) && expected == self.tensor.num_elements()
    }

    /// A tensor of shape `shape` with the elements in the order of `axes`, summed over the axes that are not among
    /// them.
    fn arrange(&self, device: &dyn Device, axes: &[Axis], shape: Shape) -> Result<Tensor> {
        let kept = |axis: &Axis| axes.iter().any(|kept| kept.label == axis.label);
        let summed: Vec<Axis> = self.axes.iter().copied().filter(|axis| !kept(axis)).collect();
        let all: Vec<Axis> = axes.iter().chain(&summed).copied().collect();
        let columns = product(summed.iter().map(|axis| axis.size))?;
        let elements = product(all.iter().map(|axis| axis.size))?;
        let arranged = if self.lies_as(&all) {
            self.tensor.clone()
        } else {
            let mut copy = StridedCopy::new(0, 0);
            let mut stride = elements;
            for axis in all.iter().filter(|_| elements > 0) {
                stride /= axis.size;
                copy = copy.step(axis.size, stride, axis.stride as isize);
            }
            let copy = if elements > 0 { copy } else { StridedCopy::nothing() };
            device.copied(&self.tensor, &copy, Shape::from([elements]), false)?
        };
        if summed.is_empty() {
            return arranged.reshaped(shape);
        }
        device.row_sums(&arranged, columns, shape)
    }
}

/// The number of elements.
fn product(sizes: impl IntoIterator<Item = usize>) -> Result<usize> {
    let overflow = || Error::invalid_argument("too many elements for an einsum");
    sizes.into_iter().try_fold(1usize, |product, size| product.checked_mul(size)).ok_or_else(overflow)
}

fn labels(axes: &[Axis]) -> Vec<Label> {
    axes.iter().map(|axis| axis.label).collect()
}

/// What an equation says.
#[derive(Debug)]
pub struct Equation {
    inputs: Vec<Labels>,
    output: Labels,
}

impl Equation {
    /// Of attr `equation`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT unless it says one output of one input or two.
    pub fn new(equation: &str) -> Result<Equation> {
        let sides: Vec<&str> = equation.split("->").collect();
        let [inputs, output] = sides[..] else {
            bail!(InvalidArgument, "Expecting exactly one '->' in einsum equation: {equation}");
        };
        let inputs = inputs.split(',').map(Labels::parse).collect::<Result<Vec<_>>>()?;
        ensure!(
            inputs.len() <= 2,
            InvalidArgument,
            "Expecting 1 or 2 input subscripts in equation '{equation}' but got: {}",
            inputs.len()
        );
        Ok(Equation { inputs, output: Labels::parse(output)? })
    }

    /// The sums of products of these inputs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit the equation or each other; what goes wrong on the device.
    pub fn compute(&self, device: &dyn Device, tensors: &[&Tensor]) -> Result<Tensor> {
        ensure!(
            tensors.len() == self.inputs.len(),
            InvalidArgument,
            "Expected {} inputs but got: {}",
            self.inputs.len(),
            tensors.len()
        );
        let mut broadcast = 0;
        for (index, (tensor, labels)) in tensors.iter().zip(&self.inputs).enumerate() {
            let (rank, named) = (tensor.rank(), labels.named());
            ensure!(
                rank == named || (rank > named && labels.after.is_some()),
                InvalidArgument,
                "Expected input {index} to have rank {named}{}, but got: {rank}",
                if labels.after.is_some() { " at least" } else { "" }
            );
            broadcast = broadcast.max(rank - named);
        }
        ensure!(
            broadcast == 0 || self.output.after.is_some(),
            InvalidArgument,
            "Output contains {broadcast} broadcasting dimension(s) but no ellipsis (...) was found in the output \
             subscripts."
        );
        let mut inputs = Vec::new();
        for (tensor, labels) in tensors.iter().zip(&self.inputs) {
            let first = broadcast - (tensor.rank() - labels.named());
            inputs.push(Input::new(tensor, &labels.all(first..broadcast))?);
        }
        // The output's dimensions: each with its size, and once more without repetitions.
        let mut dims = Vec::new();
        let mut wanted: Vec<Label> = Vec::new();
        for label in self.output.all(0..broadcast) {
            let mut size = None;
            for axis in inputs.iter().filter_map(|input| input.find(label)) {
                if let Some(size) = size.filter(|&size| size != axis.size) {
                    bail!(InvalidArgument, "Expected dimension {size} of {label} but got dimension {}", axis.size);
                }
                size = Some(axis.size);
            }
            match (size, label) {
                (None, Label::Named(letter)) => {
                    bail!(InvalidArgument, "the output has label '{letter}', which is not present in the inputs");
                }
                (None, Label::Broadcast(_)) => dims.push((label, 1)),
                (Some(size), _) => {
                    dims.push((label, size));
                    if !wanted.contains(&label) {
                        wanted.push(label);
                    }
                }
            }
        }
        ensure!(dims.len() <= MAX_RANK, InvalidArgument, "Rank cannot exceed {MAX_RANK}");
        let (result, order) = match &inputs[..] {
            [only] => {
                let axes = only.select(&wanted);
                let shape = Shape::from([product(axes.iter().map(|axis| axis.size))?]);
                (only.arrange(device, &axes, shape)?, wanted)
            }
            [first, second] => contract(device, first, second, &wanted)?,
            _ => bail!(InvalidArgument, "Expected either 1 or 2 inputs but got: {}", inputs.len()),
        };
        finish(device, result, &order, &dims)
    }
}

/// The product of two inputs, and in which order it has the labels that are wanted.
fn contract(device: &dyn Device, first: &Input, second: &Input, wanted: &[Label]) -> Result<(Tensor, Vec<Label>)> {
    // The input whose free labels come first in the output is the left one, so that the product needs no transposition.
    let free_of_first = |label: &&Label| first.find(**label).is_some() != second.find(**label).is_some();
    let swap = wanted.iter().find(free_of_first).is_some_and(|label| second.find(*label).is_some());
    let (left, right) = if swap { (second, first) } else { (first, second) };

    let is_in = |input: &Input, label: &Label| input.find(*label).is_some();
    let choose = |in_left: bool, in_right: bool| -> Vec<Label> {
        wanted
            .iter()
            .copied()
            .filter(|label| is_in(left, label) == in_left && is_in(right, label) == in_right)
            .collect()
    };
    let (batch, free_left, free_right) = (choose(true, true), choose(true, false), choose(false, true));
    let contracted: Vec<Label> =
        labels(&left.axes).into_iter().filter(|label| is_in(right, label) && !wanted.contains(label)).collect();
    for &label in &contracted {
        let [left, right] = [left, right].map(|input| input.find(label).map_or(1, |axis| axis.size));
        ensure!(left == right, InvalidArgument, "Expected dimension {left} of {label} but got dimension {right}");
    }

    let (a, a_transposed) = side(device, left, &batch, &free_left, &contracted)?;
    let (b, b_transposed) = side(device, right, &batch, &contracted, &free_right)?;
    let sides =
        [Side { shape: a.shape(), transposed: a_transposed }, Side { shape: b.shape(), transposed: b_transposed }];
    let output = device.products([&a, &b], sides)?;
    Ok((output, [batch, free_left, free_right].concat()))
}

/// An input as a stack of matrices with these labels in rows and columns, and whether they are stored transposed.
fn side(
    device: &dyn Device,
    input: &Input,
    batch: &[Label],
    rows: &[Label],
    columns: &[Label],
) -> Result<(Tensor, bool)> {
    let (batch, rows, columns) = (input.select(batch), input.select(rows), input.select(columns));
    let size = |axes: &[Axis]| product(axes.iter().map(|axis| axis.size));
    let mut shape = Shape::from([size(&batch)?]);
    let transposed = [&batch[..], &columns, &rows].concat();
    if transposed.len() == input.axes.len() && input.lies_as(&transposed) {
        shape.push(size(&columns)?);
        shape.push(size(&rows)?);
        return Ok((input.arrange(device, &transposed, shape)?, true));
    }
    shape.push(size(&rows)?);
    shape.push(size(&columns)?);
    Ok((input.arrange(device, &[&batch[..], &rows, &columns].concat(), shape)?, false))
}

/// The result, which has the labels in `order`, with the output's dimensions. Where a label occurs several times the
/// elements stand on the diagonal.
fn finish(device: &dyn Device, result: Tensor, order: &[Label], dims: &[(Label, usize)]) -> Result<Tensor> {
    let shape: Shape = dims.iter().map(|&(_, size)| size).collect();
    shape.check()?;
    let size = |label: Label| dims.iter().find(|dim| dim.0 == label).map_or(1, |dim| dim.1);
    let wide = |label: &Label| size(*label) != 1;
    let labels = dims.iter().map(|dim| dim.0);
    if labels.clone().filter(wide).eq(order.iter().copied().filter(wide)) {
        return result.reshaped(shape);
    }
    let repeated = labels.filter(wide).count() > order.iter().filter(|label| wide(label)).count();
    let strides = shape.strides();
    let mut copy = StridedCopy::new(0, 0);
    let mut from = result.num_elements();
    for &label in order.iter().filter(|_| result.num_elements() > 0) {
        from /= size(label);
        let to = dims.iter().zip(&strides).filter(|(dim, _)| dim.0 == label).map(|(_, &stride)| stride).sum();
        copy = copy.step(size(label), to, from as isize);
    }
    let copy = if result.num_elements() > 0 { copy } else { StridedCopy::nothing() };
    device.copied(&result, &copy, shape, repeated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows shapes alone.
    struct Shapes;

    impl Device for Shapes {
        fn copied(&self, source: &Tensor, _: &StridedCopy, shape: Shape, _: bool) -> Result<Tensor> {
            Tensor::zeros(source.dtype(), shape)
        }

        fn row_sums(&self, rows: &Tensor, columns: usize, shape: Shape) -> Result<Tensor> {
            assert_eq!(rows.num_elements(), columns * shape.num_elements());
            Tensor::zeros(rows.dtype(), shape)
        }

        fn products(&self, tensors: [&Tensor; 2], sides: [Side<'_>; 2]) -> Result<Tensor> {
            let [a, b] = sides;
            Tensor::zeros(tensors[0].dtype(), crate::products::Sizes::new(a, b)?.output)
        }
    }

    fn shape_of(equation: &str, inputs: &[&[usize]]) -> Result<Vec<usize>> {
        let tensors: Vec<Tensor> =
            inputs.iter().map(|&shape| Tensor::zeros(kernlink::dtype::DataType::Float, shape).unwrap()).collect();
        let output = Equation::new(equation)?.compute(&Shapes, &tensors.iter().collect::<Vec<_>>())?;
        Ok(output.shape().to_vec())
    }

    #[test]
    fn outputs_have_the_labels_that_are_wanted() {
        assert_eq!(shape_of("ab,bc->ac", &[&[2, 3], &[3, 4]]).unwrap(), [2, 4]);
        assert_eq!(shape_of("...ab,...bc->...ca", &[&[5, 1, 2, 3], &[6, 3, 4]]).unwrap(), [5, 6, 4, 2]);
        assert_eq!(shape_of("abb->ba", &[&[2, 3, 3]]).unwrap(), [3, 2]);
        assert_eq!(shape_of("a->aa", &[&[3]]).unwrap(), [3, 3]);
        assert_eq!(shape_of("ab,cd->", &[&[2, 3], &[0, 4]]).unwrap(), [0usize; 0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (equation, inputs) in [
            ("ab,bc->ac", &[&[2, 3][..], &[4, 5]][..]),
            ("ab->c", &[&[2, 3]]),
            ("aa->a", &[&[2, 3]]),
            ("ab,b->a", &[&[2, 3]]),
            ("a..b->ab", &[&[2, 3]]),
            ("...a->a", &[&[2, 3]]),
        ] {
            assert!(shape_of(equation, inputs).is_err(), "{equation}");
        }
        assert!(Equation::new("ab").is_err());
        assert!(Equation::new("a,b,c->abc").is_err());
    }
}
