//! Marks for tools, by a library that may be there.

use std::fs;

use racl::CaptureMode;
use racl::profiling::{HostRange, ProfileOptions};
use racl::sys::{Library, Table};

use crate::build::libraries;
use crate::{common, load};

#[test]
fn without_the_library_marks_are_those_of_profiles() {
    if Table::load().is_ok() {
        return common::skipped("an installed toolkit has the library that shall be missing");
    }
    let folder = tempfile::tempdir().unwrap();
    let acl = load(&libraries().without_marks).unwrap();
    let stream = acl.device(0).unwrap().stream().unwrap();
    let profile = acl.profile(&ProfileOptions::new(folder.path())).unwrap();
    assert!(acl.profile_mark("host").unwrap() && stream.mark("stream").unwrap());
    assert!(acl.profile_range("range").and_then(HostRange::end).unwrap());
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.marked("layer", |_| Ok(()))).unwrap();
    graph.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    profile.stop().unwrap();
    assert!(!acl.table().is_found(Library::Marks));
    let session = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let trace = fs::read_to_string(session.join("trace.json")).unwrap();
    for (name, times) in [("host", 1), ("stream", 2), ("range", 1), ("layer begin", 2), ("layer end", 2)] {
        assert_eq!(trace.matches(&format!("\"name\": \"{name}\"")).count(), times, "{name}: {trace}");
    }
    assert!(!trace.contains("racl: "));
}

/// A library that writes down what it is told, and has no domain to give when it is first asked.
fn listener(said: &str) -> String {
    format!(
        r#"
#include <stdint.h>
#include <stdio.h>
static void say(const char *what, const char *text, uint64_t number) {{
    FILE *f = fopen("{said}", "a");
    fprintf(f, "%s %s %d\n", what, text, (int)number);
    fclose(f);
}}
static int domain;
void *mstxDomainCreateA(const char *name) {{
    say("domain", name, 0);
    return domain++ == 0 ? NULL : &domain;
}}
void mstxDomainMarkA(void *of, const char *text, void *stream) {{ say("mark", text, stream != NULL && of == &domain); }}
uint64_t mstxDomainRangeStartA(void *of, const char *text, void *stream) {{
    say("start", text, stream != NULL && of == &domain);
    return 7;
}}
void mstxDomainRangeEnd(void *of, uint64_t id) {{ say("end", of == &domain ? "own" : "other", id); }}
"#
    )
}

#[test]
fn a_library_beside_the_runtime_is_told_where_no_profile_records() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("said");
    let code = listener(file.to_str().unwrap());
    let path = libraries().beside(&libraries().without_marks, "marks/libms_tools_ext.so", &code);
    let acl = load(&path).unwrap();
    let stream = acl.device(0).unwrap().stream().unwrap();
    // What a profile did not record, and a tool does not say.
    assert!(!acl.profile_mark("lost").unwrap() && !acl.profile_mark("here").unwrap());
    assert!(acl.table().is_found(Library::Marks));
    assert!(!stream.mark("there").unwrap());
    stream.marked("work", |s| s.mark("inside")).unwrap();
    let range = acl.profile_range("range").unwrap();
    assert!(range.is_recorded() && range.end().unwrap());
    drop(acl.profile_range("dropped").unwrap());
    stream.synchronize().unwrap();
    let said = fs::read_to_string(&file).unwrap();
    let expected = [
        "domain racl 0",
        "domain racl 0",
        "mark here 0",
        "mark there 1",
        "start work 1",
        "mark inside 1",
        "end own 7",
        "start range 0",
        "end own 7",
        "start dropped 0",
        "end own 7",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}
