"""A CuPy of one's own for machines without a GPU: arrays of NumPy, kernels compiled for the CPU.

Every block has one thread, so that only kernels of one lane can run. What it shows is that the
code around the kernels is right, and that the kernels do what they say; not what they do when
threads meet.
"""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

COMPILER = shutil.which("g++") or shutil.which("clang++")

SHIM = """
#include <algorithm>
#include <cmath>
#include <cstring>
using std::min;
#define __global__
#define __device__
#define __restrict__
#define __launch_bounds__(threads, blocks)
#define __shared__ static
struct Place { int x, y; };
static Place threadIdx{0, 0}, blockDim{1, 1}, blockIdx{0, 0}, gridDim{1, 1};
extern "C" void set_block(int x, int y, int wide, int high) {
  blockIdx = {x, y};
  gridDim = {wide, high};
}
static void __syncthreads() {}
static void __threadfence_block() {}
static bool __syncthreads_or(bool value) { return value; }
template <class To, class From> To same_bits(From value) {
  To other;
  std::memcpy(&other, &value, sizeof(To));
  return other;
}
template <class T> T __ldcg(const T* place) { return *place; }
template <class T> void __stcg(T* place, T value) { *place = value; }
static double __longlong_as_double(long long value) { return same_bits<double>(value); }
static long long __double_as_longlong(double value) { return same_bits<long long>(value); }
static float __int_as_float(int value) { return same_bits<float>(value); }
static int __float_as_int(float value) { return same_bits<int>(value); }
static float __double2float_rd(double value) {
  const float near = (float)value;
  return near > value ? std::nextafterf(near, -INFINITY) : near;
}
static int __popc(unsigned value) { return __builtin_popcount(value); }
template <class T, class U> T atomicMin(T* place, U value) {
  const T old = *place;
  *place = std::min(old, (T)value);
  return old;
}
template <class T, class U> T atomicExch(T* place, U value) {
  const T old = *place;
  *place = value;
  return old;
}
template <class T, class U> T atomicAdd(T* place, U value) {
  const T old = *place;
  *place += value;
  return old;
}
template <class T, class U> T atomicOr(T* place, U value) {
  const T old = *place;
  *place |= value;
  return old;
}
"""


class RawKernel:
    def __init__(self, source, name, options=()):
        self.name = name
        flags = [option for option in options if option.startswith("-D")]
        key = hashlib.sha256("".join([SHIM, source, *flags]).encode()).hexdigest()
        with tempfile.TemporaryDirectory() as name:
            code, library = Path(name) / "kernel.cpp", Path(name) / f"{key}.so"
            code.write_text(SHIM + source)
            command = [COMPILER, "-O1", "-w", "-shared", "-fPIC", *flags, "-o", library, code]
            subprocess.run(command, check=True)
            self.library = ctypes.CDLL(str(library))

    def __call__(self, grid, block, arguments):
        passed = [_passed(argument) for argument in arguments]
        wide, high = (*grid, 1)[:2]
        for y in range(high):
            for x in range(wide):
                self.library.set_block(x, y, wide, high)
                getattr(self.library, self.name)(*passed)


def _passed(argument):
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return argument.ctypes.data_as(ctypes.c_void_p)
    kinds = {np.int32: ctypes.c_int, np.int64: ctypes.c_longlong, np.float32: ctypes.c_float}
    return kinds[type(argument)](argument)


class NoDeviceError(Exception):
    pass


def make_cupy(memory=1 << 30, n_devices=1):
    """Make a module with as much of CuPy as the engine uses."""
    pool = SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)

    def count():
        if not n_devices:
            raise NoDeviceError("no device is detected")
        return n_devices

    runtime = SimpleNamespace(
        memGetInfo=lambda: (memory, memory),
        getDeviceCount=count,
        CUDARuntimeError=NoDeviceError,
    )
    device = SimpleNamespace(
        attributes={"MultiProcessorCount": 2}, synchronize=lambda: None, compute_capability="90"
    )
    return SimpleNamespace(
        asarray=np.asarray,
        asnumpy=np.asarray,
        empty=np.empty,
        zeros=np.zeros,
        arange=np.arange,
        RawKernel=RawKernel,
        get_default_memory_pool=lambda: pool,
        cuda=SimpleNamespace(runtime=runtime, Device=lambda: device),
    )
