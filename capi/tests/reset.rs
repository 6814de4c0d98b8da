//! `TF_Reset`, which closes all sessions of the process: no other test is in this one.

mod common;
#[path = "common/def.rs"]
mod def;

use std::ffi::{CStr, c_int};
use std::ptr;

use common::{CANCELLED, Failure, INVALID_ARGUMENT, NOT_FOUND, checked};
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::{GraphDef, Message};
use kernlink::tensor::Tensor;
use kernlink_capi::abi::TF_DeprecatedSession;
use kernlink_capi::session::*;

use def::node_def;

fn run(session: *mut TF_DeprecatedSession) -> Result<(), Failure> {
    let target = c"one".as_ptr();
    // SAFETY: the session is alive, and there are no arrays but that of the target.
    checked(|status| unsafe {
        let (names, none) = (ptr::null(), ptr::null());
        TF_Run(session, ptr::null(), names, none, 0, names, ptr::null_mut(), 0, &target, 1, ptr::null_mut(), status);
    })
}

#[test]
fn all_sessions_close() {
    let one = [("dtype", AttrValue::Type(DataType::Float)), ("value", AttrValue::Tensor(Tensor::scalar(1.0f32)))];
    let def = GraphDef { node: vec![node_def("one", "Const", &[], &one)], ..GraphDef::default() }.encode_to_vec();
    // SAFETY: all pointers are alive, and what is made is freed at the end.
    unsafe {
        let options = TF_NewSessionOptions();
        let make = || {
            let session = checked(|status| TF_NewDeprecatedSession(options, status)).unwrap();
            checked(|status| TF_ExtendGraph(session, def.as_ptr().cast(), def.len(), status)).unwrap();
            run(session).unwrap();
            session
        };
        let reset = |containers: &[&CStr]| {
            let names: Vec<_> = containers.iter().map(|name| name.as_ptr()).collect();
            checked(|status| TF_Reset(options, names.as_ptr(), names.len() as c_int, status))
        };
        TF_SetTarget(options, c"foo".as_ptr());
        assert_eq!(reset(&[]).unwrap_err().0, NOT_FOUND);
        // Null is no process either, so that it is this one.
        TF_SetTarget(options, ptr::null());
        reset(&[]).unwrap();
        TF_SetTarget(options, c"\xff".as_ptr());
        assert_eq!(reset(&[]).unwrap_err().0, NOT_FOUND);
        TF_SetTarget(options, c"".as_ptr());
        for containers in [&[][..], &[c"one", c"another"][..]] {
            let sessions = [make(), make()];
            reset(containers).unwrap();
            for session in sessions {
                assert_eq!(run(session), Err((CANCELLED, "Session has been closed.".to_owned())));
                checked(|status| TF_DeleteDeprecatedSession(session, status)).unwrap();
            }
        }
        let refused = checked(|status| TF_Reset(options, ptr::null(), 1, status));
        assert_eq!(refused.unwrap_err().0, INVALID_ARGUMENT);
        run(make()).unwrap();
        TF_DeleteSessionOptions(options);
    }
}
