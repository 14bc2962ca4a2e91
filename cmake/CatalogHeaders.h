// The same for sources that read and write JSON as well.
#include "LLVMHeaders.h"

#include <nlohmann/json.hpp>
