// An update merged into element `at` of the atomic words `y`, which other threads update, too: by the built-in function
// where there is one for the type; a sum of 64 bits as two of 32, where what is carried over is added when it arises; what
// is left is exchanged until nobody came in between.
//@ import math, refuse

fn merged(old: T, update: T) -> T { return old + update; } //@ if add
fn merged(old: T, update: T) -> T { return old - update; } //@ if sub
fn merged(old: T, update: T) -> T { return old * update; } //@ if mul
fn merged(old: T, update: T) -> T { return old / update; } //@ if div
fn merged(old: T, update: T) -> T { return select(old, update, update > old || stays(update)); } //@ if max
fn merged(old: T, update: T) -> T { return select(old, update, update < old || stays(update)); } //@ if min

// Whether the number is NaN and is to stay. Else the greater and the lesser of NaN and a number are the number, if that comes
// first.
fn stays(update: T) -> bool {
    return is_nan(f32(update)); //@ if spreads_nan
    return false; //@ if !spreads_nan
}

//@ if atomic
fn merge(at: u32, update: T) {
    atomicAdd(&y[at], update); //@ if add
    atomicSub(&y[at], update); //@ if sub
    atomicMax(&y[at], update); //@ if max
    atomicMin(&y[at], update); //@ if min
    atomicOr(&y[at], update); //@ if bool
}
//@ end

//@ if i64
fn merge(at: u32, update: T) {
    let term = vec2<u32>(0u - update.x, ~update.y + select(0u, 1u, update.x == 0u)); //@ if sub
    let term = update; //@ if !sub
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
    let place = at / 2u; //@ if f16
    let place = at; //@ if !f16
    var current = atomicLoad(&y[place]);
    loop {
        let exchanged = atomicCompareExchangeWeak(&y[place], current, merged(current, update)); //@ if int
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
