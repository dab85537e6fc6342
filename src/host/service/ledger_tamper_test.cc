// Whoever can write the database, but does not hold the sealing key, is found out: by verification
// without the server, and by the server's start, which goes on behind a break and lets nobody trade
// until a human has looked (ADR 0015).
#include <gtest/gtest.h>

#include <limits>

#include "base/crypto.h"
#include "engine/rules/tail_proof.h"
#include "engine/service/ledger_check.h"
#include "host/service/test_forgery.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");

struct Tampering {
    std::string name;
    std::function<void(StoreContents&)> edit;
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
     [](StoreContents& all) {
         replace_in_store(
             all.ledger.at({kDemo, 11}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
     },
     "demo",
     "content_changed"},
    {"edit_an_old_record",
     [](StoreContents& all) {
         replace_in_store(
             all.ledger.at({kDemo, 1}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
     },
     "demo",
     "content_changed",
     false},
    {"hash_the_chain_anew",
     [](StoreContents& all) {
         replace_in_store(
             all.ledger.at({kDemo, 1}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
         hash_anew(all, kDemo);
     },
     "demo",
     "bad_checkpoint"},
    {"hash_anew_without_seals",
     [](StoreContents& all) { strip_seals(all, kDemo); },
     "demo",
     "head_mismatch"},
    {"hash_the_system_anew_without_seals",
     [](StoreContents& all) { strip_seals(all, system_tenant()); },
     "_system",
     "unproven_tail"},
    {"delete_the_index_of_seals",
     [](StoreContents& all) { all.checkpoints.clear(); },
     "demo",
     "missing_checkpoint"},
    {"delete_one_seal_from_the_index",
     [](StoreContents& all) {
         all.checkpoints.erase(std::prev(all.checkpoints.upper_bound({kDemo, 99})));
     },
     "demo",
     "missing_checkpoint"},
    {"cut_the_tail_below_the_last_seal",
     [](StoreContents& all) { erase_chain(all, kDemo, 3); },
     "demo",
     "truncated_tail"},
    {"cut_the_records_behind_the_head_row",
     [](StoreContents& all) {
         const std::int64_t last = all.heads.at(kDemo).seq;
         all.ledger.erase({kDemo, last});
     },
     "demo",
     "truncated_tail"},
    {"make_a_tenant_vanish",
     [](StoreContents& all) { erase_chain(all, kOther); },
     "other",
     "truncated_tail"},
    {"delete_a_record",
     [](StoreContents& all) { all.ledger.erase({kDemo, 11}); },
     "demo",
     "missing_record"},
    {"swap_two_tenants",
     [](StoreContents& all) {
         std::swap(
             all.ledger.at({kDemo, 1}).canonical_json, all.ledger.at({kOther, 1}).canonical_json);
     },
     "demo",
     "misplaced_record",
     false},
    {"add_a_record",
     [](StoreContents& all) {
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
    {"add_a_record_and_its_head",
     [](StoreContents& all) { append_forged(all, kDemo, {}); },
     "demo",
     "unproven_tail"},
    {"plant_a_key_with_a_record_that_names_it",
     [](StoreContents& all) {
         std::string& json = all.states.at("tenant/demo").json;
         const std::string was = sha256_hex(json);
         replace_in_store(json, "\"keys\":[]", "\"keys\":[\"evil\"]");
         append_forged(all, system_tenant(), {{"tenant/demo", was, sha256_hex(json)}});
     },
     "_system",
     "unproven_tail"},
    {"write_the_last_record_anew",
     [](StoreContents& all) {
         const LedgerHead head = all.heads.at(kDemo);
         replace_in_store(
             all.ledger.at({kDemo, head.seq}).canonical_json, "\"reason\":\"", "\"reason\":\"x");
         hash_anew(all, kDemo);
         all.heads.at(kDemo).proof = head.proof;
     },
     "demo",
     "unproven_tail"},
    {"cut_a_record_behind_the_last_seal",
     [](StoreContents& all) {
         const std::string proof = all.heads.at(kDemo).proof;
         erase_chain(all, kDemo, all.heads.at(kDemo).seq - 1);
         all.heads.at(kDemo).proof = proof;
     },
     "demo",
     "unproven_tail"},
    {"take_the_proof_of_another_chain",
     [](StoreContents& all) {
         append_forged(all, kOther, {});
         all.heads.at(kOther).proof = all.heads.at(kDemo).proof;
     },
     "other",
     "unproven_tail"},
    {"forget_a_proof",
     [](StoreContents& all) { all.heads.at(kDemo).proof.clear(); },
     "demo",
     "unproven_tail"},
    {"switch_a_stop_off",
     [](StoreContents& all) {
         replace_in_store(all.states.at("kill/other").json, "\"active\":true", "\"active\":false");
     },
     "other",
     "changed_row"},
    {"forget_a_stop",
     [](StoreContents& all) { all.states.erase("kill/demo"); },
     "demo",
     "missing_row"},
    {"plant_a_key",
     [](StoreContents& all) {
         replace_in_store(all.states.at("tenant/demo").json, "\"keys\":[]", "\"keys\":[\"evil\"]");
     },
     "_system",
     "changed_row"},
    {"plant_a_human",
     [](StoreContents& all) { all.states["human/hum_evil"] = {1, "{}"}; },
     "_system",
     "unknown_row"},
    {"put_an_old_vault_row_back",
     [](StoreContents& all) { all.states.at("vault/demo").json = R"({"sealed":"old"})"; },
     "demo",
     "changed_row"},
    {"approve_by_hand",
     [](StoreContents& all) {
         all.states["approval/demo/apr_evil"] = {1, R"({"state":"approved"})"};
     },
     "demo",
     "unknown_row"},
    {"loosen_a_limit",
     [](StoreContents& all) {
         replace_in_store(all.states.at("account/demo/paper/main").json, "\"100\"", "\"999\"");
     },
     "demo",
     "changed_row"},
    {"change_an_artifact",
     [](StoreContents& all) {
         all.artifacts.at({kDemo, sha256_hex("{\"price\":1}")}) = "{\"price\":2}";
     },
     "demo",
     "changed_artifact",
     false},
    {"delete_an_artifact",
     [](StoreContents& all) { all.artifacts.erase({kDemo, sha256_hex("{\"price\":1}")}); },
     "demo",
     "missing_artifact",
     false},
    {"change_a_list_of_heads",
     [](StoreContents& all) {
         for (auto& [place, bytes] : all.artifacts) {
             if (place.first == system_tenant()) {
                 bytes += "ledger/ghost 1 " + std::string(64, 'a') + "\n";
             }
         }
     },
     "_system",
     "changed_artifact"},
    {"put_a_head_at_the_end_of_numbers",
     [](StoreContents& all) { all.heads.at(kDemo).seq = std::numeric_limits<std::int64_t>::max(); },
     "demo",
     "head_mismatch"},
    {"index_a_seal_at_the_end_of_numbers",
     [](StoreContents& all) {
         Checkpoint point = all.checkpoints.rbegin()->second;
         point.tenant_id = kDemo;
         point.seq = std::numeric_limits<std::int64_t>::max();
         all.checkpoints.emplace(std::pair(kDemo, point.seq), point);
     },
     "demo",
     "bad_checkpoint"},
    {"set_the_head_row_back",
     [](StoreContents& all) {
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

// The rows that a forged end names are told with it.
TEST_F(LedgerTamperTest, ThePlantedRowsOfAForgedEndAreNamed) {
    world.memory.tamper([](StoreContents& all) {
        std::string& json = all.states.at("vault/demo").json;
        const std::string was = sha256_hex(json);
        replace_in_store(json, "x", "y");
        append_forged(all, kDemo, {{"vault/demo", was, sha256_hex(json)}});
    });
    const auto reports = verify();
    const ChainReport* demo = find(reports, "demo");
    ASSERT_EQ(demo->rows.size(), 1u);
    EXPECT_EQ(demo->rows[0].key, "vault/demo");
    world.rebuild();
    const auto later = verify();
    ASSERT_EQ(find(later, "demo")->breaks.size(), 1u);
    EXPECT_EQ(find(later, "demo")->breaks[0].broken.rows, std::vector<std::string>{"vault/demo"});
}

// Whoever kept a key of before signs nothing new with it: neither a seal nor an end.
TEST_F(LedgerTamperTest, AKeyWhoseTurnIsOverSignsNothing) {
    world.plane->ledger.sign_all();
    const SealKeys::Key old = world.keys.current();
    const Ed25519KeyPair pair = *ed25519_from_seed(
        world.keys.pair().secret_key.reveal().substr(0, 32));  // It begins with its seed.
    world.probe("k6");
    world.plane->ledger.sign_all();
    ASSERT_GT(world.keys.current().epoch, old.epoch);
    ASSERT_EQ(first_fault(), "");
    const SignText sign = [&](std::string_view text) { return ed25519_sign(pair, text); };
    MemoryLedgerContents kept;
    world.memory.tamper([&](StoreContents& all) { kept = all; });
    world.memory.tamper([&](StoreContents& all) {
        append_forged(all, kDemo, {});
        LedgerHead& head = all.heads.at(kDemo);
        const HeadLine line{std::string(kLedgerBook), kDemo, {head.seq, head.hash}};
        head.proof = prove_tails({&line, 1}, old.epoch, sign).front();
    });
    EXPECT_TRUE(first_fault().starts_with("demo: unproven_tail")) << first_fault();
    for (const TenantId& tenant_id : {kDemo, system_tenant()}) {
        world.memory.tamper([&](StoreContents& all) {
            all = kept;
            const auto before = std::prev(all.checkpoints.upper_bound({tenant_id, 99'999}))->second;
            const AuditRecord last = *decode_audit_record(
                *parse_json(all.ledger.at({tenant_id, before.seq}).canonical_json));
            Seal seal = *decode_seal(last.draft.detail);
            seal.epoch = old.epoch;
            seal.public_key = old.public_key;
            seal.previous_seq = before.seq;
            seal.previous_hash = before.hash;
            seal.next_key.reset();
            seal.signature.clear();
            AuditDraft draft = last.draft;
            draft.rows.clear();
            ChainHead head{all.heads.at(tenant_id).seq, all.heads.at(tenant_id).hash};
            const SealedRecord sealed = *sign_seal(head, std::move(draft), std::move(seal), sign);
            all.ledger.emplace(
                std::pair(tenant_id, head.seq),
                LedgerEntry{tenant_id, head.seq, sealed.canonical, head.hash});
            all.checkpoints.emplace(
                std::pair(tenant_id, head.seq),
                Checkpoint{
                    tenant_id,
                    head.seq,
                    head.hash,
                    before.at,
                    sealed.record.draft.detail.find("signature")->as_string()});
            all.heads.at(tenant_id) = {head.seq, head.hash};
        });
        EXPECT_TRUE(first_fault().starts_with(tenant_id.text() + ": bad_checkpoint"))
            << first_fault();
        EXPECT_TRUE(first_fault().contains("had its turn")) << first_fault();
    }
    world.rebuild();
    EXPECT_TRUE(world.plane->latch.is_raised_global());
}

// The key may move on while a chain is not sealed; what the old one vouched for until then is in
// the list of the seal that moves it.
TEST_F(LedgerTamperTest, AnEndThatTheKeyBeforeVouchedForIsListed) {
    world.clock.advance(Duration::of_minutes(350));
    put_row("tenant/other", "{}", system_tenant());
    world.clock.advance(Duration::of_minutes(55));
    world.probe("k6");
    world.clock.advance(Duration::of_minutes(6));
    const std::int64_t epoch = world.keys.current().epoch;
    world.plane->ledger.duty();
    EXPECT_GT(world.keys.current().epoch, epoch);
    EXPECT_GT(world.plane->runner.unsealed().of(kDemo).records, 0);
    EXPECT_EQ(first_fault(), "");
    world.rebuild();
    EXPECT_EQ(first_fault(), "");
    EXPECT_FALSE(world.plane->latch.is_raised_global());
}

// The store put back as a whole, while the head log went on.
TEST_F(LedgerTamperTest, ADatabaseThatWasRolledBackIsBehindTheHeadLog) {
    MemoryLedgerContents kept;
    world.memory.tamper([&](StoreContents& all) { kept = all; });
    world.plane->ledger.sign_all();
    EXPECT_EQ(first_fault(), "");
    world.memory.tamper([&](StoreContents& all) { all = kept; });
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
    world.memory.tamper([](StoreContents& all) {
        replace_in_store(all.states.at("kill/other").json, "\"active\":true", "\"active\":false");
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
    world.memory.tamper(
        [](StoreContents& all) { replace_in_store(all.states.at("vault/demo").json, "x", "y"); });
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

}  // namespace
}  // namespace interlock
