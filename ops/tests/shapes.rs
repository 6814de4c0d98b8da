//! Shape functions infer what TensorFlow infers, from random inputs. `data/shapes.py` writes the cases.

extern crate kernlink_framework as kernlink;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::collect::{OpEntry, linked_ops};
use kernlink::dtype::DataType;
use kernlink::op::Signature;
use kernlink::proto::{self, Message as _, NodeDef};
use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};

/// What is known of an input: its shape, and its value if it is constant.
type Input = (PartialShape, Option<Tensor>);

fn attrs(node: &NodeDef) -> Result<AttrMap> {
    node.attr.iter().map(|(name, value)| Ok((name.clone(), proto::attr_from_proto(value)?))).collect()
}

fn input(node: &NodeDef) -> Result<Input> {
    let attrs = attrs(node)?;
    if node.op == "Placeholder" {
        return Ok((attrs.required("shape")?, None));
    }
    let value: Tensor = attrs.required("value")?;
    Ok((value.shape().into(), Some(value)))
}

fn infer(entry: &OpEntry, attrs: &AttrMap, inputs: &[Input]) -> Result<Vec<PartialShape>> {
    let signature = Signature::new(entry.def, attrs)?;
    let (shapes, values) = inputs.iter().cloned().unzip();
    let mut context = InferenceContext::new(entry.def, attrs, &signature, shapes, values);
    let shape_fn = entry.shape_fn.ok_or_else(|| Error::internal("there is no shape function"))?;
    context.run(shape_fn)?;
    Ok(context.output_shapes())
}

/// A node, its op, its attrs and its inputs.
struct Case {
    name: String,
    entry: &'static OpEntry,
    attrs: AttrMap,
    inputs: Vec<Input>,
}

/// The cases whose ops are declared with the present features.
fn cases() -> Vec<Case> {
    let path = std::env::var("KERNLINK_SHAPES").ok();
    let more = path.map(|path| std::fs::read(path).expect("KERNLINK_SHAPES names a file"));
    let graph = proto::GraphDef::decode(more.as_deref().unwrap_or(include_bytes!("data/shapes.pb")));
    let nodes = graph.expect("the file is a GraphDef").node;
    let inputs: BTreeMap<&str, Input> = nodes
        .iter()
        .filter(|node| matches!(&*node.op, "Placeholder" | "Const"))
        .map(|node| (&*node.name, input(node).expect("inputs are well-formed")))
        .collect();
    let ours = |entry: &&'static OpEntry| std::ptr::eq(entry.provider, &kernlink_ops::KERNLINK_PROVIDER);
    let ops: BTreeMap<&str, &OpEntry> = linked_ops().filter(ours).map(|entry| (&*entry.def.name, entry)).collect();
    let tested = nodes.iter().filter(|node| !inputs.contains_key(&*node.name));
    let cases: Vec<Case> = tested
        .filter_map(|node| {
            Some(Case {
                name: node.name.clone(),
                entry: ops.get(&*node.op)?,
                attrs: attrs(node).expect("attrs are well-formed"),
                inputs: node.input.iter().map(|name| inputs[&**name].clone()).collect(),
            })
        })
        .collect();
    let all = cfg!(all(feature = "array", feature = "math", feature = "nn"));
    assert!(!all || cases.len() > 500, "only {} cases were found", cases.len());
    cases
}

#[test]
fn shape_functions_infer_what_tensorflow_infers() {
    let cases = cases();
    let mut different = Vec::new();
    for Case { name, entry, attrs, inputs } in &cases {
        let ours = infer(entry, attrs, inputs);
        let expected = attrs.required::<Vec<PartialShape>>("_shapes");
        let same = match (&ours, &expected) {
            (Ok(ours), Ok(expected)) => ours == expected,
            (ours, expected) => ours.is_err() && expected.is_err(),
        };
        if !same {
            let theirs = expected.map_or_else(|_| format!("{:?}", attrs.get("_error")), |shapes| format!("{shapes:?}"));
            different.push(format!("{name}: {ours:?}, not {theirs}, of {inputs:?} and {attrs:?}"));
        }
    }
    assert!(different.is_empty(), "{} of {} differ:\n{}", different.len(), cases.len(), different.join("\n"));
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn extreme(&mut self) -> i64 {
        let values = [i64::MIN, i32::MIN.into(), -2, -1, 0, 1, 2, 3, 255, i32::MAX.into(), 1 << 62, i64::MAX];
        values[self.below(values.len() as u64) as usize]
    }

    fn shape(&mut self) -> PartialShape {
        if self.below(8) == 0 {
            return PartialShape::unknown();
        }
        PartialShape::from_known((0..self.below(6)).map(|_| usize::try_from(self.extreme()).ok()))
    }

    /// The same dtype and rank, but any shape and any values; now and then another rank.
    fn tensor(&mut self, like: &Tensor) -> Tensor {
        let rank = if self.below(6) == 0 { self.below(3) as usize } else { like.rank() };
        let shape: Vec<usize> = (0..rank).map(|_| self.below(5) as usize).collect();
        let count = shape.iter().product();
        let values: Vec<i64> = (0..count).map(|_| self.extreme()).collect();
        let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
        match like.dtype() {
            DataType::Int32 => Tensor::from_elements(shape, &narrow),
            DataType::Int64 => Tensor::from_elements(shape, &values),
            DataType::Float => Tensor::from_elements(shape, &narrow.iter().map(|&n| n as f32).collect::<Vec<_>>()),
            _ => Ok(like.clone()),
        }
        .expect("shape and elements fit")
    }
}

/// Shape functions run on whatever a graph holds, so no attr, shape or constant may bring one down.
#[test]
fn no_node_makes_a_shape_function_panic() {
    let mut random = Random(20);
    for Case { name, entry, attrs, inputs } in cases() {
        for _ in 0..40 {
            let mut attrs = attrs.clone();
            for attr in entry.def.attrs.iter().filter(|attr| !entry.def.is_inferred(&attr.name)) {
                match attrs.get(&attr.name) {
                    Some(AttrValue::Int(_)) if random.below(4) == 0 && !is_count(entry, &attr.name) => {
                        attrs.insert(attr.name.clone(), random.extreme());
                    }
                    Some(AttrValue::ListInt(list)) if random.below(4) == 0 => {
                        let length = if random.below(4) == 0 { random.below(10) as usize } else { list.len() };
                        attrs.insert(attr.name.clone(), (0..length).map(|_| random.extreme()).collect::<Vec<_>>());
                    }
                    _ => {}
                }
            }
            let mut inputs = inputs.clone();
            for (shape, value) in &mut inputs {
                if random.below(2) == 0 {
                    *value = value.as_ref().map(|value| random.tensor(value));
                    *shape = value.as_ref().map_or_else(|| random.shape(), |value| value.shape().into());
                }
            }
            let inferred = catch_unwind(AssertUnwindSafe(|| infer(entry, &attrs, &inputs)));
            let result = inferred.unwrap_or_else(|_| panic!("{name} panics on {inputs:?} and {attrs:?}"));
            if let Err(error) = result {
                assert_ne!(error.code(), kernlink::Code::Internal, "{name}: {error} of {inputs:?} and {attrs:?}");
            }
        }
    }
}

/// Whether the attr is the number of outputs: a node with 2⁶³ of them is refused before its shapes are inferred.
fn is_count(entry: &OpEntry, attr: &str) -> bool {
    entry.def.outputs.iter().any(|arg| arg.number_attr.as_deref() == Some(attr))
}
