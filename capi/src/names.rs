//! What racl's errors tell a reader to call, which are items of Rust there, by the names of C.

use std::borrow::Cow;

/// In the order in which they are looked for.
const NAMES: &[(&str, &str)] = &[
    ("Bindings::host", "racl_bindings_host()"),
    ("Bindings::set", "racl_bindings_tensor()"),
    ("Bindings::symbol", "racl_bindings_symbol()"),
    ("Builder::empty", "racl_builder_empty()"),
    ("Builder::output_found", "racl_builder_output_found()"),
    ("Context::default_stream", "racl_stream_default()"),
    ("Context::stream", "racl_stream_new()"),
    ("Foreign::simulated", "simulate of racl_foreign_info"),
    ("Frozen::with", "a racl_frozen of racl_executable_new()"),
    ("Graph::update", "racl_graph_update()"),
    ("RunOptions::host_output_buffers", "host_output_buffers of racl_run_options"),
    ("Simulated::symbol", "a racl_symbol of racl_simulation_new()"),
    ("Stream::is_complete", "racl_stream_is_complete()"),
    ("Stream::synchronize", "racl_stream_synchronize()"),
    ("Stream::synchronize_timeout", "racl_stream_synchronize()"),
];

/// The text with names of C.
pub(crate) fn in_c(text: String) -> String {
    if !text.contains("::") {
        return text;
    }
    NAMES.iter().fold(Cow::Owned(text), |text, (rust, c)| replaced(text, rust, c)).into_owned()
}

/// Whole names alone.
fn replaced<'t>(text: Cow<'t, str>, from: &str, to: &str) -> Cow<'t, str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let is_whole = |at: usize| !text[..at].ends_with(is_name) && !text[at + from.len()..].starts_with(is_name);
    let Some(at) = text.match_indices(from).map(|(at, _)| at).find(|at| is_whole(*at)) else { return text };
    let rest = replaced(Cow::Borrowed(&text[at + from.len()..]), from, to);
    Cow::Owned([&text[..at], to, &rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_header() {
        let header = include_str!("../include/racl.h");
        for (rust, c) in NAMES {
            let names = c.split(' ').filter(|word| word.starts_with("racl_"));
            for name in names {
                let declared = match name.strip_suffix("()") {
                    Some(function) => format!(" {function}("),
                    None => format!("}} {name};"),
                };
                assert!(header.contains(&declared), "{rust}: {name}");
            }
            assert_eq!(
                in_c(format!("input \"x\" is not given; {rust} does")),
                format!("input \"x\" is not given; {c} does")
            );
        }
        assert!(header.contains(" host_output_buffers;") && header.contains(" simulate;"));
    }

    #[test]
    fn whole_names_alone_are_replaced_wherever_they_stand() {
        let text = "Context::streams_left, Bindings::set and my::Bindings::set; Bindings::set";
        let told = "Context::streams_left, racl_bindings_tensor() and my::Bindings::set; racl_bindings_tensor()";
        assert_eq!(in_c(text.to_owned()), told);
        assert_eq!(in_c("Context::stream".to_owned()), "racl_stream_new()");
    }
}
