#include "trader/service/decision_receipt.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <iterator>

#include "base/errors.h"
#include "base/json.h"
#include "host/service/test_tampered_store.h"
#include "testing/loop_world.h"

namespace interlock {
namespace {

// The first key of every LoopWorld.
const Ed25519KeyPair& the_key() {
    static const Ed25519KeyPair key = *ed25519_from_seed(std::string(32, 's'));
    return key;
}

Result<std::string> receipt_from(LoopWorld& world, LedgerStore& store) {
    return write_receipt(
        {.store = store,
         .signer = {world.keys.first_public_key(), world.keys.current().epoch, world.keys.pair()},
         .created_at = world.clock.now()},
        world.tenant,
        DecisionId::trusted("d1"));
}

// Of a decision that was executed and verified, among others.
std::string a_receipt() {
    LoopWorld world;
    const Json intents = Json::array({LoopWorld::intent("buy", "1", "100.01")});
    world.trade("d1", intents);
    world.validate("d2", intents);
    world.pass(Duration::of_seconds(5));
    const auto text = receipt_from(world, world.memory);
    EXPECT_TRUE(text.has_value()) << (text ? "" : text.error().message);
    return text ? *text : "";
}

TEST(Receipt, HoldsWithoutTheDatabase) {
    const ReceiptReport report = verify_receipt(a_receipt(), the_key().public_key);
    EXPECT_EQ(report.problem, "");
    EXPECT_TRUE(report.authorship_proven);
    EXPECT_EQ(report.decision_id.text(), "d1");
    ASSERT_TRUE(report.decision.has_value());
    EXPECT_EQ(report.decision->stage, DecisionStage::recorded);
    EXPECT_GE(report.replay.steps, 7);
}

TEST(Receipt, WithoutAKeyProvesNoAuthor) {
    const ReceiptReport report = verify_receipt(a_receipt());
    EXPECT_TRUE(report.ok());
    EXPECT_FALSE(report.authorship_proven);
}

TEST(Receipt, OfAnotherKeyIsRefused) {
    const Ed25519KeyPair other = *ed25519_from_seed(std::string(32, 'o'));
    EXPECT_FALSE(verify_receipt(a_receipt(), other.public_key).ok());
}

// As the version before wrote it, under policy 1.
std::string older(const std::string& name) {
    std::ifstream in(std::string(INTERLOCK_SOURCE_DIR) + "/conformance/replay/policy_1_" + name);
    return {std::istreambuf_iterator<char>(in), {}};
}
std::string older_receipt() {
    return older("receipt.json");
}

TEST(OlderRow, OfAnOrderKnowsNoTouchAndHasNoSlippage) {
    const auto json = parse_json(older("order.json"));
    ASSERT_TRUE(json) << "the stored row is missing";
    const auto order = decode_order_record(*json);
    ASSERT_TRUE(order) << order.error().message;
    EXPECT_TRUE(order->filled_qty.is_positive());
    EXPECT_FALSE(order->touch_price);
    EXPECT_FALSE(slippage_bps_of(*order));
    EXPECT_EQ(to_text(encode(*order)), to_text(*json));
}

TEST(Receipt, OfAnOlderPolicyHoldsAndIsNotDecidedAgain) {
    const ReceiptReport report = verify_receipt(older_receipt());
    EXPECT_EQ(report.problem, "");
    EXPECT_EQ(report.records, 9);
    ASSERT_TRUE(report.decision.has_value());
    EXPECT_EQ(report.decision->stage, DecisionStage::recorded);
    EXPECT_EQ(report.replay.outcome, ReplayOutcome::not_replayable);
    EXPECT_EQ(
        report.replay.detail, "The decision was made by policy 1; this program replays policy 2.");
}

TEST(Receipt, OfAnOlderPolicyIsGuardedAgainstAFlippedByte) {
    const std::string whole = older_receipt();
    ASSERT_TRUE(verify_receipt(whole).ok());
    for (std::size_t at = 0; at < whole.size(); at += 97) {
        std::string text = whole;
        text[at] = static_cast<char>(text[at] ^ 1);
        EXPECT_FALSE(verify_receipt(text).ok()) << "at byte " << at;
    }
}

// Nobody signs anew what cannot be decided again.
TEST(Receipt, IsNotMadeOfADecisionOfAnOlderPolicy) {
    LoopWorld world;
    world.trade("d1", Json::array({LoopWorld::intent("buy", "1", "100.01")}));
    TamperedStore store(world.memory);
    const std::string config = R"({"policy":"loop.v1"})";
    store.on_record = [&](AuditDraft& draft) {
        if (draft.event == "VALIDATION_RESULT") {
            draft.artifacts.back() = "sha256:" + sha256_hex(config);
        }
    };
    TurnCommit kept;
    kept.artifacts.push_back({world.tenant, sha256_hex(config), config});
    ASSERT_TRUE(world.memory.commit({&kept, 1}));
    const auto text = receipt_from(world, store);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().code(), errors::not_replayable.code);
    EXPECT_NE(text.error().message.find("policy 1"), std::string::npos) << text.error().message;
}

TEST(Receipt, IsSmall) {
    EXPECT_LT(a_receipt().size(), std::size_t{64} * 1024);
}

TEST(Receipt, NoFlippedBitGoesUnnoticed) {
    const std::string whole = a_receipt();
    ASSERT_TRUE(verify_receipt(whole).ok());
    EXPECT_TRUE(rc::check([&] {
        std::string text = whole;
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        const auto bit = *rc::gen::inRange(0, 8);
        text[at] = static_cast<char>(text[at] ^ (1 << bit));
        RC_ASSERT(!verify_receipt(text).ok());
    }));
}

TEST(Receipt, EveryPartIsGuardedAgainstAFlippedByte) {
    const std::string whole = a_receipt();
    ASSERT_TRUE(verify_receipt(whole).ok());
    // A stride that shares no factor with anything in the file, through all of it.
    for (std::size_t at = 0; at < whole.size(); at += 97) {
        std::string text = whole;
        text[at] = static_cast<char>(text[at] ^ 1);
        EXPECT_FALSE(verify_receipt(text).ok()) << "at byte " << at;
    }
}

TEST(Receipt, NothingMayBeAddedOrCutOff) {
    const std::string whole = a_receipt();
    EXPECT_FALSE(verify_receipt(whole + "\n").ok());
    EXPECT_FALSE(verify_receipt(" " + whole).ok());
    EXPECT_FALSE(verify_receipt(whole.substr(0, whole.size() - 1)).ok());
    EXPECT_FALSE(verify_receipt("").ok());
    EXPECT_FALSE(verify_receipt("{}\n").ok());
    EXPECT_FALSE(verify_receipt(std::string(kReceiptBytesMax + 1, ' ')).ok());
}

TEST(Receipt, IsNotMadeOfATamperedDecision) {
    LoopWorld world;
    world.trade("d1", Json::array({LoopWorld::intent("buy", "1", "100.01")}));
    TamperedStore store(world.memory);
    store.on_state = [](const std::string&, std::string& json) {
        const std::string from = "\"qty\":\"1\"";
        json.replace(json.find(from), from.size(), "\"qty\":\"9\"");
    };
    const auto text = receipt_from(world, store);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().code(), errors::replay_differs.code);
}

// What became of the orders, and who planned them, is in the ledger as well.
TEST(Receipt, IsNotMadeOfATamperedOutcome) {
    LoopWorld world;
    world.trade("d1", Json::array({LoopWorld::intent("buy", "1", "100.01")}));
    const std::vector<std::pair<std::string, std::string>> lies{
        {"\"submit_status\":\"acked\"", "\"submit_status\":\"rejected\""},
        {"\"planner\":\"agent:", "\"planner\":\"human:"},
        {"\"account_id\":\"main\"", "\"account_id\":\"other\""},
    };
    for (const auto& [from, to] : lies) {
        TamperedStore store(world.memory);
        bool found = false;
        store.on_state = [&](const std::string&, std::string& json) {
            const std::size_t at = json.find(from);
            found = at != std::string::npos;
            if (found) {
                json.replace(at, from.size(), to);
            }
        };
        const auto text = receipt_from(world, store);
        EXPECT_TRUE(found) << from;
        ASSERT_FALSE(text.has_value()) << to;
        EXPECT_EQ(text.error().code(), errors::replay_differs.code);
    }
}

TEST(Receipt, IsNotMadeOfABrokenChain) {
    LoopWorld world;
    world.trade("d1", Json::array({LoopWorld::intent("buy", "1", "100.01")}));
    TamperedStore store(world.memory);
    store.on_entry = [](LedgerEntry& entry) {
        if (entry.seq == 1) {
            entry.hash = std::string(64, '0');
        }
    };
    const auto text = receipt_from(world, store);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().code(), errors::corrupt_data.code);
}

TEST(Receipt, OfAnUnknownDecisionIsNotFound) {
    LoopWorld world;
    const auto text = receipt_from(world, world.memory);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().code(), errors::not_found.code);
}

}  // namespace
}  // namespace interlock
