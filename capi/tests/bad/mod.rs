//! A program in C that calls every function of the header with each of its handles bad in each way, and with each place
//! of a result and each struct bad.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::support::{Function, functions, structs};

/// The handles that there are, and what makes one.
const HANDLES: &[&str] = &[
    "library",
    "context",
    "stream",
    "event",
    "buffer",
    "host",
    "capture",
    "graph",
    "tensor",
    "builder",
    "plan",
    "executable",
    "bindings",
    "simulation",
    "cache",
    "registry",
    "host_function",
    "foreign",
    "host_outputs",
    "pool",
    "task_group",
    "errors",
];

fn handle(kind: &str) -> Option<&'static str> {
    let name = kind.strip_prefix("const ").unwrap_or(kind).strip_prefix("racl_")?.strip_suffix('*')?;
    HANDLES.iter().copied().find(|handle| *handle == name)
}

/// Structs with a size, and what a good one is.
const STRUCTS: &[(&str, &str)] = &[
    ("racl_stream_options*", "options"),
    ("racl_memory_stats*", "stats"),
    ("racl_tensor_layout*", "layout"),
    ("racl_library_options*", "library_options"),
    ("racl_plan_options*", "plan_options"),
    ("racl_scope_options*", "scope_options"),
    ("racl_prefetch_options*", "prefetch_options"),
    ("racl_host_function_info*", "host_function_info"),
    ("racl_foreign_info*", "foreign_info"),
    ("racl_plan_info*", "plan_info"),
    ("racl_run_options*", "run_options"),
    ("racl_run_counters*", "run_counters"),
    ("racl_error*", "an_error"),
    ("racl_passes*", "passes"),
    ("racl_cache_options*", "cache_options"),
    ("racl_cache_stats*", "cache_stats"),
    ("racl_compile*", "compilation"),
    ("racl_mock_live*", "live"),
    ("racl_mock_launch*", "mock_launch"),
    ("racl_mock_call*", "mock_call"),
    ("racl_device_info*", "device_info"),
];

fn sized(kind: &str) -> Option<&'static str> {
    let kind = kind.strip_prefix("const ").unwrap_or(kind);
    STRUCTS.iter().find(|(known, _)| *known == kind).map(|(_, good)| *good)
}

/// Whether `bytes` is the size of a version of it, in C.
fn is_a_version(kind: &str, good: &str) -> String {
    let now = format!("bytes_of == sizeof {good}");
    match kind.strip_prefix("const ").unwrap_or(kind) {
        "racl_error*" => now + " || bytes_of == offsetof(racl_error, details)",
        "racl_run_options*" => now + " || bytes_of == offsetof(racl_run_options, pool)",
        "racl_passes*" => now + " || bytes_of == offsetof(racl_passes, soc)",
        _ => now,
    }
}

/// A place that may be NULL.
fn may_be_null(function: &str, name: &str) -> bool {
    // The size of what has no end of its own.
    let of_bytes = ["racl_plan_store", "racl_simulation_read", "racl_executable_read_found"];
    !(name == "needed" && of_bytes.contains(&function))
        && ["needed", "freed", "fetched", "options", "more"].contains(&name)
}

/// A place of one function that may be NULL, of a name that must not be so in others.
fn may_be_null_in(function: &str, kind: &str, name: &str) -> bool {
    let known = [
        ("racl_plan_load", "registry"),
        ("racl_executable_output_shape", "dtype"),
        ("racl_simulation_output_shape", "dtype"),
        ("racl_host_outputs_shape", "dtype"),
        ("racl_plan_store", "bytes"),
        ("racl_cache_status", "why"),
        ("racl_log_set", "user"),
        ("racl_builder_if", "otherwise"),
    ];
    known.contains(&(function, name))
        // Lists of 0 elements, and places of results of which nothing is wanted.
        || ["user", "shape", "why", "text", "results"].contains(&name)
        // Data of 0 bytes.
        || ["data", "bytes"].contains(&name) && ["void*", "const void*"].contains(&kind)
}

/// What a good call passes.
fn good(function: &Function<'_>, kind: &str, name: &str) -> String {
    if let Some(handle) = handle(kind) {
        return format!("good_{handle}");
    }
    if let Some(good) = sized(kind) {
        return format!("&{good}");
    }
    match kind {
        "const char*" if function.name.starts_with("racl_library_open") => "\"mock\"".to_owned(),
        "const char*" => "\"aclnnAbs\"".to_owned(),
        "char*" => "text".to_owned(),
        "const void*" | "void*" => "bytes".to_owned(),
        "const racl_arg*" => "args".to_owned(),
        "size_t*" if name == "shape" => "sizes".to_owned(),
        "racl_found*" => "&found".to_owned(),
        _ if kind.ends_with("_callback") => "NULL".to_owned(),
        _ if kind.starts_with("const ") => "NULL".to_owned(),
        _ if kind.ends_with('*') => format!("(void *)&place_{name}[0]"),
        // A text has room for its end.
        _ if name == "size" && function.parameters.iter().any(|(kind, _)| kind == "char*") => "1".to_owned(),
        _ if name.ends_with("count") || name == "rank" || name == "size" => "0".to_owned(),
        _ => "1".to_owned(),
    }
}

/// The place of a result, in C, and its bytes.
fn place(function: &Function<'_>, kind: &str, name: &str) -> Option<(String, usize)> {
    let good = good(function, kind, name);
    let is_place = good.starts_with("(void *)&place_") || ["sizes", "text", "&found"].contains(&good.as_str());
    // Of a list of no elements.
    let is_empty = name == "results";
    let size = match kind {
        "char*" => 1,
        "int32_t*" | "uint32_t*" => 4,
        "racl_found*" => 16,
        _ => 8,
    };
    (is_place && !is_empty).then_some((good, size))
}

/// Checks that a place that is wrong in itself is refused, and that all places are cleared whatever else is wrong.
fn places(text: &mut String, function: &Function<'_>) -> usize {
    let mut checks = 0;
    let places: Vec<_> = function.parameters.iter().filter_map(|(kind, name)| place(function, kind, name)).collect();
    let mut cleared = |at: usize, bad: &str, status: &str| {
        let arguments = function.parameters.iter().enumerate();
        let arguments = arguments.map(
            |(index, (kind, name))| {
                if index == at { bad.to_owned() } else { good(function, kind, name) }
            },
        );
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let (kind, name) = &function.parameters[at];
        let others = places.iter().filter(|(other, _)| *other != good(function, kind, name));
        for (place, size) in others.clone() {
            writeln!(text, "    soil({place}, {size});").unwrap();
        }
        writeln!(text, "    CHECK({}({arguments}) == {status});", function.name).unwrap();
        for (place, size) in others.clone() {
            writeln!(text, "    CHECK(is_zero({place}, {size}));").unwrap();
        }
        checks += 1 + others.count();
    };
    let needed = |kind: &str, name: &str| handle(kind).is_some() && !may_be_null_in(function.name, kind, name);
    if let Some(at) = function.parameters.iter().position(|(kind, name)| needed(kind, name))
        && !function.name.ends_with("_free")
    {
        cleared(at, "NULL", "RACL_NULL_POINTER");
    }
    for (at, (kind, name)) in function.parameters.iter().enumerate() {
        let Some((good, size)) = place(function, kind, name) else { continue };
        if size > 1 {
            cleared(at, &format!("(void *)((char *){good} + 1)"), "RACL_INVALID_ARGUMENT");
        }
        if !may_be_null(function.name, name) && !may_be_null_in(function.name, kind, name) {
            cleared(at, "NULL", "RACL_NULL_POINTER");
        }
    }
    checks
}

/// A good value of a struct that names handles or structs with a size, in C.
fn good_struct(kind: &str) -> Option<&str> {
    match kind {
        "racl_frozen" => Some("frozen"),
        _ => STRUCTS.iter().find(|(known, _)| known.strip_suffix('*') == Some(kind)).map(|(_, good)| *good),
    }
}

/// Fields that may be NULL.
const OPTIONAL_FIELDS: &[&str] = &["registry", "plans", "library", "pool"];

/// What is wrong with a handle of a kind, in C, and what that gives.
fn bad_handles(handle: &str, may_be_null: bool) -> Vec<(String, &'static str)> {
    let wrong = if handle == "event" { "stream" } else { "event" };
    let null = (!may_be_null).then(|| ("NULL".to_owned(), "RACL_NULL_POINTER"));
    let others = [
        (format!("stale_{handle}"), "RACL_STALE_HANDLE"),
        ("(void *)bytes".to_owned(), "RACL_FOREIGN_HANDLE"),
        (format!("(void *)good_{wrong}"), "RACL_WRONG_KIND"),
    ];
    null.into_iter().chain(others).collect()
}

/// A call with one argument that is told, and as many elements of it as are told where it is a list.
fn call_with(function: &Function<'_>, at: usize, argument: &str, elements: usize) -> String {
    let arguments = function.parameters.iter().enumerate().map(|(index, (kind, name))| match index {
        _ if index == at => argument.to_owned(),
        _ if index == at + 1 && name.ends_with("count") => elements.to_string(),
        // The outputs of the good plan, which are counted before cases are looked at.
        _ if *name == "result_count" => "1".to_owned(),
        _ => good(function, kind, name),
    });
    format!("{}({})", function.name, arguments.collect::<Vec<_>>().join(", "))
}

/// Checks of handles, and of structs with a size, that stand inside of structs and lists. `seen` gets the structs.
fn inside<'h>(
    text: &mut String,
    function: &Function<'_>,
    all: &[(&'h str, Vec<(String, &'h str)>)],
    seen: &mut BTreeSet<&'h str>,
) -> usize {
    let mut checks = 0;
    let mut check = |text: &mut String, before: &str, call: &str, status: &str| {
        writeln!(text, "    {before}CHECK({call} == {status});").unwrap();
        checks += 1;
    };
    for (at, (kind, _)) in function.parameters.iter().enumerate() {
        let kind = kind.as_str();
        if let Some(handle) = kind.strip_suffix("*const*").and_then(|kind| handle(&format!("{kind}*"))) {
            for (bad, status) in bad_handles(handle, false) {
                let list = format!("(const racl_{handle} *const[]){{good_{handle}, {bad}}}");
                check(text, "", &call_with(function, at, &list, 2), status);
            }
            check(text, "", &call_with(function, at, "NULL", 1), "RACL_NULL_POINTER");
        }
        // An argument of an operator names its handle by its kind.
        if kind == "const racl_arg*" && function.name == "racl_operator" {
            for (bad, status) in bad_handles("tensor", false) {
                let one = format!("&(racl_arg){{.kind = RACL_ARG_TENSOR, .data = {bad}}}");
                check(text, "", &call_with(function, at, &one, 1), status);
                let two = format!(
                    "&(racl_arg){{.kind = RACL_ARG_TENSORS, .count = 2, \
                     .data = (const racl_tensor *[]){{good_tensor, {bad}}}}}"
                );
                check(text, "", &call_with(function, at, &two, 1), status);
            }
        }
        let Some((name, fields)) = all.iter().find(|(name, _)| kind == format!("const {name}*")) else { continue };
        for (of, field) in fields {
            let may_be_null = OPTIONAL_FIELDS.contains(field);
            let bad: Vec<(String, &str)> = match (handle(of), of.starts_with("const ").then(|| sized(of)).flatten()) {
                (Some(handle), _) => bad_handles(handle, may_be_null),
                (None, Some(_)) => ["none", "short_one", "long_one", "one_byte_short"]
                    .map(|bad| (format!("(void *){bad}"), "RACL_STRUCT_SIZE"))
                    .into(),
                (None, None) => continue,
            };
            seen.insert(name);
            let good = good_struct(name).unwrap_or_else(|| panic!("what is a good {name}?"));
            for (bad, status) in bad {
                let change = format!("{name} with_{field} = {good}; with_{field}.{field} = {bad}; ");
                let call = call_with(function, at, &format!("&with_{field}"), 1);
                writeln!(text, "    {{").unwrap();
                if bad.ends_with("one_byte_short") {
                    let of = of.trim_start_matches("const ").trim_end_matches('*');
                    writeln!(text, "    one_byte_short[0] = sizeof({of}) - 1;").unwrap();
                }
                check(text, &change, &call, status);
                writeln!(text, "    }}").unwrap();
            }
        }
    }
    checks
}

/// Checks that lists of more elements than there can be are refused, and not written.
fn lists(text: &mut String, function: &Function<'_>) -> usize {
    let mut checks = 0;
    for (at, pair) in function.parameters.windows(2).enumerate() {
        let [(kind, _), (of, count)] = pair else { unreachable!("windows of two") };
        let is_count = !of.ends_with('*') && (count.ends_with("count") || ["rank", "room"].contains(count));
        if !is_count || !kind.ends_with('*') || handle(kind).is_some() {
            continue;
        }
        // What is carried has as many places of results.
        let is_list = |index: usize, name: &str| index == at || name == "results" && *count == "carried_count";
        for lie in ["0xffffffff", "(size_t)-1"] {
            let arguments = function.parameters.iter().enumerate().map(|(index, (kind, name))| match index {
                _ if is_list(index, name) => "(void *)few".to_owned(),
                _ if index == at + 1 => lie.to_owned(),
                // As in `call_with`.
                _ if *name == "result_count" => "1".to_owned(),
                _ => good(function, kind, name),
            });
            let call = format!("{}({})", function.name, arguments.collect::<Vec<_>>().join(", "));
            writeln!(text, "    soil(few, sizeof few);\n    CHECK({call} == RACL_INVALID_ARGUMENT);").unwrap();
            writeln!(text, "    CHECK(is_soiled(few, sizeof few));").unwrap();
            checks += 2;
        }
    }
    checks
}

/// That every struct with a handle, or a struct with a size, was given to some function with that wrong.
fn all_were_given(all: &[(&str, Vec<(String, &str)>)], seen: &BTreeSet<&str>) {
    let has = |(_, fields): &&(&str, Vec<(String, &str)>)| {
        fields.iter().any(|(kind, _)| handle(kind).is_some() || kind.starts_with("const ") && sized(kind).is_some())
    };
    let with: BTreeSet<&str> = all.iter().filter(has).map(|(name, _)| *name).collect();
    assert!(with.len() > 2, "{with:?}");
    assert_eq!(&with, seen);
}

/// That every kind of handle and every struct with a size in the header is known here.
fn all_are_known(header: &str, all: &[(&str, Vec<(String, &str)>)]) {
    let opaque = header.lines().filter_map(|line| {
        let (name, again) = line.strip_prefix("typedef struct racl_")?.strip_suffix(';')?.split_once(" racl_")?;
        (name == again).then_some(name)
    });
    assert_eq!(opaque.collect::<BTreeSet<_>>(), HANDLES.iter().copied().collect());
    let has_size = |(_, fields): &&(&str, Vec<(String, &str)>)| {
        fields.first().is_some_and(|(kind, name)| kind == "size_t" && *name == "size")
    };
    // Callbacks are given it, and no function takes it.
    let of_callbacks = |name: &&str| *name == "racl_launch";
    let sized: BTreeSet<_> =
        all.iter().filter(has_size).map(|(name, _)| *name).filter(|name| !of_callbacks(name)).collect();
    assert_eq!(sized, STRUCTS.iter().map(|(kind, _)| kind.trim_end_matches('*')).collect());
}

/// The program, and how many checks it makes.
pub(crate) fn program(header: &str) -> (String, usize) {
    let mut text = include_str!("../c/bad_begin.h").to_owned();
    let mut checks = 0;
    let (all, structs, mut seen) = (functions(header), structs(header), BTreeSet::new());
    all_are_known(header, &structs);
    for function in all.iter().filter(|function| function.fails) {
        writeln!(text, "static void {}_is_called_badly(void) {{", function.name).unwrap();
        for (kind, name) in &function.parameters {
            if good(function, kind, name).starts_with("(void *)&place_") {
                writeln!(text, "    size_t place_{name}[2];\n    (void)place_{name};").unwrap();
            }
        }
        for (at, (kind, name)) in function.parameters.iter().enumerate() {
            let call = |bad: &str| {
                let arguments = function.parameters.iter().enumerate().map(|(index, (kind, name))| {
                    if index == at { bad.to_owned() } else { good(function, kind, name) }
                });
                format!("{}({})", function.name, arguments.collect::<Vec<_>>().join(", "))
            };
            let mut check = |call: String, status: &str| {
                writeln!(text, "    CHECK({call} == {status});").unwrap();
                checks += 1;
            };
            if let Some(handle) = handle(kind) {
                let null = if function.name.ends_with("_free") { "RACL_OK" } else { "RACL_NULL_POINTER" };
                let needs_it = !may_be_null_in(function.name, kind, name);
                let wrong = if handle == "event" { "stream" } else { "event" };
                if needs_it {
                    check(call("NULL"), null);
                }
                check(call(&format!("stale_{handle}")), "RACL_STALE_HANDLE");
                check(call("(void *)bytes"), "RACL_FOREIGN_HANDLE");
                check(call(&format!("(void *)good_{wrong}")), "RACL_WRONG_KIND");
            } else if let Some(good) = sized(kind) {
                if !may_be_null(function.name, name) {
                    check(call("NULL"), "RACL_NULL_POINTER");
                }
                check(call("(void *)none"), "RACL_STRUCT_SIZE");
                check(call("(void *)short_one"), "RACL_STRUCT_SIZE");
                check(call("(void *)long_one"), "RACL_STRUCT_SIZE");
                // Every other size than those of versions, and more than this one knows that is not zero.
                let (call, version) = (call(&format!("RESIZED({good}, bytes_of)")), is_a_version(kind, good));
                writeln!(text, "    refused = 1;").unwrap();
                writeln!(text, "    for (size_t bytes_of = 0; bytes_of <= sizeof {good} + 8; ++bytes_of)").unwrap();
                writeln!(text, "        refused &= {version} || {call} == RACL_STRUCT_SIZE;").unwrap();
                writeln!(text, "    CHECK(refused);").unwrap();
                checks += 1;
            } else {
                let place = kind.ends_with('*') && !kind.starts_with("const ") && *kind != "char*";
                let text = *kind == "const char*" && !function.name.starts_with("racl_library_open");
                let needs_it = !may_be_null(function.name, name) && !may_be_null_in(function.name, kind, name);
                if (place || text) && needs_it {
                    check(call("NULL"), "RACL_NULL_POINTER");
                }
            }
        }
        checks += places(&mut text, function);
        checks += lists(&mut text, function);
        checks += inside(&mut text, function, &structs, &mut seen);
        text.push_str("}\n\n");
    }
    all_were_given(&structs, &seen);
    text.push_str("int main(void) {\n    begin();\n");
    for function in all.iter().filter(|function| function.fails) {
        writeln!(text, "    {}_is_called_badly();", function.name).unwrap();
    }
    text.push_str("    end();\n    printf(\"%d checks\\n\", checks);\n    return 0;\n}\n");
    (text, checks)
}
