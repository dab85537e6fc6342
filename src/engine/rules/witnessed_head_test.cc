#include "engine/rules/witnessed_head.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

class WitnessedHeadTest : public ::testing::Test {
protected:
    // The line of a seal of `tenant`, signed by key 0.
    std::string line(ChainHead& chain, const std::string& tenant = "_system") {
        AuditDraft draft;
        draft.tenant_id = TenantId::trusted(tenant);
        draft.event = std::string(kSealEvent);
        draft.decision_id = DecisionId::trusted("sys_1");
        draft.tick_id = TickId::trusted("-");
        draft.principal = "internal:ledger";
        draft.timestamp = Timestamp{1'794'744'000'000'000};
        Seal seal;
        seal.public_key = to_hex(pair_.public_key);
        seal.previous_seq = last_.seq;
        seal.previous_hash = last_.seq == 0 ? "" : last_.hash;
        seal.rows = {0, std::string(64, '0')};
        seal.heads = SealedHeads{0, std::string(64, '0')};
        const auto sealed = sign_seal(chain, draft, seal, [this](std::string_view text) {
            return ed25519_sign(pair_, text);
        });
        EXPECT_TRUE(sealed.has_value());
        last_ = chain;
        return R"({"record":)" + sealed->canonical + R"(,"hash":")" + chain.hash + "\"}";
    }
    static std::string replaced(std::string text, const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    }
    static std::string problem(const std::string& text) {
        const auto read = read_head_line(text);
        return read ? "" : read.error().message;
    }

    const Ed25519KeyPair pair_ = *ed25519_from_seed(std::string(32, 'k'));
    ChainHead last_;
};

TEST_F(WitnessedHeadTest, ALineProvesItself) {
    ChainHead chain{6, std::string(64, 'a')};
    const std::string text = line(chain);
    const auto head = read_head_line(text);
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(head->head.seq, 7);
    EXPECT_EQ(head->head, chain);
    EXPECT_EQ(head->public_key, to_hex(pair_.public_key));
    EXPECT_EQ(head->line, text);
    EXPECT_EQ(short_text(head->head), "7:" + chain.hash.substr(0, 16));
}

TEST_F(WitnessedHeadTest, RefusesWhatIsNoSealOrWasChanged) {
    ChainHead chain{6, std::string(64, 'a')};
    const std::string good = line(chain);
    EXPECT_EQ(problem(good), "");
    EXPECT_NE(problem(""), "");
    EXPECT_NE(problem("[]"), "");
    EXPECT_NE(problem(good + " "), problem(good + "x"));
    EXPECT_EQ(
        problem(replaced(good, chain.hash, std::string(64, 'b'))), "the hash is not the record's");
    EXPECT_NE(problem(replaced(good, "\"seq\":7", "\"seq\":8")), "");
    ChainHead other;
    EXPECT_EQ(problem(line(other, "demo")), "the record is no seal of _system");
    EXPECT_EQ(problem(std::string(kHeadLineBytesMax + 1, ' ')), "the line is longer than any seal");

    // Whoever computes the hash anew still lacks the key.
    std::string forged = replaced(good, "12:00:00", "12:00:01");
    const std::size_t begin = std::string(R"({"record":)").size();
    const std::size_t end = forged.rfind(",\"hash\":\"");
    const std::string hash = link_hash(std::string(64, 'a'), forged.substr(begin, end - begin));
    forged = forged.substr(0, end) + ",\"hash\":\"" + hash + "\"}";
    EXPECT_EQ(problem(forged), "the signature of the seal does not hold");
}

TEST_F(WitnessedHeadTest, OrdersLinesOfOneChain) {
    ChainHead chain;
    const auto first = read_head_line(line(chain));
    const ChainHead after_first = chain;
    const auto second = read_head_line(line(chain));
    const auto third = read_head_line(line(chain));
    ASSERT_TRUE(first && second && third);
    EXPECT_EQ(order_of(*first, *first), HeadOrder::again);
    EXPECT_EQ(order_of(*first, *second), HeadOrder::follows);
    EXPECT_EQ(order_of(*first, *third), HeadOrder::behind_gap);
    EXPECT_EQ(order_of(*third, *second), HeadOrder::conflicts);
    // Put back to the first and continued: each of the new lines is one too many for who saw third.
    ChainHead fork{after_first.seq, std::string(64, 'f')};
    last_ = after_first;
    const auto forked = read_head_line(line(fork));
    const auto again = read_head_line(line(fork));
    ASSERT_TRUE(forked && again);
    EXPECT_EQ(order_of(*second, *forked), HeadOrder::conflicts);
    EXPECT_EQ(order_of(*third, *again), HeadOrder::conflicts);
    EXPECT_EQ(order_of(*first, *forked), HeadOrder::follows);
}

}  // namespace
}  // namespace interlock
