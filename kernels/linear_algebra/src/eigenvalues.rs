//! SelfAdjointEig, SelfAdjointEigV2, Eig and those that were before them.

use kernlink::dtype::{Complex32, Complex64, DataType, Pod};
use kernlink::error::Error;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::batch::{Matrices, cubic, each, part, pieces};
use crate::matrix::Mat;
use crate::real_schur;
use crate::scalar::{RealScalar, Scalar};
use crate::schur::Schur;
use crate::self_adjoint::{self, SelfAdjointEigen};

fn found<T: Scalar>(data: &[T], n: usize, vectors: bool) -> Result<SelfAdjointEigen<T>> {
    let found = self_adjoint::eigen(Mat::copied(n, n, data)?, vectors)?;
    found.ok_or_else(|| {
        Error::invalid_argument("Self-adjoint eigen decomposition was not successful. The input might not be valid.")
    })
}

#[register_kernel(device = Cpu, op = ops::SelfAdjointEigV2, T = [f32, f64, Complex32, Complex64])]
#[register_kernel(device = Cpu, op = ops::BatchSelfAdjointEigV2, T = [f32, f64])]
fn self_adjoint_eig_v2<T: Scalar>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let wanted = attrs.compute_v;
    let mut e = ctx.allocate_output_at(0, matrices.shape(&[n]))?;
    // TensorFlow's has no dimension, whatever its shape function says.
    let mut v = ctx.allocate_output_at(1, if wanted { matrices.shape(&[n, n]) } else { Shape::from([0]) })?;
    let count = matrices.count;
    let targets = pieces(e.as_mut_slice::<T>()?, count).zip(pieces(v.as_mut_slice::<T>()?, count));
    each(ctx, targets, cubic(n, n, n) * 4, |i, (e, v)| {
        let found = found(part(input, i, n * n), n, wanted)?;
        e.iter_mut().zip(&found.values).for_each(|(e, &value)| *e = T::real(value));
        if let Some(vectors) = &found.vectors {
            vectors.turn_into(v, |x| x);
        }
        Ok(())
    })?;
    ctx.set_output_at(0, e)?;
    ctx.set_output_at(1, v)
}

#[register_kernel(device = Cpu, op = [ops::BatchSelfAdjointEig, ops::SelfAdjointEig], T = [f32, f64])]
fn self_adjoint_eig<T: RealScalar>(ctx: &mut RawContext<'_>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?.as_slice::<T>()?;
    let mut output = ctx.allocate_output_at(0, matrices.shape(&[n + 1, n]))?;
    each(ctx, pieces(output.as_mut_slice::<T>()?, matrices.count), cubic(n, n, n) * 4, |i, target| {
        let found = found(part(input, i, n * n), n, true)?;
        let (values, rows) = target.split_at_mut(n);
        values.copy_from_slice(&found.values);
        if let Some(vectors) = &found.vectors {
            vectors.turn_into(rows, |x| x);
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// Elements as wide complex numbers, and back.
pub(crate) trait AsComplex: Pod {
    fn wide(self) -> Complex64;
    fn narrow(wide: Complex64) -> Self;
}

impl AsComplex for f32 {
    fn wide(self) -> Complex64 {
        Complex64::new(self.into(), 0.0)
    }

    fn narrow(wide: Complex64) -> f32 {
        wide.re as f32
    }
}

impl AsComplex for f64 {
    fn wide(self) -> Complex64 {
        Complex64::new(self, 0.0)
    }

    fn narrow(wide: Complex64) -> f64 {
        wide.re
    }
}

impl AsComplex for Complex32 {
    fn wide(self) -> Complex64 {
        Complex64::new(self.re.into(), self.im.into())
    }

    fn narrow(wide: Complex64) -> Complex32 {
        Complex32::new(wide.re as f32, wide.im as f32)
    }
}

impl AsComplex for Complex64 {
    fn wide(self) -> Complex64 {
        self
    }

    fn narrow(wide: Complex64) -> Complex64 {
        wide
    }
}

#[expect(clippy::type_complexity, reason = "values and vectors")]
fn complex_eigen<T: AsComplex>(
    data: &[T],
    n: usize,
    compute_v: bool,
) -> Result<Option<(Vec<Complex64>, Option<Mat<Complex64>>)>> {
    fn of<T: Scalar + AsComplex>(
        data: Vec<T>,
        n: usize,
        compute_v: bool,
    ) -> Result<Option<(Vec<Complex64>, Option<Mat<Complex64>>)>> {
        let Some(schur) = Schur::new(Mat { rows: n, columns: n, data }, compute_v)? else { return Ok(None) };
        let (values, vectors) = schur.eigen()?;
        let wide = |data: &[T]| scratch::collected(data.iter().map(|x| x.wide()));
        let vectors = match vectors {
            Some(found) => Some(Mat { rows: n, columns: n, data: wide(&found.data)? }),
            None => None,
        };
        Ok(Some((wide(&values)?, vectors)))
    }
    match T::DTYPE {
        DataType::Complex64 => of(scratch::collected(data.iter().map(|x| Complex32::narrow(x.wide())))?, n, compute_v),
        _ => of(scratch::collected(data.iter().map(|x| x.wide()))?, n, compute_v),
    }
}

/// Real matrices are computed in double precision: half of the code, which is as fast, as rotations come one by one. Complex ones in
/// their own, whose rounding errors make the phases of vectors.
#[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
fn eig<T: AsComplex>(attrs: &Attrs<ops::Eig>, ctx: &mut KernelContext<'_, ops::Eig>) -> Result<()> {
    let (matrices, n) = Matrices::square(ctx)?;
    let input = ctx.input_at(0)?;
    let is_wide = matches!(input.dtype(), DataType::Double | DataType::Complex128);
    let (has, wanted) = (ctx.output_dtype_at(0)?, if is_wide { DataType::Complex128 } else { DataType::Complex64 });
    ensure!(has == wanted, InvalidArgument, "Invalid output dtype: {has} vs. {wanted}");
    let is_real = !input.dtype().is_complex();
    let data = input.as_slice::<T>()?;
    let (count, compute_v) = (matrices.count, attrs.compute_v);
    let mut values = scratch::zeros::<Complex64>(count * n)?;
    let mut vectors = scratch::zeros::<Complex64>(if compute_v { count * n * n } else { 0 })?;
    let targets = pieces(&mut values, count).zip(pieces(&mut vectors, count));
    each(ctx, targets, cubic(n, n, n) * 20, |i, (e, v)| {
        let data = part(data, i, n * n);
        if n == 0 {
            return Ok(());
        }
        let found = if is_real {
            let real = scratch::collected(data.iter().map(|x| x.wide().re))?;
            real_schur::eigen(Mat { rows: n, columns: n, data: real }, compute_v)?
        } else {
            complex_eigen(data, n, compute_v)?
        };
        let (found_values, found_vectors) = found.ok_or_else(|| {
            Error::invalid_argument("Eigen decomposition was not successful. The input might not be valid.")
        })?;
        e.copy_from_slice(&found_values);
        if let Some(found) = found_vectors {
            v.copy_from_slice(&found.data);
        }
        Ok(())
    })?;
    let v_shape = if compute_v { matrices.shape(&[n, n]) } else { Shape::from([0]) };
    for (index, shape, data) in [(0, matrices.shape(&[n]), values), (1, v_shape, vectors)] {
        let mut output: Tensor = ctx.allocate_output_at(index, shape)?;
        match is_wide {
            true => output.as_mut_slice()?.copy_from_slice(&data),
            false => {
                let output = output.as_mut_slice::<Complex32>()?;
                output.iter_mut().zip(&data).for_each(|(x, &wide)| *x = Complex32::narrow(wide));
            }
        }
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}
