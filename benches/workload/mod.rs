//! What the benches and the comparison with TensorFlow run: graphs, and values to feed them.

#![allow(dead_code, unreachable_pub, reason = "each program takes what it needs")]

use std::path::Path;

use kernlink::graph::{NodeBuilder, Output};
use kernlink::optimize::PASSES;
use kernlink::prelude::*;

/// A graph with values for what is fed.
pub struct Work {
    pub graph: Graph,
    pub feeds: Vec<(String, Tensor)>,
    /// Outputs to fetch.
    pub fetches: Vec<String>,
    /// Nodes to run without fetching anything of them.
    pub targets: Vec<String>,
    /// Nodes to run once before.
    pub init: Vec<String>,
    /// Whether all nodes run, without the passes that would fuse or merge them: for what measures the cost of a node.
    pub is_kept: bool,
}

/// A prepared run, with its feeds.
pub struct Prepared {
    callable: Callable,
    feeds: Vec<Tensor>,
}

impl Prepared {
    pub fn run(&self) -> Result<Vec<Tensor>> {
        self.callable.run(&self.feeds)
    }
}

impl Work {
    /// Work over an empty graph.
    pub fn new() -> Result<Work> {
        let graph = Graph::new(&kernlink::registry()?);
        let (feeds, fetches, targets, init) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Work { graph, feeds, fetches, targets, init, is_kept: false })
    }

    /// Lays the run out for so many threads; 0 stands for one per processor.
    pub fn prepare(self, threads: usize) -> Result<Prepared> {
        let names: Vec<&str> = self.feeds.iter().map(|(name, _)| name.as_str()).collect();
        let fetches: Vec<&str> = self.fetches.iter().map(String::as_str).collect();
        let targets: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        let mut options = SessionOptions::new().threads(threads);
        if self.is_kept {
            options.without_passes = PASSES.iter().map(|pass| pass.name().to_owned()).collect();
        }
        let session = Session::with_options(self.graph, &options)?;
        if !self.init.is_empty() {
            let init: Vec<&str> = self.init.iter().map(String::as_str).collect();
            session.run(&[], &[], &init)?;
        }
        let callable = session.make_callable(&names, &fetches, &targets)?;
        Ok(Prepared { callable, feeds: self.feeds.into_iter().map(|(_, tensor)| tensor).collect() })
    }

    /// Adds a placeholder, and a value for it.
    pub fn placeholder(&mut self, name: &str, dims: &[usize]) -> Result<Output> {
        let shape = Shape::from(dims);
        let output = ops::placeholder(&mut self.graph, DataType::Float).name(name).shape(&shape).build()?;
        let value = uniform(&shape, self.feeds.len() as u64)?;
        self.feeds.push((name.to_owned(), value));
        Ok(output)
    }

    /// A value that is a constant of the graph, or fed.
    fn operand(&mut self, name: &str, dims: &[usize], constant: bool) -> Result<Output> {
        if constant {
            let value = uniform(&Shape::from(dims), 100)?;
            return ops::const_(&mut self.graph, value, DataType::Float).name(name).build();
        }
        self.placeholder(name, dims)
    }

    /// Fetches one more output.
    pub fn fetching(mut self, output: Output) -> Work {
        self.fetches.push(self.graph.output_name(output));
        self
    }

    /// The graph of a file. What is fed, in the order of the nodes, gets `values`, or else generated ones; what
    /// nothing else uses is fetched, or run if it has no outputs.
    pub fn from_file(path: impl AsRef<Path>, values: Vec<Tensor>) -> Result<Work> {
        let def = kernlink::proto::read_graph(path)?;
        let mut work = Work { graph: Graph::import(&def, &kernlink::registry()?)?, ..Work::new()? };
        let mut values = values.into_iter();
        for node in def.node.iter().filter(|node| node.op == "Placeholder") {
            let output = work.graph.output(&node.name)?;
            let value = match (values.next(), work.graph.shape(output).to_shape()) {
                (Some(value), _) => value,
                (None, Some(shape)) => match work.graph.node(output.node).signature.outputs[0].dtype {
                    DataType::Float => uniform(&shape, work.feeds.len() as u64)?,
                    dtype => Tensor::zeros(dtype, shape)?,
                },
                (None, None) => bail!(InvalidArgument, "the shape of `{}` is open: it needs a value", node.name),
            };
            work.feeds.push((node.name.clone(), value));
        }
        for id in work.graph.sinks() {
            let node = work.graph.node(id);
            match node.signature.outputs.len() {
                0 => work.targets.push(node.name.clone()),
                _ if node.op.def.name == "Placeholder" => {}
                count => {
                    let outputs = (0..count).map(|index| work.graph.output_name(Output { node: id, index }));
                    work.fetches.extend(outputs);
                }
            }
        }
        Ok(work)
    }
}

/// Numbers in [-1, 1), the same at every call.
pub fn uniform(shape: &Shape, seed: u64) -> Result<Tensor> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut tensor = Tensor::alloc(DataType::Float, shape)?;
    for element in tensor.as_mut_slice::<f32>()? {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *element = (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
    }
    Ok(tensor)
}

/// `nodes` additions, each of the one before and the same constant.
pub fn chain(nodes: usize) -> Result<Work> {
    let mut work = Work::new()?;
    work.is_kept = true;
    let mut last = work.placeholder("x", &[])?;
    let one = ops::const_(&mut work.graph, Tensor::scalar(1f32), DataType::Float).name("one").build()?;
    for i in 0..nodes {
        last = ops::add_v2(&mut work.graph, last, one).name(&format!("add_{i}")).build()?;
    }
    Ok(work.fetching(last))
}

/// `nodes` additions of the same two scalars that all control one NoOp.
pub fn wide(nodes: usize) -> Result<Work> {
    let mut work = Work::new()?;
    work.is_kept = true;
    let (a, b) = (work.placeholder("a", &[])?, work.placeholder("b", &[])?);
    let mut additions = Vec::with_capacity(nodes);
    for i in 0..nodes {
        additions.push(ops::add_v2(&mut work.graph, a, b).name(&format!("add_{i}")).build()?.node);
    }
    let mut done = ops::no_op(&mut work.graph).name("done");
    for addition in additions {
        done = done.control_input(addition);
    }
    done.build()?;
    work.targets.push("done".to_owned());
    Ok(work)
}

/// `[m, k]` times `[k, n]`; the right side may be a constant.
pub fn mat_mul(m: usize, k: usize, n: usize, constant: bool) -> Result<Work> {
    let mut work = Work::new()?;
    let a = work.placeholder("a", &[m, k])?;
    let b = work.operand("b", &[k, n], constant)?;
    let product = ops::mat_mul(&mut work.graph, a, b).name("y").build()?;
    Ok(work.fetching(product))
}

/// A convolution of `[N, H, W, C]` with `[h, w, C, O]`, which may be a constant.
pub fn conv2d(input: &[usize], filter: &[usize], stride: i64, padding: &str, constant: bool) -> Result<Work> {
    let mut work = Work::new()?;
    let x = work.placeholder("x", input)?;
    let w = work.operand("w", filter, constant)?;
    let y = ops::conv2d(&mut work.graph, x, w, vec![1, stride, stride, 1], padding).name("y").build()?;
    Ok(work.fetching(y))
}

/// An op with float inputs of one shape and one output.
pub fn element_wise(op: &str, size: usize) -> Result<Work> {
    let mut work = Work::new()?;
    let op = work.graph.registry().op(op)?.def;
    let inputs: Vec<Output> =
        op.inputs.iter().map(|arg| work.placeholder(&arg.name, &[size])).collect::<Result<_>>()?;
    let mut node = NodeBuilder::new(&mut work.graph, op);
    inputs.into_iter().for_each(|input| _ = node.input(input));
    node.name("result");
    let node = node.build()?;
    Ok(work.fetching(Output { node, index: 0 }))
}

/// A reduction of the last axis of `dims`, or of all axes.
pub fn reduction(op: &str, dims: &[usize], all: bool) -> Result<Work> {
    let mut work = Work::new()?;
    let x = work.placeholder("x", dims)?;
    let last = dims.len() as i32 - 1;
    let axes: Vec<i32> = if all { (0..=last).collect() } else { vec![last] };
    let axes = ops::const_(&mut work.graph, Tensor::vector(&axes)?, DataType::Int32).build()?;
    let op = work.graph.registry().op(op)?.def;
    let mut node = NodeBuilder::new(&mut work.graph, op);
    node.input(x).input(axes).name("y");
    let node = node.build()?;
    Ok(work.fetching(Output { node, index: 0 }))
}

/// The softmax of `[rows, classes]`.
pub fn softmax(rows: usize, classes: usize) -> Result<Work> {
    let mut work = Work::new()?;
    let x = work.placeholder("x", &[rows, classes])?;
    let y = ops::softmax(&mut work.graph, x).name("y").build()?;
    Ok(work.fetching(y))
}
