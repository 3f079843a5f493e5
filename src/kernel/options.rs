//! How a binary is loaded.

use acl_sys::{aclrtBinaryLoadOption, aclrtBinaryLoadOptionType, aclrtBinaryLoadOptionValue};

use crate::error::{Error, Result};

/// The cores that a binary in memory is for, where its bytes do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryCore {
    /// Both kinds of core.
    Ai,
    /// Cube cores.
    Cube,
    /// Vector cores.
    Vector,
}

/// Where the code of kernels of the AI CPU is, in [`BinaryOptions::cpu`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CpuKernels {
    /// The device has it; the file, in JSON, only describes it.
    Installed,
    /// In a shared object beside the file in JSON that describes it, with the same name and the ending `.so`.
    Beside,
    /// The bytes are the shared object.
    InData,
}

/// How a binary is loaded ([`Context::load_kernels_with`](crate::Context::load_kernels_with)). At first: at once, for
/// what its bytes say that it is for.
///
/// # Examples
///
/// ```
/// use racl::{BinaryOptions, ErrorKind};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let lazily = BinaryOptions::new().lazy();
/// // SAFETY: there is no such file.
/// let error = unsafe { device.context().load_kernels_with("nowhere.o", lazily) }.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::File);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(alias = "aclrtBinaryLoadOptions")]
pub struct BinaryOptions {
    lazy: bool,
    core: Option<BinaryCore>,
    cpu: Option<CpuKernels>,
}

impl BinaryOptions {
    /// No options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the code to the device when it is first used, not when it is loaded.
    #[must_use]
    #[doc(alias = "ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD")]
    pub fn lazy(mut self) -> Self {
        self.lazy = true;
        self
    }

    /// The cores that bytes in memory are for. A file says so itself, and takes no such option.
    #[must_use]
    #[doc(alias = "ACL_RT_BINARY_LOAD_OPT_MAGIC")]
    pub fn core(mut self, core: BinaryCore) -> Self {
        self.core = Some(core);
        self
    }

    /// The binary has kernels of the AI CPU, whose code is there. They become kernels by
    /// [`KernelBinary::cpu_kernel`](crate::KernelBinary::cpu_kernel).
    #[must_use]
    #[doc(alias = "ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE")]
    pub fn cpu(mut self, code: CpuKernels) -> Self {
        self.cpu = Some(code);
        self
    }

    /// The options as the library takes them, of a file or of bytes.
    pub(super) fn raw(self, file: bool) -> Result<Vec<aclrtBinaryLoadOption>> {
        let in_data = self.cpu == Some(CpuKernels::InData);
        let text = match file {
            true if self.core.is_some() => "a file says itself what cores it is for; leave BinaryOptions::core out",
            true if in_data => "CpuKernels::InData for a file",
            false if self.cpu.is_some() && !in_data => {
                "bytes have the code of AI CPU kernels in them: CpuKernels::InData"
            }
            _ => return Ok(self.list()),
        };
        Err(Error::invalid(text))
    }

    fn list(self) -> Vec<aclrtBinaryLoadOption> {
        use aclrtBinaryLoadOptionType as Type;
        let option = |kind, value| aclrtBinaryLoadOption { type_: kind, value };
        let mut list = Vec::new();
        if self.lazy {
            let value = aclrtBinaryLoadOptionValue { isLazyLoad: 1 };
            list.push(option(Type::ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, value));
        }
        if let Some(core) = self.core {
            let magic = match core {
                BinaryCore::Ai => acl_sys::ACL_RT_BINARY_MAGIC_ELF_AICORE,
                BinaryCore::Cube => acl_sys::ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE,
                BinaryCore::Vector => acl_sys::ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE,
            };
            list.push(option(Type::ACL_RT_BINARY_LOAD_OPT_MAGIC, aclrtBinaryLoadOptionValue { magic }));
        }
        if let Some(cpu) = self.cpu {
            let mode = match cpu {
                CpuKernels::Installed => 0,
                CpuKernels::Beside => 1,
                CpuKernels::InData => 2,
            };
            let value = aclrtBinaryLoadOptionValue { cpuKernelMode: mode };
            list.push(option(Type::ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, value));
        }
        list
    }
}
