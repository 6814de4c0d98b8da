var<workgroup> lanes: array<Terms, WORKGROUP>;

fn sum_of_two(a: Terms, b: Terms) -> Terms {
    return Terms(a.first + b.first, a.second + b.second); //@ if two
    return Terms(a.first + b.first); //@ if !two
}

// The sum of what the threads of one channel have, for the first thread of each.
fn sum(own: Terms, lane: u32) -> Terms {
    lanes[lane] = own;
    workgroupBarrier();
    for (var step = SLICES / 2u; step > 0u; step >>= 1u) {
        if (lane / ACROSS < step) {
            lanes[lane] = sum_of_two(lanes[lane], lanes[lane + step * ACROSS]);
        }
        workgroupBarrier();
    }
    return lanes[lane];
}
