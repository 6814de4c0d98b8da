//@ import sort_order

fn element(t: u32) {
    let i = t / params.distance * params.distance * 2u + t % params.distance;
    let a = entries[i];
    let b = entries[i + params.distance];
    if (before(b, a) == ((i & (params.padded - 1u) & params.size) == 0u)) {
        entries[i] = b;
        entries[i + params.distance] = a;
    }
}
