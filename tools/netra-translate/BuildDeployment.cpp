//===- BuildDeployment.cpp - netra-translate --build-deployment -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BuildDeployment.h"
#include "Cache.h"
#include "InputFile.h"

#include "Netra/Target/Deployment.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace netra;
using llvm::Error;
using llvm::Expected;

Error netra::buildDeployment(const DeploymentSettings &settings,
                             Progress &progress) {
  progress.begin("read");
  Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      tool::readInput(settings.manifest);
  if (!buffer)
    return buffer.takeError();
  Expected<Deployment> deployment =
      parseDeployment((*buffer)->getBuffer(), settings.manifest);
  if (!deployment)
    return deployment.takeError();
  std::string root = Catalog::findLibraryRoot(settings.libraryRoot);
  Expected<Catalog> catalog = Catalog::load(root, settings.target);
  if (!catalog)
    return catalog.takeError();
  Cache cache(settings.cacheDir, settings.verbose);
  Expected<KernelBuilder> builder = KernelBuilder::create(
      root, settings.target, settings.goldenRoot, cache.get());
  if (!builder)
    return builder.takeError();
  progress.begin("assemble");
  Expected<BuiltDeployment> built =
      buildDeployment(*deployment, *catalog, *builder, settings.jobs,
                      [&](size_t done, size_t total, llvm::StringRef name) {
                        progress.advance(done, total, name);
                      });
  cache.report();
  if (!built)
    return built.takeError();
  progress.begin("write");
  if (Error error = writeDeployment(built->files, settings.output))
    return error;
  progress.finish();
  for (const auto &[name, hash] : built->unlocked)
    llvm::errs() << "netra-translate: warning: artifact " << name
                 << " is not locked; its .text has SHA-256 " << hash << "\n";
  return Error::success();
}
