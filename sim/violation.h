// A broken promise, found by one of the checkers. The first one ends a run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace interlock::sim {

struct Violation {
    std::string invariant;  // "I1" … "I7", "chain", "durability", "batch", "approval", "reply",
                            // "progress".
    std::string what;       // One sentence.
};

class ViolationLog {
public:
    void report(std::string_view invariant, std::string what) {
        if (!first_) {
            first_ = Violation{std::string(invariant), std::move(what)};
        }
    }
    const std::optional<Violation>& first() const { return first_; }

private:
    std::optional<Violation> first_;
};

}  // namespace interlock::sim
