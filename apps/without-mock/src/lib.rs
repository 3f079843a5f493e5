//! Nothing but the tests beside it, of racl without the feature `mock` and without any way to a library:
//! `cargo test -p without-mock --features alone`.
