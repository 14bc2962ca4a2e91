// The same for unit tests.
#include "CatalogHeaders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
