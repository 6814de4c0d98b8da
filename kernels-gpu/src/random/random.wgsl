//@ import math
// Random numbers of Philox 4x32 with ten rounds: each thread makes four, of a part of the sequence that is its own.

// The counter so many steps further on. The carry out of the steps' higher half is lost, as on the host.
fn after(start: vec4<u32>, low: u32, high: u32) -> vec4<u32> {
    var counter = start;
    counter.x += low;
    let more = high + select(0u, 1u, counter.x < low);
    counter.y += more;
    if (counter.y < more) {
        counter.z += 1u;
        counter.w += select(0u, 1u, counter.z == 0u);
    }
    return counter;
}

fn bits_of(counter: vec4<u32>) -> vec4<u32> {
    var block = counter;
    var key = vec2<u32>(params.key_0, params.key_1);
    for (var round = 0u; round < 10u; round++) {
        let even = wide_product(block.x, 0xd2511f53u);
        let odd = wide_product(block.z, 0xcd9e8d57u);
        block = vec4<u32>(odd.x ^ block.y ^ key.x, odd.y, even.x ^ block.w ^ key.y, even.y);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return block;
}

fn uniform_of(bits: u32) -> f32 {
    return bitcast<f32>((127u << 23u) | (bits & 0x7fffffu)) - 1.0;
}

// Two normal numbers, by Box and Muller.
fn normal_of(first: u32, second: u32) -> vec2<f32> {
    let radius = sqrt(-2.0 * own_log(max(uniform_of(first), 1e-7)));
    // Twice pi times a number, rounded once: what twice pi loses as a float is added.
    let turn = uniform_of(second);
    let angle = fma(turn, 6.2831855, turn * -1.7484555e-7);
    return vec2<f32>(own_sin(angle), own_cos(angle)) * radius;
}

//@ if float
fn numbers(counter: vec4<u32>) -> vec4<f32> {
//@ if uniform
//@ if f32
    let bits = bits_of(counter);
    return vec4<f32>(uniform_of(bits.x), uniform_of(bits.y), uniform_of(bits.z), uniform_of(bits.w));
//@ else
    return vec4<f32>(bits_of(counter) & vec4<u32>(1023u)) / 1024.0;
//@ end
//@ end
//@ if normal
    let bits = bits_of(counter);
    return vec4<f32>(normal_of(bits.x, bits.y), normal_of(bits.z, bits.w));
//@ end
//@ if truncated
    var found = vec4<f32>();
    var count = 0u;
    // The numbers that a thread may reserve for four are 256 times as many: never are they all too far out.
    for (var step = 0u; step < 256u && count < 4u; step++) {
        let bits = bits_of(after(counter, step, 0u));
        let pairs = vec4<f32>(normal_of(bits.x, bits.y), normal_of(bits.z, bits.w));
        for (var k = 0u; k < 4u; k++) {
            if (abs(pairs[k]) < 2.0 && count < 4u) {
                found[count] = pairs[k];
                count++;
            }
        }
    }
    return found;
//@ end
}
//@ else
fn numbers(counter: vec4<u32>) -> vec4<u32> {
//@ if full
    return bits_of(counter);
//@ else
    return vec4<u32>(params.low) + bits_of(counter) % vec4<u32>(params.range);
//@ end
}
//@ end

fn element(group: u32) {
    let start = vec4<u32>(params.counter_0, params.counter_1, params.counter_2, params.counter_3);
//@ if truncated
    let counter = after(start, group << 8u, group >> 24u);
//@ else
    let counter = after(start, group, 0u);
//@ end
    let drawn = numbers(counter);
    for (var k = 0u; k < 4u; k++) {
        let place = group * 4u + k;
        if (place >= params.before && place - params.before < params.length) {
            result[place - params.before] = T(drawn[k]);
        }
    }
}
