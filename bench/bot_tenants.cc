#include "bench/bot_tenants.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <future>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::int64_t kMakers = 8;  // Callers that make tenants at the same time.

Result<void> bring_up(HttpClient& client, const BotTenant& bot) {
    const std::string base = "/api/" + bot.tenant_id;
    TRY(call_json(
        client,
        {.path = base + "/update_exchange_keys",
         .body = Json::object(
             {{"exchange", "paper"},
              {"api_key", "bench-key-of-" + bot.tenant_id},
              {"api_secret", "bench-secret-of-" + bot.tenant_id}}),
         .credential = bot.access_key}));
    TRY(call_json(
        client, {.path = base + "/initialize_bot", .body = {}, .credential = bot.access_key}));
    TRY_ASSIGN(
        const Json started,
        call_json(client, {.path = base + "/start", .body = {}, .credential = bot.access_key}));
    TRY_ASSIGN(const std::string state, text_in(started, "bot_state"));
    if (state != "running") {
        return fail(errors::unavailable, "A bot that was started is " + state + ".");
    }
    return {};
}

// Every kMakers-th from `first` on.
Result<std::vector<BotTenant>> create_share(
    ServerProcess& server, std::int64_t first, std::int64_t count) {
    const auto client = HttpClient::create(server.target());
    std::vector<BotTenant> bots;
    for (std::int64_t i = first; i < count; i += kMakers) {
        BotTenant bot{.tenant_id = fmt::format("bot{:05}", i), .access_key = {}};
        TRY(server.create_tenant(bot.tenant_id));
        TRY_ASSIGN(bot.access_key, server.create_access_key(bot.tenant_id));
        TRY(bring_up(*client, bot));
        bots.push_back(std::move(bot));
    }
    return bots;
}

}  // namespace

Result<BotTenant> sign_up_bot(ServerProcess& server, const std::string& email) {
    const auto client = HttpClient::create(server.target());
    TRY_ASSIGN(
        const Json account,
        call_json(
            *client,
            {.path = "/signup",
             .body = Json::object({{"email", email}, {"plan", "standard"}}),
             .credential = {}}));
    BotTenant bot;
    TRY_ASSIGN(bot.tenant_id, text_in(account, "tenant_id"));
    TRY_ASSIGN(bot.access_key, text_in(account, "access_key"));
    TRY(bring_up(*client, bot));
    return bot;
}

Result<std::vector<BotTenant>> create_bots(ServerProcess& server, std::int64_t count) {
    std::vector<std::future<Result<std::vector<BotTenant>>>> makers;
    for (std::int64_t i = 0; i < std::min(kMakers, count); ++i) {
        makers.push_back(std::async(
            std::launch::async, [&server, i, count] { return create_share(server, i, count); }));
    }
    std::vector<Result<std::vector<BotTenant>>> shares;
    for (auto& maker : makers) {
        shares.push_back(maker.get());  // All of them, also after a failure: they use the server.
    }
    std::vector<BotTenant> bots;
    for (Result<std::vector<BotTenant>>& share : shares) {
        TRY(share);
        std::move(share->begin(), share->end(), std::back_inserter(bots));
    }
    return bots;
}

Result<std::string> read_bot(HttpClient& client, const BotTenant& bot, const std::string& path) {
    HttpRequest request;
    request.method = "GET";
    request.target = "/api/" + bot.tenant_id + path;
    request.headers.emplace_back("X-Access-Key", bot.access_key);
    TRY_ASSIGN(HttpResponse response, client.send(request));
    if (response.status != 200) {
        return fail(
            errors::unavailable,
            request.target + " was answered " + std::to_string(response.status) + ": " +
                response.body);
    }
    return std::move(response.body);
}

void let_pass(std::chrono::milliseconds span) {
    ::poll(nullptr, 0, static_cast<int>(span.count()));
}

}  // namespace interlock
