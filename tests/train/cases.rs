//! What the cases of generate.py are called, and steps of all optimisers.

use kernlink::prelude::*;
use kernlink::train::{
    Adagrad, Adam, BuiltOptimizer, Clip, CosineDecay, Distribution, ExponentialDecay, Fan, Ftrl, Initializer,
    InverseTimeDecay, Optimizer, PiecewiseConstantDecay, PolynomialDecay, RmsProp, Rule, Schedule, Sgd, Variable,
    VariableGradient, Variables,
};

use super::values::Values;

pub(super) fn schedules() -> Vec<(&'static str, Schedule)> {
    vec![
        ("piecewise", PiecewiseConstantDecay::new([2, 5, 9], [0.1, 0.05, 0.01, 0.005]).into()),
        ("exponential", ExponentialDecay::new(0.1, 4, 0.9).into()),
        ("exponential_staircase", ExponentialDecay::new(0.1, 4, 0.9).staircase().into()),
        ("inverse_time", InverseTimeDecay::new(0.1, 4, 0.5).into()),
        ("inverse_time_staircase", InverseTimeDecay::new(0.1, 4, 0.5).staircase().into()),
        ("polynomial", PolynomialDecay::new(0.1, 7, 0.01).into()),
        ("polynomial_power_cycle", PolynomialDecay::new(0.1, 4, 0.01).power(2.0).cycle().into()),
        ("cosine", CosineDecay::new(0.1, 7).into()),
        ("cosine_alpha", CosineDecay::new(0.1, 7).alpha(0.2).into()),
        ("cosine_warmup", CosineDecay::new(0.02, 7).alpha(0.1).warmup(0.2, 4).into()),
    ]
}

pub(super) fn initializers() -> Vec<(&'static str, Initializer)> {
    let fan_out = Initializer::variance_scaling(3.0, Fan::Out, Distribution::UntruncatedNormal);
    vec![
        ("random_normal", Initializer::random_normal(0.5, 0.1).seed(3)),
        ("truncated_normal", Initializer::truncated_normal(-0.5, 0.1).seed(4)),
        ("random_uniform", Initializer::random_uniform(-0.25, 0.75).seed(5)),
        ("glorot_uniform", Initializer::glorot_uniform().seed(6)),
        ("glorot_normal", Initializer::glorot_normal().seed(7)),
        ("he_uniform", Initializer::he_uniform().seed(8)),
        ("he_normal", Initializer::he_normal().seed(9)),
        ("lecun_uniform", Initializer::lecun_uniform().seed(10)),
        ("lecun_normal", Initializer::lecun_normal().seed(11)),
        ("fan_out", fan_out.seed(12)),
    ]
}

/// Checks one optimiser in all its dtypes, in a graph and at once.
fn check<R: Rule + Clone>(values: &Values, name: &str, optimizer: &Optimizer<R>) {
    for dtype in ["float32", "float64"] {
        let case = Case { values, name: format!("{name}_{dtype}") };
        case.in_a_graph(optimizer.clone()).unwrap_or_else(|error| panic!("{} in a graph: {error}", case.name));
        case.at_once(optimizer.clone()).unwrap_or_else(|error| panic!("{} at once: {error}", case.name));
    }
}

struct Case<'v> {
    values: &'v Values,
    name: String,
}

impl Case<'_> {
    fn first(&self) -> Vec<Tensor> {
        let first = self.values.numbered(&format!("{}/initial", self.name));
        assert!(!first.is_empty(), "the data lack {}", self.name);
        first
    }

    fn steps(&self) -> usize {
        (0..).take_while(|step| self.values.find(&format!("{}/expected/{step}/0", self.name)).is_some()).count()
    }

    /// The gradients of a step, or the rows of the one variable and their indices.
    fn given(&self, step: usize) -> (Vec<Tensor>, Vec<Tensor>) {
        let rows = self.values.numbered(&format!("{}/rows/{step}", self.name));
        let gradients = self.values.numbered(&format!("{}/gradient/{step}", self.name));
        if rows.is_empty() {
            return (gradients, Vec::new());
        }
        (rows, self.values.numbered(&format!("{}/indices/{step}", self.name)))
    }

    fn agree(&self, step: usize, found: &[Tensor]) {
        let expected = self.values.numbered(&format!("{}/expected/{step}", self.name));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            // Keras rounds what optimisers are given to `float` for `double` variables, too, and has 0.1 where the ops
            // of TensorFlow have the `float` 1 - 0.9.
            let tolerance = Some((4e-6, 1e-6));
            if let Err(error) = kernlink::golden::compare(found, expected, tolerance) {
                panic!("{}, step {step}: {error}", self.name);
            }
        }
    }

    fn at_once<R: Rule>(&self, optimizer: Optimizer<R>) -> Result<()> {
        let mut eager = EagerContext::new(&kernlink::registry()?)?;
        let mut variables = Variables::new();
        let trained = add(&mut eager, &mut variables, &self.first())?;
        let built: BuiltOptimizer<_, R> = optimizer.build(&mut eager, &mut variables)?;
        for step in 0..self.steps() {
            let (values, indices) = self.given(step);
            let dense_shape = Tensor::vector(&trained[0].shape().iter().map(|&dim| dim as i64).collect::<Vec<_>>())?;
            let gradients: Vec<_> = match indices.first() {
                Some(indices) => {
                    let (values, indices) = (values[0].clone(), indices.clone());
                    vec![Some(VariableGradient::Slices { values, indices, dense_shape })]
                }
                None => values.into_iter().map(|value| Some(value.into())).collect(),
            };
            built.apply_gradients(&mut eager, gradients)?;
            let found = trained.iter().map(|variable| variable.read(&mut eager)).collect::<Result<Vec<_>>>()?;
            self.agree(step, &found);
        }
        assert_eq!(built.iterations().read(&mut eager)?.to_scalar::<i64>()?, self.steps() as i64);
        Ok(())
    }

    fn in_a_graph<R: Rule>(&self, optimizer: Optimizer<R>) -> Result<()> {
        let mut graph = Graph::new(&kernlink::registry()?);
        let mut variables = Variables::new();
        let trained = add(&mut graph, &mut variables, &self.first())?;
        let built = optimizer.build(&mut graph, &mut variables)?;
        let (values, indices) = self.given(0);
        let mut fed = Vec::new();
        let mut feed = |graph: &mut Graph, like: &Tensor| {
            let fed_here = ops::placeholder(graph, like.dtype()).shape(like.shape().clone()).build()?;
            fed.push(graph.output_name(fed_here));
            Ok::<Output, Error>(fed_here)
        };
        let values = values.iter().map(|value| feed(&mut graph, value)).collect::<Result<Vec<_>>>()?;
        let gradients: Vec<Option<VariableGradient<Output>>> = match indices.first() {
            Some(indices) => {
                let indices = feed(&mut graph, indices)?;
                let dims: Vec<i64> = trained[0].shape().iter().map(|&dim| dim as i64).collect();
                let dense_shape = ops::constant(&mut graph, dims)?;
                vec![Some(VariableGradient::Slices { values: values[0], indices, dense_shape })]
            }
            None => values.into_iter().map(|value| Some(value.into())).collect(),
        };
        let train = built.apply_gradients(&mut graph, gradients)?.train;
        let train = graph.node(train).name.clone();
        let init = variables.initializer(&mut graph)?;
        let init = graph.node(init).name.clone();
        let reads = trained.iter().map(|variable| variable.read(&mut graph)).collect::<Result<Vec<_>>>()?;
        let reads: Vec<String> = reads.into_iter().map(|read| graph.output_name(read)).collect();
        let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
        let session = Session::new(graph)?;
        session.run(&[], &[], &[&init])?;
        for step in 0..self.steps() {
            let (values, indices) = self.given(step);
            let feeds: Vec<_> = fed.iter().map(String::as_str).zip(values.into_iter().chain(indices)).collect();
            session.run(&feeds, &[], &[&train])?;
            self.agree(step, &session.run(&[], &reads, &[])?);
        }
        Ok(())
    }
}

/// A variable for each of some first values.
fn add<S: kernlink::train::TrainingScope>(
    scope: &mut S,
    variables: &mut Variables<S>,
    first: &[Tensor],
) -> Result<Vec<Variable<S::Output>>> {
    let added = first.iter().enumerate().map(|(k, first)| {
        let initializer = Initializer::value(first.clone());
        let new = variables.add(scope, &format!("v{k}"), first.shape().clone(), initializer);
        new.dtype(first.dtype()).build()
    });
    added.collect()
}

/// Every optimiser, over several steps.
#[test]
fn steps_are_those_of_keras() {
    let values = &Values::read();
    let momentum = Sgd { momentum: 0.9, nesterov: false };
    let nesterov = Sgd { momentum: 0.9, nesterov: true };
    let exponential = ExponentialDecay::new(0.1, 2, 0.5);
    check(values, "sgd", &Optimizer::new(Sgd::default(), 0.05));
    check(values, "sgd_momentum", &Optimizer::new(momentum, 0.05));
    check(values, "sgd_nesterov", &Optimizer::new(nesterov, 0.05));
    check(values, "sgd_momentum_schedule", &Optimizer::new(momentum, exponential));
    let amsgrad = Adam { beta_1: 0.8, beta_2: 0.9, amsgrad: true, ..Adam::default() };
    check(values, "adam", &Optimizer::new(Adam::default(), 0.01));
    check(values, "adam_amsgrad", &Optimizer::new(amsgrad, 0.01));
    check(values, "adam_schedule", &Optimizer::new(Adam::default(), CosineDecay::new(0.01, 4).warmup(0.1, 2)));
    check(values, "adam_w", &Optimizer::adam_w(0.01, 0.004));
    check(values, "sgd_decay", &Optimizer::new(Sgd::default(), 0.05).weight_decay(0.1));
    let with_momentum = RmsProp { momentum: 0.5, ..RmsProp::default() };
    let centered = RmsProp { rho: 0.8, centered: true, ..RmsProp::default() };
    check(values, "rms_prop", &Optimizer::new(RmsProp::default(), 0.01));
    check(values, "rms_prop_momentum", &Optimizer::new(with_momentum, 0.01));
    check(values, "rms_prop_centered", &Optimizer::new(centered, 0.01));
    check(values, "adagrad", &Optimizer::new(Adagrad::default(), 0.1));
    let all = Ftrl {
        learning_rate_power: -0.6,
        initial_accumulator_value: 0.2,
        l1_regularization_strength: 0.01,
        l2_regularization_strength: 0.02,
        l2_shrinkage_regularization_strength: 0.03,
        beta: 0.05,
    };
    check(values, "ftrl", &Optimizer::new(Ftrl::default(), 0.1));
    check(values, "ftrl_all", &Optimizer::new(all, 0.1));
    check(values, "clip_value", &Optimizer::new(Sgd::default(), 0.05).clip(Clip::Value(0.5)));
    check(values, "clip_norm", &Optimizer::new(Sgd::default(), 0.05).clip(Clip::Norm(0.7)));
    check(values, "clip_global_norm", &Optimizer::new(Sgd::default(), 0.05).clip(Clip::GlobalNorm(0.7)));
}

/// Gradients of some rows, of which one is there twice.
#[test]
fn steps_by_rows_are_those_of_tensorflow() {
    let values = &Values::read();
    let momentum = |nesterov| Sgd { momentum: 0.9, nesterov };
    check(values, "rows_sgd", &Optimizer::new(Sgd::default(), 0.05));
    check(values, "rows_momentum", &Optimizer::new(momentum(false), 0.05));
    check(values, "rows_nesterov", &Optimizer::new(momentum(true), 0.05));
    check(values, "rows_rms_prop", &Optimizer::new(RmsProp { momentum: 0.5, ..RmsProp::default() }, 0.01));
    let centered = RmsProp { rho: 0.8, centered: true, ..RmsProp::default() };
    check(values, "rows_rms_prop_centered", &Optimizer::new(centered, 0.01));
    check(values, "rows_adagrad", &Optimizer::new(Adagrad::default(), 0.1));
    let ftrl = Ftrl {
        l1_regularization_strength: 0.01,
        l2_regularization_strength: 0.02,
        l2_shrinkage_regularization_strength: 0.03,
        ..Ftrl::default()
    };
    check(values, "rows_ftrl", &Optimizer::new(ftrl, 0.1));
}
