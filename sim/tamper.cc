#include "sim/tamper.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/crypto.h"
#include "engine/rules/protected_rows.h"
#include "engine/service/ledger_check.h"
#include "engine/wire/chain_bounds.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kRoundTurns = 64;
constexpr int kRounds = 8;
constexpr int kEditsTried = 8;

using Contents = MemoryLedgerContents;

TenantId pick_chain(SeededRandom& random, const Contents& contents) {
    auto at = contents.heads.begin();
    std::advance(at, random.below(contents.heads.size()));
    return at->first;
}

std::int64_t last_seal(const Contents& contents, const TenantId& tenant_id) {
    std::int64_t last = 0;
    for (const auto& [place, point] : contents.checkpoints) {
        last = place.first == tenant_id ? std::max(last, place.second) : last;
    }
    return last;
}

void cut(Contents& contents, const TenantId& tenant_id, std::int64_t last) {
    const auto is_behind = [&](const auto& item) {
        return item.first.first == tenant_id && item.first.second > last;
    };
    std::erase_if(contents.ledger, is_behind);
    std::erase_if(contents.checkpoints, is_behind);
    contents.heads[tenant_id] = {last, contents.ledger.at({tenant_id, last}).hash};
}

// What a chain is called whose seals and end are signed by keys that nobody names any more.
bool is_of_vouchers(std::string_view reason) {
    return reason == "unproven_tail" || reason == "bad_checkpoint" ||
           reason == "missing_checkpoint";
}

std::optional<Tampering> edit_record(SeededRandom& random, Contents& contents) {
    const TenantId tenant_id = pick_chain(random, contents);
    const std::int64_t head = contents.heads.at(tenant_id).seq;
    // Often near the end, where only the start's own walk looks.
    const std::int64_t reach = random.chance(500) ? std::min<std::int64_t>(head, 5) : head;
    const std::int64_t seq =
        head - static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(reach)));
    const auto entry = contents.ledger.find({tenant_id, seq});
    if (entry == contents.ledger.end()) {
        return std::nullopt;
    }
    std::string& text = entry->second.canonical_json;
    const std::size_t at = text.find("\"timestamp\":\"") + 13 + 3;
    text[at] = text[at] == '9' ? '8' : static_cast<char>(text[at] + 1);
    return Tampering{
        "the year of record " + std::to_string(seq) + " is another",
        tenant_id,
        seq < last_seal(contents, tenant_id)};
}

std::optional<Tampering> remove_record(SeededRandom& random, Contents& contents) {
    const TenantId tenant_id = pick_chain(random, contents);
    const std::int64_t head = contents.heads.at(tenant_id).seq;
    const std::int64_t seq =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(head)));
    if (seq == head || contents.ledger.erase({tenant_id, seq}) == 0) {
        return std::nullopt;
    }
    return Tampering{
        "record " + std::to_string(seq) + " is gone",
        tenant_id,
        seq < last_seal(contents, tenant_id)};
}

std::optional<Tampering> edit_row(SeededRandom& random, Contents& contents, bool removes) {
    std::vector<std::string> keys;
    for (const auto& [key, stored] : contents.states) {
        const bool has_flag =
            stored.json.contains("\"active\":true") || stored.json.contains("\"active\":false");
        if (protected_row(key, stored.json) && (removes || has_flag)) {
            keys.push_back(key);
        }
    }
    if (keys.empty()) {
        return std::nullopt;
    }
    const std::string key = random.pick(keys);
    const TenantId chain = protected_row(key, contents.states.at(key).json)->chain;
    if (removes) {
        contents.states.erase(key);
        return Tampering{"the row " + key + " is gone", chain};
    }
    std::string& json = contents.states.at(key).json;
    const std::size_t at = json.find("\"active\":") + 9;
    const bool was = json.substr(at, 4) == "true";
    json.replace(at, was ? 4 : 5, was ? "false" : "true");
    return Tampering{"the row " + key + " says the contrary", chain};
}

std::optional<Tampering> cut_chain(
    SeededRandom& random, Contents& contents, MirrorModel& mirror, bool with_head_file) {
    const TenantId tenant_id = pick_chain(random, contents);
    const std::int64_t head = contents.heads.at(tenant_id).seq;
    const std::int64_t sealed = last_seal(contents, tenant_id);
    // Below the last seal, when the head file goes along: behind it nobody else knows.
    const std::int64_t below = with_head_file ? std::min(head, sealed) : head;
    if (below < 2) {
        return std::nullopt;
    }
    const std::int64_t last =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(below - 1)));
    if (!contents.ledger.contains({tenant_id, last})) {
        return std::nullopt;
    }
    cut(contents, tenant_id, last);
    if (with_head_file) {
        mirror.roll_back(tenant_id, contents.heads.at(tenant_id));
    }
    return Tampering{
        "the chain ends at " + std::to_string(last) + " instead of " + std::to_string(head),
        tenant_id};
}

std::optional<Tampering> forget_seal(SeededRandom& random, Contents& contents) {
    if (contents.checkpoints.empty()) {
        return std::nullopt;
    }
    auto at = contents.checkpoints.begin();
    std::advance(at, random.below(contents.checkpoints.size()));
    const auto [tenant_id, seq] = at->first;
    contents.checkpoints.erase(at);
    return Tampering{
        "the seal " + std::to_string(seq) + " is gone from the index",
        tenant_id,
        seq < last_seal(contents, tenant_id)};
}

// A record as a turn would have written it, on the end of a chain, with head row and head file;
// half of the time it names a row that was planted along with it.
std::optional<Tampering> hang_on(SeededRandom& random, Contents& contents, MirrorModel& mirror) {
    const TenantId tenant_id = pick_chain(random, contents);
    const std::int64_t last = contents.heads.at(tenant_id).seq;
    const auto before = contents.ledger.find({tenant_id, last});
    const auto json = before == contents.ledger.end() ? Result<Json>(Json())
                                                      : parse_json(before->second.canonical_json);
    auto record =
        json ? decode_audit_record(*json) : Result<AuditRecord>(std::unexpected(json.error()));
    if (!record) {
        return std::nullopt;
    }
    AuditDraft draft = std::move(record->draft);
    draft.event = "ROWS_CHANGED";
    draft.detail = Json::object();
    draft.artifacts.clear();
    draft.rows.clear();
    if (random.chance(500) && tenant_id != system_tenant()) {
        const std::string key = "vault/" + tenant_id.text() + "/planted";
        contents.states[key] = {1, R"({"planted":true})"};
        draft.rows.push_back({key, "", sha256_hex(contents.states[key].json)});
    }
    ChainHead head{last, contents.heads.at(tenant_id).hash};
    const auto sealed = seal(head, std::move(draft));
    if (!sealed) {
        return std::nullopt;
    }
    contents.ledger.emplace(
        std::pair(tenant_id, head.seq),
        LedgerEntry{tenant_id, head.seq, sealed->canonical, head.hash});
    contents.heads.at(tenant_id).seq = head.seq;
    contents.heads.at(tenant_id).hash = head.hash;
    mirror.roll_back(tenant_id, contents.heads.at(tenant_id));
    return Tampering{"a record more, " + std::to_string(head.seq), tenant_id};
}

// A head of a number that no chain can have, in the head row or the head file.
std::optional<Tampering> claim_absurdly(
    SeededRandom& random, Contents& contents, MirrorModel& mirror) {
    const TenantId tenant_id = pick_chain(random, contents);
    const std::int64_t least = random.chance(500) ? kHeadSeqMax : kUnreadableHead - 1;
    LedgerHead head = contents.heads.at(tenant_id);
    head.seq = least + 1;
    if (random.chance(500)) {
        contents.heads.at(tenant_id) = head;
    } else {
        mirror.roll_back(tenant_id, head);
    }
    return Tampering{"a head says " + std::to_string(head.seq), tenant_id};
}

// Counts what arrives.
class CountingSink final : public EffectSink {
public:
    Result<EffectReceipt> perform(const OutboxItem& effect) override {
        ++arrived;
        return EffectReceipt{"receipt " + effect.effect_id.text()};
    }
    Result<std::optional<EffectReceipt>> find(const EffectId&) override {
        return std::optional<EffectReceipt>();
    }
    int arrived = 0;
};

class SilentObserver final : public TurnObserver {
    void on_commit(std::size_t, Duration) override {}
    void on_refusal(std::string_view) override {}
    void on_commit_failure(const Error&) override {}
};

// The production plane on a store that somebody edited, with a sink of its own.
class TamperedServer {
public:
    TamperedServer(World& world, MemoryLedgerStore& store) : world_(world), store_(store) {
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
                .dispatch =
                    [this](std::vector<OutboxItem> effects) {
                        std::ranges::move(effects, std::back_inserter(waiting_));
                    },
                .feed = world.feed.get(),
                .on_account = [](const Account&) {}},
            PlaneConfig{
                .two_person_rule = world.two_person_rule,
                .has_sink = true,
                .loop = std::move(loop)});
        PrincipalDirectory::Snapshot everybody;
        for (const auto& [tenant_id, humans] : world.people.humans) {
            everybody.humans[tenant_id] = static_cast<std::int64_t>(humans.size());
        }
        plane_->directory.publish(std::make_shared<PrincipalDirectory::Snapshot>(everybody));
        engine_ = std::make_unique<TurnEngine>(plane_->runner, TurnEngine::Bounds{});
        engine_->set_clock(world.clock);
    }

    // With `dies` the process ends before the first round of its engine, as one whose port is
    // taken.
    Result<std::vector<ChainReport>> open(bool dies) {
        TRY_ASSIGN(Plane::Recovery recovery, plane_->open());
        if (dies) {
            return std::move(recovery.chains);
        }
        if (world_.plant == Plant::forget_break) {
            forget(recovery.chains);
        }
        work();
        if (world_.plant == Plant::trust_tampered) {
            trust();
        }
        return std::move(recovery.chains);
    }

    Plane& plane() { return *plane_; }

    bool lets_an_effect_out(const TenantId& tenant_id) {
        const std::string name = "tampered_" + std::to_string(++probes_);
        const int before = sink_.arrived;
        plane_->probes.run(
            {world_.people.agents.at(tenant_id).front(), tenant_id, name},
            {.decision_id = DecisionId::trusted("dec_" + name),
             .tick_id = TickId::trusted("-"),
             .idempotency_key = IdempotencyKey::trusted(name + "_" + std::to_string(world_.lives)),
             .note = "is it out?",
             .effect = true,
             .wait = false},
            [](const Result<Answer>&) {});
        work();
        return sink_.arrived > before;
    }

private:
    void work() {
        for (int i = 0; i < kRounds; ++i) {
            engine_->run_round(kRoundTurns, std::chrono::microseconds(0));
            for (OutboxItem& effect : std::exchange(waiting_, {})) {
                engine_->submit_internal(
                    plane_->runner.outcome_turn(plane_->outbox.run_one(effect)));
            }
        }
    }

    // The mistake: a break is noted, and trading goes on as if nothing had been.
    void trust() {
        KillLatch& latch = plane_->latch;
        latch.lower(system_tenant(), latch.raised_count(system_tenant()));
        for (const TenantId& tenant_id : world_.people.tenants) {
            latch.lower(tenant_id, latch.raised_count(tenant_id));
        }
    }

    // The mistake: only what this start found itself stops somebody; what is on record is not read.
    void forget(const std::vector<ChainReport>& found) {
        std::set<TenantId> stopped;
        for (const ChainReport& report : found) {
            if (report.fault) {
                stopped.insert(report.tenant_id);
            }
        }
        const auto breaks = plane_->ledger.open_breaks();
        for (const auto& [tenant_id, state] : *breaks) {
            const auto kill = store_.load_state("kill/" + tenant_id.text());
            const bool is_on = kill && *kill && (*kill)->json.contains("\"active\":true");
            if (!is_on && !stopped.contains(tenant_id)) {
                plane_->latch.lower(tenant_id, plane_->latch.raised_count(tenant_id));
            }
        }
    }

    World& world_;
    LedgerStore& store_;
    SilentObserver observer_;
    CountingSink sink_;
    std::unique_ptr<Plane> plane_;
    std::unique_ptr<TurnEngine> engine_;
    std::vector<OutboxItem> waiting_;
    int probes_ = 0;
};

class TamperCheck {
public:
    // `lives_short` of the lives that follow end before their engine's first round.
    TamperCheck(World& world, ViolationLog& log, Tampering done, int lives_short)
        : world_(world), log_(log), done_(std::move(done)), lives_short_(lives_short) {}

    void run() {
        before_ = world_.memory;
        world_.clock.advance(Duration::of_seconds(1));
        if (!is_named(verify())) {
            complain("verification does not name it");
            return;
        }
        for (int life = 0; life < 2 + lives_short_ && !log_.first(); ++life) {
            ++world_.lives;
            MemoryLedgerStore store(std::move(world_.memory));
            live(store, life);
            world_.memory = store.take_contents();
        }
        if (!log_.first() && !is_named(verify())) {
            complain("restarts have healed it");
        }
        if (!log_.first()) {
            check_kept();
        }
    }

private:
    void complain(const std::string& what) {
        log_.report("tamper", what + ": " + done_.what + " (" + done_.tenant_id.text() + ")");
    }

    std::vector<ChainReport> verify() {
        MemoryLedgerStore copy(world_.memory);
        const auto heads = world_.mirror.load();
        KeyLineage keys(world_.keys.first_public_key());
        auto reports = check_ledger(
            {.store = copy,
             .mirror = heads ? *heads : std::map<TenantId, LedgerHead>(),
             .keys = keys,
             .head_log = world_.head_log.lines,
             .check_artifacts = true});
        if (!reports) {
            complain("verification fails (" + reports.error().message + ")");
            return {};
        }
        return *std::move(reports);
    }

    // A chain that is another's word is `_system`'s fault as well.
    bool is_named(const std::vector<ChainReport>& reports) const {
        return std::ranges::any_of(reports, [&](const ChainReport& report) {
            return !report.ok() &&
                   (report.tenant_id == done_.tenant_id || report.tenant_id == system_tenant());
        });
    }

    void live(MemoryLedgerStore& store, int life) {
        TamperedServer server(world_, store);
        const bool dies = life < lives_short_;
        const auto reports = server.open(dies);
        if (!reports) {
            complain("the server does not start any more (" + reports.error().message + ")");
            return;
        }
        const bool is_first = life == 0;
        const bool names = std::ranges::any_of(
            *reports, [](const ChainReport& report) { return report.fault.has_value(); });
        if (is_first && !names && !done_.is_sealed) {
            complain("the start does not name it");
        }
        was_named_ = was_named_ || names;
        for (const ChainReport& report : *reports) {
            stops_all_ = stops_all_ || (report.fault && report.tenant_id == system_tenant());
        }
        if (dies) {
            return;  // Nobody was there to be asked; the next life has to know.
        }
        if (was_named_) {
            check_stopped(server);
        }
        if (life == lives_short_) {
            check_others(server, *reports);
        }
    }

    void check_stopped(TamperedServer& server) {
        if (server.plane().ledger.chain_problem(done_.tenant_id).empty() &&
            server.plane().ledger.chain_problem(system_tenant()).empty()) {
            complain("a release would be granted");
        }
        for (const TenantId& tenant_id : world_.people.tenants) {
            const bool is_concerned =
                tenant_id == done_.tenant_id || done_.tenant_id == system_tenant();
            if (is_concerned && server.lets_an_effect_out(tenant_id)) {
                complain("an effect of " + tenant_id.text() + " got out");
            }
        }
    }

    // Whoever is not concerned goes on; only `_system` stops everybody. Where seals of `_system`
    // are gone, so are the keys and lists that they named, and nobody vouches for the others' ends.
    void check_others(TamperedServer& server, const std::vector<ChainReport>& reports) {
        for (const ChainReport& report : reports) {
            const bool lost_its_voucher = done_.tenant_id == system_tenant() && report.fault &&
                                          is_of_vouchers(report.fault->reason);
            if (report.fault && report.tenant_id != done_.tenant_id &&
                report.tenant_id != system_tenant() && !lost_its_voucher) {
                complain(
                    "the chain of " + report.tenant_id.text() + " is called broken, too (" +
                    report.fault->reason + ": " + report.fault->detail + ")");
            }
        }
        for (const TenantId& tenant_id : world_.people.tenants) {
            if (!stops_all_ && tenant_id != done_.tenant_id &&
                !server.lets_an_effect_out(tenant_id)) {
                complain("no effect of " + tenant_id.text() + " gets out");
            }
        }
    }

    // Neither the others' records nor the evidence.
    void check_kept() {
        for (const auto& [place, entry] : before_.ledger) {
            const auto found = world_.memory.ledger.find(place);
            if (found == world_.memory.ledger.end() || !(found->second == entry)) {
                complain(
                    "record " + std::to_string(place.second) + " of " + place.first.text() +
                    " is not what was found");
                return;
            }
        }
    }

    World& world_;
    ViolationLog& log_;
    const Tampering done_;
    const int lives_short_;
    Contents before_;  // As it was found.
    bool was_named_ = false;
    bool stops_all_ = false;  // A chain of `_system` was found broken.
};

}  // namespace

std::optional<Tampering> tamper_with(
    SeededRandom& random, MemoryLedgerContents& contents, MirrorModel& mirror) {
    if (contents.heads.empty()) {
        return std::nullopt;
    }
    switch (random.below(9)) {
        case 0:
            return edit_record(random, contents);
        case 1:
            return remove_record(random, contents);
        case 2:
            return edit_row(random, contents, false);
        case 3:
            return edit_row(random, contents, true);
        case 4:
            return cut_chain(random, contents, mirror, false);
        case 5:
            return cut_chain(random, contents, mirror, true);
        case 6:
            return hang_on(random, contents, mirror);
        case 7:
            return claim_absurdly(random, contents, mirror);
        default:
            return forget_seal(random, contents);
    }
}

void check_tampering(
    World& world, ViolationLog& log, const std::function<void(const std::string&)>& tell) {
    SeededRandom random(mix_seeds(world.seed, 40));
    std::optional<Tampering> done;
    for (int i = 0; i < kEditsTried && !done; ++i) {
        done = tamper_with(random, world.memory, world.mirror);
    }
    if (!done) {
        return;
    }
    tell("somebody with a shell: " + done->what + " (" + done->tenant_id.text() + ")");
    const int lives_short = random.chance(500) ? 1 : 0;
    tell(lives_short == 0 ? "the next start lives" : "the next start ends before its first round");
    TamperCheck(world, log, *std::move(done), lives_short).run();
}

}  // namespace interlock::sim
