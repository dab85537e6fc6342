// One life of the server: the production plane, engine and outbox over the models of a world, wired
// as the real server wires them, without threads. A crash ends it; the world goes on.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "app/plane/plane.h"
#include "app/plane/venue_watch.h"
#include "bots/service/bot_service.h"
#include "engine/memory/held_seal_keys.h"
#include "engine/memory/memory_head_log.h"
#include "engine/memory/memory_ledger_store.h"
#include "engine/service/turn_engine.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "loop/service/venue_sink.h"
#include "sim/bot_models.h"
#include "sim/command.h"
#include "sim/crash_disk.h"
#include "sim/crash_vfs.h"
#include "sim/faulty_store.h"
#include "sim/plants.h"
#include "sim/reference.h"
#include "sim/venue_model.h"
#include "sim/world.h"
#include "sim/world_limits.h"
#include "venues/paper/paper_keys.h"

namespace interlock::sim {

// Everything that outlives the server.
struct World {
    World(std::uint64_t from_seed, Plant planted, ViolationLog& log);

    const std::uint64_t seed;
    const Plant plant;
    const bool on_disk;  // The real SQLite store on a crash disk; else the memory store.
    const bool two_person_rule;
    const bool trades;      // There is a venue, and planners who use it.
    const bool supervised;  // There are strategies besides, and people and agents who move them.
    const bool has_bots;    // Tenants have maker bots.
    const People people;
    HeldSealKeys keys;
    MemoryHeadLog head_log;  // As durable as the store: it is written after it.
    Power power;
    SimClock clock;
    SeededIds ids;
    CrashDisk disk;
    MemoryLedgerContents memory;
    SinkModel sink;
    FlagModel flag;
    MirrorModel mirror;
    std::unique_ptr<VenueModel> venue;  // Null where nobody trades.
    std::unique_ptr<RatedFeed> feed;    // Likewise.
    PaperKeys exchange_keys{clock};
    MasterKeysModel master_keys;
    PnlLogModel pnl_log;
    BotConfig default_bot;  // Where there are bots.
    Reference reference;
    std::uint64_t lives = 0;
    std::uint64_t desk_calls = 0;
};

inline constexpr const char* kDatabasePath = "ledger.db";

class Server {
public:
    using OnCommitted = std::function<void(std::span<const TurnCommit>)>;

    // Opens the store and the plane; what recovery found is in recovery().
    // `on_opened` sees the store as the last life left it, before the plane writes to it.
    using OnOpened = std::function<void(LedgerStore&)>;
    static Result<std::unique_ptr<Server>> start(
        World& world, OnCommitted on_committed, const OnOpened& on_opened);
    // Gives the memory store's contents back to the world.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    Plane& plane() { return *plane_; }
    TurnEngine& engine() { return *engine_; }
    OutboxThreads& outbox() { return *outbox_; }
    // As the plane sees it, below the witness.
    LedgerStore& store() { return *planted_; }
    const Plane::Recovery& recovery() const { return recovery_; }
    // The bottom of the stack, durable as soon as it returns; null on a disk.
    LedgerStore* memory() { return memory_.get(); }
    // Null on a disk.
    FaultyStore* faulty() { return faulty_.get(); }
    bool store_has_failed() const { return witness_->has_failed(); }

    // A planner's tool, as the server's face calls it.
    void call_tool(const Command& command, std::function<void(Result<Answer>)> reply);
    // One look at the venue; the server does so every quarter of a second.
    void watch_venue();
    // What only humans may: trading on again after a release, recovery resumed, a strategy enabled.
    void visit_desk(const TenantId& tenant_id);
    // A supervisor's decision, and what people do to strategies.
    void call_control(const Command& command, std::function<void(Result<Answer>)> reply);
    void call_helper(const Command& command, const std::function<void(Result<Answer>)>& reply);

    // A call around a maker bot; the world has some.
    void call_bot(const Command& command, const std::function<void(Result<Answer>)>& reply);
    // Runs what waits for a thread that may block: the fetches of hydrations, one or all.
    void run_job();
    void run_jobs();
    const BotBoard& bot_board() { return bots_->board(); }
    Json bot_status(const TenantId& tenant_id);

    // Finishes what was accepted and signs the chains, as a shutdown does.
    void finish();

private:
    class NoObserver final : public TurnObserver {
        void on_commit(std::size_t, Duration) override {}
        void on_refusal(std::string_view) override {}
        void on_commit_failure(const Error&) override {}
    };
    explicit Server(World& world) : world_(world) {}
    Result<void> open_store(OnCommitted on_committed);
    Result<void> open_plane();
    void submit(TurnRequest request);
    void plant_into(TurnRequest& request);
    void plant_into_tool(TurnRequest& request, const Command& command);
    void submit_outcome(EffectOutcome outcome);
    void build_plane(KillFlag& flag);
    void forget_kill();
    EffectSink& sink();
    // What a human finds wanting at the desk.
    struct DeskWork {
        bool enables_trading = false;
        bool resumes_recovery = false;
        std::vector<StrategyId> disabled;
    };
    Result<DeskWork> look_at_desk(Turn& turn, const TenantId& tenant_id);
    void put_right(const TenantId& tenant_id, const DeskWork& work);
    // The trader's mistakes, in server_trader.cc.
    bool plant_into_control(const Command& command, TurnRequest& request);
    void plant_into_tick();
    void plant_at_start();
    // Saves `empty` over every row of that kind.
    void forget_rows(const std::string& prefix, const Json& empty);
    Result<void> act_as_active(
        Turn& turn, const StrategyInstance& instance, const TurnRequest& act);
    void unpause(const StrategyInstance& instance);
    // The bots' side, in server_bot.cc.
    void build_bots();
    Result<void> open_bots();
    void plant_into_bot(TurnRequest& request);
    void act_unasked(const TenantId& tenant_id);
    void spoil_bots();

    World& world_;
    NoObserver observer_;
    // The store, from the bottom up.
    std::unique_ptr<MemoryLedgerStore> memory_;
    std::unique_ptr<CrashVfs> vfs_;
    std::unique_ptr<SqliteLedgerStore> sqlite_;
    std::unique_ptr<FaultyStore> faulty_;
    std::unique_ptr<PlantedStore> planted_;
    std::unique_ptr<WitnessStore> witness_;
    std::unique_ptr<EffectSink> resending_;
    std::unique_ptr<VenueSink> venue_sink_;
    std::unique_ptr<VenueWatch> venue_watch_;
    std::unique_ptr<WorkerPool> key_workers_;  // Without threads: venues are asked at once.
    std::unique_ptr<VaultService> vault_;
    std::unique_ptr<PnlJobs> pnl_;
    std::unique_ptr<BotService> bots_;  // Null where there are none.
    std::deque<std::function<void()>> jobs_;
    std::unique_ptr<KillFlag> trusting_;
    // A way to the sink that knows no latch; for the plant latch_ignored.
    KillLatch blind_latch_;
    std::unique_ptr<OutboxRunner> blind_outbox_;
    std::unique_ptr<Plane> plane_;
    std::unique_ptr<TurnEngine> engine_;
    std::unique_ptr<OutboxThreads> outbox_;
    Plane::Recovery recovery_;
    std::uint64_t submitted_ = 0;
};

}  // namespace interlock::sim
