// CHECK(condition): "we are wrong" made loud. Always compiled in; prints where and aborts.
// Never used to validate input: what comes from outside is a Result.
#pragma once

namespace interlock {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace interlock

#define CHECK(condition)                                               \
    do {                                                               \
        if (!(condition)) {                                            \
            ::interlock::check_failed(#condition, __FILE__, __LINE__); \
        }                                                              \
    } while (false)
