// 004 explicit_exclusions, cross-tenant data access: two owners, every operation, every id of the
// other one. A refusal tells nothing: it is the very bytes that an id or a tenant gets which does
// not exist. How long refusals take is measured against a real server in e2e/isolation_test.py.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "base/text.h"
#include "bot_api.h"

namespace interlock {
namespace {

std::string filled(const std::string& path, const std::map<std::string, std::string>& values) {
    std::string text;
    for (const std::string_view segment : split(path, '/')) {
        if (segment.empty()) {
            continue;
        }
        const bool is_parameter = segment.front() == '{';
        const std::string name =
            is_parameter ? std::string(segment.substr(1, segment.size() - 2)) : "";
        const auto value = values.find(name);
        text += "/" + (!is_parameter           ? std::string(segment)
                       : value == values.end() ? "nothing_here"
                                               : value->second);
    }
    return text;
}

std::string masked(std::string text, const std::string& id) {
    for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id, at)) {
        text.replace(at, id.size(), "*");
    }
    return text;
}

// Everything a caller can see of an answer, but for the id that it sent itself and the place of the
// refusal in its own record.
std::string seen_of(const HttpResponse& response, const std::string& id) {
    std::string text = std::to_string(response.status) + "\n";
    for (const auto& [name, value] : response.headers) {
        text += name + ": " + value + "\n";
    }
    text += response.body;
    const std::string mark = "\"audit_ref\":\"";
    if (const std::size_t ref = text.find(mark); ref != std::string::npos) {
        text.erase(ref, text.find('"', ref + mark.size()) - ref);
    }
    return masked(text, id);
}

class BotIsolation : public ::testing::Test {
protected:
    BotIsolation() {
        api.world.pass(Duration::of_seconds(15));
        const Json proposed =
            BotApi::body_of(api.at_tenant(theirs, {"POST", "/update_pnl", R"({"pnl_perc":4})"}));
        known = {
            {"tenant_id", theirs.tenant},
            {"approval_id", BotApi::word_at(proposed, "proposal_id")},
            {"key_id", theirs.key_id},
            {"strategy_id", "bot.btcusdt"}};
        const auto records = *api.world.plane_world().plane->ledger.read(
            TenantId::trusted(theirs.tenant), 0, 10'000);
        for (const AuditRecord& record : records) {
            const std::string& decision = record.draft.decision_id.text();
            if (!decision.starts_with("sys_")) {
                known["decision_id"] = decision;
            }
        }
        known["seq"] = std::to_string(records.size());
        known["hash"] = std::string(64, 'a');
        orders = api.world.paper()
                     .report(bot_account_of(TenantId::trusted(theirs.tenant)), 0)
                     .value()
                     .open_orders;
    }

    // What is sent where an operation takes a body: enough for some, and the same for all.
    static std::string body_for(const Operation& operation, int number) {
        if (operation.request_schema.is_null()) {
            return "";
        }
        const Json* properties = operation.request_schema.find("properties");
        const bool is_keyed =
            properties != nullptr && properties->find("idempotency_key") != nullptr;
        return is_keyed ? R"({"idempotency_key":"k)" + std::to_string(number) + R"("})" : "{}";
    }

    BotApi api;
    const BotApi::Owner ours = api.sign_up_in("ours", "uninitialized");
    const BotApi::Owner theirs = api.sign_up_in("theirs", "running");
    std::map<std::string, std::string> known;  // Ids of theirs, by the path's name for them.
    std::vector<VenueOrder> orders;
};

TEST_F(BotIsolation, AForeignTenantIsRefusedLikeOneThatDoesNotExist) {
    const std::string nobody = "tn_" + std::string(theirs.tenant.size() - 3, 'q');
    int pairs = 0;
    for (const Operation& operation : api.world.table().all()) {
        if (operation.path.find("{tenant_id}") == std::string::npos) {
            continue;
        }
        for (const std::string as : {"key header", "bearer key", "human"}) {
            std::vector<std::string> seen;
            for (const std::string& tenant : {theirs.tenant, nobody}) {
                std::map<std::string, std::string> values = known;
                values["tenant_id"] = tenant;
                ApiWorld::Sent sent{
                    .method = operation.method,
                    .path = filled(operation.path, values),
                    .body = body_for(operation, pairs)};
                if (as == "human") {
                    sent.as = ours.human;
                } else {
                    const bool is_header = as == "key header";
                    sent.headers = {
                        {is_header ? "X-Access-Key" : "Authorization",
                         (is_header ? "" : "Bearer ") + ours.key}};
                }
                const HttpResponse response = api.world.send(sent);
                EXPECT_EQ(response.status, 401) << operation.id << " as " << as;
                seen.push_back(seen_of(response, tenant));
            }
            ++pairs;
            EXPECT_EQ(seen[0], seen[1]) << operation.id << " as " << as;
        }
    }
    std::cout << "tenants: " << pairs << " pairs of identical refusals\n";
    EXPECT_GT(pairs, 200);
}

TEST_F(BotIsolation, AForeignIdIsAnsweredLikeOneThatDoesNotExist) {
    int pairs = 0;
    std::set<std::string> kinds;
    for (const Operation& operation : api.world.table().all()) {
        for (const auto& [name, id] : known) {
            if (name == "tenant_id" || operation.path.find("{" + name + "}") == std::string::npos) {
                continue;
            }
            kinds.insert(name);
            const bool is_number = name == "seq";
            std::string none = is_number ? "99999999" : id;
            if (!is_number) {
                none.replace(none.size() - 4, 4, name == "hash" ? "bbbb" : "qqqq");
            }
            for (const std::string as : {"agent", "path key", "human"}) {
                std::vector<std::string> seen;
                for (const std::string& one : {id, none}) {
                    std::map<std::string, std::string> values = known;
                    values["tenant_id"] = ours.tenant;
                    values[name] = one;
                    const std::string path = filled(operation.path, values);
                    const BotApi::Call call{
                        operation.method,
                        path.substr(("/api/" + ours.tenant).size()),
                        // A refusal stays the answer of its key, so each has its own.
                        body_for(operation, 2 * pairs + static_cast<int>(seen.size()))};
                    const HttpResponse response = as == "human"   ? api.as_human(ours, call)
                                                  : as == "agent" ? api.at_tenant(ours, call)
                                                                  : api.at_key(ours, call);
                    EXPECT_GE(response.status, 400) << operation.id << " " << path;
                    EXPECT_LT(response.status, 500) << operation.id << " " << path;
                    seen.push_back(seen_of(response, one));
                }
                ++pairs;
                EXPECT_EQ(seen[0], seen[1]) << operation.id << " as " << as;
            }
        }
    }
    std::cout << "ids: " << pairs << " pairs over " << kinds.size() << " kinds of id\n";
    EXPECT_EQ(kinds.size(), 6U);
    EXPECT_GT(pairs, 40);
}

// Ids inside a body: the key of an asset list, orders to verify, the target of a decision.
TEST_F(BotIsolation, AForeignIdInABodyIsAnsweredLikeOneThatDoesNotExist) {
    ASSERT_FALSE(orders.empty());
    const std::string order = orders.front().order_client_id.text();
    struct Naming {
        std::string path;
        std::string id;
        std::string body;  // "@" stands for the id.
    };
    const std::string ids = R"("decision_id":"d#","tick_id":"t","idempotency_key":"k#")";
    const std::vector<Naming> namings{
        {"/account/asset-lists", theirs.key_id, R"({"key_id":"@","assets":null})"},
        {"/tools/py_verify_execution", order, "{" + ids + R"(,"order_client_ids":["@"]})"},
        {"/control_decisions",
         "bot.btcusdt",
         R"({"decision_id":"d#","concern_id":"main:btcusdt","account_id":"main",)"
         R"("market_symbol":"btcusdt","action":"switch","target_strategy_id":"@",)"
         R"("reason":"r","confidence":0.5})"}};
    int number = 0;
    for (const Naming& naming : namings) {
        std::vector<std::string> seen;
        std::string none = naming.id;
        none.replace(none.size() - 4, 4, "qqqq");
        for (const std::string& one : {naming.id, none}) {
            std::string body = naming.body;
            const std::string mark = std::to_string(++number);
            for (std::size_t at = body.find('#'); at != std::string::npos; at = body.find('#')) {
                body.replace(at, 1, mark);
            }
            body.replace(body.find('@'), 1, one);
            const HttpResponse response = api.as_human(ours, {"POST", naming.path, body});
            std::string text = seen_of(response, one);
            text = masked(text, "\"d" + mark + "\"");  // Our own decision's id.
            seen.push_back(text);
        }
        EXPECT_EQ(seen[0], seen[1]) << naming.path;
    }
}

TEST_F(BotIsolation, NothingOfTheOtherTenantMovesOrShows) {
    const auto records_of = [&] {
        return api.world.plane_world()
            .plane->ledger.read(TenantId::trusted(theirs.tenant), 0, 10'000)
            ->size();
    };
    const std::size_t before = records_of();
    std::string everything;
    for (const Operation& operation : api.world.table().all()) {
        if (operation.path.find("{tenant_id}") == std::string::npos) {
            continue;
        }
        std::map<std::string, std::string> values = known;
        for (const std::string& tenant : {ours.tenant, theirs.tenant}) {
            values["tenant_id"] = tenant;
            everything += api.world
                              .send(
                                  {.as = ours.human,
                                   .method = operation.method,
                                   .path = filled(operation.path, values),
                                   .body = body_for(operation, 7)})
                              .body;
        }
    }
    EXPECT_EQ(records_of(), before);
    for (const std::string& secret : {theirs.tenant, theirs.key, std::string("theirs@example")}) {
        EXPECT_EQ(everything.find(secret), std::string::npos) << secret;
    }
    EXPECT_GT(everything.size(), 10'000U);
}

}  // namespace
}  // namespace interlock
