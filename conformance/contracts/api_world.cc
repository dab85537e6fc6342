#include "api_world.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/face/agent_operations.h"
#include "app/face/backup_operations.h"
#include "app/face/health_operations.h"
#include "app/face/page_operations.h"
#include "app/face/plane_operations.h"
#include "base/check.h"
#include "base/crypto.h"
#include "bots/face/bot_operations.h"
#include "bots/face/onboarding_operations.h"
#include "declared_answers.h"
#include "host/face/notice_operations.h"
#include "host/face/witness_operations.h"
#include "loop/face/loop_operations.h"
#include "relay/face/console_operations.h"
#include "relay/face/relay_operations.h"
#include "testing/scripted_market.h"

namespace interlock {
namespace {

constexpr std::string_view kOperatorToken =
    "ilo_operatoroperatoroperatoroperatoroperatoroperatoroper";
constexpr std::string_view kPassword = "correct horse battery";

// Catches the one answer.
class CatchingResponder final : public HttpResponder {
public:
    explicit CatchingResponder(std::shared_ptr<std::optional<HttpResponse>> into)
        : into_(std::move(into)) {}
    void send(HttpResponse response) override {
        CHECK(!*into_);
        *into_ = std::move(response);
    }
    std::shared_ptr<HttpStream> start_stream(HttpResponse) override { return nullptr; }
    std::shared_ptr<WebSocket> accept_web_socket(std::shared_ptr<WebSocketPeer>) override {
        return nullptr;
    }

private:
    std::shared_ptr<std::optional<HttpResponse>> into_;
};

std::string text_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    CHECK(value != nullptr && value->is_string());
    return value->as_string();
}

// Half of what the server gives a new owner: the account of this world is as small.
BotConfig first_bot_config(const std::vector<Symbol>& known, std::size_t symbols_max) {
    const std::map<Symbol, Decimal> wanted{
        {Symbol::parse("ABCUSDT").value(), Decimal(1)},
        {Symbol::parse("BTCUSDT").value(), Decimal::parse("0.004").value()},
        {Symbol::parse("ETHUSDT").value(), Decimal::parse("0.08").value()},
        {Symbol::parse("SOLUSDT").value(), Decimal::parse("1.5").value()}};
    std::map<Symbol, Decimal> amounts;
    for (const auto& [symbol, amount] : wanted) {
        if (std::ranges::find(known, symbol) != known.end() && amounts.size() < symbols_max) {
            amounts[symbol] = amount;
        }
    }
    return default_bot_config(std::move(amounts));
}

std::vector<Symbol> symbols_of(const MarketModel& market) {
    std::vector<Symbol> symbols;
    for (const MarketRules& rules : market.markets()) {
        symbols.push_back(rules.symbol);
    }
    return symbols;
}

}  // namespace

PlaneConfig ApiWorld::default_config() {
    PlaneConfig config{.two_person_rule = false, .has_sink = true};
    config.loop.quote = Asset::parse("USDT").value();
    config.loop.paper_deposit = Decimal(10'000);
    config.loop.universe = {scripted_rules().symbol};
    config.loop.transfer_threshold = Decimal(100);
    return config;
}

ApiWorld::ApiWorld(PlaneConfig config)
    : world_(std::make_unique<PlaneWorld>(
          std::move(config), [this](PlaneWorld& world) { return open_venues(world); })) {
    build();
    populate();
}

ApiWorld::ApiWorld(PlaneConfig config, std::unique_ptr<MarketModel> market)
    : market_(std::move(market)) {
    config.loop.universe = symbols_of(*market_);
    world_ = std::make_unique<PlaneWorld>(
        std::move(config), [this](PlaneWorld& world) { return open_venues(world); });
    build();
    populate();
}

PlaneVenues ApiWorld::open_venues(PlaneWorld& world) {
    if (!paper_) {
        if (!market_) {
            auto scripted = std::make_unique<ScriptedMarket>();
            write_market_ = [script = scripted.get()](std::int64_t step, MarketView view) {
                script->set(step, std::move(view));
            };
            market_ = std::move(scripted);
        }
        auto paper = PaperVenue::open(std::move(market_), world.clock, {.sync = false});
        CHECK(paper.has_value());
        paper_ = *std::move(paper);
        paper_keys_ = std::make_unique<PaperKeys>(world.clock);
        CHECK(paper_->advance(world.clock.now()).has_value());
        venue_sink_ = std::make_unique<VenueSink>(VenueSink::Parts{
            .venues = {{TradeMode::paper, paper_.get()}},
            .behind = world.sink,
            .clock = world.clock,
            .accounts = [&world] {
                std::vector<VenueAccount> accounts;
                for (const LoopService::Watched& watched : world.plane->loop->watched()) {
                    accounts.push_back(watched.account);
                }
                return accounts;
            }});
    }
    return {
        .feed = paper_.get(),
        .on_account =
            [this](const Account& account) {
                if (account.key.mode == TradeMode::paper) {
                    const VenueBalance deposit{account.quote, Decimal(10'000), {}};
                    CHECK(paper_->open_account(account.key, {&deposit, 1}).has_value());
                }
            },
        .sink = venue_sink_.get()};
}

void ApiWorld::advance(Duration span) {
    world_->clock.advance(span);
    CHECK(paper_->advance(world_->clock.now()).has_value());
    world_->plane->runner.fire_timers(100);
}

void ApiWorld::pass(Duration span) {
    const Timestamp end = world_->clock.now() + span;
    while (world_->clock.now() < end) {
        advance(Duration::of_seconds(1));
        world_->run_effects();
        watch_->poll();
        world_->run_effects();
    }
}

void ApiWorld::set_market(MarketView view) {
    write_market_(step_of(world_->clock.now()) + 1, std::move(view));
    advance(kMarketStep);
}

void ApiWorld::restart() {
    world_->rebuild();
    build();
}

void ApiWorld::build() {
    mcp_.reset();
    mcp_server_.reset();
    catalog_.reset();
    face_.reset();
    table_ = std::make_unique<OperationTable>();
    passwords_ = std::make_unique<PasswordPool>(PasswordPool::Bounds{.threads = 0});
    workers_ = std::make_unique<WorkerPool>(WorkerPool::Bounds{.threads = 0});
    metrics_ = std::make_unique<Metrics>();
    Plane& plane = *world_->plane;
    principals_ = std::make_unique<PrincipalService>(PrincipalService::Parts{
        .runner = plane.runner,
        .submit = [this](TurnRequest request) { world_->submit(std::move(request)); },
        .directory = plane.directory,
        .workers = *passwords_,
        .clock = world_->clock,
        .ids = *world_->ids,
        .operator_token_hash = sha256_hex(kOperatorToken),
        .password_cost = {.passes = 1, .memory_bytes = 8192}});
    CHECK(principals_->open().has_value());
    const SubmitTurn to_engine = [this](TurnRequest turn) { world_->submit(std::move(turn)); };
    backups_ = std::make_unique<BackupService>(
        BackupService::Parts{to_engine, world_->keys, plane.ledger});
    restored_ = std::make_unique<RestoreService>(RestoreService::Parts{
        .runner = plane.runner,
        .submit = to_engine,
        .principals = principals_->records(),
        .directory = plane.directory,
        .loop = *plane.loop,
        .feed = *paper_,
        .venues = {{TradeMode::paper, paper_.get()}}});
    CHECK(restored_->open().has_value());
    onboarding_ = std::make_unique<OnboardingService>(OnboardingService::Parts{
        .runner = plane.runner,
        .submit = [this](TurnRequest request) { world_->submit(std::move(request)); },
        .principals = *principals_,
        .workers = *workers_,
        .mailer = mailer,
        .clock = world_->clock,
        .ids = *world_->ids,
        .base_url = [] { return std::string("http://localhost:8420"); }});
    letters_ = std::make_unique<RecoveryLetters>(RecoveryLetters::Parts{
        .runner = plane.runner,
        .submit = [this](TurnRequest request) { world_->submit(std::move(request)); },
        .principals = *principals_,
        .workers = *workers_,
        .mailer = mailer,
        .ids = *world_->ids,
        .base_url = [] { return std::string("http://localhost:8420"); }});
    build_notices();
    build_bots();
    CHECK(onboarding_->open().has_value());
    relay_.open(
        {.clock = world_->clock,
         .ids = *world_->ids,
         .tenant_exists = [&plane](const TenantId& tenant_id) {
             return plane.directory.tenant_exists(tenant_id);
         }});
    build_table();
    build_faces();
}

// As the server builds them (app/wiring/server.cc).
void ApiWorld::build_faces() {
    Plane& plane = *world_->plane;
    face_ = std::make_unique<HttpFace>(
        HttpFace::Parts{
            .table = *table_,
            .directory = plane.directory,
            .clock = world_->clock,
            .metrics = *metrics_,
            .mcp =
                [this](HttpRequest request, Principal principal, HttpResponderPtr responder) {
                    mcp_->handle(std::move(request), std::move(principal), std::move(responder));
                },
            .lost_page = lost_page},
        HttpFaceConfig{
            .allowed_hosts = {}, .requests_per_second = 0, .tenant_requests_per_second = 0});
    session_ids_ = std::make_unique<FakeIdSource>("sessions " + std::to_string(++faces_built_));
    catalog_ = std::make_unique<OperationCatalog>(OperationCatalog::Parts{
        .table = *table_,
        .tenant_exists =
            [&plane](const TenantId& tenant_id) {
                return plane.directory.tenant_exists(tenant_id);
            },
        .admit = [this](
                     const Operation& operation,
                     const ApiCall& call) { return face_->check_rate(operation, call); },
        .on_answer = [this](
                         const Operation& operation,
                         int status) { metrics_->on_request(operation.id, status); }});
    mcp_server_ = std::make_unique<McpServer>(*catalog_, "test");
    mcp_ = std::make_unique<McpHttp>(McpHttp::Parts{
        .server = *mcp_server_,
        .clock = world_->clock,
        .ids = *session_ids_,
        .admit = [this](const Principal& who) { return face_->check_rate(who); }});
    plane.directory.on_key_ended([this](const KeyId& key_id) { mcp_->close_of(key_id); });
}

void ApiWorld::build_notices() {
    notices_ = std::make_unique<NoticeService>(NoticeService::Parts{
        .runner = world_->plane->runner,
        .submit = [this](TurnRequest turn) { world_->submit(std::move(turn)); },
        .principals = *principals_,
        .mailer = notice_mailer,
        .webhooks = webhooks,
        .letters = *workers_,
        .calls = *workers_,
        .suspect_calls = *workers_,
        .clock = world_->clock,
        .ids = *world_->ids,
        .link = [] { return std::string("http://localhost:8420/"); }});
    CHECK(notices_->open().has_value());
}

void ApiWorld::build_bots() {
    Plane& plane = *world_->plane;
    const SubmitTurn to_engine = [this](TurnRequest turn) { world_->submit(std::move(turn)); };
    const auto at_once = [](const std::function<void()>& job) {
        job();
        return true;
    };
    vault_ = std::make_unique<VaultService>(VaultService::Parts{
        .runner = plane.runner,
        .submit = to_engine,
        .workers = *workers_,
        .masters = masters_,
        .ids = *world_->ids,
        .checks = {{"paper", paper_keys_.get()}, {"live", &real_exchange}}});
    CHECK(vault_->open().has_value());
    pnl_ = std::make_unique<PnlJobs>(PnlJobs::Parts{
        .runner = plane.runner,
        .store = world_->store,
        .feed = *paper_,
        .log = pnl_log_,
        .clock = world_->clock,
        .submit = to_engine,
        .run = at_once});
    CHECK(pnl_->open().has_value());
    const auto first_config = [this](std::size_t symbols_max) {
        return first_bot_config(paper_->symbols(), symbols_max);
    };
    bots_ = std::make_unique<BotService>(BotService::Parts{
        .runner = plane.runner,
        .submit = to_engine,
        .loop = *plane.loop,
        .runtime = plane.running,
        .ticker = *plane.ticker,
        .control = *plane.decisions,
        .kill = plane.kill,
        .latch = plane.latch,
        .approvals = plane.approvals,
        .vault = *vault_,
        .store = world_->store,
        .feed = *paper_,
        .clock = world_->clock,
        .fetch = [this](
                     const VenueAccount& account,
                     std::int64_t cursor) { return paper_->report(account, cursor); },
        .run = at_once,
        .pnl = *pnl_,
        .defaults = first_config(kBotSymbolsMax)});
    CHECK(bots_->open().has_value());
    set_owner_rules({*onboarding_, *bots_, *plane.loop, first_config});
    watch_ = std::make_unique<VenueWatch>(VenueWatch::Parts{
        .loop = *plane.loop,
        .venues = {{TradeMode::paper, paper_.get()}},
        .clock = world_->clock,
        .ticker = *plane.ticker,
        .decisions = *plane.decisions,
        .supervisor = plane.supervisor.get(),
        .bots = bots_.get()});
}

void ApiWorld::build_table() {
    Plane& plane = *world_->plane;
    register_health_operations(
        *table_,
        {.metrics = *metrics_,
         .version = "test",
         .not_ready_because = [] { return ""; },
         .exposure =
             [] {
                 return Json::object(
                     {{"address", "http://127.0.0.1:8420"},
                      {"public_url", ""},
                      {"trusted_proxies", Json::array()},
                      {"metrics_listen", ""},
                      {"certificate_until", Json()},
                      {"reload_problem", ""}});
             }});
    register_plane_operations(*table_, plane, *principals_);
    register_notice_operations(*table_, *notices_);
    register_onboarding_operations(*table_, *onboarding_);
    register_bot_operations(*table_, *bots_);
    witnessed_ = std::make_unique<WitnessedHeads>(
        [this](TurnRequest request) { world_->submit(std::move(request)); }, world_->memory);
    register_witness_operations(
        *table_, *witnessed_, [] { return std::vector<WitnessState>{{.name = "file /w"}}; });
    register_backup_operations(*table_, *backups_, *restored_);
    register_loop_operations(*table_, *plane.loop, {*paper_, world_->memory, world_->clock});
    register_relay_operations(*table_, relay_.plane());
    register_console_operations(*table_, relay_.console());
    register_page_operations(*table_);
    register_agent_operations(*table_, "http://localhost:8420");
    register_openapi_operation(*table_, "test");
    hold_answers_to_their_schemas();
}

// Every answer of every test: what an operation does not declare, it may not say.
void ApiWorld::hold_answers_to_their_schemas() {
    auto held = std::make_unique<OperationTable>();
    for (Operation operation : table_->all()) {
        const Json schema = operation.answer_schema;
        if (!schema.is_null() && holes(schema).empty()) {
            operation.handle = [handle = std::move(operation.handle), schema, id = operation.id](
                                   ApiCall call, ApiReplyTo reply) {
                handle(std::move(call), [schema, id, reply](Result<ApiReply> answer) {
                    const bool is_told = answer && (answer->status < 400 || id.starts_with("py_"));
                    if (is_told && answer->content_type == "application/json") {
                        const auto body = parse_json(answer->body);
                        EXPECT_TRUE(body) << id;
                        for (const std::string& problem :
                             body ? undeclared(*body, schema) : std::vector<std::string>()) {
                            ADD_FAILURE() << id << ": " << problem;
                        }
                    }
                    reply(std::move(answer));
                });
            };
        }
        held->add(std::move(operation));
    }
    table_ = std::move(held);
}

std::vector<std::string> ApiWorld::principals() {
    return {
        "nobody",
        "bad_key",
        "agent",
        "planner",
        "reader",
        "foreign_agent",
        "revoked_agent",
        "foreign_human",
        "human",
        "second_human",
        "operator"};
}

std::string ApiWorld::invite_and_activate(
    const std::string& tenant, const std::string& email, bool first) {
    const Json invitation = send_json(
        {.as = first ? "operator" : "human",
         .method = "POST",
         .path = "/api/" + tenant + "/humans",
         .body = to_text(
             Json::object({{"email", email}, {"system_member", first && tenant == "demo"}}))});
    const Json login = send_json(
        {.method = "POST",
         .path = "/account/activate",
         .body = to_text(Json::object(
             {{"code", text_at(invitation, "one_time_code")},
              {"password", kPassword},
              {"want_token", true}}))});
    return text_at(login, "token");
}

void ApiWorld::populate() {
    credentials_["operator"] = kOperatorToken;
    credentials_["bad_key"] = "ilk_" + std::string(52, 'z');
    for (const std::string tenant : {"demo", "other"}) {
        send_json(
            {.as = "operator",
             .method = "POST",
             .path = "/tenants",
             .body = to_text(Json::object({{"tenant_id", tenant}, {"name", tenant}}))});
    }
    const auto make_key = [this](const std::string& tenant, const std::string& scopes) {
        return send_json(
            {.as = "operator",
             .method = "POST",
             .path = "/api/" + tenant + "/keys",
             .body = R"({"label":"test","scopes":[)" + scopes + "]}"});
    };
    const std::string all = R"("planner","supervisor","bot","read","probe")";
    credentials_["agent"] = text_at(make_key("demo", all), "access_key");
    credentials_["planner"] = text_at(make_key("demo", R"("planner")"), "access_key");
    credentials_["reader"] = text_at(make_key("demo", R"("read")"), "access_key");
    credentials_["foreign_agent"] = text_at(make_key("other", all), "access_key");
    const Json revoked = make_key("demo", all);
    credentials_["revoked_agent"] = text_at(revoked, "access_key");
    send_json(
        {.as = "operator",
         .method = "DELETE",
         .path = "/api/demo/keys/" + text_at(revoked, "key_id")});
    credentials_["human"] = invite_and_activate("demo", "one@example.com", true);
    credentials_["second_human"] = invite_and_activate("demo", "two@example.com", false);
    credentials_["foreign_human"] = invite_and_activate("other", "three@example.com", true);
    credentials_["supervisor"] = text_at(make_key("demo", R"("supervisor")"), "access_key");
}

void ApiWorld::add_credential(HttpRequest& request, const std::string& as) const {
    if (as != "nobody") {
        const auto found = credentials_.find(as);
        CHECK(found != credentials_.end());
        request.headers.emplace_back("Authorization", "Bearer " + found->second);
    }
}

std::shared_ptr<std::optional<HttpResponse>> ApiWorld::send_later(const Sent& sent) {
    HttpRequest request;
    request.method = sent.method;
    request.target = sent.path;
    request.headers = sent.headers;
    request.headers.emplace_back("Host", "localhost:8420");
    request.body = sent.body;
    request.peer_address = "127.0.0.1";
    request.peer_is_loopback = true;
    add_credential(request, sent.as);
    const auto response = std::make_shared<std::optional<HttpResponse>>();
    face_->handle(std::move(request), std::make_shared<CatchingResponder>(response));
    if (!*response) {
        relay_.settle();
    }
    return response;
}

HttpResponse ApiWorld::send(const Sent& sent) {
    const auto response = send_later(sent);
    CHECK(response->has_value());
    return **response;
}

Json ApiWorld::send_json(const Sent& sent) {
    const HttpResponse response = send(sent);
    auto json = parse_json(response.body);
    CHECK(json.has_value());
    return *std::move(json);
}

}  // namespace interlock
