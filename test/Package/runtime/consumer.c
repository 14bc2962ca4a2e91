/* A program that sees nothing but the installed runtime. */
#include <netra/engine.h>

#include <stdio.h>

int main(void) {
  char error[256];
  unsigned expected = NETRA_API_VERSION_MAJOR << 16 | NETRA_API_VERSION_MINOR;
  if (netra_api_version() != expected)
    return 1;
  if (netra_engine_verify("no-such-engine", error, sizeof error) != NETRA_IO)
    return 2;
  printf("%s\n", error);
  return 0;
}
