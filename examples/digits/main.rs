//! Runs a TensorFlow model: a convolutional network that reads handwritten digits.
//!
//! Shows some test images with the network's answers, its accuracy on all 360, and whether the answers are
//! TensorFlow's own.

use std::path::Path;
use std::time::Instant;

use kernlink::prelude::*;

const SHOWN: usize = 6;

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/digits");
    let start = Instant::now();
    let graph = Graph::import(&kernlink::proto::read_graph(folder.join("digits.pb"))?, &kernlink::registry()?)?;
    let session = Session::new(graph)?;
    let images = kernlink::npy::read(folder.join("images.npy"))?;
    let loaded = start.elapsed();

    let start = Instant::now();
    let answers = session.run(&[("images", images.clone())], &["probabilities", "classes"], &[])?;
    let ran = start.elapsed();

    let (probabilities, classes) = (answers[0].as_slice::<f32>()?, answers[1].as_slice::<i64>()?);
    let labels = kernlink::npy::read(folder.join("labels.npy"))?;
    let labels = labels.as_slice::<i64>()?;
    show(images.as_slice::<f32>()?, probabilities, classes, labels);

    let right = classes.iter().zip(labels).filter(|(class, label)| class == label).count();
    let count = labels.len();
    println!("{right} of {count} right: {:.1} %", 100.0 * right as f64 / count as f64);
    println!("loaded in {:.1} ms, {count} images classified in {:.1} ms", millis(loaded), millis(ran));

    let expected = kernlink::npy::read(folder.join("classes.npy"))?;
    let same = classes.iter().zip(expected.as_slice::<i64>()?).filter(|(a, b)| a == b).count();
    println!("{same} of {count} answers are those of TensorFlow 2.21");
    ensure!(same == count, Internal, "{} answers differ from TensorFlow's", count - same);
    Ok(())
}

/// Draws the first images side by side, two rows of pixels in a line of text, with the answers below.
fn show(images: &[f32], probabilities: &[f32], classes: &[i64], labels: &[i64]) {
    let ink = |image: usize, row: usize, column: usize| images[(image * 8 + row) * 8 + column];
    for pair in 0..4 {
        for image in 0..SHOWN {
            let line: String = (0..8)
                .map(|column| match (ink(image, 2 * pair, column) > 0.4, ink(image, 2 * pair + 1, column) > 0.4) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                })
                .collect();
            print!("  {line}  ");
        }
        println!();
    }
    for image in 0..SHOWN {
        let class = classes[image];
        let mark = if class == labels[image] { ' ' } else { '!' };
        print!("  {class}{mark} {:>4.0} %  ", 100.0 * probabilities[image * 10 + class as usize]);
    }
    println!("\n");
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
