//! What `run` and `bench` have in common: a model, its inputs and its outputs.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use crate::dtype::DataType;
use crate::error::{Code, Error, Result, escaped, shortened};
use crate::formats::{Signature, SignatureRunner};
use crate::graph::{Graph, NodeClass, NodeId, Output};
use crate::optimize::Ends;
use crate::registry::{did_you_mean, listed};
use crate::runtime::{Callable, RunMetadata, RunOptions, Session, SessionOptions, without_kernel};
use crate::shape::{PartialShape, Shape};
use crate::tensor::Tensor;
use clap::Args;

use crate::cli::model::Model;
use crate::cli::progress::Waiting;
use crate::cli::{output, source};
use crate::tools::defaults::{defaults, ends, some};
use crate::tools::lacking::Lacking;
use crate::tools::words::{Called, count};

/// What the help of commands that run passes says in the end.
pub(crate) const ENVIRONMENT: &str = "Graph passes and rewrites that the environment variable KERNLINK_WITHOUT names, with commas \
between them, do not run; `kernlink optimize --help` lists them.";

#[derive(Args)]
pub(crate) struct What {
    /// The model: the folder of a SavedModel, a MetaGraph (.meta), or a graph as .pb or .pbtxt
    model: PathBuf,
    /// The signature to run; by default `serving_default` or the only one, unless an --output or --target is named
    #[arg(long, value_name = "NAME")]
    signature: Option<String>,
    /// A tag of the SavedModel's graph to run
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// The checkpoint from which the variables of a MetaGraph get their values, or those of a SavedModel other ones: what
    /// stands before `.index`, or a folder for the latest in it
    #[arg(long, value_name = "PREFIX")]
    checkpoint: Option<PathBuf>,
    /// An input: NAME=@file.npy, NAME=@file.json, NAME=@file.txt, or NAME=JSON
    ///
    /// An input of strings is also NAME=@photo.jpg or NAME=@bytes:FILE, the bytes of a file; NAME=[@a.jpg, @b.jpg], those of
    /// several; NAME=@lines:FILE, the lines of a text; and {"b64": "..."} in JSON, bytes in base64.
    #[arg(long, value_name = "NAME=SRC")]
    input: Vec<String>,
    /// An output to compute: of a signature by its name for it, or of a node (`node` or `node:1`)
    ///
    /// By default all outputs of the signature, or all that nothing else in a graph uses and that changes nothing. A name
    /// that both a signature's output and a node have means the former; `node:0` means the node.
    #[arg(long, value_name = "NAME")]
    output: Vec<String>,
    /// A node of a graph or MetaGraph to run for what it does, such as a training step, and not for an output
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// Threads; 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole, allow_negative_numbers = true)]
    threads: usize,
    /// The device to run on: cpu, gpu, or gpu:K for the adapter number K. The CPU runs what a GPU has no kernels for
    #[arg(long, value_name = "D", default_value = "cpu")]
    device: String,
    /// Refuses what would not run where it is to run
    #[arg(long)]
    no_soft_placement: bool,
    /// How deeply calls of functions may be nested; 0 for 1,000. Each takes memory
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = calls, allow_negative_numbers = true)]
    call_depth: u32,
    /// Whom errors speak to.
    #[arg(skip)]
    pub(crate) called: Called,
}

fn whole(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "it must be a whole number, 0 or more")
}

fn calls(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "it must be a whole number from 0 to 4294967295")
}

/// How a run is prepared.
#[derive(Clone, Copy)]
pub(crate) struct How {
    /// Makes up inputs that are not given; else they are refused.
    pub(crate) fill: bool,
    /// Prepares the functions that the run can come to call, too.
    pub(crate) functions: bool,
}

impl How {
    /// A run of the graph.
    pub(crate) fn callable(
        self,
        session: &Session,
        feeds: &[&str],
        fetches: &[&str],
        targets: &[&str],
    ) -> Result<Callable> {
        match self.functions {
            true => session.prepare(feeds, fetches, targets),
            false => session.make_callable(feeds, fetches, targets),
        }
    }
}

/// A value that a job feeds.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) tensor: Tensor,
    /// How it was generated, if it was not given.
    pub(crate) filled: Option<&'static str>,
}

/// A run that is ready to begin, any number of times.
pub(crate) struct Job<'m> {
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<String>,
    /// Targets that run by default, if no output was named.
    targets: Vec<String>,
    /// Nodes that do not run unless they are named.
    left_out: Vec<String>,
    /// The line that says what does not run because ops are missing.
    lacking: Option<String>,
    is_default: bool,
    /// Whether variables have no values because no checkpoint is given.
    lacks_checkpoint: bool,
    /// Whose words errors use.
    called: Called,
    /// What the run takes and computes.
    pub(crate) ends: Ends,
    runner: Runner<'m>,
}

enum Runner<'m> {
    Graph(Callable, Vec<Tensor>),
    Signature(SignatureRunner<'m>, Vec<(&'m str, Tensor)>),
}

impl What {
    /// Loads the model.
    pub(crate) fn load(&self) -> Result<Model> {
        let _waiting = Waiting::new("loading");
        let devices = crate::tools::devices(&self.device, self.threads)?;
        let options = SessionOptions::new().strict_placement(self.no_soft_placement).call_depth(self.call_depth);
        Model::load(&self.model, self.checkpoint.as_deref(), &self.tag, devices, options, self.called)
    }

    /// The model's name.
    pub(crate) fn model(&self) -> String {
        self.model.display().to_string()
    }

    /// How many threads a job runs on.
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// Reads the inputs and prepares the run.
    pub(crate) fn prepare<'m>(&self, model: &'m Model, how: How) -> Result<Job<'m>> {
        // A model with signatures runs one, unless nodes of its graph are named.
        let default = match (model, model.meta()) {
            _ if !self.target.is_empty() => None,
            (_, Some(meta)) if meta.signatures().len() == 1 => meta.signatures().keys().next().map(String::as_str),
            (Model::Meta(meta), _) => (!meta.signatures().is_empty()).then_some("serving_default"),
            (Model::Saved(_), _) => Some("serving_default"),
            (Model::Graph(_), _) => None,
        };
        let default = default.filter(|name| self.output.is_empty() || self.names_signature(model, name));
        if let (Some(name), [_, ..]) = (&self.signature, &self.target[..]) {
            let name = shortened(name);
            let message =
                format!("--target is for nodes of the graph, and signature `{name}` runs by its outputs alone");
            return Err(Error::invalid_argument(message));
        }
        let job = match self.signature.as_deref().or(default) {
            Some(name) => self.prepare_signature(model, name, how),
            None => self.prepare_graph(model, how),
        };
        let are_named = !self.output.is_empty() || !self.target.is_empty();
        match self.signature {
            None if are_named => job.map_err(|error| match model.meta() {
                // The names of a signature's inputs and outputs are not those of nodes.
                Some(meta) if error.code() == Code::NotFound => {
                    let others = meta.signatures().iter().filter(|(name, _)| Some(name.as_str()) != default);
                    let outputs = |signature: &Signature| listed(signature.outputs.keys().map(String::as_str));
                    let lines: String = others
                        .map(|(name, s)| {
                            format!("\n  {}: {}", self.called.option("signature", &shortened(name)), outputs(s))
                        })
                        .collect();
                    let which = if default.is_some() { "another" } else { "a" };
                    match lines.is_empty() {
                        true => error,
                        false => error.append(format!("\nfor the outputs of {which} signature, name it:{lines}")),
                    }
                }
                _ => error,
            }),
            _ => job,
        }
    }

    /// Whether the names that are given are meant as those of a signature: its inputs, and among the outputs one of its own
    /// or one that is no node either.
    fn names_signature(&self, model: &Model, name: &str) -> bool {
        let Some(signature) = model.meta().and_then(|meta| meta.signatures().get(name)) else { return false };
        let graph = model.session().graph();
        let mut inputs = self.input.iter().filter_map(|input| input.split_once('='));
        inputs.all(|(name, _)| signature.inputs.contains_key(name))
            && self.output.iter().any(|name| signature.outputs.contains_key(name) || graph.output(name).is_err())
    }

    /// Whether the variables of the model have no values, unless the run itself gives them some.
    fn lacks_checkpoint(&self, model: &Model) -> bool {
        matches!(model, Model::Meta(_)) && self.checkpoint.is_none()
    }

    fn prepare_graph<'m>(&self, model: &'m Model, how: How) -> Result<Job<'m>> {
        let session = model.session();
        let graph = session.graph();
        let called = self.called;
        let mut inputs = self.inputs(|name| {
            let output = graph.output(name).map_err(|error| error.context(called.named("input")))?;
            let dtype = graph.node(output.node).output_dtype(output.index).ok_or_else(|| {
                let name = shortened(name);
                let input = called.named("input");
                Error::invalid_argument(format!(
                    "{input}: nothing says what dtype `{name}` has: its op is missing, and no node that is not takes it"
                ))
            })?;
            Ok((dtype, graph.shape(output)))
        })?;
        let is_default = self.output.is_empty() && self.target.is_empty();
        let fed: Vec<Output> = inputs.iter().map(|input| graph.output(&input.name)).collect::<Result<_>>()?;
        let (mut targets, mut left_out, mut lacking) = (self.target.clone(), Vec::new(), None);
        let outputs = match is_default {
            true => {
                let lacks = Lacking::of(graph, &fed);
                let found = defaults(graph, &lacks, called)?;
                (targets, left_out) = (found.targets, found.left_out);
                lacking = (!found.lacking.is_empty()).then(|| lacks.line(&found.lacking));
                found.fetches
            }
            false => self.output.clone(),
        };
        let fetches: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let target_names: Vec<&str> = targets.iter().map(String::as_str).collect();
        let needed = missing_feeds(graph, &fed, &fetches, &target_names, called)?.into_iter().map(|id| {
            let node = graph.node(id);
            (node.name.clone(), node.signature.outputs[0].dtype, node.output_shapes[0].clone())
        });
        add_missing(&mut inputs, needed.collect(), how, called)?;
        let feeds: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        self.check_placement(session, &fed, &fetches, &target_names)?;
        let callable = how.callable(session, &feeds, &fetches, &target_names)?;
        let ends = run_of(session, &feeds, &fetches, &target_names)?;
        let tensors = inputs.iter().map(|input| input.tensor.clone()).collect();
        let runner = Runner::Graph(callable, tensors);
        let lacks_checkpoint = self.lacks_checkpoint(model);
        Ok(Job { inputs, outputs, targets, left_out, lacking, is_default, lacks_checkpoint, called, ends, runner })
    }

    /// A job whose inputs and outputs go by a signature's names for them.
    fn prepare_signature<'m>(&self, model: &'m Model, name: &str, how: How) -> Result<Job<'m>> {
        let meta = model.meta().ok_or_else(|| {
            Error::invalid_argument(format!("{}: a plain graph has no signatures", self.called.named("signature")))
        })?;
        let mut lacking = None;
        let mut outputs = self.output.clone();
        if outputs.is_empty()
            && let Some(signature) = meta.signatures().get(name)
            && let Some((able, line)) = able(model.session().graph(), signature)
        {
            (outputs, lacking) = (able, Some(line));
        }
        let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let runner = match (names.is_empty(), how.functions) {
            (true, false) => meta.signature(name),
            (true, true) => meta.prepare(name),
            (false, false) => meta.signature_outputs(name, &names),
            (false, true) => meta.prepare_outputs(name, &names),
        }?;
        let signature = runner.signature();
        if outputs.is_empty() {
            outputs.extend(signature.outputs.keys().cloned());
        }
        let feeds: Vec<&str> = runner.inputs().map(|name| signature.inputs[name].tensor.as_str()).collect();
        let tensors = outputs.iter().map(|name| match signature.outputs.get(name) {
            Some(output) => output.tensor.as_str(),
            None => name,
        });
        let fetches: Vec<&str> = tensors.collect();
        let ends = run_of(model.session(), &feeds, &fetches, &[])?;
        self.check_placement(model.session(), ends.feeds(), &fetches, &[])?;
        let mut inputs = self.signature_inputs(signature)?;
        let given =
            |name: &String| inputs.iter().any(|input| input.name == *name) || signature.defaults.contains_key(name);
        let needed = runner.inputs().filter_map(|name| signature.inputs.get_key_value(name));
        let needed = needed.filter(|(name, _)| !given(name));
        let needed = needed.map(|(name, tensor)| (name.clone(), tensor.dtype, tensor.shape.clone())).collect();
        add_missing(&mut inputs, needed, how, self.called)?;
        let named = |input: &Input| {
            let (name, _) = signature.inputs.get_key_value(&input.name)?;
            Some((name.as_str(), input.tensor.clone()))
        };
        let fed = inputs.iter().filter_map(named).collect();
        let runner = Runner::Signature(runner, fed);
        let (targets, left_out, lacks_checkpoint) = (Vec::new(), Vec::new(), self.lacks_checkpoint(model));
        let called = self.called;
        let is_default = false;
        Ok(Job { inputs, outputs, targets, left_out, lacking, is_default, lacks_checkpoint, called, ends, runner })
    }

    /// The values of `--input` for a signature.
    fn signature_inputs(&self, signature: &Signature) -> Result<Vec<Input>> {
        self.inputs(|name| match signature.inputs.get(name) {
            Some(tensor) => Ok((tensor.dtype, &tensor.shape)),
            None => {
                let takes = signature
                    .inputs
                    .iter()
                    .map(|(name, tensor)| input_line(name, tensor.dtype, &tensor.shape, self.called));
                let hint = did_you_mean(name, signature.inputs.keys().map(String::as_str));
                let takes = takes.collect::<String>();
                let name = shortened(name);
                let input = self.called.named("input");
                Err(Error::not_found(format!("{input}: the signature takes no `{name}`{hint}\nit takes:{takes}")))
            }
        })
    }

    /// Reports the nodes that run on the CPU although a GPU was asked for, or refuses them.
    fn check_placement(&self, session: &Session, fed: &[Output], fetches: &[&str], targets: &[&str]) -> Result<()> {
        let (graph, device) = (session.graph(), &session.devices()[0]);
        if !device.has_own_memory() {
            return Ok(());
        }
        let fetches = fetches.iter().map(|name| graph.output(name)).collect::<Result<Vec<_>>>()?;
        let targets = targets.iter().map(|name| graph.find_or_suggest(name)).collect::<Result<Vec<_>>>()?;
        let lacking = without_kernel(graph, graph.needed(fed, &fetches, &targets), &**device)?;
        if lacking.is_empty() {
            return Ok(());
        }
        let (device, listed) = (device.name(), counted(&lacking));
        if self.no_soft_placement {
            let message = format!("--no-soft-placement: {device} has no kernel for {listed}");
            return Err(Error::failed_precondition(message));
        }
        output::tell(&format!("soft placement: the CPU runs what {device} has no kernel for: {listed}"));
        Ok(())
    }

    /// The values of `--input`, of the dtypes that `expected` says. Reports shapes that are others than it says: sessions
    /// take them, as TensorFlow's do in C++.
    fn inputs<'m>(&self, expected: impl Fn(&str) -> Result<(DataType, &'m PartialShape)>) -> Result<Vec<Input>> {
        let input = |input: &String| {
            let (name, source) = input
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| Error::invalid_argument(format!("--input `{}`: expected NAME=SRC", shortened(input))))?;
            let (dtype, shape) = expected(name)?;
            let tensor = source::read(source, dtype, shape);
            let tensor =
                tensor.map_err(|error| error.context(format!("{} {}", self.called.named("input"), shortened(name))))?;
            if !shape.accepts(tensor.shape()) {
                let (name, given) = (shortened(name), tensor.shape());
                let advice = source::advice(source, dtype, shape);
                let input = self.called.named("input");
                output::tell(&format!(
                    "{input} {name}: shape {given} where the model says {shape}; the run is tried with it{advice}"
                ));
            }
            Ok(Input { name: name.to_owned(), tensor, filled: None })
        };
        let inputs = self.input.iter().map(input).collect::<Result<Vec<Input>>>()?;
        let mut names = HashSet::new();
        match inputs.iter().find(|input| !names.insert(input.name.as_str())) {
            Some(twice) => {
                let name = shortened(&twice.name);
                Err(Error::invalid_argument(format!("--input: `{name}` is given twice")))
            }
            None => Ok(inputs),
        }
    }
}

impl Job<'_> {
    /// Runs, and returns the outputs.
    pub(crate) fn run(&self, options: &RunOptions, metadata: &mut RunMetadata) -> Result<Vec<Tensor>> {
        let answers = match &self.runner {
            Runner::Graph(callable, feeds) => callable.run_with_metadata(feeds, options, metadata),
            Runner::Signature(runner, inputs) => runner
                .run_with_metadata(inputs, options, metadata)
                .map(|answers| self.outputs.iter().filter_map(|name| answers.get(name).cloned()).collect()),
        };
        answers.map_err(|error| if self.lacks_checkpoint { without_checkpoint(error, self.called) } else { error })
    }

    /// Reports targets that run although they were not named, and what does not run.
    pub(crate) fn unnamed(&self) -> String {
        let mut text = String::new();
        if self.is_default {
            let names: Vec<_> = self.outputs.iter().chain(&self.targets).map(|name| escaped(name)).collect();
            text += &format!("no --output is given: fetching what nothing else uses: {}\n", names.join(", "));
            if !self.left_out.is_empty() {
                let left_out = some(&self.left_out);
                text += &format!("not run, as it changes something or may have no value: {left_out}\n");
            }
        }
        text + self.lacking.as_deref().unwrap_or_default()
    }
}

/// What a run of a session takes and computes, and where.
fn run_of(session: &Session, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<Ends> {
    let graph = session.graph();
    let outputs = |names: &[&str]| names.iter().map(|name| graph.output(name)).collect::<Result<Vec<Output>>>();
    let targets = targets.iter().map(|name| graph.find_or_suggest(name)).collect::<Result<Vec<NodeId>>>()?;
    let mut ends = Ends::new(outputs(feeds)?, outputs(fetches)?, targets);
    ends.run_on(session.devices());
    Ok(ends)
}

/// An error of a MetaGraph without a checkpoint: says how its variables get values, if it may be that they have none.
pub(crate) fn without_checkpoint(error: Error, called: Called) -> Error {
    let lacks_value = match error.code() {
        Code::FailedPrecondition => true,
        Code::NotFound => error.is_missing_resource(),
        _ => false,
    };
    match lacks_value {
        true => error.append(format!(
            "\n  the variables of a MetaGraph get their values by {}",
            called.option("checkpoint", "PREFIX")
        )),
        false => error,
    }
}

/// The outputs of a signature that need no op which is missing, and the line that says what does not run; `None` if all can
/// run, or none: the run's error says why.
fn able(graph: &Graph, signature: &Signature) -> Option<(Vec<String>, String)> {
    let fed: Vec<Output> = signature.inputs.values().filter_map(|input| graph.output(&input.tensor).ok()).collect();
    let lacking = Lacking::of(graph, &fed);
    let without = lacking.outputs_of(graph, signature, &fed);
    let lacks: HashSet<&String> = without.iter().collect();
    let able: Vec<String> = signature.outputs.keys().filter(|name| !lacks.contains(name)).cloned().collect();
    (!without.is_empty() && !able.is_empty()).then(|| (able, lacking.line(&without)))
}

/// Ops with their number of nodes.
fn counted(ops: &BTreeMap<String, usize>) -> String {
    let op = |(op, nodes): (&String, &usize)| match nodes {
        1 => op.clone(),
        nodes => format!("{op} ({})", count(nodes, "node")),
    };
    ops.iter().map(op).collect::<Vec<_>>().join(", ")
}

/// An input's name, dtype and shape, as `--input` takes it.
fn input_line(name: &str, dtype: DataType, shape: &PartialShape, called: Called) -> String {
    let source = if called.is_function() { "" } else { "=SRC" };
    format!("\n  {} {}{source} ({dtype}, shape {shape})", called.named("input"), shortened(name))
}

/// Fills in the inputs that are not given, or refuses to go on without them.
fn add_missing(
    inputs: &mut Vec<Input>,
    needed: Vec<(String, DataType, PartialShape)>,
    how: How,
    called: Called,
) -> Result<()> {
    if !how.fill && !needed.is_empty() {
        let lines: String = needed.iter().map(|(name, dtype, shape)| input_line(name, *dtype, shape, called)).collect();
        return Err(Error::invalid_argument(format!("inputs are missing:{lines}")));
    }
    for (name, dtype, shape) in needed {
        let dims = shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(1)).collect::<Vec<_>>();
        let (tensor, with) = source::fill(dtype, Shape::from(dims))
            .map_err(|error| error.context(format!("input `{name}` is not given and cannot be filled")))?;
        inputs.push(Input { name, tensor, filled: Some(with) });
    }
    Ok(())
}

/// The placeholders that the run needs and nobody feeds.
fn missing_feeds(
    graph: &Graph,
    fed: &[Output],
    fetches: &[&str],
    targets: &[&str],
    called: Called,
) -> Result<Vec<NodeId>> {
    let output = |name: &&str| {
        graph.output(name).map_err(|error| match graph.find(name) {
            None if error.code() == Code::NotFound && !name.contains(',') => {
                error.context(called.named("output")).append(ends(graph, called))
            }
            Some(id) if graph.node(id).signature.outputs.is_empty() && graph.node(id).class != NodeClass::Missing => {
                error.context(called.named("output")).append(format!(
                    ": run it with {} {}",
                    called.named("target"),
                    shortened(name)
                ))
            }
            _ if name.contains(',') => {
                let of_its_own = match called.is_function() {
                    true => "; each output has a name of its own in outputs",
                    false => "; each output has an --output of its own",
                };
                error.context(called.named("output")).append(of_its_own)
            }
            _ => error.context(called.named("output")),
        })
    };
    let fetches = fetches.iter().map(output);
    let targets =
        targets.iter().map(|name| graph.find_or_suggest(name).map_err(|error| error.context(called.named("target"))));
    let needed = graph.needed(fed, &fetches.collect::<Result<Vec<_>>>()?, &targets.collect::<Result<Vec<_>>>()?);
    Ok(needed.into_iter().filter(|&id| graph.is_placeholder(id)).collect())
}
