// A thread for each output, or for four neighbours. `Y` is what the output holds.
//@ import reducers

//@ if vectors
alias V = vec4<A>;

fn folded(acc: V, place: u32) -> V {
    let v = vec4<X>(x[place]);
    return V(merge(acc.x, lift(v.x)), merge(acc.y, lift(v.y)), merge(acc.z, lift(v.z)), merge(acc.w, lift(v.w)));
}

fn finished(acc: V) -> vec4<Y> {
    let n = params.total;
    return vec4<Y>(vec4<R>(finish(acc.x, n), finish(acc.y, n), finish(acc.z, n), finish(acc.w, n)));
}
//@ else
alias V = A;

fn folded(acc: V, place: u32) -> V {
    return merge(acc, lift(X(x[place])));
}

fn finished(acc: V) -> Y {
    return Y(finish(acc, params.total));
}
//@ end

fn element(i: u32) {
    let part = i / params.outputs;
    let base = kept_at(i - part * params.outputs).x;
    let start = part * params.chunk;
    let end = min(start + params.chunk, params.folded);
    var acc = V(identity());
    for (var k = start; k < end; k++) {
        acc = folded(acc, base + folded_at(k).x);
    }
    y[i] = finished(acc);
}
