//! What stays of a long tape; alone in its program, as other tests take memory meanwhile.

use kernlink::gradient::TracedGradient;
use kernlink::prelude::*;

/// A long tape is gone back over without recursion, and leaves no memory behind.
#[test]
fn long_tapes_leave_nothing_behind() {
    const OPS: usize = 30_000;
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let resident = || -> Option<usize> {
        let fields = std::fs::read_to_string("/proc/self/statm").ok()?;
        fields.split(' ').nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
    };
    let round = || {
        let mut tape = GradientTape::new(&context);
        let x = tape.watch(&[1.0f32; 64][..]).unwrap();
        let mut y = x.clone();
        for _ in 0..OPS {
            y = ops::mul(&mut tape, &y, 1.0f32).build().unwrap();
        }
        assert_eq!(tape.len(), OPS);
        let found = tape.gradient(&y, [&x]).unwrap().remove(0).and_then(TracedGradient::dense).unwrap();
        assert_eq!(found.as_slice::<f32>().unwrap(), [1.0; 64]);
    };
    // Buffers that are kept for the next op are as many after some rounds as they will be.
    (0..3).for_each(|_| round());
    let before = resident();
    round();
    round();
    if let (Some(before), Some(after)) = (before, resident()) {
        // Each round keeps 8 MB of tensors, and records, while it lasts.
        assert!(after < before + (4 << 20), "{before} bytes were resident, then {after}");
    }
}
