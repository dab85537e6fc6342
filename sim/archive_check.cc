#include "sim/archive_check.h"

#include <sstream>

#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/memory/held_segments.h"
#include "engine/ports/forwarding_store.h"
#include "engine/service/ledger_check.h"
#include "engine/service/ledger_export.h"
#include "host/service/archive_cut.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kArchiveTurns = 64;
constexpr int kArchiveLives = 6;
constexpr std::uint64_t kArchiveRoundsMax = 6;  // Of a life that a crash ends.
constexpr int kArchiveRoundsLast = 10'000;
constexpr Duration kArchiveAge = Duration::of_days(2);

// The mistake: with the last records before the cut goes the seal at it.
class GreedyStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<void> commit(std::span<const TurnCommit> turns) override {
        std::vector<TurnCommit> more(turns.begin(), turns.end());
        for (TurnCommit& turn : more) {
            for (LedgerRemoval& removal : turn.removals) {
                if (!removal.seqs.empty()) {
                    removal.seqs.push_back(removal.seqs.back() + 1);
                }
            }
        }
        return inner_.commit(more);
    }
};

class NoSink final : public EffectSink {
public:
    Result<EffectReceipt> perform(const OutboxItem& effect) override {
        return EffectReceipt{"receipt " + effect.effect_id.text()};
    }
    Result<std::optional<EffectReceipt>> find(const EffectId&) override {
        return std::optional<EffectReceipt>();
    }
};

class DeafObserver final : public TurnObserver {
    void on_commit(std::size_t, Duration) override {}
    void on_refusal(std::string_view) override {}
    void on_commit_failure(const Error&) override {}
};

class ArchivingServer {
public:
    ArchivingServer(World& world, MemoryLedgerStore& memory, HeldSegments& files)
        : greedy_(memory) {
        LedgerStore& store =
            world.plant == Plant::archive_too_much ? static_cast<LedgerStore&>(greedy_) : memory;
        LoopConfig loop;
        if (world.trades) {
            loop.quote = *Asset::parse("USDT");
            loop.paper_deposit = Decimal(VenueModel::kDeposit);
            loop.universe = world.venue->paper().symbols();
            loop.transfer_threshold = Decimal(VenueModel::kDeposit / 100);
        }
        plane_ = std::make_unique<Plane>(
            Plane::Parts{
                .store = store,
                .clock = world.clock,
                .ids = world.ids,
                .mirror = world.mirror,
                .observer = observer_,
                .sink = sink_,
                .flag = world.flag,
                .keys = world.keys,
                .head_log = world.head_log,
                .submit = [this](TurnRequest request) { engine_->submit(std::move(request)); },
                .dispatch = [](const std::vector<OutboxItem>&) {},
                .feed = world.trades ? &world.venue->paper() : nullptr,
                .on_account = [](const Account&) {},
                .segment_bytes = [&files](
                                     const std::string&,
                                     const std::string& file) { return files.bytes_of(file); }},
            PlaneConfig{
                .two_person_rule = world.two_person_rule,
                .has_sink = true,
                .loop = std::move(loop)});
        engine_ = std::make_unique<TurnEngine>(plane_->runner, TurnEngine::Bounds{});
        engine_->set_clock(world.clock);
        engine_->set_round_duty([this] { plane_->archive.duty(); });
    }

    Result<void> open() {
        TRY(plane_->open());
        return {};
    }
    Plane& plane() { return *plane_; }

    void work(std::uint64_t rounds) {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            engine_->run_round(kArchiveTurns, std::chrono::microseconds(0));
        }
    }

private:
    GreedyStore greedy_;
    DeafObserver observer_;
    NoSink sink_;
    std::unique_ptr<Plane> plane_;
    std::unique_ptr<TurnEngine> engine_;
};

class ArchiveCheck {
public:
    ArchiveCheck(
        World& world, ViolationLog& log, const std::function<void(const std::string&)>& tell)
        : world_(world), log_(log), tell_(tell), random_(mix_seeds(world.seed, 41)) {}

    void run() {
        // A seal for every chain, so that what stands there now is not behind the last one.
        live([&](ArchivingServer& server) { server.plane().close(); });
        world_.clock.advance(kArchiveAge);
        live([&](ArchivingServer& server) { server.plane().close(); });
        before_ = world_.memory;
        for (int life = 0; life < kArchiveLives && !log_.first(); ++life) {
            live([&](ArchivingServer& server) {
                ask(server);
                server.work(random_.below(kArchiveRoundsMax));
            });
            verify("after a crash");
        }
        live([&](ArchivingServer& server) {
            for (int i = 0; i < kArchiveRoundsLast && server.plane().archive.has_work(); ++i) {
                server.work(1);
            }
            server.plane().close();
        });
        verify("at the end");
        if (!log_.first()) {
            check_kept();
        }
    }

private:
    void complain(const std::string& what) { log_.report("archive", what); }

    template <class Do>
    void live(Do act) {
        if (log_.first()) {
            return;
        }
        ++world_.lives;
        MemoryLedgerStore store(std::move(world_.memory));
        {
            ArchivingServer server(world_, store, files_);
            store_ = &store;
            if (const auto opened = server.open(); !opened) {
                complain("the server does not start: " + opened.error().message);
            } else {
                act(server);
            }
        }
        world_.memory = store.take_contents();
    }

    // Any chain may be archived, or not yet.
    void ask(ArchivingServer& server) {
        for (const auto& [tenant_id, head] : server.plane().runner.heads()) {
            if (random_.chance(500)) {
                ask(server, tenant_id);
            }
        }
        server.work(2);
    }

    void ask(ArchivingServer& server, const TenantId& tenant_id) {
        const Timestamp not_after = world_.clock.now() - kArchiveKeepMin;
        auto chosen = choose_segment(*store_, tenant_id, not_after);
        if (!chosen || !*chosen) {
            return;
        }
        ArchivedSegment segment = **std::move(chosen);
        std::ostringstream out;
        const SealKeys::Key key = world_.keys.current();
        const auto written = write_export(
            {.store = *store_,
             .signer = {world_.keys.first_public_key(), key.epoch, world_.keys.pair()},
             .created_at = world_.clock.now(),
             .segment = SegmentRange{segment.from, segment.to}},
            tenant_id,
            out);
        std::istringstream in(out.str());
        const auto good =
            written
                ? confirm_segment(
                      in,
                      {world_.keys.first_public_key(), server.plane().ledger.lineage(), tenant_id},
                      segment)
                : Result<void>(std::unexpected(written.error()));
        if (!good || written->fault) {
            complain(
                "a segment of " + tenant_id.text() +
                " cannot be written: " + (good ? written->fault->detail : good.error().message));
            return;
        }
        segment.bytes = std::ssize(out.str());
        segment.sha256 = sha256_hex(out.str());
        files_.files[segment.file] = out.str();
        tell_("archives " + segment.file);
        Principal operator_of_host;
        operator_of_host.kind = PrincipalKind::host_operator;
        operator_of_host.id = "local";
        server.plane().archive.archive(
            operator_of_host,
            {tenant_id, "", std::move(segment)},
            [this](const Result<Answer>& answer) {
                // A chain that was broken in this run stays.
                if (!answer && answer.error() != errors::cannot_archive) {
                    complain("a segment is refused: " + answer.error().message);
                }
            });
    }

    void verify(const std::string& when) {
        if (log_.first()) {
            return;
        }
        for (SegmentSource* segments : {static_cast<SegmentSource*>(nullptr), source()}) {
            MemoryLedgerStore copy(world_.memory);
            const auto heads = world_.mirror.load();
            KeyLineage keys(world_.keys.first_public_key());
            const auto reports = check_ledger(
                {.store = copy,
                 .mirror = heads ? *heads : std::map<TenantId, LedgerHead>(),
                 .keys = keys,
                 .head_log = world_.head_log.lines,
                 .segments = segments,
                 .check_artifacts = true});
            if (!reports) {
                complain("verification fails " + when + ": " + reports.error().message);
                return;
            }
            for (const ChainReport& report : *reports) {
                if (report.fault) {
                    complain(
                        "the chain of " + report.tenant_id.text() + " does not hold " + when +
                        (segments == nullptr ? "" : ", with its files") + ": " +
                        report.fault->reason + " at " + std::to_string(report.fault->seq) + ", " +
                        report.fault->detail);
                    return;
                }
            }
        }
    }

    SegmentSource* source() { return &files_; }

    void check_kept() {
        MemoryLedgerStore copy(world_.memory);
        JoinedLedger joined(copy, files_);
        for (const auto& [place, entry] : before_.ledger) {
            const auto& [tenant_id, seq] = place;
            const auto archive = load_archive(copy, tenant_id);
            const auto live = world_.memory.ledger.find(place);
            const bool is_cut = archive && seq < archive->to();
            if (!is_cut && (live == world_.memory.ledger.end() || !(live->second == entry))) {
                complain(
                    "record " + std::to_string(seq) + " of " + tenant_id.text() + " was touched");
                return;
            }
            const bool is_seal = world_.memory.checkpoints.contains(place);
            if (is_cut && live != world_.memory.ledger.end() &&
                !(tenant_id == system_tenant() && is_seal)) {
                complain("record " + std::to_string(seq) + " of " + tenant_id.text() + " is left");
                return;
            }
            const auto read = joined.read_ledger(tenant_id, seq - 1, 1);
            if (!read || read->size() != 1 || read->front().hash != entry.hash ||
                read->front().canonical_json != entry.canonical_json) {
                complain(
                    "record " + std::to_string(seq) + " of " + tenant_id.text() +
                    " is in no file as it was");
                return;
            }
        }
    }

    World& world_;
    ViolationLog& log_;
    const std::function<void(const std::string&)>& tell_;
    SeededRandom random_;
    HeldSegments files_;
    MemoryLedgerStore* store_ = nullptr;  // Of the life under way.
    MemoryLedgerContents before_;
};

}  // namespace

void check_archive(
    World& world, ViolationLog& log, const std::function<void(const std::string&)>& tell) {
    ArchiveCheck(world, log, tell).run();
}

}  // namespace interlock::sim
