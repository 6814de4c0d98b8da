fn NAME(own: TYPE, lane: u32) -> TYPE {
    // All threads are here, and nobody reads what the memory had before.
    workgroupBarrier();
    var all = own;
    var parts = WORKGROUP;
    // If subgroups have room for no more threads than there are, no thread of any is missing.
    if (subgroup.size * subgroup.count == WORKGROUP) {
        for (var distance = 1u; distance < subgroup.size; distance <<= 1u) {
            let other = OTHER;
            all = NAME_of_two(all, other);
        }
        if (subgroup.member == 0u) {
            lanes[subgroup.number] = all;
        }
        parts = subgroup.count;
    } else {
        lanes[lane] = all;
    }
    workgroupBarrier();
    all = lanes[0];
    for (var part = 1u; part < parts; part++) {
        all = NAME_of_two(all, lanes[part]);
    }
    return all;
}
