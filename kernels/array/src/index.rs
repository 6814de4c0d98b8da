//! Places: LowerBound, UpperBound, UnravelIndex, DataFormatDimMap, DataFormatVecPermute.

use kernlink::dtype::{Number, RealNumber};
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext};
use kernlink::shape::Shape;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The first place of a row whose element is not `before` the value; in a row that is not sorted, that to which halving leads.
fn place<T: Copy>(row: &[T], before: impl Fn(T) -> bool) -> usize {
    let (mut first, mut count) = (0, row.len());
    while count > 0 {
        let half = count / 2;
        if before(row[first + half]) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    first
}

/// Which of the places between equal elements an op asks for.
trait Bound {
    fn place<T: RealNumber>(row: &[T], value: T) -> usize;
}

impl Bound for ops::LowerBound {
    fn place<T: RealNumber>(row: &[T], value: T) -> usize {
        place(row, |element| element < value)
    }
}

impl Bound for ops::UpperBound {
    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "nothing is before NaN, which stands behind all")]
    fn place<T: RealNumber>(row: &[T], value: T) -> usize {
        place(row, |element| !(value < element))
    }
}

#[register_kernel(device = Cpu, op = [ops::LowerBound, ops::UpperBound], T = [realnumbertype], out_type = [i32, i64])]
fn bound<T: RealNumber, out_type: Number>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (rows, values) = (ctx.input(O::SORTED_INPUTS)?, ctx.input(O::VALUES)?);
    let (shape, wanted) = (rows.shape(), values.shape());
    ensure!(shape.rank() == 2, InvalidArgument, "sorted_inputs must be a matrix, not of shape {shape}");
    ensure!(wanted.rank() == 2, InvalidArgument, "values must be a matrix, not of shape {wanted}");
    ensure!(
        shape[0] == wanted[0],
        InvalidArgument,
        "sorted_inputs has {} rows, but values {}: each row of values is sought in its own",
        shape[0],
        wanted[0]
    );
    let most = if size_of::<out_type>() == 4 { i32::MAX as usize } else { usize::MAX };
    ensure!(shape[1] < most, InvalidArgument, "a row of {} elements has places that are no int32", shape[1]);
    let (length, width) = (shape[1], wanted[1].max(1));
    let mut output = ctx.allocate_output(O::OUTPUT, wanted)?;
    let (rows, values) = (rows.as_slice::<T>()?, values.as_slice::<T>()?);
    let cost = 3 * (2 + length.checked_ilog2().unwrap_or(0) as usize);
    ctx.parallel_chunks(output.as_mut_slice::<out_type>()?, 1, cost, |first, piece| {
        for (index, place) in (first..).zip(piece) {
            let row = &rows[index / width * length..][..length];
            *place = out_type::from_i64(<O as Bound>::place(row, values[index]) as i64);
        }
    });
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(device = Cpu, Tidx = [i32, i64])]
fn unravel_index<Tidx: Number + Into<i64> + TryFrom<i64>>(
    ctx: &mut KernelContext<'_, ops::UnravelIndex>,
) -> Result<()> {
    type Op = ops::UnravelIndex;
    let (indices, dims) = (ctx.input(Op::INDICES)?, ctx.input(Op::DIMS)?);
    ensure!(
        indices.rank() <= 1,
        InvalidArgument,
        "The indices can only be scalar or vector, got shape {}",
        indices.shape()
    );
    ensure!(dims.rank() == 1, InvalidArgument, "dims can only be 1-D, got shape {}", dims.shape());
    ensure!(indices.num_elements() > 0, InvalidArgument, "received empty tensor indices");
    let sizes = dims.to_i64_vec()?;
    let mut product = 1i64;
    for (axis, &size) in sizes.iter().enumerate() {
        ensure!(size > 0, InvalidArgument, "dims cannot contain a size below 1, but contains {size} at index {axis}");
        product = match product.checked_mul(size).filter(|&product| Tidx::try_from(product).is_ok()) {
            Some(product) => product,
            None => bail!(InvalidArgument, "the product of dims {sizes:?} is above what its dtype holds"),
        };
    }
    let shape = match indices.rank() {
        0 => Shape::from([sizes.len()]),
        _ => Shape::from([sizes.len(), indices.num_elements()]),
    };
    let mut output = ctx.allocate_output(Op::OUTPUT, &shape)?;
    let indices = indices.as_slice::<Tidx>()?;
    if let Some(&index) = indices.iter().find(|&&index| index.into() >= product) {
        bail!(
            InvalidArgument,
            "index {} is out of bounds: an array of shape {sizes:?} has {product} elements",
            index.into()
        );
    }
    let (mut coordinates, mut rest) = (output.as_mut_slice::<Tidx>()?, product);
    // The product bounds the dimensions above 1, but there may be any number of those of 1, whose coordinates are 0.
    for run in sizes.chunk_by(|&size, &next| size == 1 && next == 1) {
        let (rows, others) = coordinates.split_at_mut(run.len() * indices.len());
        coordinates = others;
        if run[0] == 1 {
            ctx.parallel_chunks(rows, 1, 1, |_, piece| piece.fill(Tidx::ZERO));
            continue;
        }
        let (whole, stride) = (rest, rest / run[0]);
        ctx.parallel_chunks(rows, 1, 10, |first, piece| {
            for (coordinate, &index) in piece.iter_mut().zip(&indices[first..]) {
                *coordinate = Tidx::from_i64(index.into() % whole / stride);
            }
        });
        rest = stride;
    }
    ctx.set_output(Op::OUTPUT, output)
}

/// Two data formats with the same letters.
struct Formats {
    from: String,
    to: String,
}

impl Formats {
    fn new(from: &str, to: &str) -> Result<Self> {
        for (format, name) in [(from, "src_format"), (to, "dst_format")] {
            ensure!(
                matches!(format.len(), 4 | 5),
                InvalidArgument,
                "{name} must be of length 4 or 5, received {format:?}"
            );
        }
        let sorted = |format: &str| {
            let mut letters = [0; 5];
            letters[..format.len()].copy_from_slice(format.as_bytes());
            letters.sort_unstable();
            letters
        };
        let letters = sorted(from);
        let is_repeated = letters.windows(2).any(|pair| pair[0] == pair[1] && pair[0] != 0);
        ensure!(
            letters == sorted(to) && !is_repeated,
            InvalidArgument,
            "src_format and dst_format must be permutations of different letters, got {from:?} and {to:?}"
        );
        Ok(Self { from: from.into(), to: to.into() })
    }

    /// Of each of some letters of the one format where it stands among the same of the other.
    fn places(from: &str, to: &str, counts: impl Fn(u8) -> bool) -> Vec<usize> {
        let letters = |format: &str| format.bytes().filter(|&letter| counts(letter)).collect::<Vec<_>>();
        let to = letters(to);
        letters(from).iter().filter_map(|letter| to.iter().position(|other| other == letter)).collect()
    }
}

/// The places in `dst_format` of the letters of `src_format`.
fn dim_map(ctx: &KernelConstruction<'_, ops::DataFormatDimMap>) -> Result<Vec<usize>> {
    let formats = Formats::new(&ctx.attrs().src_format, &ctx.attrs().dst_format)?;
    Ok(Formats::places(&formats.from, &formats.to, |_| true))
}

#[register_kernel(device = Cpu, T = [i32, i64], state = dim_map)]
#[register_kernel(device = Cpu, T = [i32, i64], label = "host", state = dim_map)]
fn data_format_dim_map<T: Number + Into<i64>>(
    places: &Vec<usize>,
    ctx: &mut KernelContext<'_, ops::DataFormatDimMap>,
) -> Result<()> {
    type Op = ops::DataFormatDimMap;
    let x = ctx.input(Op::X)?;
    let mut y = ctx.allocate_output(Op::Y, x.shape())?;
    let count = places.len() as i64;
    for (y, &x) in y.as_mut_slice::<T>()?.iter_mut().zip(x.as_slice::<T>()?) {
        let x = x.into();
        // What is beyond the dimensions goes round, or, below them, is the last or the first.
        let dimension = if x < 0 { x + count } else { x } % count;
        *y = T::from_i64(places[if dimension < 0 { count - 1 } else { dimension } as usize] as i64);
    }
    ctx.set_output(Op::Y, y)
}

fn formats(ctx: &KernelConstruction<'_, ops::DataFormatVecPermute>) -> Result<Formats> {
    Formats::new(&ctx.attrs().src_format, &ctx.attrs().dst_format)
}

#[register_kernel(device = Cpu, T = [i32, i64], state = formats)]
#[register_kernel(device = Cpu, T = [i32, i64], label = "host", state = formats)]
fn data_format_vec_permute<T: Number>(
    formats: &Formats,
    ctx: &mut KernelContext<'_, ops::DataFormatVecPermute>,
) -> Result<()> {
    type Op = ops::DataFormatVecPermute;
    let x = ctx.input(Op::X)?;
    let (shape, dims) = (x.shape(), formats.from.len());
    let spatial = dims - 2;
    let wanted = format!(
        "a vector of {dims} elements, or {spatial} for the spatial dimensions alone, or such a matrix of pairs"
    );
    ensure!(matches!(shape.rank(), 1 | 2), InvalidArgument, "x must be {wanted}, but has shape {shape}");
    ensure!(shape[0] == dims || shape[0] == spatial, InvalidArgument, "x must be {wanted}, but has shape {shape}");
    let width = shape.get(1).copied().unwrap_or(1);
    ensure!(shape.rank() == 1 || width == 2, InvalidArgument, "x must be {wanted}, but has shape {shape}");
    let places = if shape[0] == dims {
        Formats::places(&formats.from, &formats.to, |_| true)
    } else {
        let letters = if spatial == 2 { "HW" } else { "DHW" };
        let is_spatial = |letter: u8| letters.bytes().any(|other| other == letter);
        let places = Formats::places(&formats.from, &formats.to, is_spatial);
        ensure!(
            places.len() == spatial,
            InvalidArgument,
            "the formats {} and {} must contain the letters {letters} for a vector of {spatial} elements",
            formats.from,
            formats.to
        );
        places
    };
    let mut y = ctx.allocate_output(Op::Y, shape)?;
    let (from, to) = (x.as_slice::<T>()?, y.as_mut_slice::<T>()?);
    for (row, place) in from.chunks(width).zip(places) {
        to[place * width..][..width].copy_from_slice(row);
    }
    ctx.set_output(Op::Y, y)
}
