// Tenants with bots that run, made as an agent makes them: a key, exchange keys of the paper venue,
// initialize, start. All over HTTP.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/server_process.h"

namespace interlock {

struct BotTenant {
    std::string tenant_id;
    std::string access_key;
};

// By `POST /signup`, with an account and a plan.
Result<BotTenant> sign_up_bot(ServerProcess& server, const std::string& email);
// Many, made by the operator, by several callers at once.
Result<std::vector<BotTenant>> create_bots(ServerProcess& server, std::int64_t count);

// One GET below `/api/<tenant>`; its body.
Result<std::string> read_bot(HttpClient& client, const BotTenant& bot, const std::string& path);

// Lets the time pass.
void let_pass(std::chrono::milliseconds span);

}  // namespace interlock
