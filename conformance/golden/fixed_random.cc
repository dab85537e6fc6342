#include "fixed_random.h"

#include <sodium/randombytes.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace interlock {
namespace {

const char* name() {
    return "fixed";
}

std::uint32_t number() {
    return 7;
}

void fill(void* const bytes, const std::size_t size) {
    std::memset(bytes, 7, size);
}

}  // namespace

void fix_random() {
    static randombytes_implementation fixed{
        .implementation_name = name,
        .random = number,
        .stir = nullptr,
        .uniform = nullptr,
        .buf = fill,
        .close = nullptr};
    CHECK(randombytes_set_implementation(&fixed) == 0);
}

}  // namespace interlock
