// A planner that trades, as text: what it says next and what it takes from the answers. Its path is
// validate, dry run, execute (answered when the venue has filled the order) and verify; buys and
// sells alternate, of sizes that differ, so that neither a limit of size nor the duplicate window
// is in the way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/ports/id_source.h"

namespace interlock {

// `look` reads the market once, before the first path.
enum class TradeStep : std::uint8_t { look, validate, dry_run, execute, verify };
inline constexpr std::size_t kTradeSteps = 5;

// The tool of a step, such as "py_validate_plan".
std::string_view tool_of(TradeStep step);

// More would meet the account's own bounds: 1,000 intents in the duplicate window, and four fifths
// of the 1,000 orders in ten seconds that the venue takes.
inline constexpr std::int64_t kTradePathsMax = 600;
// Every path is an execution of an aggressive order; the default allows 20 a minute.
inline constexpr std::string_view kTradeExecutionsMax = "10000";

class TradingCaller {
public:
    // `ids` outlives this. Callers whose sizes begin at different ones do not order the same, which
    // the duplicate window would refuse.
    explicit TradingCaller(IdSource& ids, std::int64_t first_size = 0)
        : ids_(ids), first_size_(first_size) {}

    TradeStep step() const { return step_; }
    // Of whole paths, each with a filled and verified order.
    std::int64_t paths() const { return paths_; }

    // The body of the call that step() names.
    std::string next();
    // Goes on to the next step; an Error when the answer is not what the path needs: an order that
    // was refused or not filled is another measurement.
    Result<void> take(std::string_view answer);

private:
    std::string head();
    void begin_path();

    IdSource& ids_;
    std::int64_t first_size_;
    TradeStep step_ = TradeStep::look;
    std::int64_t paths_ = 0;
    std::int64_t price_ = 0;  // In whole units of quote: what was seen last.
    std::string decision_id_;
    std::string intent_id_;
    std::string order_client_id_;
    std::string plain_;  // The intent's members that stay the same along the path.
};

}  // namespace interlock
