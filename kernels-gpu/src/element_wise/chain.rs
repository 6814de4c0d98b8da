//! The text of several functions of elements, one after the other, as one shader.
//!
//! The functions are those of their ops' own kernels. Their names, and those of all that they call, end in the types that they
//! are for, so that functions of several types stand beside each other.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use kernlink_ops::shapes::Operand;
use smallvec::SmallVec;

use super::driver::{Function, computed};
use crate::composition;
use crate::places;
use crate::shader::{Entry, Program, Scalar};

/// One function of a chain.
pub(super) struct Link<'f> {
    pub(super) function: &'f Function,
    pub(super) operands: &'f [Operand],
}

/// Functions as one, before it is known how the inputs lie.
pub(super) struct Chain {
    inputs: Vec<Scalar>,
    output: Scalar,
    /// All functions, and `chain`, which calls them.
    text: String,
    /// The names of the parameters.
    pub(super) params: Vec<String>,
    is_checked: bool,
}

/// How an input lies to the output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Lie {
    /// It has all elements of the output in its order.
    Full,
    /// It has one element.
    One,
    /// It broadcasts; what broadcasts alike has one number.
    Spread(u8),
}

/// How a shader goes through the output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Walk {
    /// By four elements; nothing broadcasts along dimensions.
    Flat,
    /// By four elements of the innermost dimension, along which the inputs with a bit in `moving`, by their number as
    /// [`Lie::Spread`], move.
    Vectors { rank: usize, moving: u32 },
    /// One by one.
    Single { rank: usize },
}

/// What tells the shaders of a chain from each other.
pub(super) type Pattern = (SmallVec<[Lie; 8]>, Walk);

impl Chain {
    /// The functions, of inputs of these types; the last gives the output.
    pub(super) fn new(inputs: Vec<Scalar>, links: &[Link<'_>]) -> Chain {
        let mut known: HashMap<String, String> = HashMap::new();
        let (mut declared, mut body, mut params) = (String::new(), String::new(), Vec::new());
        let mut is_checked = false;
        let mut output = Scalar::F32;
        for (place, Link { function, operands }) in links.iter().enumerate() {
            is_checked |= function.is_checked();
            output = function.output();
            let parts = composition::parts(function.declarations());
            let own_params: Vec<&str> = function.parameters().iter().map(|&(name, _)| name).collect();
            params.extend(own_params.iter().map(|name| format!("{name}_{place}")));
            let types: String = function.types().iter().map(|(_, scalar)| format!("_{}", name_of(*scalar))).collect();
            let renamed = |suffix: &str| -> Vec<(String, String)> {
                let names: HashSet<&str> = parts.iter().map(|(name, _)| &**name).collect();
                let rename = |word: &str| match function.types().iter().find(|(alias, _)| *alias == word) {
                    Some(&(_, scalar)) => computed(scalar).wgsl().to_owned(),
                    None if own_params.contains(&word) => format!("{word}_{place}"),
                    None if names.contains(word) => format!("{word}{suffix}"),
                    None => word.to_owned(),
                };
                let part =
                    |(name, text): &(String, String)| (format!("{name}{suffix}"), composition::renamed(text, rename));
                parts.iter().map(part).collect()
            };
            // What has parameters is the step's own, and so is what another file has by the same name.
            let mut suffix = types;
            let mut own = renamed(&suffix);
            let is_other = |(name, text): &(String, String)| known.get(name).is_some_and(|known| known != text);
            if !own_params.is_empty() || own.iter().any(is_other) {
                let _ = write!(suffix, "_{place}");
                own = renamed(&suffix);
            }
            for (name, text) in own {
                known.entry(name).or_insert_with(|| {
                    declared += &text;
                    text
                });
            }
            let arguments = operands.iter().map(|operand| match operand {
                Operand::Input(input) => format!("a_{input}"),
                Operand::Step(step) => format!("s_{step}"),
            });
            let call = format!("{}{suffix}({})", function.name, arguments.collect::<Vec<_>>().join(", "));
            // What a node of its own would have stored.
            let is_last = place + 1 == links.len();
            let value = if output == Scalar::F16 && !is_last { format!("f32(f16({call}))") } else { call };
            let _ = writeln!(body, "    let s_{place} = {value};");
        }
        let arguments = inputs.iter().enumerate().map(|(k, &scalar)| format!("a_{k}: {}", computed(scalar).wgsl()));
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let result = computed(output).wgsl();
        let last = links.len().saturating_sub(1);
        let text = format!("{declared}fn chain({arguments}) -> {result} {{\n{body}    return s_{last};\n}}\n");
        Chain { inputs, output, text, params, is_checked }
    }

    /// The shader for inputs that lie in this way.
    pub(super) fn program(&self, (lies, walk): &Pattern) -> Program {
        const LABEL: &str = "_FusedElementWise";
        let mut builder = if self.is_checked { Program::builder(LABEL) } else { Program::trusted(LABEL) };
        let spreads = lies.iter().filter_map(|lie| if let Lie::Spread(number) = lie { Some(number + 1) } else { None });
        let places: Vec<String> = (0..spreads.max().unwrap_or(0)).map(|number| format!("p_{number}")).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let is_single = matches!(walk, Walk::Single { .. });
        let mut loads = String::new();
        for (k, (&scalar, lie)) in self.inputs.iter().zip(lies).enumerate() {
            let name = format!("x_{k}");
            let (place, moves) = match (lie, walk) {
                (Lie::Full, _) => ("i".to_owned(), true),
                (Lie::One, _) => ("0".to_owned(), false),
                (Lie::Spread(number), Walk::Vectors { moving, .. }) => {
                    (format!("place.p_{number}"), moving & 1 << number != 0)
                }
                (Lie::Spread(number), _) => (format!("place.p_{number}"), false),
            };
            let is_vector = moves && !is_single;
            builder = if is_vector { builder.read_vectors(&name, scalar, 4) } else { builder.read(&name, scalar) };
            let element = format!("{name}[{place}]");
            let wide = computed(scalar).wgsl();
            let value = match (is_vector || is_single, scalar == Scalar::F16) {
                (true, false) => element,
                (true, true) if is_single => format!("f32({element})"),
                (true, true) => format!("vec4<f32>({element})"),
                (false, _) => format!("vec4<{wide}>({wide}({element}))"),
            };
            let _ = writeln!(loads, "    let v_{k} = {value};");
        }
        builder =
            if is_single { builder.write("out", self.output) } else { builder.write_vectors("out", self.output, 4) };
        let mut body = self.text.clone();
        if let Walk::Vectors { rank, .. } | Walk::Single { rank } = *walk {
            builder = places::declare(builder, rank, &places);
            body += &places::function(rank, &places);
            loads = format!("    let place = at(i);\n{loads}");
        }
        for name in &self.params {
            builder = builder.param(name, "f32");
        }
        if self.has_halves() {
            builder = builder.halves();
        }
        let call = |part: &str| {
            let arguments = (0..self.inputs.len()).map(|k| format!("v_{k}{part}"));
            format!("chain({})", arguments.collect::<Vec<_>>().join(", "))
        };
        let stored = self.output.wgsl();
        let value = match is_single {
            true => format!("{stored}({})", call("")),
            false => {
                let wide = computed(self.output).wgsl();
                let all = format!("vec4<{wide}>({})", [".x", ".y", ".z", ".w"].map(call).join(", "));
                if self.output == Scalar::F16 { format!("vec4<f16>({all})") } else { all }
            }
        };
        let _ = write!(body, "fn element(i: u32) {{\n{loads}    out[i] = {value};\n}}\n");
        builder.build(Entry::Elements, &body)
    }

    /// Whether values are rounded to 16 bits on the way.
    fn has_halves(&self) -> bool {
        self.text.contains("f16(")
    }
}

/// The name by which conditions in files know a type.
fn name_of(scalar: Scalar) -> &'static str {
    scalar.names().last().copied().unwrap_or_default()
}
