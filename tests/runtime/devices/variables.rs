//! Where the values of variables are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::prelude::*;
use kernlink::resource::Variable;

use super::device::TestDevice;
use super::graphs::{LIBRARY, graph_with, on, on_device_alone, one, scalars};

#[test]
fn variables_live_in_the_devices_memory() {
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        set = VarIsInitializedOp(v)
        shape = VariableShape(v)
        host = OnHost(read)
        call = StatefulPartitionedCall(v, x) Tin=[resource,float] Tout=[float] f=&Plus";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        assert!(!session.run(&[], &["set"], &[]).unwrap()[0].to_scalar::<bool>().unwrap());
        let error = session.run(&[], &["sum"], &[]).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        session.run(&[one()], &[], &["assign"]).unwrap();
        assert_eq!(device.moved(), (1, 0));
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0]);
        assert_eq!(device.moved(), (0, 1));
        assert_eq!(scalars(&session.run(&[], &["host"], &[]).unwrap()), [1.0]);
        assert!(session.run(&[], &["set"], &[]).unwrap()[0].to_scalar::<bool>().unwrap());
        assert_eq!(session.run(&[], &["shape"], &[]).unwrap()[0].num_elements(), 0);
        assert_eq!(device.moved(), (0, 1));
        // The function finds it where its handle says.
        assert_eq!(scalars(&session.run(&[one()], &["call"], &[]).unwrap()), [2.0]);
        assert_eq!(device.moved(), (1, 1));
    });
}

#[test]
fn what_the_host_gave_is_brought_once_until_it_changes() {
    let text = "
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        set = VarIsInitializedOp(v)
        shape = VariableShape(v)";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        let variable = Arc::new(Variable::new(DataType::Float));
        session.resources().create("", "v", variable.clone()).unwrap();
        for value in [1f32, 5.0] {
            variable.assign(Tensor::scalar(value)).unwrap();
            for uploads in [1, 0, 0] {
                assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0 * value]);
                assert_eq!(device.moved(), (uploads, 1));
                session.run(&[], &["set", "shape"], &[]).unwrap();
            }
            // It is the host's all the same.
            assert_eq!(variable.read().unwrap().to_scalar::<f32>().unwrap(), value);
        }
        if let Some(value) = variable.lock().as_mut() {
            value.as_mut_slice::<f32>().unwrap()[0] = 7.0;
        }
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [14.0]);
        assert_eq!(device.moved(), (1, 1));
        // Another device does not take it for its own.
        let other = TestDevice::new(1, &[]);
        let there = variable.read_on(&*other).unwrap().unwrap();
        assert_eq!(there.device_memory().unwrap().device(), "/device:GPU:1");
    });
}

#[test]
fn what_changes_a_variable_on_the_host_alone_finds_it_there() {
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        more = StatefulPartitionedCall(v, x) Tin=[resource,float] Tout=[float] f=&More
        again = StatefulPartitionedCall(v, more) Tin=[resource,float] Tout=[float] f=&More";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        session.run(&[one()], &[], &["assign"]).unwrap();
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0]);
        for value in [2.0, 3.0] {
            assert_eq!(scalars(&session.run(&[one()], &["more"], &[]).unwrap()), [value]);
            assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [2.0 * value]);
        }
        assert_eq!(scalars(&session.run(&[one()], &["again"], &[]).unwrap()), [8.0]);
        device.moved();
        assert_eq!(scalars(&session.run(&[], &["sum"], &[]).unwrap()), [16.0]);
        assert_eq!(device.moved(), (1, 1));
    });
}

#[test]
fn what_takes_a_variable_home_has_its_turn_among_those_who_take_it_away() {
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        more = StatefulPartitionedCall(v, x) Tin=[resource,float] Tout=[float] f=&More
        host = OnHost(x)";
    on(&graph_with(text, LIBRARY), &[], |session, _| {
        session.run(&[one()], &[], &["assign"]).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    session.run(&[one()], &[], &["assign", "host"]).unwrap();
                }
            });
            // What is on the host only has the runs go to the pool, if there is one.
            let adding = || {
                (0..20).try_for_each(|_| {
                    let sum = session.run(&[one()], &["more"], &["host"])?[0].to_scalar::<f32>()?;
                    ensure!(sum >= 1.0, Internal, "{sum}");
                    Ok(())
                })
            };
            let added = [scope.spawn(adding), scope.spawn(adding)].map(|thread| thread.join().unwrap());
            is_over.store(true, Ordering::SeqCst);
            added.into_iter().for_each(|added| added.unwrap());
        });
    });
}

#[test]
fn handles_of_one_variable_stay_together() {
    // One of them is used by what has a kernel on the host only.
    let text = "
        x = Placeholder() dtype=float
        v = VarHandleOp() dtype=float shape=any shared_name='v'
        assign = AssignVariableOp(v, x) dtype=float
        read = ReadVariableOp(v) dtype=float
        sum = AddV2(read, read) T=float
        w = VarHandleOp() dtype=float shape=any shared_name='v'
        i = Const() dtype=int32 values=0
        gather = ResourceGather(w, i) dtype=float Tindices=int32
        call = StatefulPartitionedCall(w, x) Tin=[resource,float] Tout=[float] f=&Plus";
    on(&graph_with(text, LIBRARY), &[], |session, device| {
        let x = Tensor::vector(&[3f32, 4.0]).unwrap();
        session.run(&[("x", x)], &[], &["assign"]).unwrap();
        assert_eq!(device.moved(), (0, 0));
        assert_eq!(scalars(&session.run(&[], &["gather"], &[]).unwrap()), [3.0]);
        assert_eq!(session.run(&[], &["sum"], &[]).unwrap()[0].as_slice::<f32>().unwrap(), [6.0, 8.0]);
        assert_eq!(session.run(&[one()], &["call"], &[]).unwrap()[0].as_slice::<f32>().unwrap(), [4.0, 5.0]);
    });
}

#[test]
fn references_of_the_host_are_read_before_they_go() {
    let text = "
        x = Placeholder() dtype=float
        v = VariableV2() dtype=float shape=any @/cpu:0
        assign = Assign(v, x) T=float
        y = AddV2(v, v) T=float
        after = AddV2(assign, x) T=float
        is = IsVariableInitialized(v) dtype=float";
    on_device_alone(text, |session, device| {
        let error = session.run(&[], &["y"], &[]).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        assert_eq!(scalars(&session.run(&[one()], &["after"], &[]).unwrap()), [2.0]);
        device.moved();
        assert_eq!(scalars(&session.run(&[], &["y"], &[]).unwrap()), [2.0]);
        assert_eq!(device.moved(), (1, 1));
        assert!(session.run(&[], &["is"], &[]).unwrap()[0].to_scalar::<bool>().unwrap());
    });
}
