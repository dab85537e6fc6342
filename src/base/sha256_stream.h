// SHA-256 of what is too large to be held at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace interlock {

class Sha256Stream {
public:
    Sha256Stream();
    ~Sha256Stream();
    Sha256Stream(const Sha256Stream&) = delete;
    Sha256Stream& operator=(const Sha256Stream&) = delete;

    void add(std::string_view bytes);
    std::string finish_hex();  // 64 lower-case digits; once, at the end.

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace interlock
