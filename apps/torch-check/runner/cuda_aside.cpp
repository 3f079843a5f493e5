// Lets torch_npu be imported beside a build of torch that has CUDA, which is what the package index offers on x86-64.
// Both name options of their allocators in one set of c10, some of them alike, and the second of a name throws while the
// library is loaded. Here c10_cuda gets a set of its own; nothing else sees a difference, there is no CUDA device.
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <unordered_set>

#define KEYS "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev"

using Names = std::unordered_set<std::string>;
Names &keys() asm(KEYS);

Names &keys() {
    static Names &aside = *new Names;
    Dl_info caller = {};
    if (dladdr(__builtin_return_address(0), &caller) != 0 && std::strstr(caller.dli_fname, "libc10_cuda")) return aside;
    void *c10 = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    return reinterpret_cast<Names &(*)()>(dlsym(c10, KEYS))();
}
