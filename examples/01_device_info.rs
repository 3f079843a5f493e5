//! Prints the library, the chip and what the device has. `RACL_LIBRARY` chooses another library than the built-in
//! mock.
#![allow(clippy::print_stdout)]

use racl::{Acl, Result};

fn main() -> Result<()> {
    let acl = Acl::init_or_mock()?;
    println!("library          {acl}");
    match acl.version() {
        Ok((major, minor, patch)) => println!("interface        {major}.{minor}.{patch}"),
        Err(error) => println!("interface        unknown ({error})"),
    }
    println!("chip             {}", acl.soc_name()?);
    let count = acl.device_count()?;
    println!("devices          {count}");
    for id in 0..i32::try_from(count).unwrap_or(i32::MAX) {
        let device = acl.device(id)?;
        let (free, total) = device.memory_info()?;
        println!("device {id}");
        println!("  cube cores     {}", device.cube_cores()?);
        println!("  vector cores   {}", device.vector_cores()?);
        println!("  L2 cache       {} MiB", device.l2_cache_bytes()? >> 20);
        println!("  memory         {} of {} MiB free", free >> 20, total >> 20);
    }
    Ok(())
}
