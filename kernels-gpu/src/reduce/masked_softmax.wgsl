// The logits of a row, to their scale, with the mask added.
var<private> logits_start: u32 = 0u;
var<private> mask_start: u32 = 0u;

fn begin(r: u32) {
    logits_start = r * params.classes; //@ if !spread
    //@ if masked
    let place = at(params.first + r);
    logits_start = place.x; //@ if spread
    mask_start = place.mask;
    //@ end
}

fn logit(i: u32) -> f32 {
    let own = x[logits_start + i * params.x_step] * params.scale;
    return own; //@ if !masked
    return own + mask[mask_start + i * params.mask_step]; //@ if masked
}
