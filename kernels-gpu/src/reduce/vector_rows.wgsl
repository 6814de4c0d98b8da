    // The places of rows are counted in vectors, their elements one by one.
    for (var i = start / 4u + lane; i < end / 4u; i += WORKGROUP) {
        let v = vec4<X>(x[base + i]);
        acc = merge(acc, merge(merge(lift(v.x), lift(v.y)), merge(lift(v.z), lift(v.w))));
    }
    if (lane < (end & 3u)) {
        let v = vec4<X>(x[base + end / 4u]);
        acc = merge(acc, lift(v[lane]));
    }
