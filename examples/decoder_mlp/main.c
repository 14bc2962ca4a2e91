/*===- main.c - Running an engine from C
 * --------------------------------------===
 *
 * SPDX-License-Identifier: MIT
 *
 * Loads an engine and its packed weights, launches it once on the inputs given
 * as raw little-endian files, and writes the outputs. Links libnetra_engine and
 * nothing else: HIP, or the simulated GPU, is found at run time.
 *
 *   decoder-mlp ENGINE WEIGHTS NAME=FILE...
 *
 * Every input and output of the engine needs a NAME=FILE. With
 * NETRA_HIP_LIBRARY=sim the engine runs on the simulator.
 *
 *===----------------------------------------------------------------------===*/

#include <netra/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static netra_engine *engine;

/* Ends the program with the sentence of the failed call. */
static void check(netra_status status, const char *what) {
  if (status == NETRA_OK)
    return;
  fprintf(stderr, "decoder-mlp: %s: %s: %s\n", what, netra_status_name(status),
          netra_engine_last_error(engine));
  exit(1);
}

static void fail(const char *what, const char *name) {
  fprintf(stderr, "decoder-mlp: %s '%s'\n", what, name);
  exit(1);
}

/* The FILE of NAME=FILE among the arguments. */
static const char *file_of(const char *name, int argc, char **argv) {
  size_t length = strlen(name);
  int i;
  for (i = 3; i < argc; ++i)
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
      return argv[i] + length + 1;
  fail("no NAME=FILE given for", name);
  return NULL;
}

static void read_file(const char *path, void *data, size_t bytes) {
  FILE *file = fopen(path, "rb");
  if (!file)
    fail("cannot open", path);
  if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF)
    fail("an input has another size than its binding:", path);
  fclose(file);
}

static void write_file(const char *path, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
    fail("cannot write", path);
}

/* Copies a binding between its file and its device buffer. */
static void transfer(const netra_binding_info *binding, void *device,
                     const char *path, int to_device) {
  void *host = malloc(binding->bytes);
  if (!host)
    fail("out of memory for", binding->name);
  if (to_device)
    read_file(path, host, binding->bytes);
  check(netra_device_copy(engine, to_device ? device : host,
                          to_device ? host : device, binding->bytes,
                          to_device ? NETRA_HOST_TO_DEVICE
                                    : NETRA_DEVICE_TO_HOST),
        binding->name);
  if (!to_device)
    write_file(path, host, binding->bytes);
  free(host);
}

int main(int argc, char **argv) {
  netra_shape shape = NETRA_SHAPE_INIT; /* one token of one sequence */
  char error[512];
  void *buffers[16];
  uint32_t count, i;

  if (argc < 3) {
    fprintf(stderr, "usage: decoder-mlp ENGINE WEIGHTS NAME=FILE...\n");
    return 2;
  }
  if (netra_engine_create(argv[1], NULL, &engine, error, sizeof error) !=
      NETRA_OK)
    fail(error, argv[1]);
  check(netra_engine_load_weights(engine, argv[2]), "loading the weights");

  check(netra_engine_binding_count(engine, &count), "counting the bindings");
  if (count > sizeof buffers / sizeof *buffers)
    fail("more bindings than this program holds in", argv[1]);
  for (i = 0; i < count; ++i) {
    netra_binding_info binding;
    binding.struct_size = sizeof binding;
    check(netra_engine_query_binding(engine, i, &binding), "a binding");
    check(netra_device_malloc(engine, binding.bytes, &buffers[i]), "malloc");
    check(netra_engine_bind(engine, i, buffers[i], binding.bytes), "bind");
    if (binding.role != NETRA_OUTPUT)
      transfer(&binding, buffers[i], file_of(binding.name, argc, argv), 1);
  }
  check(netra_engine_finalize(engine), "finalizing");

  check(netra_engine_launch(engine, NETRA_PROFILE_AUTO, &shape, NULL),
        "launching");
  check(netra_stream_synchronize(engine, NULL), "running");

  for (i = 0; i < count; ++i) {
    netra_binding_info binding;
    binding.struct_size = sizeof binding;
    check(netra_engine_query_binding(engine, i, &binding), "a binding");
    if (binding.role != NETRA_INPUT)
      transfer(&binding, buffers[i], file_of(binding.name, argc, argv), 0);
    check(netra_device_free(engine, buffers[i]), "free");
  }
  check(netra_engine_destroy(engine), "destroying the engine");
  return 0;
}
