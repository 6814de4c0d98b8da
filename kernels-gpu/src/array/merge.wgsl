// An update merged into element `at` of the atomic words `y`, which other threads update, too: by the built-in function
// where there is one for the type; a sum of 64 bits as two of 32, where what is carried over is added when it arises; what
// is left is exchanged until nobody came in between.
//@ import math, refuse

//@ if add
fn merged(old: T, update: T) -> T { return old + update; }
//@ end
//@ if sub
fn merged(old: T, update: T) -> T { return old - update; }
//@ end
//@ if mul
fn merged(old: T, update: T) -> T { return old * update; }
//@ end
//@ if div
fn merged(old: T, update: T) -> T { return old / update; }
//@ end
//@ if max
fn merged(old: T, update: T) -> T { return select(old, update, update > old || stays(update)); }
//@ end
//@ if min
fn merged(old: T, update: T) -> T { return select(old, update, update < old || stays(update)); }
//@ end

// Whether the number is NaN and is to stay. Else the greater and the lesser of NaN and a number are the number, if that comes
// first.
fn stays(update: T) -> bool {
    //@ if spreads_nan
    return is_nan(f32(update));
    //@ else
    return false;
    //@ end
}

//@ if atomic
fn merge(at: u32, update: T) {
    //@ if add
    atomicAdd(&y[at], update);
    //@ end
    //@ if sub
    atomicSub(&y[at], update);
    //@ end
    //@ if max
    atomicMax(&y[at], update);
    //@ end
    //@ if min
    atomicMin(&y[at], update);
    //@ end
    //@ if bool
    atomicOr(&y[at], update);
    //@ end
}
//@ end

//@ if i64
fn merge(at: u32, update: T) {
    //@ if sub
    let term = vec2<u32>(0u - update.x, ~update.y + select(0u, 1u, update.x == 0u));
    //@ else
    let term = update;
    //@ end
    let low = atomicAdd(&y[2u * at], term.x);
    atomicAdd(&y[2u * at + 1u], term.y + select(0u, 1u, low + term.x < low));
}
//@ end

//@ if exchanged
fn merge(at: u32, update: T) {
    //@ if nonzero
    if (update == T(0)) {
        refuse();
        return;
    }
    //@ end
    //@ if f16
    let place = at / 2u;
    //@ else
    let place = at;
    //@ end
    var current = atomicLoad(&y[place]);
    loop {
        //@ if int
        let exchanged = atomicCompareExchangeWeak(&y[place], current, merged(current, update));
        //@ end
        //@ if f32
        let wanted = bitcast<u32>(merged(bitcast<f32>(current), update));
        let exchanged = atomicCompareExchangeWeak(&y[place], current, wanted);
        //@ end
        //@ if f16
        let exchanged = atomicCompareExchangeWeak(&y[place], current, half(current, at % 2u == 1u, update));
        //@ end
        if (exchanged.exchanged) {
            break;
        }
        current = exchanged.old_value;
    }
}
//@ end

// Two halves, one of which an update is merged into.
fn half(both: u32, is_high: bool, update: f16) -> u32 {
    let halves = vec2<f16>(unpack2x16float(both));
    let value = merged(select(halves.x, halves.y, is_high), update);
    let bits = pack2x16float(vec2<f32>(f32(value), 0.0));
    return select((both & 0xffff0000u) | bits, (both & 0xffffu) | (bits << 16u), is_high);
}
