//! Decompositions, inverses, determinants and equations. Of numbers that are complex, conjugates stand where TensorFlow lacks
//! some: docs/gradients.md has them.

use kernlink::dtype::DataType;
use kernlink::error::Error;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink::{Result, bail};
use kernlink_macros::register_gradient;

use super::{conjugate, scalar_like, shape_of, unbroadcast};
use crate::*;

/// A product of which operands may be taken as their conjugate transposes.
fn product(g: &mut GradientScope<'_>, x: Value, y: Value, [adj_x, adj_y]: [bool; 2]) -> Result<Value> {
    batch_mat_mul_v2(g, x, y).adj_x(adj_x).adj_y(adj_y).build()
}

/// The transposes.
fn transposed(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    einsum(g, [x], "...ij->...ji").build()
}

/// The conjugate transposes.
fn adjoint(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let turned = transposed(g, x)?;
    conjugate(g, turned)
}

/// With half of what is on the diagonals.
fn half_diagonal(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let diagonal = matrix_diag_part(g, x).build()?;
    let half = scalar_like(g, x, 0.5)?;
    let diagonal = mul(g, diagonal, half).build()?;
    matrix_set_diag(g, x, diagonal).build()
}

/// What is on and below the diagonals.
fn lower_part(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    matrix_band_part(g, x, -1i64, 0i64).build()
}

/// Numbers for each matrix as matrices of one element.
fn as_matrices(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let columns = expand_dims(g, x, -1).build()?;
    expand_dims(g, columns, -1).build()
}

/// Rows and columns, if they are known.
fn known_sizes(g: &GradientScope<'_>, x: Value) -> Option<[usize; 2]> {
    let shape = g.known_shape(x);
    match shape.dims()? {
        [.., Some(rows), Some(columns)] => Some([*rows, *columns]),
        _ => None,
    }
}

/// `x / (x² + 1e-20)`: the reciprocal, but of what is nearly zero.
fn safe_reciprocal(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let (square, least) = (mul(g, x, x).build()?, scalar_like(g, x, 1e-20)?);
    let sum = add_v2(g, square, least).build()?;
    let reciprocal = reciprocal(g, sum).build()?;
    mul(g, x, reciprocal).build()
}

/// `1 / (x[i] - x[j])` for row `j` and column `i`, and zeros on the diagonal.
fn reciprocal_differences(g: &mut GradientScope<'_>, x: Value) -> Result<Value> {
    let (rows, columns) = (expand_dims(g, x, -2).build()?, expand_dims(g, x, -1).build()?);
    let differences = sub(g, rows, columns).build()?;
    let reciprocals = safe_reciprocal(g, differences)?;
    let zeros = zeros_like(g, x).build()?;
    matrix_set_diag(g, reciprocals, zeros).build()
}

#[register_gradient(op = MatrixInverse)]
fn matrix_inverse_gradient(g: &mut GradientScope<'_>, adjoint: bool, output: Value, d_output: Value) -> Result<Value> {
    let right = product(g, d_output, output, [adjoint, !adjoint])?;
    let both = product(g, output, right, [!adjoint, false])?;
    neg(g, both).build()
}

#[register_gradient(op = MatrixDeterminant)]
fn matrix_determinant_gradient(
    g: &mut GradientScope<'_>,
    input: Value,
    output: Value,
    d_output: Value,
) -> Result<Value> {
    let inverse = matrix_inverse(g, input).adjoint(true).build()?;
    let output = conjugate(g, output)?;
    let factors = mul(g, d_output, output).build()?;
    let factors = as_matrices(g, factors)?;
    mul(g, factors, inverse).build()
}

/// Nothing flows through the sign.
#[register_gradient(op = LogMatrixDeterminant)]
fn log_matrix_determinant_gradient(
    g: &mut GradientScope<'_>,
    input: Value,
    d_log_abs_determinant: Value,
) -> Result<Value> {
    let inverse = matrix_inverse(g, input).adjoint(true).build()?;
    // The logarithm of an absolute value is real.
    let factors = super::real_flow(g, d_log_abs_determinant)?;
    let factors = as_matrices(g, factors)?;
    mul(g, factors, inverse).build()
}

#[register_gradient(op = Cholesky)]
fn cholesky_gradient(g: &mut GradientScope<'_>, output: Value, d_output: Value) -> Result<Value> {
    let middle = product(g, output, d_output, [true, false])?;
    let middle = half_diagonal(g, middle)?;
    let middle = lower_part(g, middle)?;
    let left = matrix_triangular_solve(g, output, middle).adjoint(true).build()?;
    let turned = adjoint(g, left)?;
    let both = matrix_triangular_solve(g, output, turned).adjoint(true).build()?;
    let turned = adjoint(g, both)?;
    let (sum, half) = (add_v2(g, both, turned).build()?, scalar_like(g, both, 0.5)?);
    mul(g, sum, half).build()
}

/// `x r⁻ᴴ` for upper triangular `r`.
fn by_adjoint(g: &mut GradientScope<'_>, x: Value, r: Value) -> Result<Value> {
    let turned = adjoint(g, x)?;
    let solved = matrix_triangular_solve(g, r, turned).lower(false).build()?;
    adjoint(g, solved)
}

/// For at least as many rows as columns.
fn deep_qr(g: &mut GradientScope<'_>, [q, r]: [Value; 2], [d_q, d_r]: [Value; 2]) -> Result<Value> {
    let qdq = product(g, q, d_q, [true, false])?;
    let rdr = product(g, r, d_r, [false, true])?;
    let (qdq_turned, rdr_turned) = (adjoint(g, qdq)?, adjoint(g, rdr)?);
    let (skew_q, skew_r) = (sub(g, qdq, qdq_turned).build()?, sub(g, rdr, rdr_turned).build()?);
    let both = add_v2(g, skew_q, skew_r).build()?;
    let lower = lower_part(g, both)?;
    let inner = by_adjoint(g, lower, r)?;
    let inner = add_v2(g, d_r, inner).build()?;
    let within = product(g, q, inner, [false, false])?;
    let along = product(g, q, qdq, [false, false])?;
    let across = sub(g, d_q, along).build()?;
    let across = by_adjoint(g, across, r)?;
    let mut flow = add_v2(g, within, across).build()?;
    if g.dtype(q)?.is_complex() {
        // Of the diagonal of r, imaginary parts are always zero.
        let m = sub(g, rdr, qdq_turned).build()?;
        let diagonal = matrix_diag_part(g, m).build()?;
        let real = super::real_flow(g, diagonal)?;
        let imaginary = sub(g, diagonal, real).build()?;
        let correction = matrix_diag(g, imaginary).build()?;
        let correction = product(g, q, correction, [false, true])?;
        let correction = by_adjoint(g, correction, r)?;
        flow = add_v2(g, flow, correction).build()?;
    }
    Ok(flow)
}

#[register_gradient(op = Qr)]
fn qr_gradient(g: &mut GradientScope<'_>, input: Value, q: Value, r: Value, d_q: Value, d_r: Value) -> Result<Value> {
    let (Some([_, width]), Some([inner, columns])) = (known_sizes(g, q), known_sizes(g, r)) else {
        bail!(Unimplemented, "the gradient of Qr asks for known numbers of rows and columns");
    };
    if inner > columns {
        bail!(Unimplemented, "there is no gradient of Qr with full_matrices for more rows than columns");
    }
    if width >= columns {
        return deep_qr(g, [q, r], [d_q, d_r]);
    }
    // The columns behind the square part follow from q.
    let sizes = [width as i32, (columns - width) as i32];
    let parts = |g: &mut GradientScope<'_>, x: Value| split_v(g, x, &sizes[..], -1, 2).build();
    let (y, r, d_r) = (parts(g, input)?[1], parts(g, r)?[0], parts(g, d_r)?);
    let d_y = product(g, q, d_r[1], [false, false])?;
    let more = product(g, y, d_r[1], [false, true])?;
    let d_q = add_v2(g, d_q, more).build()?;
    let d_x = deep_qr(g, [q, r], [d_q, d_r[0]])?;
    concat_v2(g, [d_x, d_y], -1).build()
}

/// What flows to the matrices of equations, by solutions and by what flows to right-hand sides.
fn to_matrices(g: &mut GradientScope<'_>, adjoint: bool, solution: Value, d_rhs: Value) -> Result<Value> {
    let (x, y) = if adjoint { (solution, d_rhs) } else { (d_rhs, solution) };
    let flow = product(g, x, y, [false, true])?;
    neg(g, flow).build()
}

#[register_gradient(op = MatrixSolve)]
fn matrix_solve_gradient(
    g: &mut GradientScope<'_>,
    adjoint: bool,
    matrix: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let d_rhs = matrix_solve(g, matrix, d_output).adjoint(!adjoint).build()?;
    Ok((to_matrices(g, adjoint, output, d_rhs)?, d_rhs))
}

#[register_gradient(op = MatrixTriangularSolve)]
fn matrix_triangular_solve_gradient(
    g: &mut GradientScope<'_>,
    lower: bool,
    adjoint: bool,
    matrix: Value,
    rhs: ShapeOf,
    output: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let d_rhs = matrix_triangular_solve(g, matrix, d_output).lower(lower).adjoint(!adjoint).build()?;
    let flow = to_matrices(g, adjoint, output, d_rhs)?;
    let (below, above) = if lower { (-1i64, 0i64) } else { (0, -1) };
    let flow = matrix_band_part(g, flow, below, above).build()?;
    let matrix = shape_of(g, matrix);
    Ok((unbroadcast(g, flow, &matrix)?, unbroadcast(g, d_rhs, &rhs)?))
}

#[register_gradient(op = BandedTriangularSolve)]
fn banded_triangular_solve_gradient(
    g: &mut GradientScope<'_>,
    lower: bool,
    adjoint: bool,
    matrix: Value,
    rhs: ShapeOf,
    output: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let d_rhs = banded_triangular_solve(g, matrix, d_output).lower(lower).adjoint(!adjoint).build()?;
    let flow = to_matrices(g, adjoint, output, d_rhs)?;
    let matrix = shape_of(g, matrix);
    let dims = g.dims(&matrix)?;
    let bands = strided_slice(g, dims, &[-2i32][..], &[-1i32][..], &[1i32][..]).build()?;
    let bands = cast(g, bands, DataType::Int32).build()?;
    let (one, zero) = (g.constant(vec![1i32])?, g.constant(vec![0i32])?);
    let range = match lower {
        true => [sub(g, one, bands).build()?, zero],
        false => [zero, sub(g, bands, one).build()?],
    };
    let range = concat_v2(g, range, 0).build()?;
    let nothing = scalar_like(g, flow, 0.0)?;
    let flow = matrix_diag_part_v3(g, flow, range, nothing).align("LEFT_RIGHT").build()?;
    // Of one diagonal there is no dimension.
    let batch_and_size = shape_of(g, output);
    let flow = restored(g, flow, &matrix, &batch_and_size)?;
    Ok((unbroadcast(g, flow, &matrix)?, unbroadcast(g, d_rhs, &rhs)?))
}

/// Diagonals as the rows of matrices `[…, bands, m]`, with the batches of solutions `[…, m, k]`.
fn restored(g: &mut GradientScope<'_>, flow: Value, matrix: &ShapeOf, solution: &ShapeOf) -> Result<Value> {
    let (solution, matrix) = (g.dims(solution)?, g.dims(matrix)?);
    let (solution, matrix) = (cast(g, solution, DataType::Int64).build()?, cast(g, matrix, DataType::Int64).build()?);
    let outer = strided_slice(g, solution, &[0i32][..], &[-2i32][..], &[1i32][..]).begin_mask(1).build()?;
    let inner = strided_slice(g, matrix, &[-2i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let dims = concat_v2(g, [outer, inner], 0).build()?;
    reshape(g, flow, dims).build()
}

/// The solution of `l lᴴ x = b`.
fn cholesky_solve(g: &mut GradientScope<'_>, l: Value, b: Value) -> Result<Value> {
    let forward = matrix_triangular_solve(g, l, b).build()?;
    matrix_triangular_solve(g, l, forward).adjoint(true).build()
}

#[register_gradient(op = MatrixSolveLs)]
fn matrix_solve_ls_gradient(
    g: &mut GradientScope<'_>,
    fast: bool,
    matrix: Value,
    rhs: Value,
    l2_regularizer: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, Value, NoGradient)> {
    if !fast {
        bail!(Unimplemented, "there is no gradient of MatrixSolveLs with fast=False");
    }
    let Some([rows, columns]) = known_sizes(g, matrix) else {
        bail!(Unimplemented, "the gradient of MatrixSolveLs asks for known numbers of rows and columns");
    };
    let is_tall = rows >= columns;
    let gram = product(g, matrix, matrix, [is_tall, !is_tall])?;
    let dtype = g.dtype(matrix)?;
    let weight = cast(g, l2_regularizer, dtype).build()?;
    let diagonal = matrix_diag_part(g, gram).build()?;
    let diagonal = add_v2(g, diagonal, weight).build()?;
    let gram = matrix_set_diag(g, gram, diagonal).build()?;
    let l = cholesky(g, gram).build()?;
    if is_tall {
        let z = cholesky_solve(g, l, d_output)?;
        let xz = product(g, output, z, [false, true])?;
        let turned = adjoint(g, xz)?;
        let sum = add_v2(g, xz, turned).build()?;
        let (less, more) = (product(g, matrix, sum, [false, false])?, product(g, rhs, z, [false, true])?);
        let d_matrix = sub(g, more, less).build()?;
        return Ok((d_matrix, product(g, matrix, z, [false, false])?, NoGradient));
    }
    let moved = product(g, matrix, d_output, [false, false])?;
    let d_rhs = cholesky_solve(g, l, moved)?;
    let solved = cholesky_solve(g, l, rhs)?;
    let less = product(g, solved, matrix, [true, false])?;
    let less = product(g, d_rhs, less, [false, false])?;
    let back = product(g, matrix, d_rhs, [true, false])?;
    let left = sub(g, d_output, back).build()?;
    let more = product(g, solved, left, [false, true])?;
    Ok((sub(g, more, less).build()?, d_rhs, NoGradient))
}

/// `Rᴴ X + X Rᴴ = d_output`, as equations of as many unknowns as a matrix has elements.
#[register_gradient(op = MatrixSquareRoot)]
fn matrix_square_root_gradient(g: &mut GradientScope<'_>, output: Value, d_output: Value) -> Result<Value> {
    let root = conjugate(g, output)?;
    let diagonal = matrix_diag_part(g, output).build()?;
    let ones = ones_like(g, diagonal).build()?;
    let unit = matrix_diag(g, ones).build()?;
    let from_left = einsum(g, [root, unit], "...ki,...jl->...ijkl").build()?;
    let from_right = einsum(g, [unit, root], "...ik,...jl->...ijkl").build()?;
    let all = add_v2(g, from_left, from_right).build()?;
    let shape = shape_of(g, output);
    let dims = g.dims(&shape)?;
    let dims = cast(g, dims, DataType::Int64).build()?;
    let outer = strided_slice(g, dims, &[0i32][..], &[-2i32][..], &[1i32][..]).begin_mask(1).build()?;
    let size = strided_slice(g, dims, &[-1i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let (square, one) = (mul(g, size, size).build()?, g.constant(vec![1i64])?);
    let matrices = concat_v2(g, [outer, square, square], 0).build()?;
    let vectors = concat_v2(g, [outer, square, one], 0).build()?;
    let (all, flow) = (reshape(g, all, matrices).build()?, reshape(g, d_output, vectors).build()?);
    let found = matrix_solve(g, all, flow).build()?;
    reshape(g, found, dims).build()
}

/// Rows moved up by one, or down, with zeros in the place of the last, or first.
fn shifted(g: &mut GradientScope<'_>, x: Value, up: bool) -> Result<Value> {
    // `[…, 1:, :]` and `[…, :1, :]`, or `[…, :-1, :]` and `[…, -1:, :]`: bit 0 is of the ellipsis, and bit 2 of all columns.
    let rows = |g: &mut GradientScope<'_>, from: i32, is_after: bool| {
        let (begin_mask, end_mask) = if is_after { (0b100, 0b110) } else { (0b110, 0b100) };
        let part = strided_slice(g, x, &[0, from, 0][..], &[0, from, 0][..], &[1i32; 3][..]).ellipsis_mask(1);
        part.begin_mask(begin_mask).end_mask(end_mask).build()
    };
    let at = if up { 1 } else { -1 };
    let (kept, lost) = (rows(g, at, up)?, rows(g, at, !up)?);
    let zeros = zeros_like(g, lost).build()?;
    concat_v2(g, if up { [kept, zeros] } else { [zeros, kept] }, -2).build()
}

/// The sums over columns of products of elements, as rows `[…, 1, m]`.
fn row_products(g: &mut GradientScope<'_>, x: Value, y: Value) -> Result<Value> {
    let products = mul(g, x, y).build()?;
    let sums = sum(g, products, -1).build()?;
    expand_dims(g, sums, -2).build()
}

#[register_gradient(op = TridiagonalMatMul)]
fn tridiagonal_mat_mul_gradient(
    g: &mut GradientScope<'_>,
    superdiag: Value,
    maindiag: Value,
    subdiag: Value,
    rhs: Value,
    d_output: Value,
) -> Result<(Value, Value, Value, Value)> {
    let conjugate_rhs = conjugate(g, rhs)?;
    let (up, down) = (shifted(g, conjugate_rhs, true)?, shifted(g, conjugate_rhs, false)?);
    let diagonals = [up, conjugate_rhs, down];
    let mut flows = Vec::new();
    for x in diagonals {
        flows.push(row_products(g, x, d_output)?);
    }
    let mut scaled = Vec::new();
    for diagonal in [superdiag, maindiag, subdiag] {
        let column = adjoint(g, diagonal)?;
        scaled.push(mul(g, column, d_output).build()?);
    }
    let (down, up) = (shifted(g, scaled[0], false)?, shifted(g, scaled[2], true)?);
    let d_rhs = add_n(g, [down, scaled[1], up]).build()?;
    Ok((flows[0], flows[1], flows[2], d_rhs))
}

#[register_gradient(op = TridiagonalSolve)]
fn tridiagonal_solve_gradient(
    g: &mut GradientScope<'_>,
    partial_pivoting: bool,
    perturb_singular: bool,
    diagonals: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    // The conjugate transpose: what is above goes below, one further, and the other way around.
    let rows = split(g, -2, diagonals, 3).build()?;
    let (above, main, below) = (adjoint(g, rows[0])?, adjoint(g, rows[1])?, adjoint(g, rows[2])?);
    let (new_above, new_below) = (shifted(g, below, true)?, shifted(g, above, false)?);
    let columns = concat_v2(g, [new_above, main, new_below], -1).build()?;
    let turned = transposed(g, columns)?;
    let d_rhs = tridiagonal_solve(g, turned, d_output)
        .partial_pivoting(partial_pivoting)
        .perturb_singular(perturb_singular)
        .build()?;
    let solution = conjugate(g, output)?;
    let (up, down) = (shifted(g, solution, true)?, shifted(g, solution, false)?);
    let mut flows = Vec::new();
    for x in [up, solution, down] {
        flows.push(row_products(g, d_rhs, x)?);
    }
    let flow = concat_v2(g, flows, -2).build()?;
    Ok((neg(g, flow).build()?, d_rhs))
}

/// For eigenvalues that differ.
#[register_gradient(op = SelfAdjointEigV2)]
fn self_adjoint_eig_v2_gradient(
    g: &mut GradientScope<'_>,
    compute_v: bool,
    input: Value,
    e: Value,
    v: Value,
    d_e: Value,
    d_v: Value,
) -> Result<Value> {
    let d_e = matrix_diag(g, d_e).build()?;
    let (v, middle) = if compute_v {
        let factors = reciprocal_differences(g, e)?;
        let turned = product(g, v, d_v, [true, false])?;
        let between = mul(g, factors, turned).build()?;
        (v, add_v2(g, d_e, between).build()?)
    } else {
        (self_adjoint_eig_v2(g, input).build()?.v, d_e)
    };
    let right = product(g, middle, v, [false, true])?;
    let flow = product(g, v, right, [false, false])?;
    // Only the lower triangle is read.
    let turned = adjoint(g, flow)?;
    let both = add_v2(g, flow, turned).build()?;
    let lower = lower_part(g, both)?;
    half_diagonal(g, lower)
}

/// Boeddeker and others, On the Computation of Complex-valued Gradients with Application to Statistically Optimum Beamforming
/// (2017), equation 4.77; for eigenvalues that differ.
#[register_gradient(op = Eig)]
fn eig_gradient(
    g: &mut GradientScope<'_>,
    T: DataType,
    compute_v: bool,
    input: Value,
    e: Value,
    v: Value,
    d_e: Value,
    d_v: Value,
) -> Result<Value> {
    let d_e = matrix_diag(g, d_e).build()?;
    let (v, middle) = if compute_v {
        let factors = reciprocal_differences(g, e)?;
        let factors = conj(g, factors).build()?;
        let turned = product(g, v, d_v, [true, false])?;
        let diagonal = matrix_diag_part(g, turned).build()?;
        let real = super::real_flow(g, diagonal)?;
        let real = matrix_diag(g, real).build()?;
        let gram = product(g, v, v, [true, false])?;
        // Eigenvectors keep their length.
        let along = product(g, gram, real, [false, false])?;
        let across = sub(g, turned, along).build()?;
        let between = mul(g, factors, across).build()?;
        (v, add_v2(g, d_e, between).build()?)
    } else {
        let dtype = g.dtype(e)?;
        (eig(g, input, dtype).build()?.v, d_e)
    };
    let right = product(g, middle, v, [false, true])?;
    let flow = matrix_solve(g, v, right).adjoint(true).build()?;
    if T.is_complex() { Ok(flow) } else { real(g, flow).tout(T).build() }
}

#[register_gradient(op = Svd)]
fn svd_gradient(
    g: &mut GradientScope<'_>,
    compute_uv: bool,
    full_matrices: bool,
    input: Value,
    s: Value,
    u: Value,
    v: Value,
    d_s: Value,
    d_u: Value,
    d_v: Value,
) -> Result<Value> {
    // Singular values are real.
    let d_s = super::real_flow(g, d_s)?;
    let d_s = matrix_diag(g, d_s).build()?;
    if !compute_uv {
        let found = svd(g, input).build()?;
        let right = product(g, d_s, found.v, [false, true])?;
        return product(g, found.u, right, [false, false]);
    }
    let Some([m, n]) = known_sizes(g, input) else {
        bail!(Unimplemented, "the gradient of Svd asks for known numbers of rows and columns");
    };
    if full_matrices && m.abs_diff(n) > 1 {
        return Err(Error::unimplemented(format!(
            "there is no gradient of Svd with full_matrices for {m} x {n}: their difference is greater than 1"
        )));
    }
    // That of the adjoint, if there are more rows.
    if m > n {
        let flow = wide_svd(g, [s, v, u], [d_s, d_v, d_u], [n, m])?;
        return adjoint(g, flow);
    }
    wide_svd(g, [s, u, v], [d_s, d_u, d_v], [m, n])
}

/// For at most as many rows, `m`, as columns, `n`: Townsend, Differentiating the singular value decomposition (2016); for complex
/// numbers, Wan and Zhang, Automatic differentiation for complex valued SVD (2019).
fn wide_svd(
    g: &mut GradientScope<'_>,
    [s, u, v]: [Value; 3],
    [d_s, d_u, d_v]: [Value; 3],
    [m, n]: [usize; 2],
) -> Result<Value> {
    let squares = mul(g, s, s).build()?;
    let factors = reciprocal_differences(g, squares)?;
    let (s_matrix, inverse) = (matrix_diag(g, s).build()?, safe_reciprocal(g, s)?);
    let inverse = matrix_diag(g, inverse).build()?;
    // Of square matrices, v may have more columns than there are singular values.
    let is_full = known_sizes(g, v).is_some_and(|[_, columns]| columns > m);
    let sizes = [m as i32, (n - m) as i32];
    let (mut v1, mut d_v1, mut rest) = (v, d_v, None);
    if is_full {
        let parts = split_v(g, v, &sizes[..], -1, 2).build()?;
        let d_parts = split_v(g, d_v, &sizes[..], -1, 2).build()?;
        (v1, d_v1, rest) = (parts[0], d_parts[0], Some((parts[1], d_parts[1])));
    }
    let (of_u, of_v) = (product(g, u, d_u, [true, false])?, product(g, v1, d_v1, [true, false])?);
    let mut middle = d_s;
    for (turned, left) in [(of_u, false), (of_v, true)] {
        let between = mul(g, factors, turned).build()?;
        let other = adjoint(g, between)?;
        let both = add_v2(g, between, other).build()?;
        let (x, y) = if left { (s_matrix, both) } else { (both, s_matrix) };
        let term = product(g, x, y, [false, false])?;
        middle = add_v2(g, middle, term).build()?;
    }
    let right = product(g, middle, v1, [false, true])?;
    let mut flow = product(g, u, right, [false, false])?;
    if m < n {
        // What leaves the space of the vectors.
        let turned = adjoint(g, d_v1)?;
        let along = product(g, turned, v1, [false, false])?;
        let along = product(g, along, v1, [false, true])?;
        let mut across = sub(g, turned, along).build()?;
        if let Some((v2, d_v2)) = rest {
            let others = product(g, v1, d_v2, [true, false])?;
            let others = product(g, others, v2, [false, true])?;
            across = sub(g, across, others).build()?;
        }
        let left = product(g, u, inverse, [false, false])?;
        let term = product(g, left, across, [false, false])?;
        flow = add_v2(g, flow, term).build()?;
    }
    if g.dtype(s)?.is_complex() {
        let diagonal = matrix_diag_part(g, of_v).build()?;
        let opposite = conj(g, diagonal).build()?;
        let difference = sub(g, opposite, diagonal).build()?;
        let half = scalar_like(g, difference, 0.5)?;
        let difference = mul(g, difference, half).build()?;
        let difference = matrix_diag(g, difference).build()?;
        let term = product(g, inverse, difference, [false, false])?;
        let term = product(g, term, v1, [false, true])?;
        let term = product(g, u, term, [false, false])?;
        flow = add_v2(g, flow, term).build()?;
    }
    Ok(flow)
}
