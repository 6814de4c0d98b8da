//! What the macros refuse, and what the errors say. One folder a topic.
//!
//! `TRYBUILD=overwrite cargo test -p kernlink-framework --test compile_fail` writes the expected errors anew: read them
//! as a user would before committing them.

#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
