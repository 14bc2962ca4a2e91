/*===- netra/engine.h - Loading and launching engines -----------------------===
 *
 * SPDX-License-Identifier: MIT
 *
 *===----------------------------------------------------------------------===
 *
 * The C interface of libnetra_engine: it loads an engine bundle (the directory
 * that netra-translate writes), verifies all of it, and launches its plans
 * through HIP. The HIP library is opened at run time, so that one binary serves
 * machines with ROCm, and machines without it through the simulator.
 *
 * The life of an engine:
 *
 *   netra_engine_create            verify, load code, allocate arenas
 *   netra_engine_load_weights      or netra_engine_bind_weights
 *   netra_engine_bind              one device pointer per input, output, state
 *   netra_engine_set_fallback      only for plans with fallback steps
 *   netra_engine_finalize          bindings become immutable
 *   netra_engine_prepare           optional: capture a plan into a HIP graph
 *   netra_engine_launch            as often as wanted, from any thread
 *   netra_engine_destroy
 *
 * Units. Sizes and offsets are bytes, shapes are in elements. A "device
 * pointer" is an address in the memory of the engine's device, as hipMalloc or
 * netra_device_malloc return it. A "stream" is a hipStream_t passed as void *;
 * NULL is the default stream.
 *
 * Errors. Every function that can fail returns a netra_status and changes
 * nothing on failure unless its comment says so. The sentence that says what
 * was expected and what was found is returned by netra_engine_last_error for
 * calls on an engine, and written into the caller's buffer by those that have
 * no engine yet. No function aborts, and no C++ exception leaves the library.
 *
 * Threads. An engine may be used from any number of threads. Functions before
 * and including netra_engine_prepare serialise themselves on a mutex of the
 * engine. netra_engine_launch, netra_engine_launch_bound,
 * netra_engine_launch_operation and netra_engine_select_profile take no lock,
 * allocate nothing, build no string (unless they fail) and read no file.
 * netra_engine_destroy must be the last call on an engine; it answers
 * NETRA_BUSY while a launch is being submitted by another thread.
 *
 * Concurrent launches. An engine owns as many lanes as
 * netra_engine_options.lanes says, one by default. A lane is one arena with
 * the kernel arguments and graphs that point into it. A launch claims a free
 * lane for the time of the call by one atomic exchange, preferring the lane
 * that its stream used last; when other threads hold every lane it yields until
 * one of them has finished submitting. When the lane was last used on a
 * different stream, the launch first makes its stream wait for that use, so
 * launches on different streams never overlap in an arena. What the launches of
 * one engine share beyond that are the caller's own buffers: launches that may
 * overlap on the device and write the same output or state must be ordered by
 * the caller, or be given buffers of their own by netra_engine_launch_bound.
 * Launches of different engines are independent. A stream that launched on an
 * engine must be synchronised before it is destroyed.
 *
 *===----------------------------------------------------------------------===*/

#ifndef NETRA_ENGINE_H
#define NETRA_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(NETRA_ENGINE_BUILD)
#define NETRA_API __attribute__((visibility("default")))
#else
#define NETRA_API
#endif

/* The version of this interface. The major number changes when a program
 * compiled against an older header would no longer work. */
#define NETRA_API_VERSION_MAJOR 1
#define NETRA_API_VERSION_MINOR 2

typedef enum netra_status {
  NETRA_OK = 0,
  /* A null or malformed argument, an unknown index or name. */
  NETRA_INVALID_ARGUMENT = 1,
  /* A file cannot be opened or read. */
  NETRA_IO = 2,
  /* The bundle contradicts itself: engine.json is malformed, a size overflows,
   * a code object does not fit its launch, a file differs from its hash. */
  NETRA_MANIFEST = 3,
  /* The engine is for another architecture than the device's. */
  NETRA_UNSUPPORTED_TARGET = 4,
  /* No plan's guards admit the shape, or not those of the plan asked for. */
  NETRA_UNSUPPORTED_PROFILE = 5,
  /* A binding is missing, too small, misaligned, overlapping or final. */
  NETRA_BINDING = 6,
  /* A HIP call failed, or the HIP library cannot be used. */
  NETRA_HIP = 7,
  /* The engine is in use. */
  NETRA_BUSY = 8,
  /* The plan has a fallback step that nothing is registered for. */
  NETRA_FALLBACK_REQUIRED = 9,
  /* Host memory is exhausted. */
  NETRA_OUT_OF_MEMORY = 10
} netra_status;

typedef struct netra_engine netra_engine;

/* Options of netra_engine_create. Start from NETRA_ENGINE_OPTIONS_INIT. */
typedef struct netra_engine_options {
  size_t struct_size;      /* sizeof(netra_engine_options) */
  int32_t device_id;       /* HIP device ordinal */
  uint32_t flags;          /* NETRA_ENGINE_* */
  const char *hip_library; /* NULL: environment NETRA_HIP_LIBRARY, else
                            * libamdhip64.so.7, .6, .5, unversioned.
                            * "sim": the simulator, libnetra_hipsim.so beside
                            * this library. Otherwise a path or file name. */
  uint32_t lanes;    /* concurrent launches, 0 and 1 mean one; at most 64 */
  uint32_t reserved; /* 0 */
  /* Since 1.2. The folder of the code objects that an engine only locks, by
   * hash and size; NULL: environment NETRA_GOLDEN_ROOT. */
  const char *golden_root;
} netra_engine_options;

/* netra_engine_prepare captures graphs. Without it, prepare only checks. */
#define NETRA_ENGINE_GRAPH 1u
/* The caller orders all launches of the engine itself, so that none overlap on
 * the device. Saves one event record per launch, and is needed to capture a
 * launch into a graph of the caller's own. */
#define NETRA_ENGINE_CALLER_ORDERS 2u
/* netra_engine_load_weights does not compare the SHA-256 of the weights (their
 * id and size are always compared). For files checked before. */
#define NETRA_ENGINE_TRUST_WEIGHTS 4u

#define NETRA_ENGINE_OPTIONS_INIT                                              \
  {sizeof(netra_engine_options), 0, 0, NULL, 1, 0, NULL}

/* A serving point. Start from NETRA_SHAPE_INIT. */
typedef struct netra_shape {
  uint64_t m;               /* rows of the activations */
  uint64_t batch;           /* sequences */
  uint64_t sequence;        /* tokens already in the cache */
  uint64_t routed_rows;     /* token-expert pairs */
  uint64_t tensor_parallel; /* ranks */
} netra_shape;

#define NETRA_SHAPE_INIT {1, 1, 0, 0, 1}

/* In place of a profile index: choose by the shape. */
#define NETRA_PROFILE_AUTO UINT32_MAX

/* An inclusive range. */
typedef struct netra_range {
  uint64_t min, max;
} netra_range;

/* What the query functions fill in. The caller sets struct_size to the size of
 * the structure it was compiled with; strings and arrays belong to the engine
 * and live as long as it does. */
typedef struct netra_engine_info {
  size_t struct_size;
  const char *name, *id; /* id: "ne_" and 24 hexadecimal digits */
  const char *target;    /* such as "gfx950" */
  const char *device;    /* the device's own name */
  const char *hip_library;
  uint32_t profile_count, binding_count, weight_count, code_object_count;
  uint32_t lanes;
  uint64_t arena_bytes; /* per lane */
} netra_engine_info;

typedef struct netra_profile_info {
  size_t struct_size;
  const char *name;
  int64_t priority; /* automatic choice takes the highest that admits a shape;
                     * no two of one priority meet in a shape */
  /* A guard the profile does not state is [0, UINT64_MAX]. */
  netra_range m, batch, sequence, routed_rows, tensor_parallel;
  uint64_t workspace_bytes;
  uint32_t step_count, fallback_count;
  int32_t requires_fallback; /* fallback_count != 0 */
  int32_t prepared;          /* a graph is ready */
} netra_profile_info;

typedef enum netra_role {
  NETRA_INPUT = 0,
  NETRA_OUTPUT = 1,
  NETRA_STATE = 2 /* read and written, outlives a launch */
} netra_role;

typedef struct netra_binding_info {
  size_t struct_size;
  const char *name;
  netra_role role;
  uint32_t index;     /* position among the bindings of its role */
  const char *type;   /* such as "bf16", "f32", "f8E4M3FN" */
  const char *layout; /* such as "row_major" */
  const int64_t *shape;
  uint32_t rank;
  uint64_t bytes;
  const void *pointer; /* what is bound, NULL when nothing is */
} netra_binding_info;

typedef struct netra_weights_info {
  size_t struct_size;
  uint64_t bytes, alignment;
  const char *id; /* "nw_" and 24 hexadecimal digits; "" without weights */
  uint32_t entry_count;
  int32_t bound;
} netra_weights_info;

typedef struct netra_weight_info {
  size_t struct_size;
  const char *name, *type, *layout;
  const int64_t *shape;
  uint32_t rank;
  uint64_t offset, bytes; /* inside the one weights buffer */
} netra_weight_info;

typedef enum netra_step_kind {
  NETRA_STEP_LAUNCH = 0,
  NETRA_STEP_FALLBACK = 1
} netra_step_kind;

typedef struct netra_operation_info {
  size_t struct_size;
  netra_step_kind kind;
  const char *name, *operation;
  /* Of a launch, otherwise "". */
  const char *tactic, *contract, *symbol;
  /* Work-groups, of the greatest shape of the profile, and work-items. */
  uint32_t grid[3], block[3];
  uint32_t static_lds, dynamic_lds, kernarg_bytes;
  const char *reason; /* of a fallback, otherwise "" */
  /* Since 1.1. The family of tactics of a fallback, otherwise or without one
   * "", and the numbers of its operands, otherwise 0. */
  const char *family;
  uint32_t input_count, output_count;
} netra_operation_info;

typedef enum netra_operand_role {
  NETRA_OPERAND_READ = 0,
  NETRA_OPERAND_WRITE = 1,
  NETRA_OPERAND_UPDATE = 2 /* an output in the memory of an input, and that */
} netra_operand_role;

/* What an operand of a fallback step is. Belongs to the engine and lives as
 * long as it does; all fields are constant. */
typedef struct netra_operand_info {
  size_t struct_size;
  const char *name; /* within the operation: "x", "weight", "result" */
  netra_operand_role role;
  const char *type;   /* such as "bf16", "f32", "f8E4M3FN" */
  const char *layout; /* such as "row_major" */
  const int64_t *shape;
  uint32_t rank;
  /* With NETRA_OPERAND_UPDATE the number of the output that shares an input's
   * memory, or of the input that shares an output's; otherwise UINT32_MAX. */
  uint32_t partner;
  uint64_t bytes;
} netra_operand_info;

typedef enum netra_attribute_kind {
  NETRA_ATTRIBUTE_BOOLEAN = 0,
  NETRA_ATTRIBUTE_INTEGER = 1,
  NETRA_ATTRIBUTE_NUMBER = 2,
  NETRA_ATTRIBUTE_TEXT = 3
} netra_attribute_kind;

/* What an operation needs to know besides its operands. Its size is fixed. */
typedef struct netra_attribute {
  const char *name;
  netra_attribute_kind kind;
  union {
    int32_t boolean;
    int64_t integer;
    double number; /* to the last bit */
    const char *text;
  } value;
} netra_attribute;

/*---- without an engine ----*/

/* (NETRA_API_VERSION_MAJOR << 16) | NETRA_API_VERSION_MINOR of the library. */
NETRA_API uint32_t netra_api_version(void);

/* "NETRA_OK" and so on; never NULL. */
NETRA_API const char *netra_status_name(netra_status status);

/* Verifies a bundle as netra_engine_create does, without a device. Code that
 * the engine only locks is read if NETRA_GOLDEN_ROOT names its folder, and not
 * asked for otherwise. A failure's sentence goes to `error` (may be NULL), cut
 * to `error_bytes`. */
NETRA_API netra_status netra_engine_verify(const char *directory, char *error,
                                           size_t error_bytes);

/*---- life ----*/

/* Loads the bundle in `directory`. Verified before anything is loaded on the
 * device: the hash and size of every listed file; the format and its version;
 * every index, offset and size, with overflow; the metadata inside each code
 * object against the launches; guards; then the device's architecture and wave
 * size. Code objects are loaded once each. `options` may be NULL. On success
 * *engine is the caller's, to be given to netra_engine_destroy; on failure it
 * is NULL and the sentence is in `error` (may be NULL), cut to `error_bytes`.
 */
NETRA_API netra_status netra_engine_create(const char *directory,
                                           const netra_engine_options *options,
                                           netra_engine **engine, char *error,
                                           size_t error_bytes);

/* Waits for the device to finish, then frees what the engine owns. NETRA_BUSY,
 * and nothing is freed, while another thread is inside a launch. NULL is
 * allowed. After success the handle is gone: using it again is undefined. */
NETRA_API netra_status netra_engine_destroy(netra_engine *engine);

/* The sentence of the last call of this thread that failed on this engine, ""
 * if none did. Valid until the next failing call of this thread. */
NETRA_API const char *netra_engine_last_error(const netra_engine *engine);

/*---- queries; valid in every state ----*/

NETRA_API netra_status netra_engine_query(const netra_engine *engine,
                                          netra_engine_info *info);
NETRA_API netra_status netra_engine_profile_count(const netra_engine *engine,
                                                  uint32_t *count);
NETRA_API netra_status netra_engine_query_profile(const netra_engine *engine,
                                                  uint32_t profile,
                                                  netra_profile_info *info);
NETRA_API netra_status netra_engine_find_profile(const netra_engine *engine,
                                                 const char *name,
                                                 uint32_t *profile);
/* The profile an automatic launch of this shape would take, by the engine's
 * decision table. NETRA_UNSUPPORTED_PROFILE, with the shape and the guards of
 * all profiles in the sentence, when there is none. */
NETRA_API netra_status netra_engine_select_profile(const netra_engine *engine,
                                                   const netra_shape *shape,
                                                   uint32_t *profile);
NETRA_API netra_status netra_engine_query_operation(const netra_engine *engine,
                                                    uint32_t profile,
                                                    uint32_t operation,
                                                    netra_operation_info *info);
/* Operands of a fallback step: an output when `is_output` is not 0. */
NETRA_API netra_status netra_engine_query_operand(
    const netra_engine *engine, uint32_t profile, uint32_t operation,
    int32_t is_output, uint32_t operand, netra_operand_info *info);
NETRA_API netra_status netra_engine_binding_count(const netra_engine *engine,
                                                  uint32_t *count);
NETRA_API netra_status netra_engine_query_binding(const netra_engine *engine,
                                                  uint32_t binding,
                                                  netra_binding_info *info);
NETRA_API netra_status netra_engine_find_binding(const netra_engine *engine,
                                                 const char *name,
                                                 uint32_t *binding);
NETRA_API netra_status netra_engine_query_weights(const netra_engine *engine,
                                                  netra_weights_info *info);
NETRA_API netra_status netra_engine_query_weight(const netra_engine *engine,
                                                 uint32_t weight,
                                                 netra_weight_info *info);

/*---- weights and bindings; before netra_engine_finalize ----*/

/* Maps the packed weights file that netra-engine pack-weights writes, compares
 * its weights id, size and SHA-256, and uploads it into memory that the engine
 * owns. */
NETRA_API netra_status netra_engine_load_weights(netra_engine *engine,
                                                 const char *path);

/* Uses the caller's device memory instead, packed as the bundle states. It
 * stays the caller's and must outlive the engine. */
NETRA_API netra_status netra_engine_bind_weights(netra_engine *engine,
                                                 const void *device_pointer,
                                                 uint64_t bytes);

/* Binds `bytes` of device memory at `device_pointer`, at least as many as the
 * binding needs, 16-byte aligned. The memory stays the caller's and must
 * outlive the last launch. Binding again replaces. */
NETRA_API netra_status netra_engine_bind(netra_engine *engine, uint32_t binding,
                                         void *device_pointer, uint64_t bytes);
NETRA_API netra_status netra_engine_bind_name(netra_engine *engine,
                                              const char *name,
                                              void *device_pointer,
                                              uint64_t bytes);

/* One operand of a call: device memory, and what lies in it. Its size is fixed;
 * what comes to be known besides goes into netra_operand_info. */
typedef struct netra_operand {
  void *pointer; /* NULL only for 0 bytes */
  uint64_t bytes;
  const netra_operand_info *info;
} netra_operand;

/* One call of a fallback. Strings, `info` and `attributes` belong to the engine
 * and live as long as it does; the structure, `inputs`, `outputs` and `shape`
 * only as long as the call. */
typedef struct netra_fallback_call {
  size_t struct_size; /* what the library fills in */
  const char *operation, *name;
  uint32_t profile, step;
  const netra_operand *inputs, *outputs;
  uint32_t input_count, output_count;
  const netra_shape *shape;
  void *stream;
  /* Since 1.1. */
  const char *family; /* of tactics, such as "dense"; "" without one */
  const char *reason; /* why no kernel does it */
  const netra_attribute *attributes; /* by name, in ascending order */
  uint32_t attribute_count;
} netra_fallback_call;

/* Computes the outputs from the inputs in the order of call->stream: either by
 * enqueuing on it, or by synchronising with it and working on the host. Called
 * on the launching thread with the engine's device current; several threads
 * that launch at the same time call it at the same time, each with another
 * lane's memory. It must not call back into the engine, except for the device
 * helpers and queries, and must not free what it is given. Anything but
 * NETRA_OK ends the launch with that status: the steps before are enqueued, and
 * none after. While netra_engine_prepare captures a graph, it is called only if
 * it is registered as NETRA_FALLBACK_CAPTURABLE. */
typedef netra_status (*netra_fallback_fn)(void *user,
                                          const netra_fallback_call *call);

/* The callback only enqueues on the stream, so a plan with this step may be
 * captured into a graph (the callback then runs once, during prepare). */
#define NETRA_FALLBACK_CAPTURABLE 1u

/* Registers who computes every fallback step whose operation is `operation`.
 * `user` is passed through; it stays the caller's, and must outlive the last
 * launch. Registering again replaces; a NULL function takes back. */
NETRA_API netra_status netra_engine_set_fallback(netra_engine *engine,
                                                 const char *operation,
                                                 netra_fallback_fn function,
                                                 void *user, uint32_t flags);

/* The same for one step of one plan; `step` numbers all steps of the plan. */
NETRA_API netra_status netra_engine_set_step_fallback(
    netra_engine *engine, uint32_t profile, uint32_t step,
    netra_fallback_fn function, void *user, uint32_t flags);

/* Checks that the weights and all bindings are there and that no output or
 * state overlaps another buffer, writes the kernel arguments of every step, and
 * makes the bindings immutable. */
NETRA_API netra_status netra_engine_finalize(netra_engine *engine);

/*---- launching; after netra_engine_finalize ----*/

/* Captures the plan into a HIP graph for each lane and instantiates it, so that
 * launches of this profile become one graph launch with the same bits. `stream`
 * is used for capturing only; NULL lets the engine use one of its own. Does
 * nothing without NETRA_ENGINE_GRAPH. NETRA_FALLBACK_REQUIRED when the plan has
 * a fallback that is not registered or not capturable; launches then stay
 * direct. */
NETRA_API netra_status netra_engine_prepare(netra_engine *engine,
                                            uint32_t profile, void *stream);

/* Enqueues the plan of `profile`, or with NETRA_PROFILE_AUTO that which
 * netra_engine_select_profile gives, on the caller's stream. Returns when
 * everything is enqueued. A failure in the middle of a plan leaves the steps
 * before it enqueued. `shape` may be NULL for NETRA_SHAPE_INIT. */
NETRA_API netra_status netra_engine_launch(netra_engine *engine,
                                           uint32_t profile,
                                           const netra_shape *shape,
                                           void *stream);

/* Replaces one binding for one launch. */
typedef struct netra_bound_buffer {
  uint32_t binding;
  uint32_t reserved; /* 0 */
  void *pointer;
  uint64_t bytes;
} netra_bound_buffer;

/* As netra_engine_launch, with the given buffers in place of the bound ones for
 * this launch alone. Always launches step by step, never through a graph. Only
 * sizes and alignment are checked: overlap is the caller's to avoid. */
NETRA_API netra_status netra_engine_launch_bound(
    netra_engine *engine, uint32_t profile, const netra_shape *shape,
    void *stream, const netra_bound_buffer *buffers, uint32_t buffer_count);

/* Enqueues one step of a plan, in the first lane's arena, so that a caller can
 * walk through a plan and look at what each step leaves behind. */
NETRA_API netra_status netra_engine_launch_operation(netra_engine *engine,
                                                     uint32_t profile,
                                                     uint32_t operation,
                                                     const netra_shape *shape,
                                                     void *stream);

/* The first lane's arena: where the intermediate tensors of the memory plan
 * are. NULL and 0 when no plan needs one. For tools. */
NETRA_API netra_status netra_engine_arena(const netra_engine *engine,
                                          void **pointer, uint64_t *bytes);

/*---- device helpers: for programs that do not use HIP themselves ----*/

/* Memory on the engine's device. What is left when the engine is destroyed is
 * leaked, not freed. */
NETRA_API netra_status netra_device_malloc(netra_engine *engine, uint64_t bytes,
                                           void **pointer);
NETRA_API netra_status netra_device_free(netra_engine *engine, void *pointer);

typedef enum netra_copy_kind {
  NETRA_HOST_TO_DEVICE = 1,
  NETRA_DEVICE_TO_HOST = 2,
  NETRA_DEVICE_TO_DEVICE = 3
} netra_copy_kind;

/* Blocking copy and fill. */
NETRA_API netra_status netra_device_copy(netra_engine *engine,
                                         void *destination, const void *source,
                                         uint64_t bytes, netra_copy_kind kind);
NETRA_API netra_status netra_device_fill(netra_engine *engine, void *pointer,
                                         uint8_t value, uint64_t bytes);

/* Waits for everything on the stream; on the whole device for the second. An
 * error of an earlier launch is reported here. */
NETRA_API netra_status netra_stream_synchronize(netra_engine *engine,
                                                void *stream);
NETRA_API netra_status netra_device_synchronize(netra_engine *engine);

/* A stream that does not synchronise with the default stream. */
NETRA_API netra_status netra_stream_create(netra_engine *engine, void **stream);
NETRA_API netra_status netra_stream_destroy(netra_engine *engine, void *stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NETRA_ENGINE_H */
