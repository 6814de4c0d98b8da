//! Recurrent layers, labels without places in time, and pools of random windows.

use kernlink::prelude::*;

use super::{Functions, doubles};

pub(super) fn functions(all: &mut Functions) {
    layers(all);
    labels(all);
    random_windows(all);
}

/// Three steps of a batch of two, of which all or two count.
fn layers(all: &mut Functions) {
    let small = |dims: &[usize], seed: usize| {
        let values: Vec<f32> = doubles(dims, seed).as_slice::<f64>().unwrap().iter().map(|&x| x as f32 / 3.0).collect();
        Tensor::from_elements(dims, &values).unwrap()
    };
    let values = [
        small(&[3, 2, 2], 1),
        small(&[2, 3], 2),
        small(&[2, 3], 3),
        small(&[5, 12], 4),
        small(&[3], 5),
        small(&[3], 6),
        small(&[3], 7),
        small(&[12], 8),
    ];
    for (steps, peephole) in [(3i64, true), (2, false)] {
        all.add("BlockLSTM", &values, |graph, xs| {
            let &[x, cs, h, w, wci, wcf, wco, b] = xs else { unreachable!("eight values") };
            let layer = ops::block_lstm(graph, steps, x, cs, h, w, wci, wcf, wco, b).use_peephole(peephole).build()?;
            Ok(vec![layer.h, layer.cs])
        });
        all.add("BlockLSTMV2", &values, |graph, xs| {
            let &[x, cs, h, w, wci, wcf, wco, b] = xs else { unreachable!("eight values") };
            let layer =
                ops::block_lstmv2(graph, steps, x, cs, h, w, wci, wcf, wco, b).use_peephole(peephole).build()?;
            Ok(vec![layer.h])
        });
    }
}

fn labels(all: &mut Functions) {
    for merges in [true, false] {
        all.add("CTCLoss", &[doubles(&[5, 2, 4], 1)], |graph, xs| {
            let indices = Tensor::from_elements([4, 2], &[0i64, 0, 0, 1, 1, 0, 1, 1])?;
            let loss = ops::ctc_loss(graph, xs[0], indices, &[0, 2, 1, 1][..], &[5, 4][..]).ctc_merge_repeated(merges);
            Ok(vec![loss.build()?.loss])
        });
    }
}

fn random_windows(all: &mut Functions) {
    const RATIOS: [f32; 4] = [1.0, 1.4, 1.7, 1.0];
    for overlaps in [false, true] {
        all.add("FractionalMaxPool", &[doubles(&[1, 6, 7, 2], 1)], |graph, xs| {
            let pool = ops::fractional_max_pool(graph, xs[0], &RATIOS[..]).deterministic(true).seed(1);
            Ok(vec![pool.overlapping(overlaps).build()?.output])
        });
        all.add("FractionalAvgPool", &[doubles(&[2, 6, 7, 1], 2)], |graph, xs| {
            let pool = ops::fractional_avg_pool(graph, xs[0], &RATIOS[..]).deterministic(true).seed(1);
            Ok(vec![pool.overlapping(overlaps).build()?.output])
        });
    }
}
