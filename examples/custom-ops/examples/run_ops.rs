//! Runs ops of this crate, in one graph with ops of Kernlink's own, and one of them without a graph.

use custom_ops::vocabulary::{initialize_vocabulary, look_up_words, vocabulary_handle};
use custom_ops::{median_pool, zero_out};
use kernlink::prelude::*;

fn main() -> Result<()> {
    for line in lines()? {
        println!("{line}");
    }
    Ok(())
}

/// What the ops compute, which a test looks at, too.
pub(crate) fn lines() -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut graph = Graph::new(&kernlink::registry()?);

    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build()?;
    zero_out(&mut graph, x).preserve_index(2).name("zeroed").build()?;

    let photo = ops::placeholder(&mut graph, DataType::Int32).name("photo").build()?;
    let clean = median_pool(&mut graph, photo, "SAME").build()?;
    ops::sub(&mut graph, photo, clean).name("noise").build()?;

    let session = Session::new(graph)?;
    let numbers = Tensor::vector(&[5.0f32, 4.0, 3.0, 2.0, 1.0])?;
    lines.push(format!("ZeroOut keeps one element:  {}", session.run(&[("x", numbers)], &["zeroed"], &[])?[0]));

    // A grey picture with one white pixel.
    let mut pixels = [100i32; 5 * 5];
    pixels[2 * 5 + 3] = 255;
    let photo = Tensor::from_elements([1, 5, 5, 1], &pixels)?;
    let noise = session.run(&[("photo", photo)], &["noise"], &[])?.remove(0);
    lines.push(format!("what MedianPool removed:    {}", noise.reshaped([5, 5])?));

    // The same functions compute at once, without a graph.
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let zeroed = zero_out(&mut eager, [1i32, 2, 3]).preserve_index(1).build()?;
    let negated = ops::neg(&mut eager, zeroed).build()?;
    lines.push(format!("without a graph:            {negated}"));

    // A resource of one's own: it stays from op to op.
    let animals = vocabulary_handle(&mut eager).shared_name("animals").build()?;
    initialize_vocabulary(&mut eager, animals.clone(), ["cat", "dog"]).build()?;
    let ids = look_up_words(&mut eager, animals, ["dog", "bird"]).build()?;
    lines.push(format!("ids of words:               {ids}"));
    Ok(lines)
}
