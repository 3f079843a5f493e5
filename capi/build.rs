//! How the shared library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // A dlclose must not take the code away: threads of racl and of the AscendCL library may be inside it.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
