"""The shared library of module.rs, for Python: its functions take and give capsules of DLPack."""

import ctypes

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

NAME, USED = b"dltensor", b"used_dltensor"  # a capsule keeps these addresses


class OnHost:
    """A tensor as NumPy asks for it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0


class Module:
    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self._library.example_double.restype = ctypes.c_void_p
        self._library.example_double.argtypes = [ctypes.c_void_p]
        self._library.example_message.restype = ctypes.c_char_p

    def double(self, tensor):
        """A capsule with twice the tensor."""
        capsule = tensor.__dlpack__()
        pointer = _api.PyCapsule_GetPointer(capsule, NAME)
        _api.PyCapsule_SetName(capsule, USED)  # it is the library's to end from here on
        out = self._library.example_double(pointer)
        if out is None:
            raise RuntimeError(self._library.example_message().decode())
        return _api.PyCapsule_New(out, NAME, None)
