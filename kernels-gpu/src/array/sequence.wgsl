//@ import indices, refuse
fn element(i: u32) {
    let place = i / params.seq_step % params.seq_size;
    let length = index_at(i / params.batch_step % params.batch_size);
    var origin = i;
    if (length > params.seq_size) {
        refuse();
    } else if (place < length) {
        // Element `i` holds `place`, which becomes `length - 1 - place`.
        origin = i - place * params.seq_step + (length - 1u - place) * params.seq_step;
    }
    y[i] = x[origin];
}
