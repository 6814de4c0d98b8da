// Sums over the elements of each channel, of one part of them: a workgroup takes ACROSS shares of neighbouring channels,
// each of them by SLICES threads. What is added is what `terms` finds at an element.
const SLICES: u32 = WORKGROUP / ACROSS;

fn row(r: u32, lane: u32) {
    let channels = params.channels / WIDTH;
    let tiles = (channels + ACROSS - 1u) / ACROSS;
    let channel = r % tiles * ACROSS + lane % ACROSS;
    let part = r / tiles;
    let begin = part * params.chunk;
    let end = min(begin + params.chunk, params.count_of_channel);
    var own = Terms();
    if (channel < channels) {
        for (var place = begin + lane / ACROSS; place < end; place += SLICES) {
            let at = (place / params.inner * channels + channel) * params.inner + place % params.inner;
            own = sum_of_two(own, terms(at, channel));
        }
    }
    let sum = sum(own, lane);
    if (lane < ACROSS && channel < channels) {
//@ if two
        scratch[part * 2u * channels + channel] = sum.first;
        scratch[(part * 2u + 1u) * channels + channel] = sum.second;
//@ else
        scratch[part * channels + channel] = sum.first;
//@ end
    }
}
