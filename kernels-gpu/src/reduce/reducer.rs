//! What the reductions compute: how elements become partial results, how those merge, and what comes out.

use kernlink::bail;
use kernlink::error::Result;

use crate::shader::Scalar;

/// A reduction of elements of one kind, which `reducers.wgsl` computes.
#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    /// What names it in errors.
    pub(crate) label: &'static str,
    /// What the input's elements are.
    pub(crate) from: Scalar,
    /// What partial results are.
    pub(crate) part: Scalar,
    /// What the output's elements are.
    pub(crate) to: Scalar,
    /// The names that hold in the conditions of the file: of the reduction, and of what is left out of it.
    names: Vec<&'static str>,
}

/// The reductions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Sum,
    /// Of integers rounded towards zero; their sums are kept in 64 bits.
    Mean,
    Product,
    /// NaN if an element is.
    Greatest,
    /// NaN if an element is.
    Least,
    /// Half the sum of the squares.
    HalfSquares,
    /// The root of the sum of the squares.
    Norm,
}

impl Kind {
    /// That of an op.
    ///
    /// # Errors
    /// INTERNAL for ops that are none.
    pub(super) fn of_op(op: &str) -> Result<Kind> {
        Ok(match op {
            "Sum" => Kind::Sum,
            "Mean" => Kind::Mean,
            "Prod" => Kind::Product,
            // Of bools, all hold if the least does, and any does if the greatest does.
            "Max" | "Any" => Kind::Greatest,
            "Min" | "All" => Kind::Least,
            "EuclideanNorm" => Kind::Norm,
            other => bail!(Internal, "{other} is no reduction"),
        })
    }

    /// The reduction of elements of this kind.
    pub(crate) fn of(self, scalar: Scalar) -> Reducer {
        use Scalar::{F16, F32, I32, U32};
        let part = match (self, scalar) {
            (_, F32 | F16) => F32,
            (Kind::Mean, I32 | U32) => Scalar::I64,
            (_, scalar) => scalar,
        };
        let (label, names): (_, &[&str]) = match (self, scalar) {
            (Kind::Sum, _) => ("Sum", &["add", "lifted", "finished"]),
            (Kind::Mean, F32) => ("Mean", &["add", "lifted", "mean"]),
            (Kind::Mean, F16) => ("Mean", &["add", "lifted", "mean", "half"]),
            (Kind::Mean, U32) => ("Mean", &["add", "widened_u32", "mean"]),
            (Kind::Mean, _) => ("Mean", &["add", "widened", "mean"]),
            (Kind::HalfSquares, _) => ("L2Loss", &["add", "half_squares", "finished"]),
            (Kind::Norm, _) => ("EuclideanNorm", &["add", "norm"]),
            (Kind::Product, _) => ("Prod", &["product", "lifted", "finished"]),
            (Kind::Greatest, _) => ("Max", &["greatest", "lifted", "finished"]),
            (Kind::Least, _) => ("Min", &["least", "lifted", "finished"]),
        };
        Reducer { label, from: scalar, part, to: scalar, names: names.to_vec() }
    }
}

impl Reducer {
    /// The names that hold in the conditions of a file that imports the reduction.
    pub(super) fn names(&self, vectors: bool) -> Vec<&'static str> {
        let vectors = if vectors { &["vectors"][..] } else { &[] };
        [&self.names[..], self.part.names(), vectors].concat()
    }

    /// Whether results depend on the number of elements.
    pub(super) fn counts(&self) -> bool {
        self.names.contains(&"mean") && !self.names.contains(&"to_parts")
    }

    /// The reduction to partial results.
    pub(crate) fn to_parts(&self) -> Reducer {
        Reducer { to: self.part, ..self.and("to_parts") }
    }

    /// The reduction of partial results.
    pub(crate) fn of_parts(&self) -> Reducer {
        Reducer { from: self.part, ..self.and("of_parts") }
    }

    fn and(&self, name: &'static str) -> Reducer {
        let mut reducer = self.clone();
        reducer.names.push(name);
        reducer
    }
}
