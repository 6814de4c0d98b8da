//! Linear algebra of old graphs: what TensorFlow refuses in new ones. The ops of batches equal those that took their place.

use crate::support::{constant, graph, node};
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::{GraphDef, NodeDef, VersionDef};
use kernlink::runtime::Session;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

/// Attrs by their names.
type Attrs = Vec<(&'static str, AttrValue)>;

/// The outputs of a node of a graph that a program of version `producer` made.
fn run(producer: i32, nodes: Vec<NodeDef>, fetches: &[&str]) -> Result<Vec<Tensor>> {
    let versions = Some(VersionDef { producer, min_consumer: 0, bad_consumers: Vec::new() });
    let def = GraphDef { versions, ..graph(nodes) };
    Session::new(Graph::import(&def, &kernlink::registry()?)?)?.run(&[], fetches, &[])
}

fn double() -> (&'static str, AttrValue) {
    ("T", AttrValue::Type(DataType::Double))
}

/// Two symmetric matrices that are positive definite.
fn matrices() -> Tensor {
    let elements = [4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0, 5.0, -1.0, 0.0, -1.0, 2.5, 1.0, 0.0, 1.0, 6.0];
    Tensor::from_elements([2, 3, 3], &elements).unwrap()
}

/// What an op makes of matrices, and of a second input if it has one.
fn outputs(op: &str, others: &[Tensor], attrs: &[(&str, AttrValue)], count: usize) -> Vec<Tensor> {
    let mut nodes = vec![constant("x", matrices())];
    let mut inputs = vec!["x"];
    for (name, other) in ["y", "z"].into_iter().zip(others) {
        nodes.push(constant(name, other.clone()));
        inputs.push(name);
    }
    nodes.push(node("op", op, &inputs, attrs));
    let fetches: Vec<String> = (0..count).map(|k| format!("op:{k}")).collect();
    let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
    run(10, nodes, &fetches).unwrap_or_else(|error| panic!("{op}: {error:?}"))
}

#[test]
fn ops_of_batches_equal_those_that_took_their_place() {
    let rhs = Tensor::from_elements([2, 3, 2], &(0..12).map(|k| k as f64 - 4.5).collect::<Vec<_>>()).unwrap();
    let yes = |name: &'static str| (name, AttrValue::Bool(true));
    let no = |name: &'static str| (name, AttrValue::Bool(false));
    let cases: Vec<(&str, &str, Vec<Tensor>, Attrs, usize)> = vec![
        ("BatchCholesky", "Cholesky", vec![], vec![], 1),
        ("BatchCholeskyGrad", "CholeskyGrad", vec![matrices()], vec![], 1),
        ("BatchMatrixDeterminant", "MatrixDeterminant", vec![], vec![], 1),
        ("BatchMatrixInverse", "MatrixInverse", vec![], vec![yes("adjoint")], 1),
        ("BatchMatrixSolve", "MatrixSolve", vec![rhs.clone()], vec![no("adjoint")], 1),
        ("BatchMatrixSolveLs", "MatrixSolveLs", vec![rhs.clone(), Tensor::scalar(0.5f64)], vec![yes("fast")], 1),
        ("BatchMatrixTriangularSolve", "MatrixTriangularSolve", vec![rhs], vec![yes("lower"), no("adjoint")], 1),
        ("BatchSelfAdjointEig", "SelfAdjointEig", vec![], vec![], 1),
        ("BatchSelfAdjointEigV2", "SelfAdjointEigV2", vec![], vec![yes("compute_v")], 2),
        ("BatchSvd", "Svd", vec![], vec![yes("compute_uv"), no("full_matrices")], 3),
        ("BatchMatrixDiagPart", "MatrixDiagPart", vec![], vec![], 1),
        ("BatchMatrixDiag", "MatrixDiag", vec![], vec![], 1),
    ];
    for (old, new, others, mut attrs, count) in cases {
        attrs.push(double());
        let [old_values, new_values] = [old, new].map(|op| outputs(op, &others, &attrs, count));
        for (old_value, new_value) in old_values.iter().zip(&new_values) {
            assert_eq!(old_value.shape(), new_value.shape(), "{old}");
            let bits = |x: &Tensor| x.as_slice::<f64>().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(old_value), bits(new_value), "{old}");
        }
        let mut inputs = vec!["x"];
        inputs.extend(["y", "z"].into_iter().take(others.len()));
        let mut nodes = vec![constant("x", matrices()), node("op", old, &inputs, &attrs)];
        nodes.splice(1..1, ["y", "z"].into_iter().zip(others).map(|(name, other)| constant(name, other)));
        assert_eq!(run(100, nodes, &["op"]).unwrap_err().code(), Code::Unimplemented, "{old}");
    }
}

#[test]
fn bands_and_diagonals_of_batches() {
    let number = |value: i64| Tensor::scalar(value);
    let found = outputs("BatchMatrixBandPart", &[number(0), number(1)], &[double()], 1);
    assert_eq!(found[0].as_slice::<f64>().unwrap()[..9], [4.0, 1.0, 0.0, 0.0, 3.0, -0.25, 0.0, 0.0, 2.0]);
    let diagonal = Tensor::from_elements([2, 3], &[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let found = outputs("BatchMatrixSetDiag", &[diagonal], &[double()], 1);
    assert_eq!(found[0].as_slice::<f64>().unwrap()[..9], [1.0, 1.0, 0.5, 1.0, 2.0, -0.25, 0.5, -0.25, 3.0]);
}

/// The eigenvalues stand above the eigenvectors.
#[test]
fn eigenvalues_and_eigenvectors_in_one() {
    let both = outputs("SelfAdjointEig", &[], &[double()], 1);
    let parts = outputs("SelfAdjointEigV2", &[], &[double(), ("compute_v", AttrValue::Bool(true))], 2);
    assert_eq!(both[0].shape().dims(), [2, 4, 3]);
    for (k, both) in both[0].as_slice::<f64>().unwrap().chunks_exact(12).enumerate() {
        assert_eq!(both[..3], parts[0].as_slice::<f64>().unwrap()[3 * k..][..3]);
        assert_eq!(both[3..], parts[1].as_slice::<f64>().unwrap()[9 * k..][..9]);
    }
}

/// Of a rotation, of what is zero in the end, and of a matrix so large that it is halved many times.
#[test]
fn exponentials() {
    let cases = [
        ([0.0, 1.0, -1.0, 0.0], [1f64.cos(), 1f64.sin(), -1f64.sin(), 1f64.cos()]),
        ([0.0, 3.0, 0.0, 0.0], [1.0, 3.0, 0.0, 1.0]),
        ([20.0, 0.0, 0.0, -20.0], [20f64.exp(), 0.0, 0.0, (-20f64).exp()]),
        ([0.01, 0.0, 0.0, 0.2], [0.01f64.exp(), 0.0, 0.0, 0.2f64.exp()]),
        ([0.9, 0.0, 0.0, 1.9], [0.9f64.exp(), 0.0, 0.0, 1.9f64.exp()]),
    ];
    for (x, expected) in cases {
        let nodes = |x: Tensor, dtype| vec![constant("x", x), node("y", "MatrixExponential", &["x"], &[("T", dtype)])];
        let wide = Tensor::from_elements([2, 2], &x).unwrap();
        let found = run(26, nodes(wide.clone(), AttrValue::Type(DataType::Double)), &["y"]).unwrap();
        for (found, expected) in found[0].as_slice::<f64>().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{x:?}: {found} for {expected}");
        }
        let short = Tensor::from_elements([2, 2], &x.map(|x| x as f32)).unwrap();
        let found = run(26, nodes(short, AttrValue::Type(DataType::Float)), &["y"]).unwrap();
        for (found, expected) in found[0].as_slice::<f32>().unwrap().iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{x:?}: {found}");
        }
        let new = run(27, nodes(wide, AttrValue::Type(DataType::Double)), &["y"]);
        assert_eq!(new.unwrap_err().code(), Code::Unimplemented);
    }
}
