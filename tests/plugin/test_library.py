"""The shared library as the loader sees it."""

import subprocess


def symbols(native, *options):
    text = subprocess.check_output(["nm", "--dynamic", "--format=posix", *options, native.plugin], text=True)
    return {line.split()[0].partition("@")[0] for line in text.splitlines()}


def test_exports_a_table_for_each_version_and_nothing_else(native):
    assert symbols(native, "--defined-only") == {f"ncclProfiler_v{version}" for version in range(1, 8)}


def test_needs_the_c_library_alone(native):
    text = subprocess.check_output(["readelf", "--dynamic", native.plugin], text=True)
    needed = {line.split("[")[1].rstrip("]") for line in text.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}
    # Bound at load, and never unloaded under a thread that is still inside.
    flags = next(line for line in text.splitlines() if "(FLAGS_1)" in line).split()
    assert {"NOW", "NODELETE"} <= set(flags)


def test_neither_allocates_nor_throws(native):
    undefined = symbols(native, "--undefined-only")
    assert {"clock_gettime", "posix_fallocate"} <= undefined
    assert not undefined & {"malloc", "calloc", "realloc", "free", "printf", "fprintf", "abort", "exit"}
    assert not [name for name in undefined if name.startswith(("_Z", "__cxa_throw", "__cxa_guard"))]
