// The relay's credentials and management on a store in memory, driven by hand: what tests about
// gateways, links and channels need. restart() is a crash and a start: everything but what is
// stored, the clock and the bots is made anew.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/outbound_url.h"
#include "host/memory/held_master_keys.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/rules/upgrade_token.h"
#include "relay/service/relay_credentials.h"
#include "relay/service/relay_management.h"
#include "relay/service/relay_people.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"
#include "testing/relay_tokens.h"

namespace interlock {

// A bot that says what it is told to say.
class FakeChatBot final : public ChatPlatform {
public:
    explicit FakeChatBot(BotKey key) : key_(std::move(key)) {}

    const BotKey& bot() const override { return key_; }
    BotIdentity identity() const override { return {key_.bot_id, key_.bot_id}; }
    CapabilityDescriptor descriptor() const override {
        CapabilityDescriptor descriptor;
        descriptor.platform = key_.platform;
        descriptor.label = key_.platform;
        return descriptor;
    }
    LengthUnit length_unit() const override { return LengthUnit::code_points; }
    PlatformHealth health() const override { return {true, false, ""}; }
    void start(PlatformInbox&, std::string) override {}
    void stop() override {}
    PlatformReply call(const PlatformCall&) override { return {}; }
    WebhookAnswer receive(const WebhookRequest& request) override {
        requests.push_back(request);
        return on_receive ? on_receive(request) : WebhookAnswer{};
    }
    std::optional<bool> cached_view(const ViewQuestion&) const override { return std::nullopt; }
    std::optional<bool> find_view(const ViewQuestion& question) override {
        questions.push_back(question);
        const auto found = views.find(question.user_id);
        return found == views.end() ? std::optional<bool>() : found->second;
    }

    std::map<std::string, bool> views;  // By user; others are not known.
    std::vector<ViewQuestion> questions;
    std::vector<WebhookRequest> requests;
    std::function<WebhookAnswer(const WebhookRequest&)> on_receive;

private:
    const BotKey key_;
};

class RelayManageWorld {
public:
    struct Setup {
        RelayQuotas quotas = {};
        bool has_issuer = false;
    };
    RelayManageWorld() : RelayManageWorld(Setup{}) {}
    explicit RelayManageWorld(Setup setup) : setup_(setup) {
        CHECK(build(MemoryRelayContents{}).has_value());
    }

    using Change = std::function<void(MemoryRelayContents&)>;
    Result<void> restart(const Change& change = nullptr) {
        MemoryRelayContents contents = parts_->store.take_contents();
        if (change) {
            change(contents);
        }
        return build(std::move(contents));
    }

    RelayCredentials& credentials() { return parts_->credentials; }
    RelayManagement& management() { return parts_->management; }
    RelayPeople& people() { return parts_->people; }
    RelayStrangers& strangers() { return parts_->strangers; }
    RelayState& state() { return parts_->state; }
    RelayHoldings& holdings() { return parts_->holdings; }
    RelayLane& lane() { return parts_->lane; }
    RelaySeal& seal() { return parts_->seal; }
    MemoryRelayStore& store() { return parts_->store; }

    FakeClock clock;
    std::map<BotKey, std::unique_ptr<FakeChatBot>> bots;
    std::vector<RelayHint> hints;
    std::vector<std::string> judged_urls;
    std::vector<std::string> dropped;  // Instances that the delivery was told to forget.
    Result<Json> key_set = first_key_set();
    int fetches = 0;
    bool are_workers_busy = false;
    std::vector<std::function<void()>> blocking;  // Held while is_holding_blocking.
    bool is_holding_blocking = false;

    // Everything that waits, and what follows from it.
    void settle() {
        do {
            lane().run_round(std::chrono::microseconds(0));
        } while (lane().waiting() > 0 && !lane().is_lost());
    }
    // Runs one call to its reply.
    Result<Json> ask(const std::function<void(RelayReply)>& call) {
        std::optional<Result<Json>> answer;
        call([&](Result<Json> result) {
            CHECK(!answer);  // Exactly once.
            answer = std::move(result);
        });
        settle();
        CHECK(answer);
        return *std::move(answer);
    }
    void change(const RelayWork& work) {
        CHECK(lane().submit(work));
        settle();
    }

    FakeChatBot& add_bot(const std::string& platform, const std::string& bot_id) {
        auto& place = bots[{platform, bot_id}];
        place = std::make_unique<FakeChatBot>(BotKey{platform, bot_id});
        return *place;
    }

    // Of a tenant that is made up on the way.
    std::string tenant_token(const std::string& tenant = "acme") {
        return text_of(
            ask([&](RelayReply reply) {
                credentials().mint_tenant_token(
                    "operator:test", TenantId::trusted(tenant), std::move(reply));
            }),
            "token");
    }
    std::string enrollment(const std::string& tenant = "acme") {
        return text_of(
            ask([&](RelayReply reply) {
                credentials().mint_enrollment(
                    "operator:test", TenantId::trusted(tenant), std::move(reply));
            }),
            "enrollmentToken");
    }
    Result<Json> enroll(
        const std::string& bearer, const std::string& token, const std::string& gateway = "gw-1") {
        return ask([&](RelayReply reply) {
            credentials().enroll(bearer, {token, gateway}, std::move(reply));
        });
    }
    Result<Json> provision(const std::string& bearer, const ProvisionRequest& request) {
        return ask(
            [&](RelayReply reply) { credentials().provision(bearer, request, std::move(reply)); });
    }
    Result<Json> add_gateway(RelayCredentials::NewGateway gateway) {
        return ask([&](RelayReply reply) {
            credentials().add_gateway("operator:test", std::move(gateway), std::move(reply));
        });
    }
    // A gateway of its own for the instance; gives the caller it is known as.
    RelayCaller add_instance(const std::string& instance, const std::string& tenant = "acme") {
        const TenantId tenant_id = TenantId::trusted(tenant);
        CHECK(add_gateway({.tenant_id = tenant_id,
                           .gateway_id = "gw-" + instance,
                           .instance_id = instance,
                           .secret = {},
                           .wake_url = {},
                           .display_name = {}})
                  .has_value());
        return {tenant_id, instance, "gw-" + instance};
    }
    Result<Json> route(
        const BotKey& bot, const std::string& discriminator, const std::string& tenant = "acme") {
        return ask([&](RelayReply reply) {
            management().add_route(
                "operator:test", {bot, discriminator, TenantId::trusted(tenant)}, std::move(reply));
        });
    }
    Result<Json> bind(
        const std::string& platform, const std::string& user, const std::string& instance) {
        return ask([&](RelayReply reply) {
            management().bind(
                "operator:test", {platform, {}, user, "", instance}, std::move(reply));
        });
    }
    Result<Json> claim(
        const RelayCaller& caller, const std::string& guild, const std::string& channel) {
        return ask([&](RelayReply reply) {
            management().claim_scope(caller, {"discord", guild, channel}, std::move(reply));
        });
    }
    LinkOutcome redeem(const LinkAttempt& attempt) {
        LinkOutcome outcome;
        change([&](RelayTurn& turn) { outcome = management().redeem_link(turn, attempt); });
        return outcome;
    }

    // How a gateway with this secret is met; expiry in seconds from now, 0: never.
    AuthVerdict dial(
        const std::string& gateway, const std::string& secret, std::int64_t seconds = 300) {
        const std::int64_t now = clock.now().microseconds / 1'000'000;
        return credentials().authenticate(
            mint_upgrade_token(gateway, secret, seconds == 0 ? 0 : now + seconds), clock.now());
    }

    // "" when the answer is an error or has no such text.
    static std::string text_of(const Result<Json>& answer, std::string_view key) {
        const Json* const value = answer ? answer->find(key) : nullptr;
        return value != nullptr && value->is_string() ? value->as_string() : std::string();
    }
    // The code of the error; "ok" when there is none.
    static std::string code_of(const Result<Json>& answer) {
        return std::string(answer ? "ok" : answer.error().code());
    }

    // Everything that is stored, rows and chains, as text.
    std::string stored_text() {
        MemoryRelayContents contents = store().take_contents();
        std::string text;
        for (const auto& [key, row] : contents.rows) {
            text += key.first + " " + key.second + " " + row.json + "\n";
        }
        CHECK(build(std::move(contents)).has_value());
        for (const std::string tenant : {"_system", "acme", "globex"}) {
            text += chain_text(tenant);
        }
        return text;
    }
    std::string chain_text(const std::string& tenant) {
        std::string text;
        const auto entries = *store().ledger().read_ledger(TenantId::trusted(tenant), 0, 10'000);
        for (const LedgerEntry& entry : entries) {
            text += entry.canonical_json + "\n";
        }
        return text;
    }
    int count_in_chain(const std::string& word, const std::string& tenant = "acme") {
        const std::string text = chain_text(tenant);
        int count = 0;
        for (std::size_t at = text.find(word); at != std::string::npos;
             at = text.find(word, at + 1)) {
            ++count;
        }
        return count;
    }

private:
    struct Running {
        Running(RelayManageWorld& world, MemoryRelayContents contents, std::string seed)
            : store(std::move(contents)),
              ids(std::move(seed)),
              masters(MasterRing{SecretString(std::string(kMasterKeyBytes, 'm')), std::nullopt}),
              lane(store, world.clock),
              state(store),
              holdings(state, world.setup_.quotas),
              strangers(state),
              seal({store, masters, ids, world.clock}),
              workers({.threads = 0, .waiting_max = 0}),
              issuers(
                  {.issuers = issuers_of(world.setup_),
                   .fetch =
                       [&world](const RelayIssuer&) {
                           ++world.fetches;
                           return world.key_set;
                       },
                   .workers = workers,
                   .clock = world.clock}),
              credentials(
                  {.lane = lane,
                   .state = state,
                   .holdings = holdings,
                   .seal = seal,
                   .issuers = issuers,
                   .ids = ids,
                   .clock = world.clock,
                   .tenant_exists =
                       [](const TenantId& tenant) {
                           return tenant.text() == "acme" || tenant.text() == "globex";
                       },
                   .judge_url =
                       [&world](std::string url, std::function<void(Result<void>)> done) {
                           world.judged_urls.push_back(url);
                           const auto judged = judge_outbound_url(url, {});
                           done(judged ? Result<void>() : std::unexpected(judged.error()));
                       }},
                  {.drop_instance =
                       [&world](RelayTurn&, const std::string& instance) {
                           world.dropped.push_back(instance);
                       },
                   .publish = [&world](const RelayHint& hint) { world.hints.push_back(hint); }}),
              management(
                  {.lane = lane,
                   .state = state,
                   .holdings = holdings,
                   .strangers = strangers,
                   .ids = ids,
                   .bot =
                       [&world](const BotKey& key) {
                           const auto found = world.bots.find(key);
                           return found == world.bots.end() ? nullptr : found->second.get();
                       },
                   .bots =
                       [&world] {
                           std::vector<BotKey> keys;
                           for (const auto& [key, bot] : world.bots) {
                               keys.push_back(key);
                           }
                           return keys;
                       },
                   .run_blocking =
                       [&world](std::function<void()> job) {
                           return world.run_blocking(std::move(job));
                       },
                   .tenant_exists =
                       [](const TenantId& tenant) {
                           return tenant.text() == "acme" || tenant.text() == "globex";
                       }}),
              people({.state = state, .management = management, .strangers = strangers}) {}

        static std::vector<RelayIssuer> issuers_of(const Setup& setup) {
            std::vector<RelayIssuer> issuers;
            if (setup.has_issuer) {
                issuers.push_back(
                    {"https://id.example", "relay", "tenant", "https://id.example/k"});
            }
            return issuers;
        }

        MemoryRelayStore store;
        FakeIdSource ids;
        HeldMasterKeys masters;
        RelayLane lane;
        RelayState state;
        RelayHoldings holdings;
        RelayStrangers strangers;
        RelaySeal seal;
        WorkerPool workers;
        RelayIssuers issuers;
        RelayCredentials credentials;
        RelayManagement management;
        RelayPeople people;
    };

    bool run_blocking(std::function<void()> job) {
        if (are_workers_busy) {
            return false;
        }
        if (is_holding_blocking) {
            blocking.push_back(std::move(job));
        } else {
            job();
        }
        return true;
    }

    Result<void> build(MemoryRelayContents contents) {
        parts_ = std::make_unique<Running>(
            *this, std::move(contents), "start " + std::to_string(++starts_));
        TRY(parts_->lane.open());
        TRY(parts_->seal.load());
        TRY(parts_->state.load());
        TRY(parts_->holdings.load());
        parts_->strangers.load();
        return parts_->credentials.load();
    }

    const Setup setup_;
    int starts_ = 0;
    std::unique_ptr<Running> parts_;
};

}  // namespace interlock
