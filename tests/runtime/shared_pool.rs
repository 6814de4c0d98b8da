//! Sessions on threads that the program gives.

use std::sync::Arc;
use std::time::Duration;

use kernlink::device::thread_pool;
use kernlink::graph::Output;
use kernlink::prelude::*;

use crate::graphs::{graph, node};

/// Takes a millisecond, and says whether it ran on a thread of rayon's.
#[register_op(input("x: float"), output("is_lent: float"), stateful, shape_fn = shape::unchanged)]
struct Lent;

struct LentKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<Lent> for LentKernel {
    fn new(_: &KernelConstruction<Lent>) -> Result<Self> {
        Ok(LentKernel)
    }
    fn compute(&self, ctx: &mut KernelContext<Lent>) -> Result<()> {
        std::thread::sleep(Duration::from_millis(1));
        let is_lent = rayon::current_thread_index().is_some();
        ctx.set_output(Lent::IS_LENT, Tensor::scalar(f32::from(is_lent)))
    }
}

/// How many of so many nodes run on threads of rayon's.
fn nodes() -> Graph {
    let mut graph = graph();
    let x = node(&mut graph, "Placeholder", "x", &[], &[("dtype", DataType::Float.into())]);
    let lent: Vec<Output> = (0..NODES).map(|i| node(&mut graph, "Lent", &format!("lent_{i}"), &[x], &[])).collect();
    ops::add_n(&mut graph, lent).name("sum").build().unwrap();
    graph
}

const NODES: usize = 16;

fn run_lent(session: &Session) -> usize {
    let sum = session.run(&[("x", Tensor::scalar(1f32))], &["sum"], &[]).unwrap();
    sum[0].to_scalar::<f32>().unwrap() as usize
}

#[test]
fn sessions_share_a_pool() {
    let pool = thread_pool("shared", 7).unwrap();
    let options = SessionOptions::new().threads(1).pool(pool.clone());
    let sessions = [0, 1].map(|_| Session::with_options(nodes(), &options).unwrap());
    // One for each session's device.
    assert!(Arc::strong_count(&pool) >= 4);
    std::thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(|| (0..3).for_each(|_| assert_eq!(run_lent(session), 0)));
        }
    });
}

#[cfg(feature = "rayon")]
mod on_rayon {
    use std::sync::Mutex;

    use kernlink::runtime::RunOptions;
    use kernlink::threads::ThreadPool;

    use super::*;
    use crate::graphs::waiting_graph;

    fn rayon_pool(threads: usize) -> Arc<rayon::ThreadPool> {
        Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    }

    #[test]
    fn nodes_run_on_its_threads() {
        let pool = rayon_pool(8);
        let session = Session::with_options(nodes(), &SessionOptions::new().rayon_pool(pool.clone())).unwrap();
        // The thread that calls takes part.
        assert!((0..3).all(|_| (1..=NODES).contains(&run_lent(&session))));
        // It is one of rayon's itself.
        assert_eq!(pool.install(|| run_lent(&session)), NODES);
    }

    #[test]
    fn products_are_the_same_bit_by_bit() {
        let mut graph = graph();
        let float = [("dtype", DataType::Float.into())];
        let [a, b] = ["a", "b"].map(|name| node(&mut graph, "Placeholder", name, &[], &float));
        ops::mat_mul(&mut graph, a, b).name("product").build().unwrap();
        let size = 150usize;
        let values: Vec<f32> = (0..size * size).map(|i| (i % 97) as f32 / 97.0 - 0.4).collect();
        let matrix = Tensor::from_vec([size, size], values).unwrap();
        let run = |session: &Session| {
            let product = session.run(&[("a", matrix.clone()), ("b", matrix.clone())], &["product"], &[]).unwrap();
            product[0].as_slice::<f32>().unwrap().iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let expected = run(&Session::with_options(graph.clone(), &SessionOptions::new().threads(1)).unwrap());
        for threads in 1..4 {
            let pool = rayon_pool(threads);
            let session =
                Session::with_options(graph.clone(), &SessionOptions::new().rayon_pool(pool.clone())).unwrap();
            assert_eq!(run(&session), expected);
            // Every thread of rayon's runs the session at the same time.
            assert!(pool.broadcast(|_| run(&session)).iter().all(|product| *product == expected));
        }
    }

    #[test]
    fn kernels_that_wait_hold_none_of_its_threads() {
        for threads in [1, 2] {
            let pool = rayon_pool(threads);
            let shared = Arc::new(ThreadPool::on_rayon(pool.clone()));
            let session = Session::with_options(waiting_graph(), &SessionOptions::new().pool(shared)).unwrap();
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let answer = session.run(&[("count", Tensor::scalar(20i32))], &["wait"], &[]).unwrap();
                        assert_eq!(answer[0].to_scalar::<i32>().unwrap(), 20);
                    });
                }
                for _ in 0..20 {
                    pool.install(|| session.run(&[], &[], &["open"])).unwrap();
                }
            });
        }
    }

    #[test]
    fn a_run_ends_while_the_program_uses_all_threads() {
        let pool = rayon_pool(2);
        let session = Session::with_options(nodes(), &SessionOptions::new().rayon_pool(pool.clone())).unwrap();
        let held = Arc::new(Mutex::new(()));
        let guard = held.lock().unwrap();
        for _ in 0..2 {
            let held = held.clone();
            pool.spawn(move || drop(held.lock()));
        }
        let options = RunOptions::new().timeout(Duration::from_secs(60));
        let sum = session.run_with(&[("x", Tensor::scalar(1f32))], &["sum"], &[], &options).unwrap();
        // The thread that calls did it all.
        assert_eq!(sum[0].to_scalar::<f32>().unwrap(), 0.0);
        drop(guard);
    }
}
