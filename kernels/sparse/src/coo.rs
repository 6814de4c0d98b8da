//! The indices of a sparse tensor: their order, their bounds.

use std::cmp::Ordering;

use kernlink::error::Result;
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};

use super::elements::{ensure_matrix, ensure_vector};
use kernlink_geometry::integers::index_text;

/// A sparse tensor's indices, with what its shape says.
#[derive(Clone, Copy)]
pub(super) struct Coo<'a> {
    indices: &'a [i64],
    /// The dense shape.
    pub(super) sizes: &'a [i64],
    elements: usize,
}

impl<'a> Coo<'a> {
    /// Checks that the three tensors fit each other. What they hold is not looked at.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    #[track_caller]
    pub(super) fn new(indices: &'a Tensor, values: &Tensor, shape: &'a Tensor) -> Result<Coo<'a>> {
        ensure_matrix(indices, "Sparse indices")?;
        ensure_vector(values, "Sparse values")?;
        ensure_vector(shape, "Sparse shape")?;
        let (&[elements, rank], sizes) = (indices.shape().dims(), shape.as_slice::<i64>()?) else {
            bail!(Internal, "a matrix has two sizes");
        };
        ensure!(
            values.num_elements() == elements,
            InvalidArgument,
            "Number of elements in indices ({elements}) and values ({}) do not match",
            values.num_elements()
        );
        ensure!(
            sizes.len() == rank,
            InvalidArgument,
            "Index rank ({rank}) and shape rank ({}) do not match",
            sizes.len()
        );
        ensure!(rank <= MAX_RANK, InvalidArgument, "rank {rank} is above {MAX_RANK}");
        Ok(Coo { indices: indices.as_slice()?, sizes, elements })
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.elements
    }

    /// The number of dimensions.
    pub(super) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The index of element `n`.
    pub(super) fn index(&self, n: usize) -> &'a [i64] {
        &self.indices[n * self.rank()..][..self.rank()]
    }

    /// The dense shape.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is none.
    #[track_caller]
    pub(super) fn shape(&self) -> Result<Shape> {
        Shape::from_dims(self.sizes)
    }

    /// Fails if an index lies outside the shape.
    #[track_caller]
    pub(super) fn ensure_within(&self) -> Result<()> {
        match (0..self.elements).find(|&n| !self.within(n)) {
            None => Ok(()),
            Some(n) => bail!(
                InvalidArgument,
                "indices[{n}] = {} is out of bounds: need 0 <= index < {}",
                index_text(self.index(n)),
                index_text(self.sizes)
            ),
        }
    }

    fn within(&self, n: usize) -> bool {
        self.index(n).iter().zip(self.sizes).all(|(index, &size)| (0..size).contains(index))
    }

    /// Fails if an index lies outside the shape, comes before the one in front of it or equals it.
    #[track_caller]
    pub(super) fn ensure_valid(&self) -> Result<()> {
        self.ensure_within()?;
        for n in 1..self.elements {
            let wrong = match self.index(n - 1).cmp(self.index(n)) {
                Ordering::Less => continue,
                Ordering::Equal => "is repeated",
                Ordering::Greater => {
                    "is out of order. Many sparse ops require sorted indices. Use SparseReorder to create a correctly \
                     ordered copy."
                }
            };
            bail!(InvalidArgument, "indices[{n}] = {} {wrong}", index_text(self.index(n)));
        }
        Ok(())
    }

    /// Whether [`ensure_valid`](Self::ensure_valid) succeeds.
    pub(super) fn is_valid(&self) -> bool {
        (0..self.elements).all(|n| self.within(n) && (n == 0 || self.index(n - 1) < self.index(n)))
    }

    /// The elements sorted by the dimensions `axes`, the first of which counts most; equals stay in their order.
    pub(super) fn sorted_by(&self, axes: &[usize]) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = scratch::collected(0..self.elements)?;
        let key = |n: usize| axes.iter().map(move |&axis| self.index(n)[axis]);
        order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        Ok(order)
    }

    /// The runs of `order` whose elements have equal indices in the dimensions `axes`.
    pub(super) fn groups<'b>(&self, order: &'b [usize], axes: &[usize]) -> impl Iterator<Item = &'b [usize]> {
        order.chunk_by(move |&a, &b| axes.iter().all(|&axis| self.index(a)[axis] == self.index(b)[axis]))
    }

    /// The elements at each place where this or `other` has one, both in row-major order.
    pub(super) fn union<'u>(&'u self, other: &'u Coo<'_>) -> impl Iterator<Item = Pair> + 'u {
        let (mut a, mut b) = (0, 0);
        std::iter::from_fn(move || {
            let order = match (a < self.elements, b < other.elements) {
                (true, true) => self.index(a).cmp(other.index(b)),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => return None,
            };
            let pair = (order.is_le().then_some(a), order.is_ge().then_some(b));
            a += usize::from(order.is_le());
            b += usize::from(order.is_ge());
            Some(pair)
        })
    }
}

/// The elements of two sparse tensors at one place, where at least one has one.
pub(super) type Pair = (Option<usize>, Option<usize>);

/// Fails unless two sparse tensors have the same shape, which is no scalar's.
#[track_caller]
pub(super) fn ensure_same_shape(a: &Coo<'_>, b: &Coo<'_>) -> Result<()> {
    ensure!(a.rank() > 0, InvalidArgument, "Tensors must not be empty");
    ensure!(
        a.sizes == b.sizes,
        InvalidArgument,
        "Operands' shapes do not match: got {} and {}",
        index_text(a.sizes),
        index_text(b.sizes)
    );
    Ok(())
}
