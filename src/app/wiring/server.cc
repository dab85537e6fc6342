#include "app/wiring/server.h"

#include <chrono>
#include <csignal>

#include "app/face/agent_operations.h"
#include "app/face/backup_operations.h"
#include "app/face/health_operations.h"
#include "app/face/page_operations.h"
#include "app/face/plane_operations.h"
#include "app/mcp/mcp_http.h"
#include "app/mcp/operation_catalog.h"
#include "app/plane/venue_watch.h"
#include "app/wiring/archive_folder.h"
#include "app/wiring/backup_setup.h"
#include "app/wiring/bot_platform.h"
#include "app/wiring/data_path.h"
#include "app/wiring/descriptor_limit.h"
#include "app/wiring/exposure.h"
#include "app/wiring/http_setup.h"
#include "app/wiring/listeners.h"
#include "app/wiring/loop_setup.h"
#include "app/wiring/notice_host.h"
#include "app/wiring/quarantine.h"
#include "app/wiring/relay_platform.h"
#include "app/wiring/server_watch.h"
#include "app/wiring/stop_listener.h"
#include "app/wiring/version.h"
#include "app/wiring/witness_host.h"
#include "base/bounded_queue.h"
#include "base/errors.h"
#include "base/log.h"
#include "bots/face/bot_operations.h"
#include "bots/face/onboarding_operations.h"
#include "engine/service/ledger_check.h"
#include "engine/service/turn_engine.h"
#include "engine/sink/no_sink.h"
#include "engine/sink/recording_sink.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/file_kill_flag.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "host/face/http_face.h"
#include "loop/face/loop_operations.h"
#include "loop/service/venue_sink.h"
#include "relay/face/console_operations.h"
#include "relay/face/relay_operations.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kVenuePeriod{250};
constexpr std::chrono::milliseconds kShutdownGrace{10'000};
constexpr Duration kHeartbeatLate = Duration::of_seconds(5);

}  // namespace

struct Server::Body {
    Config config;
    SystemClock clock;
    RandomIdSource ids;
    std::optional<DataFolder> folder;
    std::unique_ptr<SqliteLedgerStore> store;
    std::optional<FileHeadMirror> mirror;
    std::optional<FileKillFlag> flag;
    std::unique_ptr<EffectSink> sink;
    VenueSetup venues;
    std::unique_ptr<VenueSink> venue_sink;
    std::unique_ptr<VenueWatch> venue_watch;
    std::thread venue_thread;
    Metrics metrics;
    std::unique_ptr<Plane> plane;
    std::unique_ptr<TurnEngine> engine;
    std::optional<Troubles> troubles;
    std::unique_ptr<OutboxThreads> outbox;
    std::unique_ptr<PasswordPool> workers;
    std::unique_ptr<PrincipalService> principals;
    std::unique_ptr<NoticeHost> notices;
    BackupSetup backup;
    std::unique_ptr<BotPlatform> platform;
    std::unique_ptr<RelayPlatform> relay;
    std::unique_ptr<WitnessHost> witnesses;
    OperationTable table;
    std::unique_ptr<HttpFace> face;
    std::unique_ptr<OperationCatalog> catalog;
    std::unique_ptr<McpServer> mcp_server;
    std::unique_ptr<McpHttp> mcp;
    std::unique_ptr<Listeners> listeners;
    std::unique_ptr<StopListener> stop_listener;
    std::atomic<bool> started{false};
    BoundedQueue<int> watch_bell{1, 1};  // Closed to end the watch.
    BoundedQueue<int> venue_bell{1, 1};  // Likewise for the venues.

    Result<void> open_folder();
    Result<void> connect_venues();
    void submit(TurnRequest request);
    Result<void> build_bots();
    Result<void> build_relay();
    std::string base_url() const;  // As callers know it.
    void open_paper_account(const Account& account);
    void watch_venues();
    Result<void> build_plane();
    Result<void> load();
    Result<void> open_listeners();
    void build_table();
    Result<void> build_faces();
    void add_gauges();
    std::string not_ready_because();
};

Result<void> Server::Body::open_folder() {
    TRY_ASSIGN(folder, DataFolder::open(config.data_folder, ids));
    SqliteLedgerOptions options;
    options.path = folder->file("interlock.db");
    TRY_ASSIGN(store, SqliteLedgerStore::open(options));
    TRY_ASSIGN(mirror, FileHeadMirror::open(folder->file("heads")));
    flag.emplace(folder->path());
    if (const auto kept = flag->keep_ballast(); !kept) {
        log_warn("ballast_failed", {{"message", kept.error().message}});
    }
    if (config.effects_sink.empty()) {
        sink = std::make_unique<NoSink>();
    } else {
        sink = std::make_unique<RecordingSink>(config.effects_sink);
    }
    return connect_venues();
}

Result<void> Server::Body::connect_venues() {
    TRY_ASSIGN(venues, open_venues(config, folder->path(), clock));
    venue_sink = std::make_unique<VenueSink>(VenueSink::Parts{
        .venues = venues.all(),
        .behind = *sink,
        .clock = clock,
        .accounts =
            [this] {
                std::vector<VenueAccount> accounts;
                for (const LoopService::Watched& watched : plane->loop->watched()) {
                    accounts.push_back(watched.account);
                }
                return accounts;
            },
        .on_request = [this](const OutboxItem& effect) { platform->bots().charge(effect); }});
    return {};
}

void Server::Body::open_paper_account(const Account& account) {
    if (account.key.mode != TradeMode::paper) {
        return;
    }
    const VenueBalance deposit{account.quote, config.paper_deposit, {}};
    if (const auto opened = venues.paper->open_account(account.key, {&deposit, 1}); !opened) {
        log_error("paper_account_failed", {{"message", opened.error().message}});
    }
}

void Server::Body::watch_venues() {
    while (!venue_bell.is_closed()) {
        venue_bell.pop(1, kVenuePeriod);  // Nobody rings: this is a wait that close() ends.
        troubles->set("paper_venue", venue_trouble("paper", venues.paper->advance(clock.now())));
        troubles->set("shadow_venue", venue_trouble("shadow", venues.shadow->observe()));
        venue_watch->poll();
    }
}

void Server::Body::submit(TurnRequest request) {
    // The program's own turns have a lane that a flood of callers cannot fill.
    if (request.principal.kind == PrincipalKind::internal && !request.urgent) {
        engine->submit_internal(std::move(request));
    } else {
        engine->submit(std::move(request));
    }
}

std::string Server::Body::base_url() const {
    return config.http_public_url.empty() ? listeners->address() : config.http_public_url;
}

Result<void> Server::Body::build_bots() {
    TRY_ASSIGN(
        platform,
        BotPlatform::open({
            .plane = *plane,
            .store = *store,
            .clock = clock,
            .ids = ids,
            .submit = [this](TurnRequest request) { submit(std::move(request)); },
            .principals = *principals,
            .feed = *venues.paper,
            .venue = *venues.paper,
            .config = config,
            .data_folder = folder->path(),
            .base_url = [this] { return base_url(); },
        }));
    venue_watch = std::make_unique<VenueWatch>(VenueWatch::Parts{
        .loop = *plane->loop,
        .venues = venues.all(),
        .clock = clock,
        .ticker = *plane->ticker,
        .decisions = *plane->decisions,
        .supervisor = plane->supervisor.get(),
        .bots = &platform->bots()});
    return {};
}

Result<void> Server::Body::build_relay() {
    TRY_ASSIGN(const RestoreService::Verdict restored, backup.restored->verdict());
    TRY_ASSIGN(
        relay,
        RelayPlatform::open(
            {.clock = clock,
             .ids = ids,
             .config = config,
             .data_folder = folder->path(),
             .seal_keys = folder->seal_keys(),
             .known =
                 {.keys = plane->ledger.lineage(),
                  .expected = plane->ledger.expected(),
                  .turn = plane->ledger.turn(),
                  .is_from_before = plane->ledger.was_from_before()},
             .tenant_exists =
                 [this](const TenantId& tenant_id) {
                     return tenant_id != system_tenant() &&
                            plane->directory.tenant_exists(tenant_id);
                 },
             .restored = restored,
             .on_break = [this](const ChainReport& found) { return plane->relay_broke(found); }}));
    metrics.add_text([this] { return relay->plane().metrics_text(); });
    relay->attach([this](TurnRequest request) { submit(std::move(request)); });
    plane->ledger.set_other_heads([this] { return relay->heads(); });
    return {};
}

Result<void> Server::Body::build_plane() {
    TRY_ASSIGN(LoopConfig loop, loop_config_of(config, venues.paper->symbols()));
    const SubmitTurn to_engine = [this](TurnRequest request) { submit(std::move(request)); };
    plane = std::make_unique<Plane>(
        Plane::Parts{
            .store = *store,
            .clock = clock,
            .ids = ids,
            .mirror = *mirror,
            .observer = metrics,
            .sink = *venue_sink,
            .flag = *flag,
            .keys = folder->seal_keys(),
            .head_log = folder->head_log(),
            .submit = to_engine,
            .dispatch =
                [this](std::vector<OutboxItem> effects) { outbox->enqueue(std::move(effects)); },
            .feed = venues.paper.get(),
            .on_account = [this](const Account& account) { open_paper_account(account); },
            .segment_bytes =
                [this](const std::string& where, const std::string& file) {
                    return segment_bytes(folder->path(), where, file);
                },
        },
        PlaneConfig{
            .two_person_rule = config.approvals_two_person,
            .has_sink = !config.effects_sink.empty(),
            .loop = std::move(loop),
            .control = config.control,
            .supervisor = config.supervisor});
    engine = std::make_unique<TurnEngine>(plane->runner, TurnEngine::Bounds{});
    engine->set_clock(clock);
    troubles.emplace(to_engine);
    engine->set_round_duty([this] {
        witnesses->duty();
        relay->duty(*plane);
        plane->archive.duty();
    });
    outbox = std::make_unique<OutboxThreads>(plane->outbox, clock, [this](EffectOutcome outcome) {
        engine->submit_internal(plane->runner.outcome_turn(std::move(outcome)));
    });
    workers = std::make_unique<PasswordPool>();
    principals = std::make_unique<PrincipalService>(PrincipalService::Parts{
        .runner = plane->runner,
        .submit = to_engine,
        .directory = plane->directory,
        .workers = *workers,
        .clock = clock,
        .ids = ids,
        .operator_token_hash = sha256_hex(folder->operator_token().reveal()),
        .operator_recovery_delay = Duration::of_hours(config.recovery_operator_delay_hours)});
    return {};
}

Result<void> Server::Body::load() {
    const SubmitTurn to_engine = [this](TurnRequest request) { submit(std::move(request)); };
    TRY(principals->open());
    plane->ledger.on_break([this](const ChainReport& report) {
        keep_evidence(folder->path(), report, clock.now(), *store);
    });
    plane->ledger.await_other_heads();
    const auto where = [this] { return base_url(); };
    TRY_ASSIGN(
        notices,
        NoticeHost::open({config, *plane, to_engine, *principals, clock, ids, metrics, where}));
    TRY_ASSIGN(Plane::Recovery recovery, plane->open());
    log_broken_chains("ledger", recovery.chains);
    if (!recovery.unsettled.empty() || !recovery.resend.empty()) {
        log_warn(
            "effects_left_open",
            {{"unknown", static_cast<std::int64_t>(recovery.unsettled.size())},
             {"resent", static_cast<std::int64_t>(recovery.resend.size())}});
    }
    TRY_ASSIGN(
        backup,
        open_backups(
            {.plane = *plane,
             .principals = *principals,
             .keys = folder->seal_keys(),
             .submit = to_engine,
             .feed = *venues.paper,
             .venues = venues.memories()}));
    TRY(build_bots());
    TRY(build_relay());
    TRY_ASSIGN(
        witnesses,
        WitnessHost::open(
            {.config = config.witness,
             .data_folder = folder->path(),
             .head_log = folder->head_log(),
             .store = *store,
             .clock = clock,
             .submit = to_engine,
             .plane = *plane,
             .metrics = metrics}));
    troubles->set("chain", chain_trouble(plane->ledger.open_break(system_tenant())));
    outbox->enqueue(std::move(recovery.resend));
    outbox->enqueue_unsettled(std::move(recovery.unsettled));
    return {};
}

void Server::Body::build_table() {
    register_health_operations(
        table,
        {.metrics = metrics,
         .version = std::string(interlock_version()),
         .not_ready_because = [this] { return not_ready_because(); },
         .exposure = [this] { return encode(listeners->exposure()); }});
    register_plane_operations(table, *plane, *principals);
    witnesses->register_operations(table);
    notices->register_operations(table);
    register_backup_operations(table, *backup.backups, *backup.restored);
    register_loop_operations(table, *plane->loop, {*venues.paper, *store, clock});
    register_bot_operations(table, platform->bots());
    register_onboarding_operations(table, platform->onboarding());
    register_relay_operations(table, relay->plane());
    if (relay->console() != nullptr) {
        register_console_operations(table, *relay->console());
    }
    register_page_operations(table);
    register_agent_operations(table, base_url());
    register_openapi_operation(table, std::string(interlock_version()));
}

void Server::Body::add_gauges() {
    const auto gauge = [this](const char* name, const char* help, auto read) {
        metrics.add_gauge(name, help, [read] { return static_cast<double>(read()); });
    };
    const auto turns = [this] { return engine->waiting(); };
    const auto effects = [this] { return outbox->waiting(); };
    const auto is_stopped = [this] { return plane->latch.is_raised_global(); };
    gauge("interlock_waiting_turns", "Turns in the engine's queue.", turns);
    gauge("interlock_waiting_effects", "Effects in the outbox queue.", effects);
    add_http_gauges(metrics, [this] { return listeners->counters(); });
    gauge("interlock_kill_switch_global", "1 while the global latch is up.", is_stopped);
    platform->add_gauges(metrics);
    const auto pages = [this] { return store->counters().wal.wal_pages; };
    gauge("interlock_troubles", "Of the server itself.", [this] { return troubles->count(); });
    const auto breaks = [this] { return plane->ledger.open_breaks()->size(); };
    gauge("interlock_chains_broken", "Audit chains broken and accepted by nobody.", breaks);
    gauge("interlock_wal_pages", "Pages in the write-ahead log.", pages);
}

Result<void> Server::Body::open_listeners() {
    TRY_ASSIGN(
        listeners,
        Listeners::open(
            {.config = config,
             .operator_socket = operator_socket_path(folder->path()),
             .metrics = metrics,
             .judge =
                 [this](const HttpRequest& head) {
                     return relay->takes(head) ? relay->judge(head) : face->judge(head);
                 },
             .handler =
                 [this](HttpRequest request, HttpResponderPtr responder) {
                     if (relay->takes(request)) {
                         relay->handle(std::move(request), std::move(responder));
                     } else {
                         face->handle(std::move(request), std::move(responder));
                     }
                 }}));
    return {};
}

Result<void> Server::Body::build_faces() {
    TRY(open_listeners());
    build_table();
    face = std::make_unique<HttpFace>(
        HttpFace::Parts{
            .table = table,
            .directory = plane->directory,
            .clock = clock,
            .metrics = metrics,
            .mcp =
                [this](HttpRequest request, Principal principal, HttpResponderPtr responder) {
                    mcp->handle(std::move(request), std::move(principal), std::move(responder));
                },
            .lost_page = lost_page},
        http_face_config(config));
    TRY_ASSIGN(
        stop_listener,
        StopListener::open(
            {.config = config,
             .kill = plane->kill,
             .directory = plane->directory,
             .clock = clock,
             .metrics = metrics,
             .face = http_face_config(config)}));
    catalog = std::make_unique<OperationCatalog>(OperationCatalog::Parts{
        .table = table,
        .tenant_exists =
            [this](const TenantId& tenant_id) { return plane->directory.tenant_exists(tenant_id); },
        .admit = [this](
                     const Operation& operation,
                     const ApiCall& call) { return face->check_rate(operation, call); },
        .charge = &face->record_charge(),
        .on_answer = [this](
                         const Operation& operation,
                         int status) { metrics.on_request(operation.id, status); }});
    mcp_server = std::make_unique<McpServer>(*catalog, std::string(interlock_version()));
    mcp = std::make_unique<McpHttp>(McpHttp::Parts{
        .server = *mcp_server, .clock = clock, .ids = ids, .admit = [this](const Principal& who) {
            return face->check_rate(who);
        }});
    plane->directory.on_key_ended([this](const KeyId& key_id) { mcp->close_of(key_id); });
    add_gauges();
    return {};
}

std::string Server::Body::not_ready_because() {
    if (!started) {
        return "The server is starting.";
    }
    if (relay->plane().lane.is_lost()) {
        return "The relay's store failed; restart the server after checking the disk.";
    }
    if (store->has_failed()) {
        return "The store failed; restart the server after checking the disk.";
    }
    return engine->is_alive(clock.monotonic(), kHeartbeatLate)
               ? troubles->first()
               : "The engine has not gone round for a while.";
}

Server::Server() : body_(std::make_unique<Body>()) {}

Server::~Server() {
    stop();
}

Result<std::unique_ptr<Server>> Server::open(const Config& config) {
    std::unique_ptr<Server> server(new Server());
    TRY(server->build(config));
    return server;
}

Result<void> Server::build(const Config& config) {
    TRY(check_plaintext(config));  // Before anything is made.
    body_->config = config;
    body_->config.http_connections_max = raise_descriptor_limit(config.http_connections_max);
    std::signal(SIGPIPE, SIG_IGN);  // A peer that went away is an error of one call, not our end.
    TRY(body_->open_folder());
    TRY(body_->build_plane());
    TRY(body_->load());
    return body_->build_faces();
}

void Server::start() {
    body_->engine->start();
    body_->outbox->start();
    body_->platform->start();
    body_->relay->start();
    body_->witnesses->start();
    body_->listeners->start();
    if (body_->stop_listener) {
        body_->stop_listener->start();
    }
    body_->venue_thread = std::thread([this] { body_->watch_venues(); });
    watch_ = std::thread([this] { watch(); });
    body_->started = true;
}

void Server::stop() {
    if (stopping_.exchange(true)) {
        return;
    }
    body_->watch_bell.close();
    body_->venue_bell.close();
    for (std::thread* const thread : {&body_->venue_thread, &watch_}) {
        if (thread->joinable()) {
            thread->join();
        }
    }
    if (body_->mcp) {
        body_->mcp->end_all();
    }
    const auto end = [](const auto& part, auto... grace) {
        if (part) {
            part->stop(grace...);
        }
    };
    end(body_->listeners, kShutdownGrace);
    end(body_->stop_listener, kShutdownGrace);
    end(body_->relay);
    end(body_->platform);
    end(body_->notices);
    end(body_->workers);
    end(body_->outbox);
    end(body_->engine);
    if (body_->started && !body_->store->has_failed()) {
        body_->plane->close();
        body_->witnesses->stop();
    }
}

void Server::reload() {
    auto reloaded = body_->listeners->reload();
    if (reloaded && body_->stop_listener) {
        reloaded = body_->stop_listener->reload();
    }
    if (!reloaded) {
        body_->submit(reload_failure_turn(reloaded.error().message));
    }
}

void Server::watch() {
    watch_server(
        {.flag = *body_->flag,
         .plane = *body_->plane,
         .engine = *body_->engine,
         .clock = body_->clock,
         .body_bytes = [this] { return body_->listeners->counters().body_bytes; },
         .troubles = *body_->troubles,
         .relay = body_->relay->plane(),
         .bell = body_->watch_bell});
}

std::string Server::address() const {
    return body_->listeners->address();
}

std::string Server::stop_address() const {
    return body_->stop_listener ? body_->stop_listener->address() : std::string();
}

std::uint16_t Server::port() const {
    return body_->listeners->port();
}

Plane& Server::plane() {
    return *body_->plane;
}

PrincipalService& Server::principals() {
    return *body_->principals;
}

Result<void> Server::lose_next_answer(const TenantId& tenant_id) {
    return body_->venues.lose_next_answer(tenant_id);
}

}  // namespace interlock
