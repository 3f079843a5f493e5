//! What the parts of this crate need of the library, as data.

use acl_sys::Table;

/// A part of this crate with the C functions that it calls, to find out what a machine can do.
///
/// Functions are looked for when they are used, so a part whose functions are missing does not keep the others from
/// working; its calls give [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol).
///
/// # Examples
///
/// ```
/// use racl::{Acl, Requirement};
///
/// let acl = Acl::mock()?;
/// for part in Requirement::all() {
///     assert_eq!(part.missing(acl.table()), [""; 0], "{}", part.name());
/// }
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    name: &'static str,
    what: &'static str,
    functions: &'static [&'static str],
    optional: &'static [&'static str],
}

impl Requirement {
    /// Every part, those first that the others build on.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// A short name, which stays the same from version to version.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is for, in a few words.
    #[must_use]
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// C functions without which some of it fails.
    #[must_use]
    pub fn functions(&self) -> &'static [&'static str] {
        self.functions
    }

    /// C functions that are used where they are; without them it works, and tells or checks less.
    #[must_use]
    pub fn optional(&self) -> &'static [&'static str] {
        self.optional
    }

    /// Those of [`functions`](Self::functions) that a library lacks. Looks them up, which opens the libraries of
    /// operators for a part that uses operators.
    #[must_use]
    pub fn missing(&self, table: &Table) -> Vec<&'static str> {
        self.functions.iter().copied().filter(|name| !table.has(name)).collect()
    }
}

macro_rules! parts {
    ($($name:literal, $what:literal: $($function:ident)* $(; optional $($optional:ident)*)?,)*) => {
        [$(Requirement {
            name: $name,
            what: $what,
            functions: &[$(stringify!($function)),*],
            optional: &[$($(stringify!($optional)),*)?],
        }),*]
    };
}

#[rustfmt::skip]
const ALL: [Requirement; 57] = parts! {
    "library", "initialisation and errors": aclInit aclFinalize
        ; optional aclFinalizeReference aclGetRecentErrMsg aclrtGetVersion aclsysGetCANNVersion,
    "devices", "devices and what they are":
        aclrtSetDevice aclrtResetDevice aclrtGetDeviceCount aclrtGetCurrentContext aclrtSetCurrentContext
        aclrtSynchronizeDevice aclrtGetSocName aclrtGetMemInfo
        ; optional aclrtGetDeviceInfo aclGetDeviceCapability aclrtSynchronizeDeviceWithTimeout,
    "device-facts", "where devices are, and how they are":
        aclrtGetRunMode aclrtGetDeviceUtilizationRate aclGetCannAttribute
        ; optional aclrtDeviceGetBareTgid aclrtDeviceGetUuid aclrtDeviceGetPCIBusId aclrtDeviceGetByPCIBusId
        aclrtGetLogicDevIdByUserDevId aclrtGetPhyDevIdByUserDevId aclrtGetDeviceCapability aclrtQueryDeviceStatus
        aclrtDeviceGetStreamPriorityRange aclrtGetPrimaryCtxState,
    "device-faults", "faults of devices, and their repair":
        aclrtGetMemUceInfo aclrtMemUceRepair
        ; optional aclrtGetErrorVerbose aclrtRepairError aclrtResetDeviceForce,
    "library-options", "how operators compute, and how long work may take":
        aclrtCtxSetSysParamOpt aclrtCtxGetSysParamOpt aclrtSetSysParamOpt aclrtGetSysParamOpt aclrtSetOpWaitTimeout
        ; optional aclrtSetOpExecuteTimeOutV2,
    "peers", "devices that reach each other's memory":
        aclrtDeviceCanAccessPeer aclrtDeviceEnablePeerAccess aclrtDeviceDisablePeerAccess
        ; optional aclrtDevicePeerAccessStatus aclrtGetDevicesTopo,
    "contexts", "further contexts of a device": aclrtCreateContext aclrtDestroyContext
        ; optional aclrtGetDevice,
    "memory", "device and pinned memory, copies":
        aclrtMalloc aclrtFree aclrtMallocHost aclrtFreeHost aclrtMemcpy aclrtMemcpyAsync aclrtMemset aclrtMemsetAsync,
    "copies-of-rows", "copies of rows (Rows)": aclrtMemcpy2dAsync,
    "batches", "several copies with one call (Stream::upload_batch)": aclrtMemcpyBatchAsync
        ; optional aclrtMemcpyBatch,
    "peer-copies", "copies between devices (Stream::copy_peer)": aclrtMemcpyAsync
        ; optional aclrtDevicePeerAccessStatus,
    "words", "fills with 32 bits (Stream::fill_words)": aclrtMemsetD32Async aclrtMemsetD32,
    "indirect-copies", "copies whose places stand in device memory (CopyDescriptor, DevicePointer)":
        aclrtGetMemcpyDescSize aclrtSetMemcpyDesc aclrtMemcpyAsyncWithDesc aclrtMemcpyAsyncWithOffset,
    "pinned-vectors", "vectors pinned where they are (Context::pin)": aclrtHostRegisterV2 aclrtHostUnregister,
    "reductions", "reductions by the copy engine (op::reduce_into)": aclrtReduceAsync,
    "places", "where an address lies (Context::place_of)": aclrtPointerGetAttributes,
    "growing-memory", "device memory that grows in place (Allocator::Growing)":
        aclrtReserveMemAddress aclrtReleaseMemAddress aclrtMallocPhysical aclrtFreePhysical aclrtMapMem aclrtUnmapMem
        aclrtGetMemInfo
        ; optional aclrtMemGetAllocationGranularity,
    "mapped-memory", "memory that is mapped by the program, and shared (GrowableBuffer, PhysicalMemory)":
        aclrtReserveMemAddress aclrtReleaseMemAddress aclrtMallocPhysical aclrtFreePhysical aclrtMapMem aclrtUnmapMem
        ; optional aclrtMemGetAllocationGranularity aclrtMemSetAccess aclrtMemGetAccess aclrtMemRetainAllocationHandle
        aclrtMemGetAllocationPropertiesFromHandle aclrtMemExportToShareableHandle aclrtMemExportToShareableHandleV2
        aclrtMemImportFromShareableHandle aclrtMemImportFromShareableHandleV2 aclrtMemSetPidToShareableHandle
        aclrtMemSetPidToShareableHandleV2,
    "shared-memory", "device memory between processes (SharedBuffer::export)":
        aclrtIpcMemGetExportKey aclrtIpcMemImportByKey aclrtIpcMemClose aclrtIpcMemSetImportPid
        ; optional aclrtIpcMemSetAttr aclrtMemGetAddressRange,
    "host-memory", "host memory that kernels reach (Context::mapped)":
        aclrtMallocHost aclrtFreeHost aclrtHostRegister aclrtHostUnregister
        ; optional aclrtHostMemMapCapabilities,
    "managed-memory", "memory that host and devices share (Context::managed)":
        aclrtMemAllocManaged aclrtFree
        ; optional aclrtMemManagedAdvise aclrtMemManagedGetAttr aclrtMemManagedGetAttrs aclrtMemManagedPrefetchAsync
        aclrtMemManagedPrefetchBatchAsync,
    "streams", "streams with priorities and flags":
        aclrtCreateStreamWithConfig aclrtDestroyStream aclrtSynchronizeStream aclrtSynchronizeStreamWithTimeout
        aclrtStreamQuery
        ; optional aclrtStreamGetId aclrtStreamGetFlags aclrtCtxGetCurrentDefaultStream aclrtStreamGetPriority,
    "stream-attributes", "what streams do after failures and overflow, and their tags":
        aclrtSetStreamFailureMode aclrtSetStreamOverflowSwitch aclrtGetStreamOverflowSwitch aclrtGetOverflowStatus
        aclrtResetOverflowStatus aclrtSetDeviceSatMode
        ; optional aclrtSetStreamAttribute aclrtGetStreamAttribute aclrtGetDeviceSatMode,
    "flags", "numbers in memory that streams write and wait for": aclrtMemcpy
        ; optional aclrtValueWrite aclrtValueWait,
    "watches", "what becomes of streams and devices":
        ; optional aclrtRegStreamStateCallback aclrtRegDeviceStateCallback aclrtSetDeviceTaskAbortCallback,
    "aborts", "ending the work of streams and devices before its time": aclrtDeviceTaskAbort aclrtStreamAbort,
    "snapshots", "processes that are saved and restored (Acl::lock_process)":
        aclrtSnapShotProcessLock aclrtSnapShotProcessBackup aclrtSnapShotProcessRestore aclrtSnapShotProcessUnlock
        ; optional aclrtSnapShotCallbackRegister aclrtSnapShotCallbackUnregister,
    "events", "order between streams":
        aclrtCreateEventExWithFlag aclrtDestroyEvent aclrtRecordEvent aclrtStreamWaitEvent aclrtQueryEventStatus
        aclrtSynchronizeEvent
        ; optional aclrtSynchronizeEventWithTimeout,
    "external-events", "events that graphs and work beside them share":
        aclrtCreateEventWithFlag aclrtDestroyEvent aclrtRecordEvent aclrtStreamWaitEvent aclrtResetEvent
        ; optional aclrtStreamWaitEventWithTimeout,
    "timing", "time between events": aclrtCreateEventExWithFlag aclrtRecordEvent aclrtEventElapsedTime
        ; optional aclrtEventGetTimestamp,
    "notifies", "signals that one stream gives and another takes":
        aclrtCreateNotify aclrtDestroyNotify aclrtRecordNotify aclrtWaitAndResetNotify aclrtNotifyBatchReset
        ; optional aclrtGetNotifyId,
    "counting-notifies", "numbers that streams change and wait for":
        aclrtCntNotifyCreate aclrtCntNotifyDestroy aclrtCntNotifyRecord aclrtCntNotifyWaitWithTimeout
        aclrtCntNotifyReset
        ; optional aclrtCntNotifyGetId,
    "shared-events", "events and notifies between processes":
        aclrtCreateEventExWithFlag aclrtIpcGetEventHandle aclrtIpcOpenEventHandle
        ; optional aclrtNotifyGetExportKey aclrtNotifyImportByKey aclrtNotifySetImportPid,
    "host-functions", "host functions in the order of a stream":
        aclrtSubscribeReport aclrtUnSubscribeReport aclrtProcessReport aclrtLaunchCallback
        ; optional aclrtLaunchHostFunc,
    "prefetch", "prefetch into L2 (CMO)": aclrtCmoAsync,
    "models", "offline models":
        aclmdlLoadFromFile aclmdlLoadFromMem aclmdlUnload aclmdlCreateDesc aclmdlDestroyDesc aclmdlGetDesc
        aclmdlGetNumInputs aclmdlGetNumOutputs aclmdlGetInputNameByIndex aclmdlGetOutputNameByIndex
        aclmdlGetInputDataType aclmdlGetOutputDataType aclmdlGetInputFormat aclmdlGetOutputFormat aclmdlGetInputDims
        aclmdlGetOutputDims aclmdlGetInputSizeByIndex aclmdlGetOutputSizeByIndex aclmdlCreateDataset
        aclmdlDestroyDataset aclmdlAddDatasetBuffer aclCreateDataBuffer aclDestroyDataBuffer
        aclmdlExecuteAsync aclmdlGetDatasetTensorDesc
        ; optional aclmdlGetInputDimsRange aclmdlGetDynamicBatch aclmdlGetDynamicHW aclmdlGetInputDynamicGearCount
        aclmdlGetInputDynamicDims aclmdlGetCurOutputDims aclmdlSetDynamicBatchSize aclmdlSetDynamicHWSize
        aclmdlSetInputDynamicDims aclmdlSetDatasetTensorDesc aclmdlQuerySize aclmdlLoadFromFileWithMem
        aclmdlLoadWithConfig aclmdlCreateConfigHandle aclmdlDestroyConfigHandle aclmdlSetConfigOpt
        aclmdlSetExternalWeightAddress aclmdlLoadFromMemWithMem aclmdlQuerySizeFromMem aclmdlGetDescFromFile
        aclmdlGetDescFromMem aclmdlGetOpAttr aclCreateTensorDesc aclDestroyTensorDesc aclGetTensorDescNumDims
        aclGetTensorDescDimV2 aclmdlGetAippType aclmdlCreateAIPP aclmdlDestroyAIPP aclmdlSetAIPPInputFormat
        aclmdlSetAIPPSrcImageSize aclmdlSetAIPPRbuvSwapSwitch aclmdlSetAIPPAxSwapSwitch aclmdlSetAIPPCscParams
        aclmdlSetAIPPCropParams aclmdlSetAIPPPaddingParams aclmdlSetAIPPDtcPixelMean aclmdlSetAIPPDtcPixelMin
        aclmdlSetAIPPPixelVarReci aclmdlSetInputAIPP,
    "kernels", "kernels of the program's own (Context::load_kernels)":
        aclrtBinaryLoadFromFile aclrtBinaryLoadFromData aclrtBinaryUnLoad aclrtBinaryGetFunction
        ; optional aclrtLaunchKernelWithHostArgs aclrtKernelArgsInit aclrtKernelArgsAppend
        aclrtKernelArgsAppendPlaceHolder aclrtKernelArgsGetPlaceHolderBuffer aclrtKernelArgsFinalize
        aclrtLaunchKernelWithConfig aclrtLaunchKernelV2 aclrtLaunchKernel aclrtBinaryGetFunctionByEntry
        aclrtBinaryGetGlobal aclrtBinaryGetDevAddress aclrtBinarySetExceptionCallback aclrtRegisterCpuFunc
        aclrtFunctionGetParamCount aclrtFunctionGetParamInfo aclrtFunctionGetAvailDynUbufPerBlock
        aclrtGetFunctionAddr aclrtGetFunctionAttribute
        aclrtGetFunctionName aclrtGetFunctionSize aclrtGetDeviceIdFromExceptionInfo
        aclrtGetErrorCodeFromExceptionInfo aclrtGetFuncHandleFromExceptionInfo aclrtGetStreamIdFromExceptionInfo
        aclrtGetTaskIdFromExceptionInfo aclrtGetThreadIdFromExceptionInfo,
    "failures", "the task, stream and kernel in errors of work that failed (Error::task_failure)":
        aclrtGetDeviceIdFromExceptionInfo aclrtGetErrorCodeFromExceptionInfo aclrtGetStreamIdFromExceptionInfo
        aclrtGetTaskIdFromExceptionInfo aclrtGetThreadIdFromExceptionInfo
        ; optional aclrtExceptionInfoCallbackRegister aclrtSetExceptionInfoCallback
        aclrtGetFuncHandleFromExceptionInfo aclrtGetFunctionName,
    "collectives", "cards that work together, over HCCL (racl::collective)":
        ; optional HcclGetRootInfo HcclCommInitRootInfo HcclCommInitRootInfoConfig HcclCommInitClusterInfo
        HcclCommInitClusterInfoConfig HcclCommInitAll HcclCreateSubCommConfig HcclCommDestroy HcclGetCommAsyncError
        HcclGetErrorString HcclGetCommName HcclGetRankId HcclGetRankSize HcclGetCommConfigCapability HcclGetConfig
        HcclSetConfig HcclAllReduce HcclAllGather HcclAllGatherV HcclReduceScatter HcclReduceScatterV HcclAlltoAll
        HcclAlltoAllV HcclAlltoAllVC HcclBroadcast HcclReduce HcclScatter HcclBarrier HcclSend HcclRecv
        HcclBatchSendRecv HcclGroupStart HcclGroupEnd,
    "profiles", "profiles, marks and steps":
        aclprofInit aclprofCreateConfig aclprofDestroyConfig aclprofStart aclprofStop aclprofFinalize
        ; optional aclprofSetConfig aclprofCreateStamp aclprofDestroyStamp aclprofSetStampTraceMessage aclprofMark
        aclprofRangeStart aclprofRangeStop aclprofMarkEx aclprofCreateStepInfo aclprofDestroyStepInfo
        aclprofGetStepTimestamp mstxDomainCreateA mstxDomainMarkA mstxDomainRangeStartA mstxDomainRangeEnd,
    "dumps", "what operators read and wrote": aclmdlInitDump aclmdlSetDump aclmdlFinalizeDump
        ; optional acldumpRegCallback acldumpUnregCallback,
    "operators", "tensors and the operators of racl::op":
        aclCreateTensor aclDestroyTensor aclCreateScalar aclDestroyScalar aclCreateIntArray aclDestroyIntArray
        aclDestroyAclOpExecutor
        aclnnAbs aclnnAbsGetWorkspaceSize aclnnAdd aclnnAddGetWorkspaceSize aclnnAddmm aclnnAddmmGetWorkspaceSize
        aclnnAdds aclnnAddsGetWorkspaceSize aclnnArgMax aclnnArgMaxGetWorkspaceSize
        aclnnBatchMatMul aclnnBatchMatMulGetWorkspaceSize
        aclnnCast aclnnCastGetWorkspaceSize aclnnClampMin aclnnClampMinGetWorkspaceSize
        aclnnDiv aclnnDivGetWorkspaceSize aclnnDivs aclnnDivsGetWorkspaceSize
        aclnnEmbedding aclnnEmbeddingGetWorkspaceSize aclnnEqTensor aclnnEqTensorGetWorkspaceSize
        aclnnGeluV2 aclnnGeluV2GetWorkspaceSize aclnnGtTensor aclnnGtTensorGetWorkspaceSize
        aclnnInplaceAdd aclnnInplaceAddGetWorkspaceSize aclnnInplaceCopy aclnnInplaceCopyGetWorkspaceSize
        aclnnInplaceFillScalar aclnnInplaceFillScalarGetWorkspaceSize
        aclnnInplaceMul aclnnInplaceMulGetWorkspaceSize aclnnLayerNorm aclnnLayerNormGetWorkspaceSize
        aclnnMatmul aclnnMatmulGetWorkspaceSize aclnnMaximum aclnnMaximumGetWorkspaceSize
        aclnnMean aclnnMeanGetWorkspaceSize aclnnMm aclnnMmGetWorkspaceSize aclnnMul aclnnMulGetWorkspaceSize
        aclnnMuls aclnnMulsGetWorkspaceSize aclnnPermute aclnnPermuteGetWorkspaceSize
        aclnnReduceSum aclnnReduceSumGetWorkspaceSize aclnnRmsNorm aclnnRmsNormGetWorkspaceSize
        aclnnRotaryPositionEmbedding aclnnRotaryPositionEmbeddingGetWorkspaceSize
        aclnnRsqrt aclnnRsqrtGetWorkspaceSize aclnnSWhere aclnnSWhereGetWorkspaceSize
        aclnnSoftmax aclnnSoftmaxGetWorkspaceSize aclnnSqrt aclnnSqrtGetWorkspaceSize
        aclnnSub aclnnSubGetWorkspaceSize aclnnSwiGlu aclnnSwiGluGetWorkspaceSize
        aclnnTanh aclnnTanhGetWorkspaceSize,
    "operators-by-name", "all operators that the library has, by their C names (racl::op::aclnn)":
        aclCreateTensor aclDestroyTensor aclCreateTensorList aclDestroyTensorList aclCreateScalar aclDestroyScalar
        aclCreateScalarList aclDestroyScalarList aclCreateIntArray aclDestroyIntArray aclCreateFloatArray
        aclDestroyFloatArray aclCreateBoolArray aclDestroyBoolArray aclDestroyAclOpExecutor
        ; optional aclSetAclOpExecutorRepeatable aclSetTensorAddr AclSetTensorAddr aclSetInputTensorAddr
        aclSetOutputTensorAddr aclSetDynamicInputTensorAddr aclSetDynamicOutputTensorAddr,
    "captured-graphs", "recording a stream and replaying it":
        aclmdlRICaptureBegin aclmdlRICaptureEnd aclmdlRICaptureGetInfo aclmdlRIExecuteAsync aclmdlRIDestroy
        aclrtStreamWaitEvent aclrtRecordEvent,
    "cross-stream-capture", "several streams in one captured graph":
        aclmdlRICaptureBegin aclmdlRICaptureEnd aclrtCreateEventExWithFlag aclrtRecordEvent aclrtStreamWaitEvent,
    "conditional-graphs", "choices and loops inside captured graphs (Stream::if_else)":
        aclmdlRICaptureToModelRIBegin aclmdlRIAddCondTask aclmdlRICondHandleCreate aclmdlRICondHandleGetCondPtr
        aclmdlRICaptureGetInfo aclmdlRICaptureEnd,
    "built-graphs", "graphs built by hand (Context::build_graph)":
        aclmdlRIBuildBegin aclmdlRIBindStream aclmdlRIEndTask aclmdlRIBuildEnd aclmdlRIUnbindStream aclmdlRIDestroy
        aclmdlRIExecuteAsync aclrtCreateStreamWithConfig
        ; optional aclmdlRIAbort,
    "labels", "streams of built graphs that start others, and jump":
        aclrtActiveStream aclrtSwitchStream aclrtCreateLabel aclrtDestroyLabel aclrtSetLabel aclrtCreateLabelList
        aclrtDestroyLabelList aclrtSwitchLabelByIndex aclrtValueWrite aclrtValueWait,
    "graph-tasks", "what is in a graph, and changes of it (Graph::tasks, Graph::change)":
        aclmdlRIGetStreams aclmdlRIGetTasksByStream aclmdlRITaskGetType aclmdlRITaskGetSeqId aclmdlRITaskGetParams
        ; optional aclmdlRITaskSetParams aclmdlRITaskDisable aclmdlRIUpdate aclmdlRIKernelTaskGetAttribute
        aclmdlRISetName aclmdlRIGetName aclmdlRIGetId aclmdlRIDebugPrint aclmdlRIDestroyRegisterCallback,
    "capture-modes", "other modes for parts of captures (Context::with_capture_mode)":
        aclmdlRICaptureThreadExchangeMode,
    "graph-dump", "captured graphs as JSON": aclmdlRIDebugJsonPrint,
    "task-group-updates", "operators of a captured graph replaced between or in runs":
        aclmdlRICaptureTaskGrpBegin aclmdlRICaptureTaskGrpEnd aclmdlRICaptureTaskUpdateBegin
        aclmdlRICaptureTaskUpdateEnd,
    "address-updates", "inputs that are updated inside the graph (plan::Input::Updatable)":
        aclmdlRICaptureTaskGrpBegin aclmdlRICaptureTaskGrpEnd aclmdlRICaptureTaskUpdateBegin
        aclmdlRICaptureTaskUpdateEnd aclrtCreateEventWithFlag aclrtResetEvent
        ; optional aclrtValueWait aclrtValueWrite aclSetAclOpExecutorRepeatable aclSetTensorAddr AclSetTensorAddr,
    "core-limits", "limits of cores for plans, threads and devices":
        aclrtGetDeviceResLimit aclrtSetStreamResLimit aclrtResetStreamResLimit aclrtUseStreamResInCurrentThread
        aclrtUnuseStreamResInCurrentThread
        ; optional aclrtGetStreamResLimit aclrtGetResInCurrentThread aclrtSetDeviceResLimit aclrtResetDeviceResLimit,
    "external-gates", "gates between a plan and work beside it": aclrtCreateEventWithFlag aclrtResetEvent
        ; optional aclrtValueWait aclrtValueWrite,
    "plans", "plans, captured or operator by operator":
        aclmdlRICaptureBegin aclmdlRICaptureEnd aclmdlRICaptureGetInfo aclmdlRIExecuteAsync aclmdlRIDestroy
        aclrtCreateEventExWithFlag aclrtRecordEvent aclrtStreamWaitEvent aclrtMalloc aclrtFree aclrtMemcpyAsync
        aclrtMemsetAsync aclCreateTensor aclDestroyTensor aclDestroyAclOpExecutor
        ; optional aclrtGetStreamAvailableNum aclrtGetEventAvailNum aclrtGetDeviceResLimit,
    "compile-cache", "plans on disk (feature cache)":
        ; optional aclrtGetVersion aclsysGetCANNVersion aclrtGetSocName aclrtGetDeviceInfo aclrtGetDeviceResLimit,
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use acl_sys::Release;

    use super::*;

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }

    /// Names of C functions outside comments, attributes and texts.
    fn called_in(source: &str) -> impl Iterator<Item = &str> {
        let lines =
            source.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with('#'));
        let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '"'));
        words.filter(|word| acl_sys::symbol_info(word).is_some())
    }

    /// Functions of operators, and others.
    fn apart(names: BTreeSet<&str>) -> (BTreeSet<&str>, BTreeSet<&str>) {
        names.into_iter().partition(|name| name.starts_with("aclnn"))
    }

    #[test]
    fn the_parts_need_what_the_crate_calls() {
        let texts: Vec<_> = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
            .iter()
            // All operators by their C names are there, which nobody has to have.
            .filter(|path| !path.ends_with("src/requirement.rs") && !path.parent().unwrap().ends_with("src/op/aclnn"))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        let called: BTreeSet<_> = texts.iter().flat_map(|text| called_in(text)).collect();
        let listed: BTreeSet<_> =
            ALL.iter().flat_map(|part| part.functions.iter().chain(part.optional)).copied().collect();
        // Functions of operators call them by those of `aclnn`; the list has those that plans compute on the host too.
        let (operators, rest) = apart(listed);
        let (called_operators, called_rest) = apart(called);
        assert_eq!(rest, called_rest);
        assert_eq!(called_operators.difference(&operators).collect::<Vec<_>>(), [&""; 0]);
        let first = |name: &&str| name.strip_suffix("GetWorkspaceSize").is_some_and(|name| operators.contains(name));
        assert_eq!(operators.iter().filter(|name| first(name)).count() * 2, operators.len());
    }

    #[test]
    fn streams_and_what_builds_on_them_need_nothing_that_came_after_cann_8_1() {
        let parts = ["library", "devices", "contexts", "memory", "streams", "events", "timing", "host-functions"];
        for name in parts.into_iter().chain(["captured-graphs", "plans"]) {
            let part = ALL.iter().find(|part| part.name == name).unwrap();
            let first = |function: &str| acl_sys::symbol_info(function).unwrap().first();
            let newer = part.functions.iter().filter(|function| first(function) > Some(Release::Cann8_1));
            assert_eq!(newer.copied().collect::<Vec<_>>(), [""; 0], "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_no_function_is_listed_twice() {
        let names: BTreeSet<_> = ALL.iter().map(Requirement::name).collect();
        assert_eq!(names.len(), ALL.len());
        for part in &ALL {
            let functions: BTreeSet<_> = part.functions.iter().chain(part.optional).collect();
            assert_eq!(functions.len(), part.functions.len() + part.optional.len(), "{}", part.name);
        }
    }
}
