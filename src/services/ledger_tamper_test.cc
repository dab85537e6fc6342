// Whoever can write the database, but does not hold the sealing key, is found out: by verification
// without the server, and by the server's start, which goes on behind a break and lets nobody trade
// until a human has looked (ADR 0015; security C1 to C3).
#include <gtest/gtest.h>

#include "base/crypto.h"
#include "services/ledger_check.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");
using Contents = MemoryLedgerContents;

void replace(std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in " << text;
    text.replace(at, from.size(), to);
}

// Hashes a chain anew from genesis and sets its head, as anybody can who knows the format.
void hash_anew(Contents& contents, const TenantId& tenant_id) {
    std::string before(kGenesisHash);
    std::int64_t seq = 0;
    for (auto& [place, entry] : contents.ledger) {
        if (place.first != tenant_id) {
            continue;
        }
        const std::size_t at = entry.canonical_json.rfind("\"prev_hash\":\"") + 13;
        entry.canonical_json.replace(at, 64, before);
        entry.hash = before = link_hash(before, entry.canonical_json);
        seq = place.second;
    }
    contents.heads[tenant_id] = {seq, before};
}

void erase_chain(Contents& contents, const TenantId& tenant_id, std::int64_t after = 0) {
    std::erase_if(contents.ledger, [&](const auto& item) {
        return item.first.first == tenant_id && item.first.second > after;
    });
    std::erase_if(contents.checkpoints, [&](const auto& item) {
        return item.first.first == tenant_id && item.first.second > after;
    });
    if (after == 0) {
        contents.heads.erase(tenant_id);
    } else {
        contents.heads[tenant_id] = {after, contents.ledger.at({tenant_id, after}).hash};
    }
}

bool is_seal_text(const std::string& text) {
    return text.contains("\"event\":\"CHECKPOINT_SEALED\"");
}

// Takes all seals out of a chain, closes the gaps and hashes it anew.
void strip_seals(Contents& contents, const TenantId& tenant_id) {
    std::vector<LedgerEntry> kept;
    for (const auto& [place, entry] : contents.ledger) {
        if (place.first == tenant_id && !is_seal_text(entry.canonical_json)) {
            kept.push_back(entry);
        }
    }
    erase_chain(contents, tenant_id);
    std::int64_t seq = 0;
    for (LedgerEntry& entry : kept) {
        const std::string was = std::to_string(entry.seq);
        const std::string now = std::to_string(++seq);
        replace(
            entry.canonical_json,
            "\"seq\":" + was + ",\"severity\"",
            "\"seq\":" + now + ",\"severity\"");
        replace(
            entry.canonical_json,
            "\"audit_id\":\"" + tenant_id.text() + "." + was + "\"",
            "\"audit_id\":\"" + tenant_id.text() + "." + now + "\"");
        entry.seq = seq;
        contents.ledger.emplace(std::pair(tenant_id, seq), entry);
    }
    hash_anew(contents, tenant_id);
}

struct Tampering {
    std::string name;
    std::function<void(Contents&)> edit;
    std::string tenant;  // Whose chain is named.
    std::string reason;
    bool start_sees = true;  // What lies before the last seal only verification walks.
};

std::ostream& operator<<(std::ostream& out, const Tampering& tampering) {
    return out << tampering.name;
}

class LedgerTamperTest : public ::testing::TestWithParam<Tampering> {
protected:
    // Two tenants; demo is stopped and has a vault row; one orderly end lies behind them, and some
    // records came after it.
    LedgerTamperTest() {
        world.probe("k1");
        world.probe("k2");
        stop(kOther);
        put_row("tenant/demo", R"({"keys":[]})", system_tenant());
        put_row("vault/demo", R"({"sealed":"x"})", kDemo);
        put_row("account/demo/paper/main", account("100"), kDemo);
        with_artifact();
        world.plane->ledger.sign_all();
        world.probe("k3");
        stop(kDemo);
        world.plane->ledger.sign_all();
        world.probe("k4");
        world.probe("k5");
        world.run_effects();
    }

    static std::string account(const std::string& limit) {
        return R"({"tenant_id":"demo","trading_enabled":true,"limits":{"x":")" + limit +
               R"("},"money":{}})";
    }
    void stop(const TenantId& tenant_id) {
        SetKillSwitch request;
        request.active = true;
        request.reason = "because";
        world.plane->kill.set(
            {PlaneWorld::agent(tenant_id.text()), tenant_id, KillSwitchService::Form::plain, "h"},
            request,
            [](const Result<Answer>&) {});
    }
    void turn(const TenantId& tenant_id, std::function<Result<TurnReply>(Turn&)> decide) {
        TurnRequest request;
        request.tenant_id = tenant_id;
        request.principal = internal_principal("test");
        request.function = "test";
        request.decide = std::move(decide);
        world.submit(std::move(request));
    }
    void put_row(const std::string& key, const std::string& json, const TenantId& tenant_id) {
        turn(tenant_id, [=](Turn& turn) -> Result<TurnReply> {
            turn.save(key, *parse_json(json));
            TRY(turn.audit(turn.draft("ROW_PUT")));
            return Answer{};
        });
    }
    void with_artifact() {
        turn(kDemo, [](Turn& turn) -> Result<TurnReply> {
            AuditDraft draft = turn.draft("FACTS");
            draft.artifacts.push_back(turn.put_artifact("{\"price\":1}"));
            TRY(turn.audit(std::move(draft)));
            return Answer{};
        });
    }
    std::vector<ChainReport> verify() {
        KeyLineage keys(world.keys.first_public_key());
        auto reports = check_ledger(
            {.store = world.memory,
             .mirror = {},
             .keys = keys,
             .head_log = world.head_log.lines,
             .check_artifacts = true});
        EXPECT_TRUE(reports) << reports.error().message;
        return *reports;
    }
    static const ChainReport* find(
        const std::vector<ChainReport>& reports, const std::string& tenant) {
        for (const ChainReport& report : reports) {
            if (report.tenant_id.text() == tenant) {
                return &report;
            }
        }
        return nullptr;
    }
    std::string first_fault() {
        for (const ChainReport& report : verify()) {
            if (!report.ok()) {
                return report.tenant_id.text() + ": " +
                       (report.fault ? report.fault->reason + " " + report.fault->detail : "break");
            }
        }
        return "";
    }

    PlaneWorld world;
};

TEST_F(LedgerTamperTest, AnUntouchedLedgerHoldsBeforeAndAfterAStart) {
    EXPECT_EQ(first_fault(), "");
    world.rebuild();
    EXPECT_EQ(first_fault(), "");
    for (const ChainReport& report : world.recovery.chains) {
        EXPECT_TRUE(report.ok()) << report.fault->detail;
    }
    // A start seals what an unclean end left, and moves the key on.
    EXPECT_GT(world.keys.current().epoch, 2);
    EXPECT_EQ(world.plane->runner.unsealed().of(kDemo).records, 0);
}

TEST_P(LedgerTamperTest, IsNamedByVerificationAndByTheStart) {
    const Tampering& tampering = GetParam();
    ASSERT_EQ(first_fault(), "");
    world.memory.tamper(tampering.edit);
    const auto reports = verify();
    const ChainReport* named = find(reports, tampering.tenant);
    ASSERT_NE(named, nullptr);
    ASSERT_TRUE(named->fault) << first_fault();
    EXPECT_EQ(named->fault->reason, tampering.reason) << named->fault->detail;

    world.rebuild();
    const ChainReport* started = find(world.recovery.chains, tampering.tenant);
    ASSERT_NE(started, nullptr);
    EXPECT_EQ(started->fault.has_value(), tampering.start_sees);
    if (!tampering.start_sees) {
        return;
    }
    const TenantId tenant_id = TenantId::trusted(tampering.tenant);
    EXPECT_TRUE(world.plane->latch.is_raised(tenant_id));
    EXPECT_NE(world.plane->ledger.chain_problem(tenant_id), "");
    // Nothing is healed by a restart: the break stays told, and so does the refusal to release.
    world.rebuild();
    world.rebuild();
    const auto later = verify();
    const ChainReport* still = find(later, tampering.tenant);
    ASSERT_NE(still, nullptr);
    EXPECT_FALSE(still->ok());
    EXPECT_EQ(still->breaks.size(), 1u) << (still->fault ? still->fault->detail : "");
    EXPECT_NE(world.plane->ledger.chain_problem(tenant_id), "");
}

const std::vector<Tampering> kTamperings{
    {"edit_a_record",
     [](Contents& all) {
         replace(all.ledger.at({kDemo, 11}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
     },
     "demo",
     "content_changed"},
    {"edit_an_old_record",
     [](Contents& all) {
         replace(all.ledger.at({kDemo, 1}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
     },
     "demo",
     "content_changed",
     false},
    {"hash_the_chain_anew",
     [](Contents& all) {
         replace(all.ledger.at({kDemo, 1}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
         hash_anew(all, kDemo);
     },
     "demo",
     "bad_checkpoint"},
    {"hash_anew_without_seals",
     [](Contents& all) { strip_seals(all, kDemo); },
     "demo",
     "head_mismatch"},
    {"hash_the_system_anew_without_seals",
     [](Contents& all) { strip_seals(all, system_tenant()); },
     "_system",
     "truncated_tail"},
    {"delete_the_index_of_seals",
     [](Contents& all) { all.checkpoints.clear(); },
     "demo",
     "missing_checkpoint"},
    {"delete_one_seal_from_the_index",
     [](Contents& all) {
         all.checkpoints.erase(std::prev(all.checkpoints.upper_bound({kDemo, 99})));
     },
     "demo",
     "missing_checkpoint"},
    {"cut_the_tail_below_the_last_seal",
     [](Contents& all) { erase_chain(all, kDemo, 3); },
     "demo",
     "truncated_tail"},
    {"cut_the_records_behind_the_head_row",
     [](Contents& all) {
         const std::int64_t last = all.heads.at(kDemo).seq;
         all.ledger.erase({kDemo, last});
     },
     "demo",
     "truncated_tail"},
    {"make_a_tenant_vanish",
     [](Contents& all) { erase_chain(all, kOther); },
     "other",
     "truncated_tail"},
    {"delete_a_record",
     [](Contents& all) { all.ledger.erase({kDemo, 11}); },
     "demo",
     "missing_record"},
    {"swap_two_tenants",
     [](Contents& all) {
         std::swap(
             all.ledger.at({kDemo, 1}).canonical_json, all.ledger.at({kOther, 1}).canonical_json);
     },
     "demo",
     "misplaced_record",
     false},
    {"add_a_record",
     [](Contents& all) {
         ChainHead head{all.heads.at(kDemo).seq, all.heads.at(kDemo).hash};
         AuditDraft draft;
         draft.tenant_id = kDemo;
         draft.event = "KILL_SWITCH_RELEASED";
         draft.decision_id = DecisionId::trusted("d");
         draft.tick_id = TickId::trusted("-");
         draft.principal = "human:hum_1";
         const SealedRecord sealed = *seal(head, std::move(draft));
         all.ledger.emplace(
             std::pair(kDemo, head.seq), LedgerEntry{kDemo, head.seq, sealed.canonical, head.hash});
     },
     "demo",
     "head_mismatch"},
    {"switch_a_stop_off",
     [](Contents& all) {
         replace(all.states.at("kill/other").json, "\"active\":true", "\"active\":false");
     },
     "other",
     "changed_row"},
    {"forget_a_stop", [](Contents& all) { all.states.erase("kill/demo"); }, "demo", "missing_row"},
    {"plant_a_key",
     [](Contents& all) {
         replace(all.states.at("tenant/demo").json, "\"keys\":[]", "\"keys\":[\"evil\"]");
     },
     "_system",
     "changed_row"},
    {"plant_a_human",
     [](Contents& all) { all.states["human/hum_evil"] = {1, "{}"}; },
     "_system",
     "unknown_row"},
    {"put_an_old_vault_row_back",
     [](Contents& all) { all.states.at("vault/demo").json = R"({"sealed":"old"})"; },
     "demo",
     "changed_row"},
    {"approve_by_hand",
     [](Contents& all) { all.states["approval/demo/apr_evil"] = {1, R"({"state":"approved"})"}; },
     "demo",
     "unknown_row"},
    {"loosen_a_limit",
     [](Contents& all) {
         replace(all.states.at("account/demo/paper/main").json, "\"100\"", "\"999\"");
     },
     "demo",
     "changed_row"},
    {"change_an_artifact",
     [](Contents& all) {
         all.artifacts.at({kDemo, sha256_hex("{\"price\":1}")}) = "{\"price\":2}";
     },
     "demo",
     "changed_artifact",
     false},
    {"delete_an_artifact",
     [](Contents& all) { all.artifacts.erase({kDemo, sha256_hex("{\"price\":1}")}); },
     "demo",
     "missing_artifact",
     false},
    {"change_a_list_of_heads",
     [](Contents& all) {
         for (auto& [place, bytes] : all.artifacts) {
             if (place.first == system_tenant()) {
                 bytes += "ledger/ghost 1 " + std::string(64, 'a') + "\n";
             }
         }
     },
     "_system",
     "changed_artifact"},
    {"set_the_head_row_back",
     [](Contents& all) {
         all.heads.at(kDemo).seq -= 1;
         all.heads.at(kDemo).hash = all.ledger.at({kDemo, all.heads.at(kDemo).seq}).hash;
     },
     "demo",
     "head_mismatch"},
};

INSTANTIATE_TEST_SUITE_P(
    All, LedgerTamperTest, ::testing::ValuesIn(kTamperings), [](const auto& tested) {
        return tested.param.name;
    });

// The store put back as a whole, while the head log went on.
TEST_F(LedgerTamperTest, ADatabaseThatWasRolledBackIsBehindTheHeadLog) {
    MemoryLedgerContents kept;
    world.memory.tamper([&](Contents& all) { kept = all; });
    world.plane->ledger.sign_all();
    EXPECT_EQ(first_fault(), "");
    world.memory.tamper([&](Contents& all) { all = kept; });
    EXPECT_TRUE(first_fault().starts_with("_system: truncated_tail heads.log")) << first_fault();
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised_global());
}

// A key that the chain does not name: somebody put a folder together, or restored one.
TEST_F(LedgerTamperTest, AnotherSealingKeyIsABreakOfTheSystem) {
    world.plane->ledger.sign_all();
    world.keys.lose();
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised_global());
    EXPECT_TRUE(world.plane->ledger.chain_problem(system_tenant()).starts_with("lost_key"));
    world.probe("k6");
    world.plane->ledger.sign_all();
    world.rebuild();
    const auto reports = verify();
    const ChainReport* system = find(reports, "_system");
    EXPECT_FALSE(system->fault) << system->fault->detail;
    EXPECT_EQ(system->breaks.size(), 1u);
    EXPECT_TRUE(find(reports, "demo")->ok());
}

TEST_F(LedgerTamperTest, AHumanAcceptsABreakAndTheRecordStays) {
    world.memory.tamper([](Contents& all) {
        replace(all.states.at("kill/other").json, "\"active\":true", "\"active\":false");
    });
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kOther));
    EXPECT_FALSE(world.plane->latch.is_raised_global());  // Only its tenant stops.
    const auto accept = [&](Principal who) {
        std::optional<Result<Answer>> answer;
        world.plane->ledger.accept_break(
            std::move(who), kOther, "looked into it", [&](Result<Answer> given) {
                answer = std::move(given);
            });
        return *answer;
    };
    Principal stale = world.human();
    stale.authenticated_at = world.clock.now() - Duration::of_hours(1);
    EXPECT_EQ(accept(stale).error().code(), "reauthentication_required");
    EXPECT_NE(world.plane->ledger.chain_problem(kOther), "");
    ASSERT_TRUE(accept(world.human()));
    EXPECT_EQ(world.plane->ledger.chain_problem(kOther), "");
    EXPECT_EQ(accept(world.human()).error().code(), "no_open_break");
    const auto reports = verify();
    const ChainReport* other = find(reports, "other");
    ASSERT_EQ(other->breaks.size(), 1u);
    EXPECT_EQ(other->breaks[0].accepted_by, "human:hum_1");
    EXPECT_FALSE(other->ok());
    world.rebuild();
    EXPECT_EQ(world.plane->ledger.chain_problem(kOther), "");
}

// Release is refused for a tenant whose chain is broken and possible again once it was accepted.
TEST_F(LedgerTamperTest, ABrokenChainRefusesTheRelease) {
    world.memory.tamper([](Contents& all) { replace(all.states.at("vault/demo").json, "x", "y"); });
    world.rebuild();
    world.run_effects();
    SetKillSwitch request;
    request.active = false;
    request.reason = "go on";
    std::optional<Json> asked;
    world.plane->kill.set(
        {world.human(), kDemo, KillSwitchService::Form::plain, "h"},
        request,
        [&](Result<Answer> answer) { asked = *parse_json(answer->body); });
    const std::string id = asked->find("release_approval_id")->as_string();
    std::optional<Result<Answer>> voted;
    world.plane->approvals.approve(
        {world.human(), kDemo}, ApprovalId::trusted(id), {}, [&](Result<Answer> answer) {
            voted = std::move(answer);
        });
    ASSERT_FALSE(*voted);
    EXPECT_TRUE(voted->error().message.contains("changed_row")) << voted->error().message;
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

// Chains of before seals were records keep their promise and get the new one.
TEST(LedgerAdoption, AChainOfBeforeIsAdoptedOnceAndOnlyWithItsKey) {
    PlaneWorld world;
    world.probe("k1");
    world.probe("k2");
    // As an older version left it: no names of rows, no seals.
    world.memory.tamper([](Contents& all) { all.states["vault/demo"] = {1, R"({"sealed":"x"})"}; });
    world.keys.set_from_before(true);
    world.clock.advance(Duration::of_hours(30));
    const auto verify = [&](bool is_from_before) {
        KeyLineage keys(world.keys.first_public_key());
        return *check_ledger(
            {.store = world.memory,
             .mirror = {},
             .keys = keys,
             .head_log = world.head_log.lines,
             .is_from_before = is_from_before});
    };
    EXPECT_TRUE(verify(true).front().ok());
    world.rebuild();
    EXPECT_FALSE(world.keys.is_from_before());
    const auto reports = verify(false);
    for (const ChainReport& report : reports) {
        EXPECT_TRUE(report.ok()) << report.fault->detail;
    }
    const auto demo = std::ranges::find(reports, kDemo, &ChainReport::tenant_id);
    EXPECT_EQ(demo->adopted, 2);
    // From now on its rows hang on the chain.
    world.memory.tamper([](Contents& all) { all.states.at("vault/demo").json = "{}"; });
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised(kDemo));
}

TEST(LedgerSeals, AChainIsSealedInTimeAndTheSystemOverAllHeads) {
    PlaneWorld world;
    world.probe("k1");
    EXPECT_EQ(world.head_log.lines.size(), 0u);
    world.clock.advance(kSealPeriod);
    world.probe("k2");  // Before it, what is due is sealed.
    EXPECT_EQ(world.events()[1], "CHECKPOINT_SEALED");
    ASSERT_EQ(world.head_log.lines.size(), 1u);
    EXPECT_TRUE(world.head_log.lines[0].contains("\"heads\":{\"count\":1"));
    world.clock.advance(kSealPeriod);
    world.plane->ledger.duty();  // Nobody came: the duty seals.
    EXPECT_EQ(world.head_log.lines.size(), 2u);
}

}  // namespace
}  // namespace interlock
