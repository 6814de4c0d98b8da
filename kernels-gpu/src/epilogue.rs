//! What follows a product in the shader that writes it: [`Fusion`] on the GPU.
//!
//! An [`Epilogue`] tells the text of a shader from others: it declares a function that the shader calls for each share of
//! the result, and what this takes. A node has a [`Finish`]: nearly always one [`Stage`], which the shader of the product
//! takes for its [`End`]; others, and all of them where that shader cannot, are run over the result, in place.

use std::fmt::Write as _;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::fusion::{Activation, Channels, Fusion};
use smallvec::SmallVec;

use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::matmul::gemm::word;
use crate::matmul::text::sum_of;
use crate::shader::{Entry, Program, ProgramBuilder, Scalar, scalar_of};
use crate::windows::{Part, read, whole, written};

/// The arguments of a stage, so that with two factors and the result a shader binds the 8 buffers that every device lets it.
const MOST: usize = 5;

/// A step that each channel takes: [`Channels`] without numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    Bias,
    Scale,
    Norm,
}

/// The steps that a shader takes with what it has computed before it writes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Epilogue {
    steps: [Option<Step>; MOST],
    /// Whether an argument in the result's shape is added then.
    summand: bool,
    /// The function that is taken of the sum, by its name in `unary.wgsl`.
    activation: Option<&'static str>,
}

/// The activation's function in `unary.wgsl`.
fn name_of(activation: Activation) -> Option<&'static str> {
    Some(match activation {
        Activation::Identity => return None,
        Activation::Relu => "Relu",
        Activation::Relu6 => "Relu6",
        Activation::Elu => "Elu",
        Activation::LeakyRelu(_) => "LeakyRelu",
        Activation::Sigmoid => "Sigmoid",
        Activation::Tanh => "Tanh",
        Activation::GeluExact => "_GeluExact",
        Activation::GeluApproximate => "_GeluApproximate",
        Activation::Swish => "_Swish",
        Activation::HardSwish => "_HardSwish",
    })
}

impl Epilogue {
    /// A summand, if there is one, and an activation.
    pub(crate) fn new(summand: bool, activation: Activation) -> Epilogue {
        Epilogue { steps: [None; MOST], summand, activation: name_of(activation) }
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_none(&self) -> bool {
        *self == Epilogue::default()
    }

    /// The names that hold in the conditions of files: `vectors` if threads take four elements, `fused` if there is anything to
    /// do.
    pub(crate) fn names(&self, vectors: bool) -> &'static [&'static str] {
        match (vectors, self.is_none()) {
            (false, true) => &[],
            (true, true) => &["vectors"],
            (false, false) => &["fused"],
            (true, false) => &["vectors", "fused"],
        }
    }

    /// Declares `fn fused(i: u32, channel: u32, product: V) -> V`, its arguments, and the parameters `end_epsilon` and `alpha`,
    /// if there is anything to do. `V` are shares of `width` numbers of the type in which elements of type `scalar` are
    /// added; shares are counted by `i` in the result and by `channel` in the channels.
    pub(crate) fn declare(&self, mut builder: ProgramBuilder, scalar: Scalar, width: u32) -> ProgramBuilder {
        if self.is_none() {
            return builder;
        }
        let share = if width == 1 { "f32".to_owned() } else { format!("vec{width}<f32>") };
        let (mut text, mut count) = (String::new(), 0);
        let mut next = || {
            count += 1;
            format!("{share}(argument{}[channel])", count - 1)
        };
        for step in self.steps.iter().flatten() {
            let _ = match step {
                Step::Bias => writeln!(text, "    v += {};", next()),
                Step::Scale => writeln!(text, "    v *= {};", next()),
                Step::Norm => {
                    let [scale, offset, mean, variance] = [next(), next(), next(), next()];
                    writeln!(
                        text,
                        "    v = (v - {mean}) * ({scale} / sqrt({variance} + params.end_epsilon)) + {offset};"
                    )
                }
            };
        }
        for argument in 0..count {
            builder = builder.read_vectors(&format!("argument{argument}"), scalar, width);
        }
        if self.summand {
            builder = builder.read_vectors("summand", scalar, width);
            let _ = writeln!(text, "    v += {share}(summand[i]);");
        }
        let mut declared = String::new();
        if let Some(name) = self.activation {
            declared = activation(name, scalar);
            let _ = match width {
                1 => writeln!(text, "    v = {name}(v);"),
                _ => writeln!(text, "    v = {share}({name}(v.x), {name}(v.y), {name}(v.z), {name}(v.w));"),
            };
        }
        let function = format!(
            "fn fused(i: u32, channel: u32, product: {share}) -> {share} {{\n    var v = product;\n{text}    return v;\n}}\n"
        );
        builder.param("end_epsilon", "f32").param("alpha", "f32").declare(&declared).declare(&function)
    }

    /// Some that have all there is, for tests of the shaders that take any.
    pub(crate) fn examples() -> [Epilogue; 2] {
        let none = Epilogue::new(false, Activation::Relu);
        let mut steps = [None; MOST];
        steps[0] = Some(Step::Bias);
        let mut norm = [None; MOST];
        norm[0] = Some(Step::Norm);
        let activation = name_of(Activation::GeluExact);
        [Epilogue { steps, ..none }, Epilogue { steps: norm, summand: true, activation }]
    }

    /// All activations, with some steps each, for tests of the shader that does nothing else.
    fn all() -> Vec<Epilogue> {
        let kinds = [Step::Bias, Step::Scale, Step::Norm];
        let activations = Activation::all(0.0).map(|(_, activation)| activation).chain([Activation::Identity]);
        let with = |(place, activation): (usize, Activation)| {
            let mut epilogue = Epilogue::new(place % 2 == 0, activation);
            epilogue.steps[0] = Some(kinds[place % 3]);
            if kinds[place % 3] != Step::Norm {
                epilogue.steps[1] = Some(kinds[place % 2]);
            }
            epilogue
        };
        activations.enumerate().map(with).collect()
    }
}

/// An activation of numbers of the type in which elements of type `scalar` are added, with what it calls.
fn activation(name: &str, scalar: Scalar) -> String {
    let text = composition::function(include_str!("element_wise/unary.wgsl"), name, scalar.names());
    // The file's own name for the type may be taken for that of elements.
    composition::renamed(&text, |word| if word == "T" { sum_of(scalar).wgsl().to_owned() } else { word.to_owned() })
}

/// What a dispatch passes for an [`Epilogue`].
#[derive(Clone, Copy, Default)]
pub(crate) struct End<'a> {
    pub(crate) epilogue: Epilogue,
    /// The arguments, a summand last.
    pub(crate) tensors: &'a [&'a Tensor],
    /// The parameters that [`Epilogue::declare`] has declared.
    pub(crate) params: &'a [u32],
}

/// An epilogue with its arguments.
pub(crate) struct Stage {
    epilogue: Epilogue,
    tensors: SmallVec<[Tensor; MOST]>,
    params: [u32; 2],
}

impl Stage {
    /// A summand in the result's shape, if there is one, and an activation.
    pub(crate) fn new(summand: Option<Tensor>, activation: Activation) -> Stage {
        let epilogue = Epilogue::new(summand.is_some(), activation);
        Stage { epilogue, tensors: summand.into_iter().collect(), params: [0; 2] }
    }

    /// The steps.
    pub(crate) fn epilogue(&self) -> Epilogue {
        self.epilogue
    }

    /// The arguments.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter()
    }

    /// The arguments as parts of a dispatch that goes through the result from front to back.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let vectors = self.tensors.len() - usize::from(self.epilogue.summand);
        self.tensors
            .iter()
            .enumerate()
            .map(move |(place, tensor)| if place < vectors { whole(tensor) } else { read(tensor) })
    }

    /// The parameters that [`Epilogue::declare`] has declared.
    pub(crate) fn params(&self) -> &[u32] {
        if self.epilogue.is_none() { &[] } else { &self.params }
    }

    /// The end of a dispatch that gets these tensors for [`Stage::parts`].
    pub(crate) fn end<'a>(&'a self, tensors: &'a [&'a Tensor]) -> End<'a> {
        End { epilogue: self.epilogue, tensors, params: self.params() }
    }
}

/// A [`Fusion`] with its arguments.
pub(crate) struct Finish {
    stages: SmallVec<[Stage; 1]>,
    channels: usize,
}

impl Finish {
    /// With the arguments that [`Fusion::arguments_of`] returns for a product of this shape, with channels last.
    pub(crate) fn new(fusion: &Fusion, arguments: SmallVec<[Tensor; 5]>, output: &Shape) -> Finish {
        let epsilon = fusion.channels.iter().find_map(|step| match step {
            Channels::Norm { epsilon } => Some(*epsilon),
            Channels::Bias | Channels::Scale => None,
        });
        let alpha = if let Activation::LeakyRelu(slope) = fusion.activation { slope } else { 0.0 };
        let params = [epsilon.unwrap_or_default().to_bits(), alpha.to_bits()];
        let mut stages: SmallVec<[Stage; 1]> = SmallVec::new();
        let mut arguments = arguments.into_iter();
        // The stage that has room for so many more arguments.
        let with_room = |stages: &mut SmallVec<[Stage; 1]>, more: usize| -> usize {
            if stages.last().is_none_or(|stage| stage.tensors.len() + more > MOST) {
                stages.push(Stage { epilogue: Epilogue::default(), tensors: SmallVec::new(), params });
            }
            stages.len() - 1
        };
        for step in &fusion.channels {
            let place = with_room(&mut stages, step.vectors());
            let stage = &mut stages[place];
            if let Some(slot) = stage.epilogue.steps.iter_mut().find(|slot| slot.is_none()) {
                *slot = Some(match step {
                    Channels::Bias => Step::Bias,
                    Channels::Scale => Step::Scale,
                    Channels::Norm { .. } => Step::Norm,
                });
            }
            stage.tensors.extend(arguments.by_ref().take(step.vectors()));
        }
        let place = with_room(&mut stages, usize::from(fusion.summand));
        let stage = &mut stages[place];
        stage.tensors.extend(arguments);
        stage.epilogue.summand = fusion.summand;
        stage.epilogue.activation = name_of(fusion.activation);
        Finish { stages, channels: output.last().copied().unwrap_or(1) }
    }

    /// What the product's shader takes.
    pub(crate) fn first(&self) -> &Stage {
        &self.stages[0]
    }

    /// Brings a product to what the node has for output.
    ///
    /// # Errors
    /// As [`GpuDevice::dispatch`].
    pub(crate) fn finish(&self, gpu: &GpuDevice, product: &Tensor) -> Result<()> {
        self.stages.iter().try_for_each(|stage| self.run(gpu, stage, product))
    }

    /// Likewise if the product's shader has taken [`Finish::first`].
    ///
    /// # Errors
    /// As [`GpuDevice::dispatch`].
    pub(crate) fn finish_rest(&self, gpu: &GpuDevice, product: &Tensor) -> Result<()> {
        self.stages[1..].iter().try_for_each(|stage| self.run(gpu, stage, product))
    }

    fn run(&self, gpu: &GpuDevice, stage: &Stage, product: &Tensor) -> Result<()> {
        let elements = product.num_elements();
        if elements == 0 {
            return Ok(());
        }
        let vectors = self.channels.is_multiple_of(4);
        let width = if vectors { 4 } else { 1 };
        let shader = gpu.shader(program, (scalar_of(product.dtype())?, vectors, stage.epilogue));
        let parts: SmallVec<[Part<'_>; 8]> = [written(product)].into_iter().chain(stage.parts()).collect();
        gpu.in_windows(elements / self.channels, &parts, |rows, tensors| {
            let mut params: SmallVec<[u32; 3]> = SmallVec::from_slice(&[word(self.channels / width)?]);
            params.extend_from_slice(stage.params());
            gpu.dispatch(&shader, tensors, &params, Groups::Elements(rows.len() * (self.channels / width)))
        })
    }
}

/// The program that runs an epilogue over a product in place, by fours or not.
fn program((scalar, vectors, epilogue): (Scalar, bool, Epilogue)) -> Program {
    let width = if vectors { 4 } else { 1 };
    let share = |of: Scalar| if vectors { format!("vec4<{}>", of.wgsl()) } else { of.wgsl().to_owned() };
    let builder = Program::trusted("end of a product").write_vectors("result", scalar, width).words("channels");
    let (stored, wide) = (share(scalar), share(sum_of(scalar)));
    let body = format!(
        "fn element(i: u32) {{\n    result[i] = {stored}(fused(i, i % params.channels, {wide}(result[i])));\n}}\n"
    );
    epilogue.declare(builder, scalar, width).build(Entry::Elements, &body)
}

/// The programs that run over a product of a dtype.
pub(crate) fn programs(dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    let by = |vectors| Epilogue::all().into_iter().map(move |epilogue| program((scalar, vectors, epilogue)));
    Ok(by(false).chain(by(true)).collect())
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::step::block_on;

    use super::*;
    use crate::testing::device;

    fn there(gpu: &GpuDevice, shape: [usize; 2], of: impl Fn(usize) -> f32) -> Tensor {
        let elements: Vec<f32> = (0..shape[0] * shape[1]).map(of).collect();
        gpu.to_device(&Tensor::from_elements(shape, &elements).unwrap()).unwrap()
    }

    /// More arguments than a shader takes, by fours and not.
    #[test]
    fn stages_follow_each_other() {
        let gpu = device();
        for channels in [8, 7] {
            let (rows, at) = (5, |i: usize| (i * 37 % 19) as f32 / 4.0 - 2.0);
            let norm = Channels::Norm { epsilon: 0.5 };
            let steps = [Channels::Bias, Channels::Scale, norm, Channels::Bias, Channels::Scale];
            let fusion = Fusion { channels: steps[..].into(), summand: true, activation: Activation::LeakyRelu(0.25) };
            let vector = |place: usize| move |i: usize| at(i + 5 * place).abs() + 0.5;
            let mut arguments: SmallVec<[Tensor; 5]> =
                (0..8).map(|place| there(&gpu, [1, channels], vector(place)).reshaped([channels]).unwrap()).collect();
            arguments.push(there(&gpu, [rows, channels], |i| at(i + 3)));
            let output = Shape::from([rows, channels]);
            let finish = Finish::new(&fusion, arguments, &output);
            assert_eq!(finish.stages.iter().map(|stage| stage.tensors.len()).collect::<Vec<_>>(), [2, 5, 2]);
            let product = there(&gpu, [rows, channels], at);
            finish.finish(&gpu, &product).unwrap();
            let found = block_on(gpu.to_host(&product)).unwrap();
            for (i, &found) in found.as_slice::<f32>().unwrap().iter().enumerate() {
                let of = |place: usize| vector(place)(i % channels);
                let mut v = (at(i) + of(0)) * of(1);
                v = (v - of(4)) * (of(2) / (of(5) + 0.5).sqrt()) + of(3);
                v = (v + of(6)) * of(7) + at(i + 3);
                let expected = if v > 0.0 { v } else { v * 0.25 };
                assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{i}: {found}, not {expected}");
            }
        }
    }
}
