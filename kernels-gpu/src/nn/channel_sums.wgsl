// Sums over the elements of each channel, of one part of them: a workgroup takes ACROSS shares of neighbouring channels,
// each of them by SLICES threads. What is added is what `terms` finds at an element.
const SLICES: u32 = WORKGROUP / ACROSS;
var<workgroup> firsts: array<S, WORKGROUP>;
#if two
var<workgroup> seconds: array<S, WORKGROUP>;
#end

fn row(r: u32, lane: u32) {
    let channels = params.channels / WIDTH;
    let tiles = (channels + ACROSS - 1u) / ACROSS;
    let channel = r % tiles * ACROSS + lane % ACROSS;
    let part = r / tiles;
    let begin = part * params.chunk;
    let end = min(begin + params.chunk, params.count_of_channel);
    var sum = Terms();
    if (channel < channels) {
        for (var place = begin + lane / ACROSS; place < end; place += SLICES) {
            let at = (place / params.inner * channels + channel) * params.inner + place % params.inner;
            let more = terms(at, channel);
            sum.first += more.first;
#if two
            sum.second += more.second;
#end
        }
    }
    firsts[lane] = sum.first;
#if two
    seconds[lane] = sum.second;
#end
    workgroupBarrier();
    for (var step = SLICES / 2u; step > 0u; step >>= 1u) {
        if (lane / ACROSS < step) {
            firsts[lane] += firsts[lane + step * ACROSS];
#if two
            seconds[lane] += seconds[lane + step * ACROSS];
#end
        }
        workgroupBarrier();
    }
    if (lane < ACROSS && channel < channels) {
#if two
        scratch[part * 2u * channels + channel] = firsts[lane];
        scratch[(part * 2u + 1u) * channels + channel] = seconds[lane];
#else
        scratch[part * channels + channel] = firsts[lane];
#end
    }
}
