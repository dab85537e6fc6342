// What is wrong with the server itself, by name: a venue whose journal failed, a lane that does not
// move. Readiness and metrics tell what is wrong now; the beginning and the end of each are an
// alert on the chain of the host and a line in the log, and nothing is told in between.
//
// Any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/service/turn_gate.h"

namespace interlock {

class Troubles {
public:
    explicit Troubles(SubmitTurn submit) : submit_(std::move(submit)) {}

    // What is wrong with `name` and what to do, in one sentence each; "" when nothing is. Names are
    // the program's own and few.
    void set(std::string_view name, std::string_view sentence);
    std::string first() const;  // "" when nothing is wrong.
    std::size_t count() const;

private:
    void tell(const std::string& name, const std::string& sentence, bool is_over);

    const SubmitTurn submit_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> now_;  // By name.
};

}  // namespace interlock
