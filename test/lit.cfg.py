"""The lit suite: folders mirror lib/, tools/ and runtime/."""

import os

import lit.formats

config.name = "Netra"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".s"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.netra_binary_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.netra_binary_dir, "bin"),
        config.llvm_tools_dir,
        config.environment["PATH"],
    ]
)
config.environment["NETRA_LIBRARY_ROOT"] = config.netra_source_dir
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# For tests that build what a page of the documentation says.
config.substitutions.append(
    (
        "%netra_follow",
        "python3 "
        + os.path.join(config.test_source_root, "Inputs", "follow.py")
        + f" --cxx {config.cxx} --llvm-include {config.llvm_include_dir}"
        + f" --llvm-lib {config.llvm_library_dir}"
        + f" --source {config.netra_source_dir}"
        + f" --build {config.netra_binary_dir}",
    )
)
if config.sanitizers:
    config.available_features.add("sanitized")
if "address" in config.sanitizers:
    config.available_features.add("asan")
config.substitutions.append(("%netra_src", config.netra_source_dir))
config.substitutions.append(("%netra_lib", os.path.join(config.netra_binary_dir, "lib")))
