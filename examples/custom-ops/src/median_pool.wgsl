// One median a thread: the element of its window than which at most half of the others are less, and at most half
// greater. For small windows to compare each with each is less work than to sort.

fn element(i: u32) {
    let channels = params.images_shape_3;
    let channel = i % channels;
    let column = i / channels % params.medians_shape_2;
    let row = i / channels / params.medians_shape_2 % params.medians_shape_1;
    let image = i / channels / params.medians_shape_2 / params.medians_shape_1;
    let corner = vec2(i32(row * params.stride) - params.top, i32(column * params.stride) - params.left);
    let size = params.ksize * params.ksize;
    let middle = size / 2u;

    var median = T();
    for (var a = 0u; a < size; a++) {
        let candidate = pixel(image, corner, channel, a);
        if (is_nan(candidate)) {
            median = candidate;
            break;
        }
        var less = 0u;
        var equal = 0u;
        for (var b = 0u; b < size; b++) {
            let other = pixel(image, corner, channel, b);
            less += u32(other < candidate);
            equal += u32(other == candidate);
        }
        if (less <= middle && middle < less + equal) {
            median = candidate;
        }
    }
    medians[i] = median;
}

// Element `at` of the window that begins at `corner`, row by row: zero outside of the image.
fn pixel(image: u32, corner: vec2<i32>, channel: u32, at: u32) -> T {
    let y = corner.x + i32(at / params.ksize);
    let x = corner.y + i32(at % params.ksize);
    let height = i32(params.images_shape_1);
    let width = i32(params.images_shape_2);
    if (y < 0 || y >= height || x < 0 || x >= width) {
        return T();
    }
    let first = image * params.images_shape_1 + u32(y);
    return images[(first * params.images_shape_2 + u32(x)) * params.images_shape_3 + channel];
}

// Drivers may take it that no number differs from itself: the bits tell. No integer becomes NaN.
fn is_nan(x: T) -> bool {
    return (bitcast<u32>(f32(x)) & 0x7fffffffu) > 0x7f800000u;
}
