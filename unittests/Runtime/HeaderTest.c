/*===- HeaderTest.c - engine.h in C99 ---------------------------------------===
 *
 * SPDX-License-Identifier: MIT
 *
 *===----------------------------------------------------------------------===*/

#include <netra/engine.h>

#include <netra/hipsim.h>

/* Called from C++: the interface compiles, links and works from C99. */
int netra_header_test(void);

int netra_header_test(void) {
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  netra_shape shape = NETRA_SHAPE_INIT;
  netra_engine *engine = NULL;
  char error[64] = "";
  if (options.struct_size != sizeof options || shape.m != 1 ||
      shape.tensor_parallel != 1)
    return 1;
  if (netra_engine_create("/does/not/exist", &options, &engine, error,
                          sizeof error) != NETRA_IO)
    return 2;
  if (engine != NULL || error[0] == '\0')
    return 3;
  return netra_engine_destroy(engine) == NETRA_OK ? 0 : 4;
}
