/* Part of racl (mock-acl). A shared object for another version of the interface. */
#include "mock_acl_kernel.h"

MOCK_ACL_KERNEL_EXPORT const mock_acl_kernel_table mock_acl_kernels = {
    .abi = MOCK_ACL_KERNEL_ABI + 1, .kernel_size = sizeof(mock_acl_kernel)};
