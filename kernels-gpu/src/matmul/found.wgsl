// Four neighbours of a factor along the inner index, each where `find_a` says: 0 where that is NOWHERE.
//@ if vectors
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside && k < end) {
        let at = find_a(place, k);
        if (at != NOWHERE) {
            v = data_a[at >> 2u];
        }
    }
    return v;
}
//@ else
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside) {
        for (var i = 0u; i < 4u; i++) {
            if (k + i < end) {
                let at = find_a(place, k + i);
                if (at != NOWHERE) {
                    v[i] = data_a[at];
                }
            }
        }
    }
    return v;
}
//@ end
