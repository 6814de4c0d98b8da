//! Writes random graphs: nodes of many ops, some of them twice, in branches, loops and functions.

use kernlink::attr::AttrValue;
use kernlink::graph::{Function, FunctionBuilder, NodeBuilder};
use kernlink::prelude::*;
use kernlink::shape::PartialShape;

use super::material::{BINARY, DTYPES, REDUCTIONS, SHAPES, UNARY, tensor};
use crate::support::Random;

/// What was written.
#[derive(Default)]
pub(super) struct Written {
    pub(super) placeholders: Vec<Output>,
    /// What may be fed and fetched.
    pub(super) outputs: Vec<Output>,
    /// Nodes that have effects or may fail, or do nothing.
    pub(super) effects: Vec<NodeId>,
}

/// Several threads run it if `on_threads`. The last example is that of the seed.
pub(super) fn write(graph: &mut Graph, random: &mut Random, on_threads: bool, seed: u64) -> Written {
    let mut placeholders = Vec::new();
    for index in 0..2 + random.below(3) {
        let dtype = if index == 0 { DataType::Float } else { DTYPES[random.below(DTYPES.len())] };
        let placeholder = ops::placeholder(graph, dtype);
        let placeholder = match random.below(5) {
            0 => placeholder,
            _ => placeholder.shape(known(SHAPES[random.below(SHAPES.len())])),
        };
        placeholders.push(placeholder.build().unwrap());
    }
    let mut writer = Writer { on_threads, ..Writer::new(random.next(), 0) };
    writer.values = placeholders.clone();
    let nodes = 8 + random.below(40);
    writer.nodes(graph, nodes);
    writer.example(graph, seed);
    let is_plain = |output: &Output| {
        graph
            .node(output.node)
            .signature
            .outputs
            .get(output.index)
            .is_some_and(|slot| !slot.is_ref && DTYPES.contains(&slot.dtype))
    };
    let mut outputs = writer.values;
    outputs.retain(is_plain);
    // What is within branches and loops can be fetched, too; most of it is dead or in another frame.
    if random.below(8) == 0 {
        let ids: Vec<NodeId> = graph.ids().collect();
        let node = ids[random.below(ids.len())];
        outputs.extend([Output { node, index: 0 }].into_iter().filter(is_plain));
    }
    Written { placeholders, outputs, effects: writer.effects }
}

fn known(dims: &[usize]) -> PartialShape {
    PartialShape::from_known(dims.iter().map(|&dim| Some(dim)).collect::<Vec<_>>())
}

fn dtype(graph: &Graph, output: Output) -> DataType {
    graph.node(output.node).signature.outputs[output.index].dtype
}

/// What adds nodes in one place: a graph, a branch, a loop or a function.
pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) values: Vec<Output>,
    /// What nodes may wait for.
    awaited: Vec<NodeId>,
    effects: Vec<NodeId>,
    functions: Vec<Function>,
    /// The last node that takes the variable.
    last: Option<NodeId>,
    /// How many branches, loops and functions this is in.
    depth: usize,
    /// Whether the variable may be used here: only where its uses can be put in an order.
    has_state: bool,
    /// Whether iterations and calls may run side by side, so that nothing may go by their order.
    on_threads: bool,
}

impl Writer {
    fn new(seed: u64, depth: usize) -> Writer {
        Writer {
            random: Random::new(seed),
            values: Vec::new(),
            awaited: Vec::new(),
            effects: Vec::new(),
            functions: Vec::new(),
            last: None,
            depth,
            has_state: depth == 0,
            on_threads: false,
        }
    }

    /// One that adds nodes within what this one adds.
    fn inner(&mut self, values: &[Output]) -> Writer {
        let mut inner = Writer { on_threads: self.on_threads, ..Writer::new(self.random.next(), self.depth + 1) };
        inner.values = self.values.clone();
        // Arguments are likelier than what is taken from outside.
        (0..3).for_each(|_| inner.values.extend(values));
        inner
    }

    fn nodes(&mut self, graph: &mut Graph, count: usize) {
        for _ in 0..count {
            let before = graph.nodes().len();
            let last = self.last;
            // What does not fit is left out.
            let Ok(outputs) = graph.all_or_nothing(|graph| self.add(graph)) else {
                self.forget(graph);
                self.awaited.retain(|&node| graph.get(node).is_some());
                self.effects.retain(|&node| graph.get(node).is_some());
                self.functions.retain(|function| graph.has_function(function.name()));
                self.last = last;
                continue;
            };
            self.values.extend(outputs);
            if self.depth == 0 || self.random.below(3) == 0 {
                let new = graph.ids().skip(before).last();
                // Only nodes of this place: those within others are not seen here.
                self.awaited.extend(
                    new.filter(|&id| {
                        graph.get(id).is_some_and(|node| self.depth == 0 || !node.class.is_control_flow())
                    }),
                );
            }
        }
    }

    /// Forgets values that were taken back.
    fn forget(&mut self, graph: &Graph) {
        self.values.retain(|output| graph.get(output.node).is_some());
    }

    /// Adds the nodes of an example, so that each is in the graphs of some seeds, if what there is fits it.
    fn example(&mut self, graph: &mut Graph, seed: u64) {
        for _ in 0..4 {
            if let Ok(outputs) = graph.all_or_nothing(|graph| self.pattern_of(graph, seed)) {
                // Likelier to be fetched than others.
                (0..3).for_each(|_| self.values.extend(&outputs));
                return;
            }
            self.forget(graph);
        }
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.random.below(items.len())]
    }

    pub(super) fn seldom(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    /// A value of one of these dtypes: mostly one of the last, or else a constant.
    pub(super) fn value(&mut self, graph: &mut Graph, dtypes: &[DataType]) -> Result<Output> {
        let found: Vec<Output> =
            self.values.iter().copied().filter(|&output| dtypes.contains(&dtype(graph, output))).collect();
        if found.is_empty() || self.seldom(7) {
            let (dtype, shape) = (self.of(dtypes), self.of(SHAPES));
            let value = tensor(dtype, shape, &mut self.random);
            let constant = ops::constant(graph, value)?;
            self.values.push(constant);
            return Ok(constant);
        }
        let from = if self.seldom(3) { 0 } else { found.len() / 2 };
        Ok(found[from + self.random.below(found.len() - from)])
    }

    fn constant(&mut self, graph: &mut Graph, values: &[i32]) -> Result<Output> {
        match values {
            [value] if self.seldom(3) => ops::constant(graph, *value),
            _ => ops::constant(graph, values),
        }
    }

    /// Adds a node with these inputs; now and then the same again, one that waits, or one for a device.
    fn node(
        &mut self,
        graph: &mut Graph,
        op: &str,
        inputs: &[Output],
        attrs: &[(&str, AttrValue)],
    ) -> Result<Vec<Output>> {
        self.node_of(graph, op, &|builder| inputs.iter().for_each(|&input| _ = builder.input(input)), attrs)
    }

    pub(super) fn node_of(
        &mut self,
        graph: &mut Graph,
        op: &str,
        inputs: &dyn Fn(&mut NodeBuilder<'_>),
        attrs: &[(&str, AttrValue)],
    ) -> Result<Vec<Output>> {
        let def = graph.registry().op(op)?.def;
        let waits =
            if !self.awaited.is_empty() && self.seldom(9) { Some(self.of(&self.awaited.clone())) } else { None };
        let device = if self.seldom(25) { self.of(&["/device:CPU:0", "/device:CPU:1", "/cpu:0"]) } else { "" };
        let mut all = Vec::new();
        for _ in 0..if self.seldom(6) { 2 } else { 1 } {
            let mut builder = NodeBuilder::new(graph, def);
            inputs(&mut builder);
            attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
            builder.device(device);
            waits.into_iter().for_each(|node| _ = builder.control_input(node));
            let node = builder.build()?;
            let count = graph.node(node).signature.outputs.len();
            all.extend((0..count).map(|index| Output { node, index }));
        }
        Ok(all)
    }

    fn add(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        if self.depth == 0 && self.seldom(6) {
            return self.pattern(graph);
        }
        let flow = if self.depth < 3 { 115 } else { 100 };
        match self.random.below(flow) {
            0..20 => {
                let (op, dtypes) = self.of(UNARY);
                let x = self.value(graph, dtypes)?;
                self.node(graph, op, &[x], &[])
            }
            20..42 => {
                let (op, dtypes) = self.of(BINARY);
                let x = self.value(graph, dtypes)?;
                let dtype = dtype(graph, x);
                let y = if self.seldom(10) { x } else { self.value(graph, &[dtype])? };
                self.node(graph, op, &[x, y], &[])
            }
            42..50 => {
                let (op, dtypes) = self.of(REDUCTIONS);
                let x = self.value(graph, dtypes)?;
                let axis = match self.of(&[0, 0, 1, -1, 7]) {
                    7 => self.value(graph, &[DataType::Int32])?,
                    axis => self.constant(graph, &[axis])?,
                };
                let keeps = self.seldom(2);
                let attrs: &[(&str, AttrValue)] = match op {
                    "ArgMax" | "Cumsum" | "ReverseV2" => &[],
                    _ => &[("keep_dims", AttrValue::Bool(keeps))],
                };
                self.node(graph, op, &[x, axis], attrs)
            }
            50..72 => self.shapes(graph),
            72..80 => self.others(graph),
            80..85 => self.effects(graph),
            85..100 => self.pattern(graph),
            _ => self.flow(graph),
        }
    }

    /// What changes shapes, or goes by them.
    fn shapes(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        let all = [DataType::Float, DataType::Int32, DataType::Bool, DataType::Double, DataType::Int64];
        let x = self.value(graph, &all)?;
        let dtype = dtype(graph, x);
        let ints = |writer: &mut Writer, graph: &mut Graph, values: &[i32]| match writer.seldom(4) {
            true => writer.value(graph, &[DataType::Int32]),
            false => writer.constant(graph, values),
        };
        match self.random.below(19) {
            0 => {
                let other = self.value(graph, &all)?;
                let shape = ops::shape(graph, other).build()?;
                self.node(graph, "Reshape", &[x, shape], &[])
            }
            1 => {
                let shape = self.of(&[&[-1][..], &[1, -1], &[3, 2], &[-1, 3], &[6]]);
                let shape = ints(self, graph, shape)?;
                let y = ops::reshape(graph, x, shape).build()?;
                // There and back.
                let shape = self.of(&[&[-1][..], &[2, 3], &[3, -1]]);
                let shape = ints(self, graph, shape)?;
                Ok([vec![y], self.node(graph, "Reshape", &[y, shape], &[])?].concat())
            }
            2 => {
                let axis = self.of(&[0, 1, -1]);
                let axis = ints(self, graph, &[axis])?;
                self.node(graph, "ExpandDims", &[x, axis], &[])
            }
            3 => self.node(graph, "Squeeze", &[x], &[]),
            4 | 5 => {
                let order = self.of(&[&[0, 1][..], &[1, 0], &[1, 0], &[0], &[0, 2, 1]]);
                let order = ints(self, graph, order)?;
                let y = self.node(graph, "Transpose", &[x, order], &[])?;
                let back = self.node(graph, "Transpose", &[y[0], order], &[])?;
                Ok([y, back].concat())
            }
            6 => {
                let (begin, end) = self.of(&[([0], [1]), ([0], [2]), ([-1], [0]), ([1], [3])]);
                let (begin, end) = (ops::constant(graph, begin)?, ops::constant(graph, end)?);
                let strides = ops::constant(graph, [1])?;
                let shrink = if self.seldom(2) { 1i64 } else { 0 };
                let attrs = [("shrink_axis_mask", AttrValue::Int(shrink))];
                self.node(graph, "StridedSlice", &[x, begin, end, strides], &attrs)
            }
            7 => {
                let shape = ops::shape(graph, x).build()?;
                let (zero, one) = (ops::constant(graph, [0])?, ops::constant(graph, [1])?);
                let dim = ops::strided_slice(graph, shape, zero, one, one).shrink_axis_mask(1).build()?;
                Ok(vec![dim, shape])
            }
            8 | 9 => {
                let y = self.value(graph, &[dtype])?;
                let axis = self.of(&[0, 0, 1, -1]);
                let axis = ops::constant(graph, axis)?;
                self.node_of(graph, "ConcatV2", &|builder| _ = builder.input_list([x, y, x]).input(axis), &[])
            }
            10 => {
                let y = self.value(graph, &[dtype])?;
                self.node_of(graph, "Pack", &|builder| _ = builder.input_list([x, y]), &[])
            }
            11 => {
                let count = self.of(&[1i64, 2, 3]);
                self.node(graph, "Unpack", &[x], &[("num", AttrValue::Int(count))])
            }
            12 => {
                let by = self.of(&[&[2][..], &[1, 2], &[0], &[1]]);
                let by = ints(self, graph, by)?;
                self.node(graph, "Tile", &[x, by], &[])
            }
            13 => {
                let shape = self.of(&[&[2, 3][..], &[3], &[], &[0]]);
                let shape = ops::constant(graph, shape)?;
                let op = self.of(&["Fill", "BroadcastTo"]);
                let inputs = if op == "Fill" { [shape, x] } else { [x, shape] };
                self.node(graph, op, &inputs, &[])
            }
            14 => {
                let indices = self.of(&[&[0][..], &[1, 0], &[2], &[-1]]);
                let indices = ints(self, graph, indices)?;
                let axis = ops::constant(graph, 0)?;
                self.node(graph, "GatherV2", &[x, indices, axis], &[])
            }
            15 => {
                let paddings = Tensor::vector(&[1i32, 0, 0, 1])?.reshaped([2, 2])?;
                let paddings = ops::constant(graph, paddings)?;
                self.node(graph, "Pad", &[x, paddings], &[])
            }
            16 | 17 => {
                let to = self.of(DTYPES);
                self.node(graph, "Cast", &[x], &[("DstT", to.into())])
            }
            _ => {
                let y = self.value(graph, &all)?;
                self.node_of(graph, "ShapeN", &|builder| _ = builder.input_list([x, x]), &[]).and_then(|mut both| {
                    both.push(ops::shape(graph, y).build()?);
                    Ok(both)
                })
            }
        }
    }

    fn others(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        match self.random.below(10) {
            0 => {
                let p = self.value(graph, &[DataType::Bool])?;
                let x = self.value(graph, &[DataType::Float, DataType::Int32])?;
                let dtype = dtype(graph, x);
                let y = self.value(graph, &[dtype])?;
                self.node(graph, "SelectV2", &[p, x, y], &[])
            }
            1 => {
                let (x, y) = (self.value(graph, &[DataType::Float])?, self.value(graph, &[DataType::Int32])?);
                self.node_of(graph, "IdentityN", &|builder| _ = builder.input_list([x, y]), &[])
            }
            2 => {
                let x = self.value(graph, &[DataType::Float])?;
                let shape = PartialShape::unknown();
                self.node(graph, "PlaceholderWithDefault", &[x], &[("shape", shape.into())])
            }
            3 => {
                let x = self.value(graph, &[DataType::Float, DataType::Int32])?;
                let dtype = dtype(graph, x);
                let y = self.value(graph, &[dtype])?;
                self.node_of(graph, "AddN", &|builder| _ = builder.input_list([x, y, x]), &[])
            }
            4 => {
                let (a, b) = (self.value(graph, &[DataType::Int32])?, ops::constant(graph, 1)?);
                let zero = ops::constant(graph, 0)?;
                self.node(graph, "Range", &[zero, a, b], &[])
            }
            5 => {
                let x = self.value(graph, &[DataType::Int32])?;
                let (depth, on, off) =
                    (ops::constant(graph, 3)?, ops::constant(graph, 1.0f32)?, ops::constant(graph, 0.0f32)?);
                self.node(graph, "OneHot", &[x, depth, on, off], &[])
            }
            6 | 7 => {
                let x = tensor(DataType::Float, &[1, 4, 4, 2], &mut self.random);
                let x = ops::constant(graph, x)?;
                let scale = self.value(graph, &[DataType::Float])?;
                let x = ops::mul(graph, x, scale).build()?;
                let filter = tensor(DataType::Float, &[3, 3, 2, 2], &mut self.random);
                let filter = ops::constant(graph, filter)?;
                let padding = self.of(&["SAME", "VALID"]);
                let strides = AttrValue::ListInt(vec![1, 1, 1, 1]);
                let y =
                    self.node(graph, "Conv2D", &[x, filter], &[("strides", strides), ("padding", padding.into())])?[0];
                let bias = tensor(DataType::Float, &[2], &mut self.random);
                let y = ops::bias_add(graph, y, bias).build()?;
                self.values.push(y);
                let op = self.of(&["Relu", "Relu6", "Elu", "Identity"]);
                self.node(graph, op, &[y], &[])
            }
            8 => {
                let x = self.value(graph, &[DataType::Float])?;
                let w = tensor(DataType::Float, &[3, 3], &mut self.random);
                let y = ops::mat_mul(graph, x, w).build()?;
                let bias = tensor(DataType::Float, &[3], &mut self.random);
                let y = ops::bias_add(graph, y, bias).build()?;
                let op = self.of(&["Relu", "Tanh", "Sigmoid", "Neg"]);
                self.node(graph, op, &[y], &[])
            }
            _ => {
                let x = self.value(graph, &[DataType::Float])?;
                let k = ops::constant(graph, 1)?;
                self.node(graph, "TopKV2", &[x, k], &[])
            }
        }
    }

    /// What has effects, fails, is random or does nothing.
    fn effects(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        match self.random.below(9) {
            0 => {
                let p = self.scalar_bool(graph)?;
                let x = self.value(graph, &[DataType::Float])?;
                let assert = ops::assert(graph, p, [x]).build()?;
                self.effects.push(assert);
                self.awaited.push(assert);
                Ok(Vec::new())
            }
            1 => {
                let x = self.value(graph, &[DataType::Float])?;
                self.node(graph, "CheckNumerics", &[x], &[("message", "as asked".into())])
            }
            2 => {
                let mut nothing = ops::no_op(graph);
                if !self.awaited.is_empty() {
                    let at = self.random.below(self.awaited.len());
                    nothing = nothing.control_input(self.awaited[at]);
                }
                let nothing = nothing.build()?;
                self.effects.push(nothing);
                self.awaited.push(nothing);
                Ok(Vec::new())
            }
            3 | 4 if self.depth == 0 || !self.on_threads => {
                let shape = self.of(&[&[3][..], &[2, 3], &[]]);
                let shape = ops::constant(graph, shape)?;
                let attrs = [
                    ("dtype", DataType::Float.into()),
                    ("seed", AttrValue::Int(7)),
                    ("seed2", AttrValue::Int(self.random.below(9) as i64)),
                ];
                self.node(graph, "RandomUniform", &[shape], &attrs)
            }
            3..6 => {
                let (shape, seed) = (ops::constant(graph, [3])?, ops::constant(graph, [1, 2])?);
                self.node(graph, "StatelessRandomUniform", &[shape, seed], &[])
            }
            _ => self.state(graph),
        }
    }

    /// Uses the one variable, one use after the other.
    fn state(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        if !self.has_state {
            return Ok(Vec::new());
        }
        let last = self.last;
        let handle = ops::var_handle_op(graph, DataType::Float, PartialShape::unknown()).shared_name("v").build()?;
        let x = self.value(graph, &[DataType::Float])?;
        macro_rules! after_last {
            ($builder:expr) => {{
                let mut builder = $builder;
                if let Some(last) = last {
                    builder = builder.control_input(last);
                }
                builder.build()?
            }};
        }
        let op = if last.is_none() { 0 } else { self.random.below(3) };
        let (node, outputs) = match op {
            0 => (after_last!(ops::assign_variable_op(graph, handle, x)), Vec::new()),
            1 => (after_last!(ops::assign_add_variable_op(graph, handle, x)), Vec::new()),
            _ => {
                let read = after_last!(ops::read_variable_op(graph, handle, DataType::Float));
                (read.node, vec![read])
            }
        };
        self.last = Some(node);
        self.effects.push(node);
        Ok(outputs)
    }

    fn flow(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        match self.random.below(10) {
            0..2 => self.branches(graph, false),
            2..4 => self.branches(graph, true),
            4 => self.loops(graph, false),
            5 | 6 => self.loops(graph, true),
            _ => self.call(graph),
        }
    }

    fn scalar_bool(&mut self, graph: &mut Graph) -> Result<Output> {
        if self.seldom(4) {
            return ops::constant(graph, self.seldom(2));
        }
        let p = self.value(graph, &[DataType::Bool])?;
        if graph.shape(p).rank() == Some(0) {
            return Ok(p);
        }
        let x = self.value(graph, &[DataType::Float])?;
        let size = ops::size(graph, x).build()?;
        let than = self.random.below(5) as i32;
        ops::less(graph, size, than).build()
    }

    /// What a branch or body returns: of this dtype, or `otherwise`.
    fn result(mut self, graph: &mut Graph, wanted: DataType, otherwise: Output) -> Output {
        let found: Vec<Output> = self.values.iter().copied().filter(|&x| dtype(graph, x) == wanted).collect();
        if found.is_empty() {
            return otherwise;
        }
        let from = found.len() * 2 / 3;
        found[from + self.random.below(found.len() - from)]
    }

    fn branches(&mut self, graph: &mut Graph, in_graph: bool) -> Result<Vec<Output>> {
        let p = self.scalar_bool(graph)?;
        let x = self.value(graph, &[DataType::Float])?;
        let y = self.value(graph, &[DataType::Float, DataType::Int32])?;
        let second = dtype(graph, y);
        let (count_then, count_else) = (self.random.below(5), self.random.below(5));
        let (mut then, mut other) = (self.inner(&[x, y]), self.inner(&[x, y]));
        let on_true = |g: &mut Graph| {
            then.nodes(g, count_then);
            let twin = Writer { values: then.values.clone(), ..Writer::new(1, 9) };
            Ok([then.result(g, DataType::Float, x), twin.result(g, second, y)])
        };
        let on_false = |g: &mut Graph| {
            other.nodes(g, count_else);
            let twin = Writer { values: other.values.clone(), ..Writer::new(2, 9) };
            Ok([other.result(g, DataType::Float, x), twin.result(g, second, y)])
        };
        if in_graph {
            return ops::v1::cond(graph, p, on_true, on_false).build().map(Vec::from);
        }
        if self.seldom(4) {
            let index = ops::cast(graph, p, DataType::Int32).build()?;
            let case = ops::switch_case(graph, index).branch(on_true).branch(on_false);
            return case.build().map(Vec::from);
        }
        ops::cond(graph, p, on_true, on_false).build().map(Vec::from)
    }

    fn loops(&mut self, graph: &mut Graph, in_graph: bool) -> Result<Vec<Output>> {
        let zero = ops::constant(graph, 0)?;
        let limit = ops::constant(graph, self.random.below(4) as i32)?;
        let x = self.value(graph, &[DataType::Float])?;
        let kept = self.value(graph, &[DataType::Float, DataType::Int32])?;
        let mut body = self.inner(&[x, kept]);
        let count = 1 + self.random.below(6);
        let changes = self.seldom(3);
        let invariants = [
            known(&[]),
            PartialShape::unknown(),
            if self.seldom(2) { graph.shape(kept).clone() } else { PartialShape::unknown() },
        ];
        let fast = self.seldom(2);
        let outer = self.value(graph, &[DataType::Float])?;
        let (in_cond, in_body) = (self.seldom(3), self.seldom(2));
        let cond = |g: &mut Graph, [i, ..]: [Output; 3]| {
            if in_cond {
                let positive = ops::abs(g, outer).build()?;
                let sizes = ops::shape(g, positive).build()?;
                let rank = ops::size(g, sizes).build()?;
                let most = ops::minimum(g, rank, limit).build()?;
                return ops::less(g, i, most).build();
            }
            ops::less(g, i, limit).build()
        };
        let step = |g: &mut Graph, [i, x, kept]: [Output; 3]| {
            if in_body {
                // What is the same in all iterations, and may be all that something takes.
                let half = ops::mul(g, outer, 0.5f32).build()?;
                let tanh = ops::tanh(g, half).build()?;
                let both = ops::add_v2(g, half, tanh).build()?;
                body.values.extend([half, tanh, both, tanh]);
            }
            body.values.extend([x, x, kept, i]);
            body.nodes(g, count);
            let next = ops::add_v2(g, i, 1i32).build()?;
            let again = if changes { dtype(g, kept) } else { DataType::String };
            let twin = Writer { values: body.values.clone(), ..Writer::new(3, 9) };
            let kept = twin.result(g, again, kept);
            Ok([next, body.result(g, DataType::Float, x), kept])
        };
        let loops = match in_graph {
            true => {
                let built = ops::v1::while_loop(graph, [zero, x, kept], cond, step).shape_invariants(invariants);
                built.parallel_iterations(if fast { 10 } else { 1 }).build()?
            }
            false => ops::while_loop(graph, [zero, x, kept], cond, step).shape_invariants(invariants).build()?,
        };
        Ok(loops.to_vec())
    }

    fn call(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        if self.functions.is_empty() || self.seldom(2) {
            let mut inner = self.inner(&[]);
            // What is taken from outside is an argument more.
            if self.seldom(2) {
                inner.values.clear();
            }
            inner.functions = self.functions.clone();
            (inner.has_state, inner.last) = (self.has_state, None);
            let count = 1 + self.random.below(6);
            let name = graph.free_function_name("Random");
            let mut builder = FunctionBuilder::new(&name, [DataType::Float, DataType::Int32]);
            if self.seldom(5) {
                builder = builder.attr("_noinline", true);
            }
            let function = builder.build(graph, |g, [x, n]| {
                (0..3).for_each(|_| inner.values.extend([x, x, n]));
                inner.nodes(g, count);
                let twin = Writer { values: inner.values.clone(), ..Writer::new(4, 9) };
                Ok([inner.result(g, DataType::Float, x), twin.result(g, DataType::Int32, n)])
            })?;
            self.functions.push(function);
        }
        let at = self.random.below(self.functions.len());
        let function = self.functions[at].clone();
        let mut results = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let x = self.value(graph, &[DataType::Float])?;
            let n = self.value(graph, &[DataType::Int32])?;
            let mut call = ops::call(graph, &function, [x, n]);
            if let Some(node) = self.last.filter(|_| function.is_stateful()) {
                call = call.control_input(node);
            }
            let (node, outputs) = call.build_node()?;
            if function.is_stateful() {
                self.last = Some(node);
                self.effects.push(node);
            }
            results.extend(outputs);
        }
        Ok(results)
    }
}
