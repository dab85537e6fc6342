#include "bench/bench_requests.h"

#include <fmt/format.h>

namespace interlock {

std::string_view path_of(TurnKind kind) {
    return kind == TurnKind::probe ? "/probes" : "/tools/py_validate_plan";
}

std::string BenchRequests::next() {
    ++count_;
    std::string body = fmt::format(
        R"({{"decision_id":"{}","tick_id":"tick_{}","idempotency_key":"{}")",
        ids_.new_id("dec"),
        count_,
        ids_.new_id("idem"));
    if (kind_ == TurnKind::decision) {
        // Sizes differ, as those of real plans do.
        body += fmt::format(
            R"(,"plan":{{"intents":[{{"symbol":"BTCUSDT","side":"buy","order_type":"market",)"
            R"("qty":"0.{:05}","limit_price":null,"time_in_force":"GTC",)"
            R"("strategy_id":"external","expected_edge_bps":"100"}}],"reason":"bench"}})",
            100 + count_ % 1000);
    }
    return body + "}";
}

bool is_as_meant(TurnKind kind, std::string_view answer) {
    return kind == TurnKind::probe ||
           answer.find(R"("validation":{"pass":true)") != std::string_view::npos;
}

}  // namespace interlock
