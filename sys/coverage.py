#!/usr/bin/env python3
"""Writes docs/api-coverage.md: for each C function its releases, where racl calls it, and what the mock does with it.

coverage.py [--check]    with --check nothing is written, and the page must be current

What several programs call (sys/used.txt) has to be called, or to have a reason.
Releases come from sys/src/bindings/symbols.rs, headers from mock-acl/include, the mock from mock-acl/src/exports.def and
beside.def.
racl's part is what src names outside of comments, texts and tests: `call!(…, name(…))`, `collective!(…)`, `operator!(…)`
and the macros around it, `owned!` and the methods of the call table all name the C function.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, "mock-acl/tools"))
import exports  # noqa: E402

PAGE = os.path.join(ROOT, "docs/api-coverage.md")
RELEASES = ["8.1", "8.2", "8.3", "9.0", "after 9.1", "head"]
OPERATORS = "aclnnop/"
PHASE = "GetWorkspaceSize"
USED = {line.strip() for line in open(os.path.join(ROOT, "sys/used.txt")) if not line.startswith("#")}
# Functions that racl does not call, with what is instead, or why there is no use for it.
INSTEAD = {
    "aclGetCannAttributeList": "each feature is asked for by itself",
    "aclmdlGetAippDataSize": "the size is that of the model's input",
    "aclmdlGetFirstAippInfo": "of preprocessing that is built in, which runs set nothing of",
    "aclmdlSetAIPPByInputIndex": "`aclmdlSetInputAIPP`, with the index that `aclmdlGetAippType` tells",
    "aclmdlSetAIPPScfParams": "the implementation refuses images that are scaled",
    "aclmdlExecute": "`aclmdlExecuteAsync` on a stream: ordered with other work, and memory in flight is kept",
    "aclmdlExecuteAsyncV2": "`aclmdlExecuteAsync`: work memory is set when a model is loaded, and limits by whoever waits",
    "aclmdlExecuteV2": "`aclmdlExecuteAsync` on a stream, as for `aclmdlExecute`",
    "aclmdlGetDatasetBuffer": "a run has a list of its own",
    "aclmdlGetDatasetNumBuffers": "a run has a list of its own",
    "aclmdlGetInputIndexByName": "names are read once, when a model is loaded",
    "aclmdlRIDestroyUnregisterCallback": "a graph that is given away keeps what it uses until it is destroyed",
    "aclmdlRIExecute": "`Graph::launch` and `Graph::wait`: on a stream, in order with other work, and a wait of any length",
    "aclrtAllocBuf": "buffers of queues, which racl does not wrap",
    "aclrtAppendBufChain": "as `aclrtAllocBuf`",
    "aclrtCopyBufRef": "as `aclrtAllocBuf`",
    "aclrtPersistentTaskClean": "streams of a built graph take nothing more; another graph is built",
    "aclrtCreateEvent": "`aclrtCreateEventExWithFlag`: events that need no reset, and that captures take",
    "aclrtCreateGroupInfo": "groups of cores of older chips; limits of cores are `Stream::limit_cores`",
    "aclrtCreateStream": "`aclrtCreateStreamWithConfig`, with priority 0 and no flags",
    "aclrtDestroyGroupInfo": "as `aclrtCreateGroupInfo`",
    "aclrtDestroyStreamForce": "work that runs may use memory still: `Stream::abort`, then `close`",
    "aclrtFreeBuf": "as `aclrtAllocBuf`",
    "aclrtFreeHostWithDevSync": "`aclrtFreeHost`: as `aclrtFreeWithDevSync`",
    "aclrtFreeWithDevSync": "`aclrtFree` once the work that uses the memory is done; the rest of the device goes on",
    "aclrtGetAllGroupInfo": "as `aclrtCreateGroupInfo`",
    "aclrtGetArgsFromExceptionInfo": "the addresses are those of the launch, which the program has",
    "aclrtGetBufChainNum": "as `aclrtAllocBuf`",
    "aclrtGetBufData": "as `aclrtAllocBuf`",
    "aclrtGetBufDataLen": "as `aclrtAllocBuf`",
    "aclrtGetBufFromChain": "as `aclrtAllocBuf`",
    "aclrtGetBufUserData": "as `aclrtAllocBuf`",
    "aclrtGetFuncBySymbol": "`KernelBinary::kernel`: symbols are of programs compiled for host and device at once",
    "aclrtGetGroupCount": "as `aclrtCreateGroupInfo`",
    "aclrtGetGroupInfoDetail": "as `aclrtCreateGroupInfo`",
    "aclrtGetLastError": "the code of each call is in its error",
    "aclrtGetSymbolAddress": "`KernelBinary::global`, by name",
    "aclrtGetSymbolSize": "`KernelBinary::global`, by name",
    "aclrtHostGetDevicePointer": "`aclrtHostRegister` gives the address",
    "aclrtIpcMemImportPidInterServer": "between servers: `PhysicalMemory::export_fabric`",
    "aclrtLaunchSIMTKernelWithArgsArray": "no chip that the mock simulates has cores for kernels of threads",
    "aclrtLaunchSIMTKernelWithHostArgs": "no chip that the mock simulates has cores for kernels of threads",
    "aclrtMallocAlign32": "`aclrtMalloc`: the pool aligns, and operators may read beyond the end",
    "aclrtMallocCached": "`aclrtMalloc`: device memory is coherent with its cache, and nothing is to be flushed",
    "aclrtMallocForTaskScheduler": "memory for the firmware's scheduler, of no use to programs",
    "aclrtMallocHostWithCfg": "`aclrtMallocHost`: as `aclrtMallocWithCfg`",
    "aclrtMallocWithCfg": "`aclrtMalloc`: a program has no other module and device to name",
    "aclrtMemFlush": "memory is coherent, there is nothing to flush",
    "aclrtMemInvalidate": "memory is coherent, there is nothing to invalidate",
    "aclrtMemMapNoAccess": "`aclrtMapMem` and `aclrtMemSetAccess`",
    "aclrtMemPoolCreate": "the pool of racl, which captures, statistics and limits know; that of the library is marked as no product",
    "aclrtMemPoolDestroy": "as `aclrtMemPoolCreate`",
    "aclrtMemPoolFreeAsync": "as `aclrtMemPoolCreate`",
    "aclrtMemPoolGetAttr": "as `aclrtMemPoolCreate`",
    "aclrtMemPoolMallocAsync": "as `aclrtMemPoolCreate`",
    "aclrtMemPoolSetAttr": "as `aclrtMemPoolCreate`",
    "aclrtMemPoolTrimTo": "as `aclrtMemPoolCreate`",
    "aclrtMemcpy2d": "`aclrtMemcpy2dAsync` on a stream",
    "aclrtMemcpyAsyncWithCondition": "`aclrtMemcpyAsync`: deprecated, and pinned memory is a type of its own",
    "aclrtMemcpyBatchAsyncV2": "`aclrtMemcpyBatchAsync`, which says which copy failed",
    "aclrtMemcpyBatchV2": "`aclrtMemcpyBatch`, which says which copy failed",
    "aclrtMemcpyFromSymbol": "`KernelBinary::global`, by name",
    "aclrtMemcpyFromSymbolAsync": "`KernelBinary::global`, by name",
    "aclrtMemcpyToSymbol": "`KernelBinary::global`, by name",
    "aclrtMemcpyToSymbolAsync": "`KernelBinary::global`, by name",
    "aclrtNotifySetImportPidInterServer": "signals between servers are those of collective communication",
    "aclrtPeekAtLastError": "the code of each call is in its error",
    "aclrtQueryEventWaitStatus": "for events of the older kind, which racl does not make",
    "aclrtReserveMemAddressNoUCMemory": "for operators that bypass the cache, at addresses that a program would have to know",
    "aclrtSetBufDataLen": "as `aclrtAllocBuf`",
    "aclrtSetBufUserData": "as `aclrtAllocBuf`",
    "aclrtSetGroup": "as `aclrtCreateGroupInfo`",
    "aclsysGetVersionNum": "`aclsysGetCANNVersion`",
    "aclsysGetVersionStr": "`aclsysGetCANNVersion`",
    "mstxDomainDestroy": "the domain is there as long as the process",
    "mstxGetToolId": "a mark that no tool takes costs nothing",
    "mstxMarkA": "`mstxDomainMarkA`: what racl tells has a domain, by which tools choose",
    "mstxRangeEnd": "`mstxDomainRangeEnd`, as `mstxMarkA`",
    "mstxRangeStartA": "`mstxDomainRangeStartA`, as `mstxMarkA`",
}
# The same for what a header has, by the start of the name, where nothing above says more.
INSTEAD_OF_ALL = {
    "aclmdlBundle": "no program that was looked at loads bundles of models",
    "aclop": "operators by name and attributes, compiled when they run: `racl::op::aclnn` has those that come compiled",
}
HEAD = """# Coverage of the C interface

Generated by `sys/coverage.py`; not edited by hand. The bindings of acl-sys declare every function listed here. Below:

- **since**, **last**: the first and the last CANN release whose headers declare the function; `8.1` stands for
  everything up to there, `after 9.1` for the release that follows CANN 9.1, `head` for the open repositories in
  August 2026; no last release: it is still there. A `?` is a function whose releases were not read. Headers of a
  release hold less than its library: see `acl_sys::SymbolInfo`.
- **racl**: the files of `src` that call it; *in italics* why none does, where that is not that nobody has done it yet.
  Each operator (`aclnnop/`) has a function in `racl::op::aclnn`, made from the list of them; files are those that call
  it beside that.
- **mock**: simulated, accepted without effect, or not supported (the error names the function); notes are in
  [the mock's list](../mock-acl/docs/functions.md).
"""


def symbols():
    text = open(os.path.join(ROOT, "sys/src/bindings/symbols.rs")).read()
    return {name: int(sets) for _, name, sets in re.findall(r"^ +(\w+) (\w+) (\d+);$", text, re.M)}


def releases(sets):
    """First and last release of a set of header sets, as acl_sys::SymbolInfo has them."""
    if sets == 0:
        return "?", ""
    there = [name for bit, name in enumerate(RELEASES) if sets >> bit & 1]
    return there[0], "" if sets >> 4 else there[-1]


def code_of(text):
    """Rust without comments, texts and the tests at its end."""
    text = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, maxsplit=1, flags=re.M)[0]
    return re.sub(r"""//[^\n]*|\br(#*)".*?"\1|'\\?"'|"(?:\\.|[^"\\])*\"""", " ", text, flags=re.S)


def wrapped(known):
    """The files that call a function, by its name."""
    found, made = {}, set()
    for path, _, files in sorted(os.walk(os.path.join(ROOT, "src"))):
        if path == os.path.join(ROOT, "src/op/aclnn"):
            # sys/operators.py makes a function for each operator; no file is named for it.
            for file in files:
                made |= set(re.findall(r"\bacl\w+", code_of(open(os.path.join(path, file)).read()))) & known
            continue
        for file in sorted(files):
            # The list of what parts of racl need calls nothing.
            if file.endswith(".rs") and (path, file) != (os.path.join(ROOT, "src"), "requirement.rs"):
                full = os.path.join(path, file)
                for name in set(re.findall(r"\bacl\w+|\bAcl\w+|\bHccl\w+|\bmstx\w+", code_of(open(full).read()))) & known:
                    found.setdefault(name, []).append(os.path.relpath(full, ROOT))
    return found, made


class Page:
    def __init__(self):
        self.sets = symbols()
        self.callers, self.made = wrapped(set(self.sets))
        entries = exports.entries() + exports.entries("beside.def")
        self.fidelity = {name: exports.WORDS.get(word, "not supported") for _, name, word in entries}
        self.headers = {}
        for name, header in exports.headers(("acl", "aclnn", "aclnnop", "hccl", "mstx")).items():
            self.headers.setdefault(OPERATORS if header.startswith(OPERATORS) else header, []).append(name)
        self.shown = set()

    def row(self, names, label):
        """A row for functions that share everything."""
        self.shown |= set(names)
        first, last = releases(self.sets[names[0]])
        files = dict.fromkeys(file for name in names for file in self.callers.get(name, []))
        racl = ", ".join(f"[{file[4:]}](../{file})" for file in files)
        reason = INSTEAD.get(names[0])
        if racl and reason:
            sys.exit(f"{names[0]} is called by now; take it out of INSTEAD")
        if not racl and not reason:
            reason = next((why for start, why in INSTEAD_OF_ALL.items() if names[0].startswith(start)), None)
        if names[0] in USED and not racl and not reason:
            sys.exit(f"several programs call {names[0]}: racl has to, or INSTEAD says why it does not")
        if reason:
            racl = f"*{reason}*"
        return f"| {label} | {first} | {last} | {racl} | {self.fidelity[names[0]]} |"

    def counts(self, names):
        mock = [self.fidelity[name] for name in names]
        called = sum(name in self.callers or name in self.made for name in names)
        return [len(names), called, *(mock.count(word) for word in [*exports.WORDS.values(), "not supported"])]

    def summary(self):
        lines = ["| header | functions | called by racl | mock: simulated | accepted | not supported |",
                 "|---|---|---|---|---|---|"]
        for header in sorted(self.headers):
            cells = " | ".join(map(str, self.counts(self.headers[header])))
            lines.append(f"| [{header}](#{re.sub(r'[^a-z0-9_-]', '', header.lower())}) | {cells} |")
        total = " | ".join(f"**{n}**" for n in self.counts([n for names in self.headers.values() for n in names]))
        return lines + [f"| **all** | {total} |"]

    def table(self, names):
        lines = ["| function | since | last | racl | mock |", "|---|---|---|---|---|"]
        return lines + [self.row([name], f"`{name}`") for name in sorted(names)]

    def operators(self, names):
        """Operators that somebody uses have rows; the others are lists by release."""
        names, lists = set(names), {}
        used = ["| operator | since | last | racl | mock |", "|---|---|---|---|---|"]
        for name in sorted(names):
            if name.endswith(PHASE) and name.removesuffix(PHASE) in names:
                continue
            both = [name, name + PHASE] if name + PHASE in names else [name]
            same = len({(self.sets[n], self.fidelity[n]) for n in both}) == 1
            if not same:
                sys.exit(f"the phases of {name} differ in releases or in what the mock does")
            if any(n in self.callers for n in both) or self.fidelity[name] in exports.WORDS.values():
                used.append(self.row(both, f"`{name}`" + (" +" if len(both) == 2 else "")))
            else:
                self.shown |= set(both)
                lists.setdefault((releases(self.sets[name]), len(both)), []).append(name)
        text = (f"`+`: both phases, `NAME` and `NAME{PHASE}`; each of these has a function in `racl::op::aclnn` too.\n"
                "Operators were read in CANN 8.1 and at the head only.")
        lines = [text, "", *used]
        for ((first, last), phases), members in sorted(lists.items()):
            what = "operators, both phases (+)" if phases == 2 else "functions"
            until = f", last in {last}" if last else ""
            unused = f"Without a function of their own in `racl::op`, not supported by the mock, since {first}{until}"
            lines += ["", f"{unused}: {len(members)} {what}:", ""]
            lines += folded(members)
        return lines

    def text(self):
        lines = [HEAD, *self.summary()]
        for header in sorted(self.headers):
            lines += ["", f"## {header}", ""]
            names = self.headers[header]
            lines += self.operators(names) if header == OPERATORS else self.table(names)
        left_out = set(self.sets) ^ self.shown
        if left_out:
            sys.exit(f"not on the page, or not in the bindings: {sorted(left_out)}")
        return "\n".join(lines) + "\n"


def folded(names):
    lines, line = [], ""
    for name in names:
        if len(line) + len(name) > 112:
            lines.append(line.rstrip())
            line = ""
        line += f"`{name}` "
    return lines + [line.rstrip()]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    text = Page().text()
    if not sys.argv[1:]:
        os.makedirs(os.path.dirname(PAGE), exist_ok=True)
        open(PAGE, "w").write(text)
    elif not os.path.exists(PAGE) or open(PAGE).read() != text:
        sys.exit("docs/api-coverage.md is not current: run sys/coverage.py")


main()
