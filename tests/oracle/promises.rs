//! The linked ops keep the promises of the last release: `tests/release/ops-0.1.0.pb`, written by
//! `kernlink ops --format pb` of that release. What the command says of a broken promise: `tests/cli/promises.rs`.

use kernlink::op::broken_promises;
use kernlink::proto::op_list_from_bytes;

const RELEASE: &[u8] = include_bytes!("../release/ops-0.1.0.pb");

#[test]
fn the_last_release_is_kept() {
    let registry = kernlink::registry().unwrap();
    let promised = op_list_from_bytes(RELEASE).unwrap();
    assert!(!promised.is_empty());
    let broken = broken_promises(&promised, |name| registry.op(name).ok().map(|entry| entry.def));
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
