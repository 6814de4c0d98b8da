//! Whole models: digits, which is in the repository, and every `NAME.pb` with a `NAME.x.npy` to feed it in the folder
//! that the environment variable `KERNLINK_MODELS` names.

mod workload;

use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::ItemsCount;

const THREADS: usize = 2;

fn main() {
    if models().is_empty() {
        eprintln!("models: KERNLINK_MODELS names no folder with models; digits alone is run");
    }
    divan::main();
}

#[divan::bench(args = [1, 360])]
fn digits(bencher: Bencher, batch: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/digits");
    let images = kernlink::npy::read(folder.join("images.npy")).unwrap().slice_rows(0, batch).unwrap();
    let work = workload::Work::from_file(folder.join("digits.pb"), vec![images]).unwrap();
    let run = work.prepare(THREADS).unwrap();
    bencher.counter(ItemsCount::new(batch)).bench_local(|| run.run().unwrap());
}

#[divan::bench(args = models(), sample_size = 1, max_time = 10)]
fn model(bencher: Bencher, name: &str) {
    let path = folder().unwrap().join(name);
    let input = kernlink::npy::read(path.with_extension("x.npy")).unwrap();
    let run = workload::Work::from_file(path, vec![input]).and_then(|work| work.prepare(THREADS)).unwrap();
    bencher.bench_local(|| run.run().unwrap());
}

fn folder() -> Option<PathBuf> {
    std::env::var_os("KERNLINK_MODELS").map(PathBuf::from)
}

fn models() -> Vec<String> {
    let Some(entries) = folder().and_then(|folder| std::fs::read_dir(folder).ok()) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let models = paths.filter(|path| {
        path.extension().is_some_and(|extension| extension == "pb") && path.with_extension("x.npy").exists()
    });
    let mut names: Vec<String> = models.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
    names.sort();
    names
}
