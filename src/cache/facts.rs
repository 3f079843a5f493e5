//! What the key takes from the device and its library.

use acl_sys::aclCANNPackageName;

use crate::acl::Acl;
use crate::device::Device;
use crate::error::Result;

use super::key::Key;
use super::salt;

/// Stands for what a library does not tell. It differs from every answer, so that a library that learns to tell it is
/// another key.
const UNKNOWN: &str = "unknown";

const PACKAGES: [(&str, aclCANNPackageName); 5] = [
    ("toolkit", aclCANNPackageName::ACL_PKG_NAME_CANN),
    ("runtime", aclCANNPackageName::ACL_PKG_NAME_RUNTIME),
    ("operators", aclCANNPackageName::ACL_PKG_NAME_OPP),
    ("kernels", aclCANNPackageName::ACL_PKG_NAME_OPP_KERNEL),
    ("driver", aclCANNPackageName::ACL_PKG_NAME_DRIVER),
];

/// Versions, chip and core limits of a device, as parts of the key.
pub(super) fn push(key: &mut Key, device: &Device) {
    let acl = device.acl();
    let version = acl.version().map(|(major, minor, patch)| format!("{major}.{minor}.{patch}"));
    key.push("library", format!("{}, interface {}", library(acl), known(version)));
    for (package, number) in PACKAGES {
        key.push(format!("version of the {package}"), known(acl.package_version(number)));
    }
    key.push("chip", known(acl.soc_name()));
    let cores = device.cube_cores().and_then(|cube| Ok((cube, device.vector_cores()?)));
    key.push("cores", known(cores.map(|(cube, vector)| format!("{cube} matrix, {vector} vector"))));
    let limits = crate::plan::device_cores(device);
    key.push("core limits", known(limits.map(|limit| format!("{} matrix, {} vector", limit.cube, limit.vector))));
}

/// The mock by its version; a library by its build id, since old ones do not tell the versions of their packages.
fn library(acl: &Acl) -> String {
    if acl.is_mock() {
        return acl.library();
    }
    let address = acl.table().aclrtGetVersion().map_or(0, |function| function as usize);
    salt::of_object(address).ok().flatten().unwrap_or_else(|| UNKNOWN.to_owned())
}

fn known(answer: Result<String>) -> String {
    answer.unwrap_or_else(|_| UNKNOWN.to_owned())
}
