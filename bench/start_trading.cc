#include "bench/start_trading.h"

#include <poll.h>

#include <memory>

#include "base/errors.h"
#include "bench/trading_caller.h"
#include "engine/system/random_id_source.h"

namespace interlock {
namespace {

constexpr int kBetweenLooksMs = 5;

class Trader {
public:
    Trader(const ServerProcess& server, const TradingAccess& access)
        : client_(HttpClient::create(server.target())), access_(access) {}

    Result<std::string> call(std::string_view tool, std::string body) {
        HttpRequest request;
        request.method = "POST";
        request.target = "/api/" + access_.tenant_id + "/tools/" + std::string(tool);
        request.headers.emplace_back("X-Access-Key", access_.access_key);
        request.headers.emplace_back("Content-Type", "application/json");
        request.body = std::move(body);
        TRY_ASSIGN(HttpResponse response, client_->send(request));
        return std::move(response.body);
    }

    // The call of the caller's step, and its answer taken.
    Result<void> go_on(TradingCaller& caller) {
        TRY_ASSIGN(const std::string answer, call(tool_of(caller.step()), caller.next()));
        return caller.take(answer);
    }

    Result<bool> are_entries_open() {
        TRY_ASSIGN(
            const std::string answer,
            call(
                "py_get_canonical_state",
                R"({"decision_id":")" + ids.new_id("dec") +
                    R"(","tick_id":"start","idempotency_key":")" + ids.new_id("idem") +
                    R"(","as_of":"2026-01-01T00:00:00Z"})"));
        if (answer.find(R"("status":"ok")") == std::string::npos) {
            return fail(errors::unavailable, "py_get_canonical_state was answered " + answer);
        }
        return answer.find(R"("entries_halted":false)") != std::string::npos;
    }

    RandomIdSource ids;

private:
    std::unique_ptr<HttpClient> client_;
    const TradingAccess& access_;
};

}  // namespace

Result<void> trade_once(const ServerProcess& server, const TradingAccess& access) {
    Trader trader(server, access);
    TradingCaller caller(trader.ids);
    while (caller.paths() == 0) {
        TRY(trader.go_on(caller));
    }
    return {};
}

Result<void> await_trading(
    const ServerProcess& server, const TradingAccess& access, std::chrono::seconds patience) {
    Trader trader(server, access);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true) {
        TRY_ASSIGN(const bool is_open, trader.are_entries_open());
        if (is_open) {
            break;
        }
        if (std::chrono::steady_clock::now() > deadline) {
            return fail(errors::unavailable, "The account was not released to trade in time.");
        }
        ::poll(nullptr, 0, kBetweenLooksMs);
    }
    TradingCaller caller(trader.ids, 1);  // Another order than trade_once() sent.
    while (caller.step() != TradeStep::dry_run) {
        TRY(trader.go_on(caller));
    }
    return {};
}

}  // namespace interlock
