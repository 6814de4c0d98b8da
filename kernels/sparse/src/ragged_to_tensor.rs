//! RaggedTensorToTensor.

use std::borrow::Cow;

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{listed, single};
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{i64s, move_rows};

/// What a tensor says of a ragged dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Partition {
    FirstDimSize,
    ValueRowids,
    RowSplits,
}

impl Partition {
    fn from_name(name: &str) -> Result<Partition> {
        Ok(match name {
            "FIRST_DIM_SIZE" => Partition::FirstDimSize,
            "VALUE_ROWIDS" => Partition::ValueRowids,
            "ROW_SPLITS" => Partition::RowSplits,
            _ => bail!(InvalidArgument, "Unknown string for partition info type: {name}"),
        })
    }
}

/// A ragged dimension.
struct Dimension<'a> {
    kind: Partition,
    numbers: Cow<'a, [i64]>,
}

impl Dimension<'_> {
    /// The length of the longest row.
    fn width(&self) -> i64 {
        match self.kind {
            Partition::RowSplits => {
                self.numbers.windows(2).map(|ends| ends[1].saturating_sub(ends[0])).max().unwrap_or(0).max(0)
            }
            _ => self.numbers.chunk_by(|a, b| a == b).map(<[i64]>::len).max().unwrap_or(0) as i64,
        }
    }

    /// Where the rows of the next dimension go, and how many there are. `parents` says so of this dimension. A row goes
    /// `step` rows of the output after its neighbour, unless it is the `width`th.
    fn places(&self, parents: &Places, step: usize, width: usize) -> Result<Places> {
        let mut places = Places { runs: Vec::new(), count: 0 };
        match self.kind {
            Partition::RowSplits => {
                let rows = self.numbers.len().saturating_sub(1);
                ensure!(
                    rows <= parents.count,
                    InvalidArgument,
                    "Row partition size is greater than output size: {rows} > {}",
                    parents.count
                );
                ensure!(
                    self.numbers.is_sorted() && self.numbers.first().is_none_or(|&first| first == 0),
                    InvalidArgument,
                    "Invalid row split size."
                );
                for (row, ends) in self.numbers.windows(2).enumerate() {
                    let length = (ends[1] - ends[0]) as usize;
                    places.push(length.min(width), parents.of(row), step)?;
                    places.count = ends[1] as usize;
                }
            }
            _ => {
                for row in self.numbers.chunk_by(|a, b| a == b) {
                    let Some(parent) = usize::try_from(row[0]).ok().filter(|&parent| parent < parents.count) else {
                        bail!(InvalidArgument, "Got value_rowid={} which is not in [0, {})", row[0], parents.count);
                    };
                    places.push(row.len().min(width), parents.of(parent), step)?;
                    places.count += row.len();
                }
            }
        }
        Ok(places)
    }
}

/// Where rows go in the output. Rows that are in no run are cut off: splits may speak of more rows than memory holds.
struct Places {
    runs: Vec<Run>,
    /// The number of rows.
    count: usize,
}

/// Rows that go to places of the output, `step` apart.
struct Run {
    first: usize,
    count: usize,
    place: usize,
    step: usize,
}

impl Places {
    /// Adds a run from the present count on, which does not change.
    fn push(&mut self, count: usize, place: Option<usize>, step: usize) -> Result<()> {
        if let (Some(place), 1..) = (place, count) {
            scratch::push(&mut self.runs, Run { first: self.count, count, place, step })?;
        }
        Ok(())
    }

    /// Where a row goes.
    fn of(&self, row: usize) -> Option<usize> {
        let run = self.runs[..self.runs.partition_point(|run| run.first <= row)].last()?;
        (row - run.first < run.count).then(|| run.place + (row - run.first) * run.step)
    }
}

struct RaggedTensorToTensorKernel {
    partitions: Vec<Partition>,
}

#[register_kernel(device = Cpu, Tindex = [int32, int64], T = [numbertype, bool, string])]
impl OpKernel<ops::RaggedTensorToTensor> for RaggedTensorToTensorKernel {
    fn new(ctx: &KernelConstruction<'_, ops::RaggedTensorToTensor>) -> Result<Self> {
        let types = &ctx.attrs().row_partition_types;
        let partitions = types.iter().map(|name| Partition::from_name(name)).collect::<Result<Vec<_>>>()?;
        ensure!(
            partitions.len() as i64 == ctx.attrs().num_row_partition_tensors,
            InvalidArgument,
            "there must be as many row partition types as tensors"
        );
        Ok(Self { partitions })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::RaggedTensorToTensor>) -> Result<()> {
        type Op = ops::RaggedTensorToTensor;
        let tensors = ctx.input_list(Op::ROW_PARTITION_TENSORS);
        let (Some(&first), Some(first_tensor)) = (self.partitions.first(), tensors.get(0)) else {
            bail!(InvalidArgument, "No row_partition_types given.");
        };
        ensure!(
            first_tensor.num_elements() > 0,
            InvalidArgument,
            "Invalid first partition input. Tensor requires at least one element."
        );
        let rows = match first {
            Partition::FirstDimSize => single(first_tensor, "FIRST_DIM_SIZE")?,
            Partition::RowSplits => first_tensor.num_elements() as i64 - 1,
            Partition::ValueRowids => bail!(InvalidArgument, "Cannot handle VALUE_ROWIDS in first dimension."),
        };
        let skipped = usize::from(first == Partition::FirstDimSize);
        let mut dimensions = Vec::new();
        for (&kind, tensor) in self.partitions.iter().zip(tensors.iter()).skip(skipped) {
            ensure!(kind != Partition::FirstDimSize, InvalidArgument, "Unsupported partition type: FIRST_DIM_SIZE");
            dimensions.push(Dimension { kind, numbers: i64s(tensor)? });
        }

        let (values, default) = (ctx.input(Op::VALUES)?, ctx.input(Op::DEFAULT_VALUE)?);
        let sizes = output_sizes(ctx.input(Op::SHAPE)?, values, default, rows, &dimensions)?;
        let shape = Shape::from_dims(&sizes)?;
        let mut output = ctx.allocate_output(Op::RESULT, &shape)?;
        if output.num_elements() > 0 {
            let (outer, element) = shape.split_at(dimensions.len() + 1);
            let moves = moves(outer, rows, &dimensions, values.shape()[0])?;
            fill(ctx, &mut output, outer, element, default)?;
            move_rows(&mut output, values, element.iter().product(), &moves)?;
        }
        ctx.set_output(Op::RESULT, output)
    }
}

/// The sizes of the result: those asked for, or what fits.
fn output_sizes(
    shape: &Tensor,
    values: &Tensor,
    default: &Tensor,
    rows: i64,
    dimensions: &[Dimension<'_>],
) -> Result<Vec<i64>> {
    ensure!(
        default.rank() < values.rank(),
        InvalidArgument,
        "default_value.rank = {} must be less than rt_input.flat_values.rank = {}",
        default.rank(),
        values.rank()
    );
    let fits = |(&own, &size): (&usize, &usize)| own == 1 || own == size;
    ensure!(
        default.shape().iter().zip(&values.shape()[1..]).all(fits),
        InvalidArgument,
        "default_value.shape={} and rt_input.flat_values.shape={} are incompatible",
        default.shape(),
        values.shape()
    );
    let ragged = dimensions.len();
    let rank = ragged + values.rank();
    let asked = shape.to_i64_vec()?;
    let mut sizes = match shape.rank() {
        0 => {
            ensure!(
                asked == [-1],
                InvalidArgument,
                "The only valid scalar shape tensor is the fully unknown shape, -1."
            );
            vec![-1; rank]
        }
        1 => asked,
        _ => bail!(InvalidArgument, "Shape must be at most rank 1 but is rank {}", shape.rank()),
    };
    ensure!(
        sizes.len() == rank,
        InvalidArgument,
        "rt_input.shape and shape={} are incompatible: rt_input.rank = {rank} but shape.rank = {}",
        listed(&sizes),
        sizes.len()
    );
    ensure!(sizes.iter().all(|&size| size >= -1), InvalidArgument, "shape {} has a size below -1", listed(&sizes));
    for (size, &own) in sizes[ragged + 1..].iter_mut().zip(&values.shape()[1..]) {
        ensure!(
            *size < 0 || *size == own as i64,
            InvalidArgument,
            "rt_input.shape and shape are incompatible: a value has size {own} where shape has {size}"
        );
        *size = own as i64;
    }
    if sizes[0] < 0 {
        sizes[0] = rows;
    }
    for (size, dimension) in sizes[1..].iter_mut().zip(dimensions) {
        if *size < 0 {
            *size = dimension.width();
        }
    }
    Ok(sizes)
}

/// Which value goes to which element of the output, whose dimensions but those of a value are `outer`.
fn moves(outer: &[usize], rows: i64, dimensions: &[Dimension<'_>], values: usize) -> Result<Vec<(usize, usize)>> {
    let steps = Shape::from(outer).strides();
    let mut places = Places { runs: Vec::new(), count: 0 };
    let rows = usize::try_from(rows).unwrap_or(0);
    places.push(rows.min(outer[0]), Some(0), steps[0])?;
    places.count = rows;
    for (dimension, (&step, &width)) in dimensions.iter().zip(steps.iter().zip(outer).skip(1)) {
        places = dimension.places(&places, step, width)?;
    }
    ensure!(
        places.count <= values,
        InvalidArgument,
        "the row partitions speak of {} values, but there are only {values}",
        places.count
    );
    let moves = places.runs.iter().flat_map(|run| (0..run.count).map(|n| (run.first + n, run.place + n * run.step)));
    scratch::collected(moves)
}

/// Makes every element of the output the default, which broadcasts to the shape `element`.
fn fill(ctx: &RawContext<'_>, output: &mut Tensor, outer: &[usize], element: &[usize], default: &Tensor) -> Result<()> {
    let (to, from) = (Shape::from(element).strides(), default.shape().strides());
    let added = element.len() - default.rank();
    let mut copy = StridedCopy::new(0, 0).step(outer.iter().product(), element.iter().product(), 0);
    for (axis, &size) in element.iter().enumerate() {
        let own = axis.checked_sub(added).map(|axis| (default.shape()[axis], from[axis]));
        let (own_size, stride) = own.unwrap_or((1, 0));
        ensure!(own_size == 1 || own_size == size, InvalidArgument, "Error broadcasting default_value");
        copy = copy.step(size, to[axis], if own_size == 1 { 0 } else { stride as isize });
    }
    copy.run(ctx, output, default)
}
