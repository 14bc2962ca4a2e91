"""Follows a page of the documentation: takes its snippets, puts each where the
page says, and builds and runs the test that results.

usage: follow.py [--cxx …] --page FILE --section TITLE --work FOLDER
                 [--run ARGUMENT] [--tool NAME]

Each snippet begins with ```LANGUAGE in=FILE before=MARK and goes into a copy of
FILE, in front of the first line that contains MARK, or to the end without MARK.
A snippet that does not say where it goes is an error. The copies of C++ files
are compiled, in place of the originals, and linked with GoogleTest and the
build's NetraCatalog. With a tool, that is linked as the build links it, but with
the copies of the library's files.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys


def snippets(page, section):
    text = page.read_text()
    start = text.index(f"### {section}\n")
    end = re.search(r"\n##+ ", text[start + 1 :])
    body = text[start : start + 1 + end.start() if end else len(text)]
    for info, snippet in re.findall(r"^```([^\n]*)\n(.*?)^```$", body, re.M | re.S):
        place = re.fullmatch(r"\w+ in=(\S+)(?: before=(.*))?", info)
        if not place:
            sys.exit(f"{page}: expected a snippet to say where it goes, found {info!r}")
        yield place[1], place[2], snippet


def link(build, tool, work, objects):
    target = f"bin/{tool}"
    commands = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", target],
        check=True,
        capture_output=True,
        text=True,
    )
    command = commands.stdout.splitlines()[-1]
    output = f"-o {target} "
    if command.count(output) != 1:
        sys.exit(f"expected a command that links {target}, found {command}")
    # In front of the library, so that its own files are not taken.
    files = " ".join(shlex.quote(str(path)) for path in objects)
    place = f"-o {shlex.quote(str(work / tool))} {files} "
    subprocess.run(command.replace(output, place), shell=True, cwd=build, check=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cxx", "llvm-include", "llvm-lib", "section", "run", "tool"):
        parser.add_argument("--" + name)
    for name in ("source", "build", "page", "work"):
        parser.add_argument("--" + name, type=pathlib.Path)
    options = parser.parse_args()

    copies = {}
    for file, mark, snippet in snippets(options.page, options.section):
        lines = copies.setdefault(
            file, (options.source / file).read_text().splitlines(keepends=True)
        )
        at = len(lines)
        if mark:
            at = next(
                (i for i, line in enumerate(lines) if mark in line), None
            )
            if at is None:
                sys.exit(f"{file}: expected a line with {mark!r}")
        lines.insert(at, snippet)

    options.work.mkdir(parents=True, exist_ok=True)
    objects, library = [], []
    for file, lines in copies.items():
        copy = options.work / pathlib.Path(file).name
        copy.write_text("".join(lines))
        if copy.suffix != ".cpp":
            continue
        objects.append(copy.with_suffix(".o"))
        if file.startswith("lib/"):
            library.append(objects[-1])
        subprocess.run(
            [
                options.cxx,
                "-std=c++20",
                "-O0",
                "-fno-rtti",
                f"-I{options.source}/include",
                f"-I{(options.source / file).parent}",
                "-isystem",
                options.llvm_include.split(";")[0],
                "-c",
                copy,
                "-o",
                objects[-1],
            ],
            check=True,
        )
    program = options.work / "follow"
    llvm = pathlib.Path(options.llvm_lib)
    shared = next(iter(sorted(llvm.glob("libLLVM*.so*"))))
    subprocess.run(
        [options.cxx, *objects]
        + [options.build / "lib" / "libNetraCatalog.a"]
        + [shared, f"-Wl,-rpath,{llvm}", "-lgmock", "-lgtest", "-lgtest_main"]
        + ["-lpthread", "-o", program],
        check=True,
    )
    subprocess.run([program] + ([options.run] if options.run else []), check=True)
    if options.tool:
        link(options.build, options.tool, options.work, library)


main()
