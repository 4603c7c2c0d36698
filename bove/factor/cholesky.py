"""Solving with one small positive definite matrix after the other, many threads at a time.

SciPy's Python functions keep the interpreter's lock during a solve, so that threads would wait for each
other. The same LAPACK routine, taken from SciPy's interface for compiled code, does not.
"""

import ctypes

import numpy as np
from scipy.linalg import cython_lapack

_get_name = ctypes.pythonapi.PyCapsule_GetName
_get_name.restype, _get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _routine(name: str):
    """A routine of type void (char *uplo, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, int *info)."""
    capsule = cython_lapack.__pyx_capi__[name]
    address = _get_pointer(capsule, _get_name(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8)(address)


_POSV = {np.dtype(np.float32): _routine("sposv"), np.dtype(np.float64): _routine("dposv")}


def solve_rows(A: np.ndarray, B: np.ndarray) -> bool:
    """B ← B A⁻¹ in place; whether A was positive definite to its precision (if not, B means nothing).

    Args:
        A: [r, r] symmetric, float32 or float64; overwritten.
        B: [n, r] of the same type. Both contiguous, row by row.
    """
    if not (A.flags.c_contiguous and B.flags.c_contiguous and A.dtype == B.dtype):
        raise ValueError("solve_rows takes contiguous arrays of one type")
    # row by row is column by column of the transposes, and A is its own
    r, n, info = ctypes.c_int(len(A)), ctypes.c_int(len(B)), ctypes.c_int()
    size, count, said = ctypes.byref(r), ctypes.byref(n), ctypes.byref(info)
    _POSV[A.dtype](b"L", size, count, A.ctypes.data, size, B.ctypes.data, size, said)
    return info.value == 0
