//! Dilation2D, Dilation2DBackpropInput and Dilation2DBackpropFilter.

use kernlink::dtype::RealNumber;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
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

    /// The elements of an image.
    fn image(&self) -> usize {
        self.rows.input * self.columns.input * self.depth
    }

    /// Of output element `at` the greatest sum, and the image's and the filter's element that make it: the first such.
    /// Where no sum is above the lowest number, TensorFlow names the first elements.
    fn greatest<T: RealNumber>(&self, image: &[T], filter: &[T], at: usize) -> (T, Option<[usize; 2]>) {
        let (place, channel) = (at / self.depth, at % self.depth);
        let (row, column) = (place / self.columns.output % self.rows.output, place % self.columns.output);
        let (y, x) = (self.rows.start(row).max(0) as usize, self.columns.start(column).max(0) as usize);
        let inside = y < self.rows.input && x < self.columns.input;
        let first = inside.then(|| [(y * self.columns.input + x) * self.depth + channel, channel]);
        let (mut best, mut found) = (T::MIN, first);
        for row_tap in self.rows.taps(row) {
            let Some(y) = self.rows.at(row, row_tap) else { continue };
            for column_tap in self.columns.taps(column) {
                let Some(x) = self.columns.at(column, column_tap) else { continue };
                let element = (y * self.columns.input + x) * self.depth + channel;
                let tap = (row_tap * self.columns.window + column_tap) * self.depth + channel;
                let sum = image[element].wrapping_add(filter[tap]);
                if sum > best {
                    (best, found) = (sum, Some([element, tap]));
                }
            }
        }
        (best, found)
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
        let (image, windows) = (geometry.image(), gradient.len() / geometry.batch);
        for (at, &flow) in gradient.iter().enumerate() {
            let first = at / windows * image;
            let Some(found) = geometry.greatest(&elements[first..][..image], filter, at % windows).1 else { continue };
            let place = if of_filter { found[1] } else { first + found[0] };
            target[place] = target[place].wrapping_add(flow);
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
