fn entry_of(at: u32, place: u32) -> E {
    //@ if float
    let bits = bitcast<u32>(f32(x[at]));
    let magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return E(0xffffffffu, place);
    }
    if (bits == magnitude || magnitude == 0u) {
        return E(0x7fffffffu - magnitude, place);
    }
    return E(bits, place);
    //@ end
    return E(bitcast<u32>(x[at]) ^ 0x7fffffffu, place); //@ if i32
    return E(~x[at], place); //@ if u32
    return E(x[at].y ^ 0x7fffffffu, ~x[at].x, place, 0u); //@ if i64
}

fn element(i: u32) {
    let place = i & (params.padded - 1u);
    if (place < params.columns) {
        entries[i] = entry_of((params.row + i / params.padded) * params.columns + place, place);
    } else {
        entries[i] = E(0xffffffffu, 0xffffffffu, place, 0u); //@ if i64
        entries[i] = E(0xffffffffu, place); //@ if !i64
    }
}
