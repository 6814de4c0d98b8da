//! Dilation2D, Dilation2DBackpropInput and Dilation2DBackpropFilter.

use kernlink::dtype::RealNumber;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat, four};
use kernlink_ops::{Dilation2D, Dilation2DBackpropFilter, Dilation2DBackpropInput};

use super::vector::widest;

/// What the three ops read from their attrs.
struct Dilation {
    strides: [i64; 4],
    rates: [i64; 4],
    padding: Padding,
}

/// A window over rows and columns.
struct Geometry {
    batch: usize,
    rows: Axis,
    columns: Axis,
    depth: usize,
}

impl Dilation {
    fn new(strides: &[i64], rates: &[i64], padding: &str) -> Result<Dilation> {
        let (strides, rates) = (four("strides", strides)?, four("rates", rates)?);
        for (name, values) in [("strides", strides), ("rates", rates)] {
            ensure!(
                values[0] == 1 && values[3] == 1,
                Unimplemented,
                "{name} {values:?} must be 1 in the batch and depth dimensions"
            );
        }
        Ok(Dilation { strides, rates, padding: Padding::new(padding, &[], TensorFormat::Nhwc, 4)? })
    }

    fn geometry(&self, input: &Shape, filter: &Shape) -> Result<Geometry> {
        ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {input}");
        ensure!(filter.rank() == 3, InvalidArgument, "filter must be 3-dimensional, not {filter}");
        ensure!(
            input[3] == filter[2],
            InvalidArgument,
            "input and filter must have the same depth, not {} and {}",
            input[3],
            filter[2]
        );
        let axis = |axis: usize| {
            let (stride, rate) = (self.strides[axis], self.rates[axis]);
            Axis::new(input[axis], filter[axis - 1], stride, rate, self.padding.along(axis))
        };
        Ok(Geometry { batch: input[0], rows: axis(1)?, columns: axis(2)?, depth: input[3] })
    }
}

impl Geometry {
    fn output(&self) -> Shape {
        Shape::from([self.batch, self.rows.output, self.columns.output, self.depth])
    }

    /// What window `at` of the output, in row-major order, sees: for each tap in the input the places of the first channel in
    /// input and filter. Before these stand the places that TensorFlow names where no sum is above the lowest number, if they
    /// exist.
    #[inline(never)]
    fn seen(&self, at: usize, seen: &mut Vec<Option<[usize; 2]>>) {
        let (rows, columns) = (&self.rows, &self.columns);
        let (line, column) = (at / columns.output, at % columns.output);
        let (image, row) = (line / rows.output, line % rows.output);
        let element = |y: usize, x: usize| ((image * rows.input + y) * columns.input + x) * self.depth;
        let (y, x) = (rows.start(row).max(0) as usize, columns.start(column).max(0) as usize);
        seen.clear();
        seen.push((y < rows.input && x < columns.input).then(|| [element(y, x), 0]));
        for row_tap in rows.taps(row) {
            let Some(y) = rows.at(row, row_tap) else { continue };
            for column_tap in columns.taps(column) {
                let Some(x) = columns.at(column, column_tap) else { continue };
                let tap = (row_tap * columns.window + column_tap) * self.depth;
                seen.push(Some([element(y, x), tap]));
            }
        }
    }
}

widest! {
    /// The greatest sums of all channels of the output pixels from `first` on, for as many as `output` has room for.
    fn greatest_sums<T: RealNumber>(geometry: &Geometry, input: &[T], filter: &[T], first: usize, output: &mut [T]) {
        let (rows, columns, depth) = (&geometry.rows, &geometry.columns, geometry.depth);
        for (index, target) in output.chunks_exact_mut(depth).enumerate() {
            let (line, column) = ((first + index) / columns.output, (first + index) % columns.output);
            let (image, row) = (line / rows.output, line % rows.output);
            target.fill(T::MIN);
            for row_tap in rows.taps(row) {
                let Some(y) = rows.at(row, row_tap) else { continue };
                for column_tap in columns.taps(column) {
                    let Some(x) = columns.at(column, column_tap) else { continue };
                    let source = &input[((image * rows.input + y) * columns.input + x) * depth..][..depth];
                    let summands = &filter[(row_tap * columns.window + column_tap) * depth..][..depth];
                    for ((best, &element), &summand) in target.iter_mut().zip(source).zip(summands) {
                        let sum = element.wrapping_add(summand);
                        *best = if sum > *best { sum } else { *best };
                    }
                }
            }
        }
    }
}

widest! {
    /// For each channel which of the places `seen` makes the greatest sum: the first such, or 0.
    fn find_greatest<T: RealNumber>(
        seen: &[Option<[usize; 2]>],
        input: &[T],
        filter: &[T],
        greatest: &mut [T],
        found: &mut [u32],
    ) {
        greatest.fill(T::MIN);
        found.fill(0);
        for (index, &places) in seen.iter().enumerate().skip(1) {
            let Some([element, tap]) = places else { continue };
            let (source, summands) = (&input[element..][..greatest.len()], &filter[tap..][..greatest.len()]);
            let best = greatest.iter_mut().zip(found.iter_mut());
            for (((greatest, found), &element), &summand) in best.zip(source).zip(summands) {
                let sum = element.wrapping_add(summand);
                let is_greater = sum > *greatest;
                *greatest = if is_greater { sum } else { *greatest };
                *found = if is_greater { index as u32 } else { *found };
            }
        }
    }
}

#[register_kernel(
    device = Cpu,
    T = [realnumbertype],
    state = |ctx| Dilation::new(&ctx.attrs().strides, &ctx.attrs().rates, &ctx.attrs().padding),
)]
fn dilation2d<T: RealNumber>(dilation: &Dilation, ctx: &mut KernelContext<'_, Dilation2D>) -> Result<()> {
    let (input, filter) = (ctx.input(Dilation2D::INPUT)?, ctx.input(Dilation2D::FILTER)?);
    let geometry = dilation.geometry(input.shape(), filter.shape())?;
    let mut output = ctx.allocate_output(Dilation2D::OUTPUT, geometry.output())?;
    if output.num_elements() > 0 {
        let (elements, filter) = (input.as_slice::<T>()?, filter.as_slice::<T>()?);
        let taps = geometry.rows.window.saturating_mul(geometry.columns.window);
        let cost = taps.div_ceil(16);
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, geometry.depth, cost, |first, piece| {
            greatest_sums(&geometry, elements, filter, first / geometry.depth, piece);
        });
    }
    ctx.set_output(Dilation2D::OUTPUT, output)
}

/// Output 0, of the shape of an input: what flows back into each greatest sum, added to what made it: an element of the
/// filter if `of_filter`, else of the input.
fn gradient<T: RealNumber>(ctx: &mut RawContext<'_>, dilation: &Dilation, of_filter: bool) -> Result<()> {
    let (input, filter, gradient) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    let geometry = dilation.geometry(input.shape(), filter.shape())?;
    let pooled = geometry.output();
    ensure!(
        *gradient.shape() == pooled,
        InvalidArgument,
        "out_backprop must have shape {pooled}, not {}",
        gradient.shape()
    );
    let shape = if of_filter { filter.shape() } else { input.shape() };
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let target = output.as_mut_slice::<T>()?;
    target.fill(T::ZERO);
    // Nothing flows into a filter without elements, which makes no sums.
    if gradient.num_elements() > 0 && !target.is_empty() {
        let (elements, filter, gradient) = (input.as_slice::<T>()?, filter.as_slice::<T>()?, gradient.as_slice::<T>()?);
        let depth = geometry.depth;
        let (mut greatest, mut found) = (scratch::filled(T::ZERO, depth)?, scratch::filled(0, depth)?);
        // Of the taps of a window, as many as the input has places at most see something.
        let most = |axis: &Axis| axis.window.min(axis.input);
        let mut seen = scratch::room(1 + most(&geometry.rows) * most(&geometry.columns))?;
        for (at, flow) in gradient.chunks_exact(depth).enumerate() {
            geometry.seen(at, &mut seen);
            find_greatest(&seen, elements, filter, &mut greatest, &mut found);
            for ((channel, &found), &flow) in found.iter().enumerate().zip(flow) {
                let Some([element, tap]) = seen[found as usize] else { continue };
                let target = &mut target[if of_filter { tap } else { element } + channel];
                *target = target.wrapping_add(flow);
            }
        }
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    op = [Dilation2DBackpropInput, Dilation2DBackpropFilter],
    T = [realnumbertype],
    state = |ctx| Dilation::new(&ctx.attrs().strides, &ctx.attrs().rates, &ctx.attrs().padding),
)]
fn gradient_kernel<T: RealNumber>(dilation: &Dilation, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let of_filter = ctx.op().name == "Dilation2DBackpropFilter";
    gradient::<T>(ctx, dilation, of_filter)
}
