//! Notifies and events of two processes.

use std::time::Duration;

use racl::{ErrorKind, IpcEventHandle};

use crate::common::{acl, assert_says, device, mock};
use crate::watchdog::Watchdog;
use crate::{Other, hear, is_other, tell};

#[test]
fn a_notify_of_one_process_lets_work_of_the_other_go_on() {
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    if is_other() {
        tell(&acl().process_id().unwrap().to_string());
        let notify = context.import_notify(&hear().parse().unwrap()).unwrap();
        let refused = context.import_notify(&hear().parse().unwrap()).unwrap_err();
        assert_says(&refused, ErrorKind::NotSupported, &["aclrtNotifyImportByKey"]);
        assert_eq!(hear(), "record");
        notify.record(&stream).unwrap();
        stream.synchronize().unwrap();
        tell("done");
        return;
    }
    let mut other = Other::start("signals::a_notify_of_one_process_lets_work_of_the_other_go_on");
    let (notify, barred) = (context.notify().unwrap(), context.notify().unwrap());
    let process = other.hear().parse().unwrap();
    other.tell(&notify.export(&[process]).unwrap().to_string());
    other.tell(&barred.export(&[acl().process_id().unwrap()]).unwrap().to_string());
    stream.wait_notify(&notify, None).unwrap();
    assert!(!stream.is_complete().unwrap());
    other.tell("record");
    stream.synchronize().unwrap();
    assert_eq!(other.hear(), "done");
    other.end();
    notify.close().unwrap();
}

fn text_of(handle: IpcEventHandle) -> String {
    handle.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn handle_of(text: &str) -> IpcEventHandle {
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    IpcEventHandle::from_bytes(std::array::from_fn(byte))
}

#[test]
fn an_event_that_one_process_records_is_waited_for_by_the_other() {
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    if is_other() {
        let event = context.open_ipc_event(handle_of(&hear())).unwrap();
        assert_eq!(hear(), "recorded");
        assert!(!event.is_complete().unwrap());
        let error = event.synchronize_timeout(Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        stream.wait_ipc(&event).unwrap();
        assert!(!stream.is_complete().unwrap());
        tell("waits");
        stream.synchronize().unwrap();
        assert!(event.is_complete().unwrap());
        event.synchronize().unwrap();
        // In the other direction.
        event.record(&stream).unwrap();
        stream.synchronize().unwrap();
        tell("recorded");
        return;
    }
    let mut other = Other::start("signals::an_event_that_one_process_records_is_waited_for_by_the_other");
    let event = context.ipc_event().unwrap();
    other.tell(&text_of(event.handle().unwrap()));
    let gate = context.notify().unwrap();
    stream.wait_notify(&gate, None).unwrap();
    event.record(&stream).unwrap();
    other.tell("recorded");
    assert_eq!(other.hear(), "waits");
    gate.record(&device.stream().unwrap()).unwrap();
    assert_eq!(other.hear(), "recorded");
    event.synchronize().unwrap();
    other.end();
    event.close().unwrap();
}

#[test]
fn signals_of_a_process_that_is_gone_are_refused() {
    crate::common::needs_function("aclrtCreateNotify");
    let (_alone, _watched) = (mock::exclusive(), Watchdog::new());
    let device = device();
    let context = device.context();
    if is_other() {
        let (event, notify) = (context.ipc_event().unwrap(), context.notify().unwrap());
        tell(&text_of(event.handle().unwrap()));
        tell(&notify.export(&[]).unwrap().to_string());
        hear();
        unreachable!("it is killed");
    }
    let mut other = Other::start("signals::signals_of_a_process_that_is_gone_are_refused");
    let (event, notify) = (handle_of(&other.hear()), other.hear().parse().unwrap());
    other.kill();
    let error = context.open_ipc_event(event).unwrap_err();
    assert_says(&error, ErrorKind::Driver, &["aclrtIpcOpenEventHandle"]);
    let error = context.import_notify(&notify).unwrap_err();
    assert_says(&error, ErrorKind::Driver, &["aclrtNotifyImportByKey"]);
}
