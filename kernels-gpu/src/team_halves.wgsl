fn NAME(own: TYPE, lane: u32) -> TYPE {
    // Nobody reads what the memory had before.
    workgroupBarrier();
    lanes[lane] = own;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
        if (lane < half) {
            lanes[lane] = NAME_of_two(lanes[lane], lanes[lane + half]);
        }
        workgroupBarrier();
    }
    return lanes[0];
}
