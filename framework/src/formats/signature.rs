//! Signatures: a model's inputs and outputs, by names that say their purpose.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::dtype::DataType;
use crate::error::{Error, Result, shortened};
use crate::graph::{Graph, NodeId, Output, TensorName};
use crate::proto::{SignatureDef, TensorInfo, shape_from_proto, tensor_from_proto, tensor_info};
use crate::registry::{did_you_mean, listed};
use crate::runtime::{Callable, RunMetadata, RunOptions, Session};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// An input or output of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureTensor {
    /// Its tensor in the graph: `node:0`.
    pub tensor: String,
    /// Its dtype.
    pub dtype: DataType,
    /// What is known of its shape.
    pub shape: PartialShape,
}

/// A signature: a function that a model offers.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// What kind of function it is, such as `tensorflow/serving/predict`; may be empty.
    pub method_name: String,
    /// Its inputs by name. A sparse input has three: `NAME/indices`, `NAME/values` and `NAME/dense_shape`.
    pub inputs: BTreeMap<String, SignatureTensor>,
    /// Its outputs by name; sparse ones as with the inputs.
    pub outputs: BTreeMap<String, SignatureTensor>,
    /// The values of inputs that need not be given.
    pub defaults: BTreeMap<String, Tensor>,
}

impl Signature {
    /// From a message.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an unknown dtype, a bad shape or default, or a tensor without a name.
    pub fn from_proto(proto: &SignatureDef) -> Result<Signature> {
        let tensors = |infos: &BTreeMap<String, TensorInfo>, kind: &str| {
            let mut tensors = BTreeMap::new();
            for (name, info) in infos {
                add(&mut tensors, name, info, 0)
                    .map_err(|error| error.context(format!("{kind} `{}`", shortened(name))))?;
            }
            Ok::<_, Error>(tensors)
        };
        let default = |(name, proto): (&String, _)| {
            let tensor =
                tensor_from_proto(proto).map_err(|error| error.context(format!("default of `{}`", shortened(name))))?;
            Ok((name.clone(), tensor))
        };
        Ok(Signature {
            method_name: proto.method_name.clone(),
            inputs: tensors(&proto.inputs, "input")?,
            outputs: tensors(&proto.outputs, "output")?,
            defaults: proto.defaults.iter().map(default).collect::<Result<_>>()?,
        })
    }
}

/// How deeply composite tensors may be nested.
const MAX_DEPTH: usize = 8;

/// Adds the tensor that a message describes, or the components of a composite tensor.
fn add(tensors: &mut BTreeMap<String, SignatureTensor>, name: &str, info: &TensorInfo, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid_argument("it is nested too deeply"));
    }
    let dtype = |number: i32| {
        // A reference dtype is written as the dtype it refers to.
        let number = if number > 100 { number - 100 } else { number };
        DataType::from_number(number)
            .ok_or_else(|| Error::invalid_argument(format!("it has the unknown dtype {number}")))
    };
    let mut put = |name: String, tensor: &str, dtype: DataType, shape: PartialShape| {
        TensorName::parse(tensor)?;
        tensors.insert(name, SignatureTensor { tensor: tensor.to_owned(), dtype, shape });
        Ok(())
    };
    match &info.encoding {
        Some(tensor_info::Encoding::Name(tensor)) => {
            let shape = info.tensor_shape.as_ref().map_or(Ok(PartialShape::unknown()), shape_from_proto)?;
            put(name.to_owned(), tensor, dtype(info.dtype)?, shape)
        }
        Some(tensor_info::Encoding::CooSparse(sparse)) => {
            let vector = || PartialShape::of_rank(1);
            put(format!("{name}/indices"), &sparse.indices_tensor_name, DataType::Int64, PartialShape::of_rank(2))?;
            put(format!("{name}/values"), &sparse.values_tensor_name, dtype(info.dtype)?, vector())?;
            put(format!("{name}/dense_shape"), &sparse.dense_shape_tensor_name, DataType::Int64, vector())
        }
        Some(tensor_info::Encoding::CompositeTensor(composite)) => {
            let mut parts = composite.components.iter().enumerate();
            parts.try_for_each(|(index, part)| add(tensors, &format!("{name}/{index}"), part, depth + 1))
        }
        None => Err(Error::invalid_argument("it names no tensor")),
    }
}

/// A signature that is ready to run; see [`MetaGraph::signature`](super::MetaGraph::signature).
pub struct SignatureRunner<'m> {
    signature: &'m Signature,
    callable: Option<Callable>,
    /// The inputs in the order in which the callable takes them.
    inputs: Vec<&'m str>,
    /// For each output, the source of its value.
    outputs: Vec<(String, Source)>,
}

/// [`Session::make_callable`] or [`Session::prepare`]: of a session, feeds, fetches and targets.
pub(super) type MakeCallable = fn(&Session, &[&str], &[&str], &[&str]) -> Result<Callable>;

/// The source of an output's value.
#[derive(Clone, Copy)]
enum Source {
    /// The callable's output with this index.
    Fetch(usize),
    /// The input with this index: the same tensor is an input and an output.
    Feed(usize),
}

impl<'m> SignatureRunner<'m> {
    pub(super) fn new(signature: &'m Signature, session: &Session, make: MakeCallable) -> Result<SignatureRunner<'m>> {
        let graph = session.graph();
        let fed = signature.inputs.iter().map(|(name, input)| {
            let found = graph.output(&input.tensor);
            Ok((name.as_str(), found.map_err(|error| error.context(format!("input `{}`", shortened(name))))?))
        });
        let fed = fed.collect::<Result<Vec<_>>>()?;
        let wanted = signature.outputs.iter().map(|(name, output)| {
            let found = graph.output(&output.tensor);
            Ok((name.clone(), found.map_err(|error| error.context(format!("output `{}`", shortened(name))))?))
        });
        SignatureRunner::prepare(signature, session, &fed, wanted.collect::<Result<_>>()?, make)
    }

    /// Of some outputs, by the signature's names or by those of tensors in the graph. Only inputs that lead to them are fed.
    pub(super) fn of_outputs(
        signature: &'m Signature,
        session: &Session,
        outputs: &[&str],
        make: MakeCallable,
    ) -> Result<SignatureRunner<'m>> {
        let graph = session.graph();
        let find = |name: &&str| {
            let found = match signature.outputs.get(*name) {
                Some(output) => {
                    let found = graph.output(&output.tensor);
                    found.map_err(|error| error.context(format!("output `{}`", shortened(name))))
                }
                None => graph.output(name).map_err(|error| {
                    let known = || signature.outputs.keys().map(String::as_str);
                    let (hint, unknown, known) = (did_you_mean(name, known()), shortened(name), listed(known()));
                    let message = format!("the signature gives no `{unknown}`; it gives {known}{hint}\n");
                    Error::not_found(message + error.message())
                }),
            };
            Ok(((*name).to_owned(), found?))
        };
        let wanted = outputs.iter().map(find).collect::<Result<Vec<(String, Output)>>>()?;
        // An input that is not in the graph leads nowhere.
        let inputs = signature.inputs.iter();
        let inputs = inputs.filter_map(|(name, input)| Some((name.as_str(), graph.output(&input.tensor).ok()?)));
        let fed = needed_inputs(graph, inputs.collect(), &wanted)?;
        SignatureRunner::prepare(signature, session, &fed, wanted, make)
    }

    fn prepare(
        signature: &'m Signature,
        session: &Session,
        fed: &[(&'m str, Output)],
        wanted: Vec<(String, Output)>,
        make: MakeCallable,
    ) -> Result<SignatureRunner<'m>> {
        let mut fetches: Vec<Output> = Vec::new();
        let mut sources: HashMap<Output, Source> = HashMap::new();
        for (position, (_, input)) in fed.iter().enumerate() {
            sources.entry(*input).or_insert(Source::Feed(position));
        }
        let source = |(name, wanted): (String, Output)| {
            let source = sources.entry(wanted).or_insert_with(|| {
                fetches.push(wanted);
                Source::Fetch(fetches.len() - 1)
            });
            (name, *source)
        };
        let outputs = wanted.into_iter().map(source).collect();
        let name = |output: Output| session.graph().output_name(output);
        let feeds: Vec<String> = fed.iter().map(|(_, input)| name(*input)).collect();
        let fetches: Vec<String> = fetches.into_iter().map(name).collect();
        let [feeds, fetches] = [&feeds, &fetches].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        let callable = (!fetches.is_empty()).then(|| make(session, &feeds, &fetches, &[])).transpose()?;
        Ok(SignatureRunner { signature, callable, inputs: fed.iter().map(|(name, _)| *name).collect(), outputs })
    }

    /// The names of the inputs that a run takes, in their order: those without a default must be given.
    pub fn inputs(&self) -> impl Iterator<Item = &'m str> + '_ {
        self.inputs.iter().copied()
    }

    /// The signature.
    pub fn signature(&self) -> &'m Signature {
        self.signature
    }

    /// Runs the function: inputs by name, in any order; returns the outputs by name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for inputs that are missing, unknown, given twice, or of another dtype; and whatever a kernel meets:
    /// as in TensorFlow, an input may have another shape than the signature says.
    pub fn run(&self, inputs: &[(&str, Tensor)]) -> Result<BTreeMap<String, Tensor>> {
        self.run_with(inputs, &RunOptions::default())
    }

    /// [`SignatureRunner::run`] with options.
    ///
    /// # Errors
    /// See [`SignatureRunner::run`] and [`Session::run_with`].
    pub fn run_with(&self, inputs: &[(&str, Tensor)], options: &RunOptions) -> Result<BTreeMap<String, Tensor>> {
        self.run_with_metadata(inputs, options, &mut RunMetadata::default())
    }

    /// [`SignatureRunner::run_with`] that also returns the run's metadata, even if it fails.
    ///
    /// # Errors
    /// See [`SignatureRunner::run_with`].
    pub fn run_with_metadata(
        &self,
        inputs: &[(&str, Tensor)],
        options: &RunOptions,
        metadata: &mut RunMetadata,
    ) -> Result<BTreeMap<String, Tensor>> {
        let mut feeds: Vec<Option<Tensor>> = vec![None; self.inputs.len()];
        for (name, tensor) in inputs {
            let input = self.signature.inputs.get(*name).ok_or_else(|| {
                let hint = did_you_mean(name, self.signature.inputs.keys().map(String::as_str));
                let name = shortened(name);
                Error::invalid_argument(format!("the signature has no input `{name}`: it takes {}{hint}", self.takes()))
            })?;
            // The outputs may not need all inputs of the signature.
            let Some(position) = self.inputs.iter().position(|input| input == name) else {
                check(name, input, tensor)?;
                continue;
            };
            if feeds[position].replace(tensor.clone()).is_some() {
                return Err(Error::invalid_argument(format!("input `{}` is given twice", shortened(name))));
            }
        }
        let mut missing = Vec::new();
        for (name, feed) in self.inputs.iter().zip(&mut feeds) {
            if feed.is_none() {
                *feed = self.signature.defaults.get(*name).cloned();
            }
            match feed {
                Some(tensor) => check(name, &self.signature.inputs[*name], tensor)?,
                None => missing.push(*name),
            }
        }
        if !missing.is_empty() {
            let missing = listed(missing);
            let message = format!("inputs are missing: {missing}; the signature takes {}", self.takes());
            return Err(Error::invalid_argument(message));
        }
        let feeds: Vec<Tensor> = feeds.into_iter().flatten().collect();
        let fetched = match &self.callable {
            Some(callable) => callable.run_with_metadata(&feeds, options, metadata)?,
            None => Vec::new(),
        };
        let value = |source: &Source| match source {
            Source::Fetch(position) => fetched[*position].clone(),
            Source::Feed(position) => feeds[*position].clone(),
        };
        Ok(self.outputs.iter().map(|(name, source)| (name.clone(), value(source))).collect())
    }

    /// The inputs, for people.
    fn takes(&self) -> String {
        if self.signature.inputs.is_empty() {
            return "nothing".to_owned();
        }
        let inputs = self.signature.inputs.iter();
        let texts = inputs.map(|(name, input)| format!("{} ({} {})", shortened(name), input.dtype, input.shape));
        listed(texts.collect::<Vec<_>>().iter().map(String::as_str))
    }
}

/// Those inputs from which what is wanted is computed.
///
/// # Errors
/// INVALID_ARGUMENT if a placeholder is needed that is no input.
fn needed_inputs<'m>(
    graph: &Graph,
    mut inputs: Vec<(&'m str, Output)>,
    wanted: &[(String, Output)],
) -> Result<Vec<(&'m str, Output)>> {
    let fed: Vec<Output> = inputs.iter().map(|(_, input)| *input).collect();
    let fetches: Vec<Output> = wanted.iter().map(|(_, output)| *output).collect();
    let (mut used, mut awaited) = (HashSet::<Output>::from_iter(fetches.iter().copied()), HashSet::<NodeId>::new());
    for id in graph.needed(&fed, &fetches, &[]) {
        let node = graph.node(id);
        if graph.is_placeholder(id) {
            return Err(Error::invalid_argument(format!(
                "an output needs the value of `{}`, which is no input of the signature: run the graph itself, without the \
                 signature, with values by the names of nodes",
                shortened(&node.name)
            )));
        }
        used.extend(&node.inputs);
        awaited.extend(&node.control_inputs);
    }
    // A placeholder that is only waited for must be fed, too; any other node runs then.
    inputs
        .retain(|(_, input)| used.contains(input) || graph.is_placeholder(input.node) && awaited.contains(&input.node));
    Ok(inputs)
}

fn check(name: &str, input: &SignatureTensor, tensor: &Tensor) -> Result<()> {
    let name = shortened(name);
    if tensor.dtype() != input.dtype {
        let message = format!("input `{name}` must be {}, not {}", input.dtype, tensor.dtype());
        return Err(Error::invalid_argument(message));
    }
    Ok(())
}
