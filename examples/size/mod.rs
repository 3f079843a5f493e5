//! How large an example is: a number on its command line.

/// The first argument, or `usual` without one. Ends the program for what is no size.
pub(crate) fn from_arguments(program: &str, usual: usize) -> usize {
    match std::env::args().nth(1).map(|text| text.parse()) {
        None => usual,
        Some(Ok(n)) if n > 0 => n,
        Some(_) => {
            eprintln!("usage: {program} [N], with N a whole number such as 10000");
            std::process::exit(2);
        }
    }
}
