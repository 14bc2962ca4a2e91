// Linked into every program and library of a build with AddressSanitizer.
//
// LLVM's libraries come without instrumentation, but its allocators, which
// stand in headers, mark free memory as forbidden wherever they are compiled
// with it; the two disagree about the same block. The marks are left out.
//
// LLVM gives a thread that first asks for a signal handler a stack of its own
// for them; AddressSanitizer would take it for its own when the thread ends, so
// it makes none.
//
// Weak, because a program gets it from each library that it is made of.
extern "C" __attribute__((weak, used, visibility("default"))) const char *
__asan_default_options() {
  return "allow_user_poisoning=0:use_sigaltstack=0";
}
