#include "sim/server.h"

#include "base/check.h"
#include "base/crypto.h"
#include "sim/bot_people.h"

namespace interlock::sim {
namespace {

// Small, so that the log starts over several times in a run.
constexpr std::int64_t kWalBytes = 96 * 1024;
// Small, so that full queues are met.
constexpr TurnEngine::Bounds kEngineBounds{
    .waiting_turns_max = 24,
    .waiting_urgent_max = 3,
    .waiting_internal_max = 4096,
    .batch_turns_max = 256,
};

bool choose_disk(std::uint64_t seed, Plant plant) {
    switch (info_of(plant).store) {
        case PlantInfo::Store::memory:
            return false;
        case PlantInfo::Store::disk:
            return true;
        case PlantInfo::Store::any:
            break;
    }
    return seed % 2 == 0;
}

}  // namespace

World::World(std::uint64_t from_seed, Plant planted, ViolationLog& log)
    : seed(from_seed),
      plant(planted),
      on_disk(choose_disk(seed, plant)),
      two_person_rule(mix_seeds(seed, 1) % 4 == 0),
      trades(info_of(plant).needs_venue || mix_seeds(seed, 5) % 4 != 0),
      supervised(trades && (info_of(plant).needs_trader || mix_seeds(seed, 7) % 2 == 0)),
      has_bots(trades && (info_of(plant).needs_bots || mix_seeds(seed, 9) % 3 == 0)),
      people(make_people(mix_seeds(seed, 2), two_person_rule ? 2 : 1)),
      keys(sha256("simulated key " + std::to_string(seed))),
      ids(mix_seeds(seed, 3)),
      disk(power),
      sink(power),
      flag(power),
      mirror(power),
      reference(log) {
    if (trades) {
        venue = std::make_unique<VenueModel>(VenueModel::Parts{seed, plant, power, clock});
        feed = std::make_unique<RatedFeed>(venue->paper());
    }
    if (has_bots) {
        default_bot = default_bot_of(venue->paper());
    }
    if (plant == Plant::ack_before_sync) {
        disk.lie_about_sync();
    }
}

Result<std::unique_ptr<Server>> Server::start(
    World& world, OnCommitted on_committed, const OnOpened& on_opened) {
    std::unique_ptr<Server> server(new Server(world));
    TRY(server->open_store(std::move(on_committed)));
    on_opened(server->store());
    TRY(server->open_plane());
    return server;
}

Server::~Server() {
    venue_watch_.reset();
    outbox_.reset();
    engine_.reset();
    jobs_.clear();
    bots_.reset();
    pnl_.reset();
    vault_.reset();
    plane_.reset();
    if (memory_ != nullptr) {
        world_.memory = memory_->take_contents();
    }
}

Result<void> Server::open_store(OnCommitted on_committed) {
    ++world_.lives;
    LedgerStore* bottom = nullptr;
    if (world_.on_disk) {
        CrashVfs::seed_sqlite(mix_seeds(world_.seed, world_.lives));
        vfs_ = std::make_unique<CrashVfs>(world_.disk);
        TRY_ASSIGN(
            sqlite_,
            SqliteLedgerStore::open(
                {.path = kDatabasePath,
                 .vfs_name = vfs_->name(),
                 .exclusive_locking = true,
                 .checkpoint_thread = false,
                 .wal_passive_bytes = kWalBytes,
                 .wal_restart_bytes = kWalBytes}));
        bottom = sqlite_.get();
    } else {
        spoil_at_restart(world_.plant, world_.memory, world_.mirror);
        memory_ = std::make_unique<MemoryLedgerStore>(std::move(world_.memory));
        faulty_ = std::make_unique<FaultyStore>(*memory_, world_.power);
        bottom = faulty_.get();
    }
    planted_ = std::make_unique<PlantedStore>(
        PlantedStore::Parts{*bottom, world_.plant, world_.power, world_.people, sink()});
    witness_ = std::make_unique<WitnessStore>(
        WitnessStore::Parts{*planted_, world_.power, world_.reference, std::move(on_committed)});
    return {};
}

// The mistakes that lie between callers and the engine.
void Server::plant_into(TurnRequest& request) {
    constexpr std::uint64_t kLoseEvery = 10;
    const std::string& function = request.function;
    if (world_.plant == Plant::release_without_human && !request.urgent &&
        function.ends_with("set_kill_switch")) {
        KillLatch& latch = plane_->latch;
        latch.lower(request.tenant_id, latch.raised_count(request.tenant_id));
    }
    if (world_.plant == Plant::cross_tenant_answer && function == "list_approvals") {
        request.tenant_id = world_.people.tenants.front();
    }
    if (world_.plant == Plant::agent_approves && function == "approve" &&
        request.principal.kind == PrincipalKind::agent) {
        request.principal = world_.people.humans.at(request.tenant_id).back();
        request.principal.authenticated_at = world_.clock.now();
    }
    if (world_.plant == Plant::lose_reply && request.reply && ++submitted_ % kLoseEvery == 0) {
        request.reply = [](const Result<Answer>&) {};
    }
}

void Server::submit(TurnRequest request) {
    if (world_.plant == Plant::keep_switching && request.function == "roll_back_switch") {
        return;
    }
    if (request.function == "strategy_tick") {
        plant_into_tick();
    }
    plant_into(request);
    plant_into_bot(request);
    // As the server does: the program's own turns have a lane that callers cannot fill.
    if (request.principal.kind == PrincipalKind::internal && !request.urgent) {
        engine_->submit_internal(std::move(request));
    } else {
        engine_->submit(std::move(request));
    }
}

// Where effects go: to the venue where there is one, and past it to the model of a sink.
EffectSink& Server::sink() {
    if (resending_ == nullptr && world_.plant == Plant::resend_unknown) {
        resending_ = std::make_unique<ResendingSink>(world_.sink);
    }
    EffectSink& behind = resending_ == nullptr ? world_.sink : *resending_;
    if (!world_.trades) {
        return behind;
    }
    if (venue_sink_ == nullptr) {
        venue_sink_ = std::make_unique<VenueSink>(VenueSink::Parts{
            .venues = {{TradeMode::paper, world_.venue.get()}},
            .behind = behind,
            .clock = world_.clock,
            .accounts = [this] {
                std::vector<VenueAccount> accounts;
                for (const LoopService::Watched& watched : plane_->loop->watched()) {
                    accounts.push_back(watched.account);
                }
                return accounts;
            }});
    }
    return *venue_sink_;
}

void Server::build_plane(KillFlag& flag) {
    LoopConfig loop;
    if (world_.trades) {
        loop.quote = *Asset::parse("USDT");
        loop.paper_deposit = Decimal(VenueModel::kDeposit);
        loop.universe = world_.venue->paper().symbols();
        loop.limits = draw_limits(world_.seed);
        loop.transfer_threshold = Decimal(VenueModel::kDeposit / 100);
    }
    plane_ = std::make_unique<Plane>(
        Plane::Parts{
            .store = *witness_,
            .clock = world_.clock,
            .ids = world_.ids,
            .mirror = world_.mirror,
            .observer = observer_,
            .sink = sink(),
            .flag = flag,
            .keys = world_.keys,
            .head_log = world_.head_log,
            .submit = [this](TurnRequest request) { submit(std::move(request)); },
            .dispatch =
                [this](std::vector<OutboxItem> effects) { outbox_->enqueue(std::move(effects)); },
            .feed = world_.feed.get(),
            .on_account =
                [this](const Account& account) { world_.venue->open_account(account.key); }},
        PlaneConfig{
            .two_person_rule = world_.two_person_rule, .has_sink = true, .loop = std::move(loop)});
    build_bots();
    if (world_.trades) {
        venue_watch_ = std::make_unique<VenueWatch>(VenueWatch::Parts{
            .loop = *plane_->loop,
            .venues = {{TradeMode::paper, world_.venue.get()}},
            .clock = world_.clock,
            .ticker = *plane_->ticker,
            .decisions = *plane_->decisions,
            .bots = bots_.get()});
    }
}

Result<void> Server::open_plane() {
    KillFlag* flag = &world_.flag;
    if (world_.plant == Plant::trust_unreadable_flag) {
        trusting_ = std::make_unique<TrustingFlag>(world_.flag);
        flag = trusting_.get();
    }
    build_plane(*flag);
    PrincipalDirectory::Snapshot everybody;
    for (const auto& [tenant_id, humans] : world_.people.humans) {
        everybody.humans[tenant_id] = static_cast<std::int64_t>(humans.size());
    }
    plane_->directory.publish(std::make_shared<PrincipalDirectory::Snapshot>(everybody));
    engine_ = std::make_unique<TurnEngine>(plane_->runner, kEngineBounds);
    engine_->set_clock(world_.clock);
    engine_->set_round_duty([this] { plane_->ledger.duty(); });
    OutboxRunner* runner = &plane_->outbox;
    if (world_.plant == Plant::latch_ignored) {
        blind_outbox_ = std::make_unique<OutboxRunner>(
            OutboxRunner::Parts{sink(), blind_latch_, world_.flag, world_.clock});
        runner = blind_outbox_.get();
    }
    outbox_ = std::make_unique<OutboxThreads>(*runner, world_.clock, [this](EffectOutcome outcome) {
        submit_outcome(std::move(outcome));
    });
    TRY_ASSIGN(recovery_, plane_->open());
    TRY(open_bots());
    forget_kill();
    plant_at_start();
    outbox_->enqueue(recovery_.resend);
    outbox_->enqueue_unsettled(recovery_.unsettled);
    return {};
}

void Server::forget_kill() {
    if (world_.plant != Plant::forget_kill) {
        return;
    }
    KillLatch& latch = plane_->latch;
    for (const TenantId& tenant_id : world_.people.tenants) {
        latch.lower(tenant_id, latch.raised_count(tenant_id));
    }
    latch.lower(system_tenant(), latch.raised_count(system_tenant()));
}

void Server::finish() {
    constexpr int kRoundsMax = 100;
    for (int i = 0; i < kRoundsMax && engine_->waiting() > 0 && world_.power.on; ++i) {
        engine_->run_round(kEngineBounds.batch_turns_max, std::chrono::microseconds(0));
    }
    plane_->close();
}

}  // namespace interlock::sim
