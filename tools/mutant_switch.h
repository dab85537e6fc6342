// The switches of a mutant build (tools/mutants.py). Never part of a normal build: nothing includes
// this but what mutant_schemata.py generates, and `mutants.py absent` looks for its symbol.
//
// INTERLOCK_MUTANT=17 turns mutant 17 on for this process. INTERLOCK_MUTANT_COVER=file has the
// process leave there, at its end, which mutants it came by.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wfloat-equal"

namespace mutant {

inline constexpr int kMutantsMax = 20'000;

class Switchboard {
public:
    static Switchboard& get() {
        static Switchboard board;
        return board;
    }
    bool on(int number) {
        if (cover_ != nullptr) {
            reached_[static_cast<std::size_t>(number)] = 1;
        }
        return number == chosen_;
    }
    // There is no such mutant: the types do not allow it.
    void impossible(int number) {
        if (cover_ != nullptr) {
            impossible_[static_cast<std::size_t>(number)] = 1;
        }
    }

private:
    Switchboard() {
        const char* chosen = std::getenv("INTERLOCK_MUTANT");
        chosen_ = chosen == nullptr ? -1 : std::atoi(chosen);
        cover_ = std::getenv("INTERLOCK_MUTANT_COVER");
        if (cover_ != nullptr) {
            reached_.resize(kMutantsMax);
            impossible_.resize(kMutantsMax);
        }
    }
    ~Switchboard() {
        if (cover_ == nullptr) {
            return;
        }
        std::FILE* file = std::fopen(cover_, "a");
        for (int i = 0; i < kMutantsMax; ++i) {
            if (impossible_[static_cast<std::size_t>(i)] != 0) {
                std::fprintf(file, "-%d\n", i);
            } else if (reached_[static_cast<std::size_t>(i)] != 0) {
                std::fprintf(file, "%d\n", i);
            }
        }
        std::fclose(file);
        cover_ = nullptr;
    }

    int chosen_ = -1;
    const char* cover_ = nullptr;
    std::vector<char> reached_;
    std::vector<char> impossible_;
};

// Kept out of line, under one name that a finished program can be searched for.
[[gnu::noinline, gnu::used]] inline bool interlock_mutant_on(int number) {
    return Switchboard::get().on(number);
}
inline bool on(int number) {
    return interlock_mutant_on(number);
}

struct less {
    static constexpr auto run(const auto& a, const auto& b) -> decltype(a < b) { return a < b; }
};
struct less_equal {
    static constexpr auto run(const auto& a, const auto& b) -> decltype(a <= b) { return a <= b; }
};
struct greater {
    static constexpr auto run(const auto& a, const auto& b) -> decltype(a > b) { return a > b; }
};
struct greater_equal {
    static constexpr auto run(const auto& a, const auto& b) -> decltype(a >= b) { return a >= b; }
};
struct equal {
    static constexpr auto run(const auto& a, const auto& b) -> decltype(a == b) { return a == b; }
};
struct not_equal {
    static constexpr auto run(const auto& a, const auto& b) -> decltype(a != b) { return a != b; }
};

template <class Own, class Other>
bool relation(int number, const auto& a, const auto& b) {
    if constexpr (requires { Other::run(a, b); }) {
        if (on(number)) {
            return Other::run(a, b);
        }
    } else {
        Switchboard::get().impossible(number);
    }
    return Own::run(a, b);
}

// `number`: the left side alone; the next one: the right side alone.
template <class Left, class Right>
bool both(int number, Left left, Right right) {
    if (on(number)) {
        return left();
    }
    if (on(number + 1)) {
        return right();
    }
    return left() && right();
}
template <class Left, class Right>
bool either(int number, Left left, Right right) {
    if (on(number)) {
        return left();
    }
    if (on(number + 1)) {
        return right();
    }
    return left() || right();
}

template <class T>
bool negate(int number, const T& value) {
    return on(number) ? static_cast<bool>(value) : !value;
}

// `number`: true; the next one: false. What the condition does is done all the same.
template <class T>
bool condition(int number, const T& value) {
    const bool own = static_cast<bool>(value);
    return on(number) ? true : on(number + 1) ? false : own;
}

auto plus(int number, const auto& a, const auto& b) {
    using Sum = decltype(a + b);
    if constexpr (requires {
                      { a - b } -> std::same_as<Sum>;
                  }) {
        return on(number) ? a - b : a + b;
    } else {
        Switchboard::get().impossible(number);
        return a + b;
    }
}
auto minus(int number, const auto& a, const auto& b) {
    using Difference = decltype(a - b);
    if constexpr (requires {
                      { a + b } -> std::same_as<Difference>;
                  }) {
        return on(number) ? a + b : a - b;
    } else {
        Switchboard::get().impossible(number);
        return a - b;
    }
}
auto times(int number, const auto& a, const auto& b) {
    return on(number) ? a / b : a * b;
}
auto over(int number, const auto& a, const auto& b) {
    return on(number) ? a * b : a / b;
}

template <class T>
T one_more(int number, T value) {
    return on(number) ? static_cast<T>(value + 1) : value;
}

template <class Member>
Member pick(int number, Member own, Member other) {
    return on(number) ? other : own;
}

template <class T>
const T& min_of(int number, const T& a, const T& b) {
    return on(number) ? std::max(a, b) : std::min(a, b);
}
template <class T>
const T& max_of(int number, const T& a, const T& b) {
    return on(number) ? std::min(a, b) : std::max(a, b);
}

}  // namespace mutant

#pragma GCC diagnostic pop
