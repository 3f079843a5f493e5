//! What the key takes from the device and its library.

use acl_sys::aclCANNPackageName;

use crate::acl::Acl;
use crate::context::Context;
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

/// Versions, chip and core limits of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) library: String,
    /// Versions of the packages, in their order.
    pub(super) packages: [String; PACKAGES.len()],
    pub(super) chip: String,
    pub(super) cores: String,
    pub(super) limits: String,
}

impl Facts {
    pub(super) fn push(self, key: &mut Key) {
        let Self { library, packages, chip, cores, limits } = self;
        key.push("library", library);
        for ((package, _), version) in PACKAGES.iter().zip(packages) {
            key.push(format!("version of the {package}"), version);
        }
        key.push("chip", chip);
        key.push("cores", cores);
        key.push("core limits", limits);
    }
}

/// Those of the device that the context belongs to.
pub(super) fn of(context: &Context) -> Facts {
    with(context, |package| context.acl().package_version(package))
}

/// The same with another source of the versions of packages.
fn with(context: &Context, version: impl Fn(aclCANNPackageName) -> Result<String>) -> Facts {
    let acl = context.acl();
    let interface = acl.version().map(|(major, minor, patch)| format!("{major}.{minor}.{patch}"));
    let cores = context.cube_cores().and_then(|cube| Ok((cube, context.vector_cores()?)));
    let shown = |cube: u64, vector: u64| format!("{cube} matrix, {vector} vector");
    Facts {
        library: format!("{}, interface {}", library(acl), known(interface)),
        packages: PACKAGES.map(|(_, package)| known(version(package))),
        chip: known(acl.soc_name()),
        cores: known(cores.map(|(cube, vector)| shown(cube, vector))),
        limits: known(
            crate::stream::device_cores(context).map(|limit| shown(limit.cube.into(), limit.vector.into())),
        ),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_the_answer_to_its_question() {
        let device = Acl::mock().unwrap().device(0).unwrap();
        let facts = with(device.context(), |package| Ok(format!("number {}", package.0)));
        let mut key = Key::default();
        facts.push(&mut key);
        let part = |name: &str| {
            let found = key.parts().iter().find(|(known, _)| known == name);
            found.unwrap_or_else(|| panic!("no part {name:?}")).1.clone()
        };
        let acl = device.acl();
        let (major, minor, patch) = acl.version().unwrap();
        assert_eq!(part("library"), format!("{}, interface {major}.{minor}.{patch}", acl.library()));
        assert_eq!(part("chip"), acl.soc_name().unwrap());
        let cores = format!("{} matrix, {} vector", device.cube_cores().unwrap(), device.vector_cores().unwrap());
        assert_eq!((part("cores"), part("core limits")), (cores.clone(), cores));
        // The numbers of the packages in the header.
        for (package, number) in [("toolkit", 0), ("runtime", 1), ("operators", 5), ("kernels", 6), ("driver", 7)] {
            assert_eq!(part(&format!("version of the {package}")), format!("number {number}"));
        }
    }
}
