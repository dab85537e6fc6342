// A server that witnesses others: what it keeps, what it refuses, and that it notices a line that
// goes back.
#include "engine/service/witnessed_heads.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "codec/json_list.h"
#include "testing/plane_world.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");

class WitnessedHeadsTest : public ::testing::Test {
protected:
    WitnessedHeadsTest() {
        for (int i = 0; i < 4; ++i) {
            other.probe("k" + std::to_string(i));
            other.plane->ledger.sign_all();
        }
        lines = other.head_log.lines;
        chain = to_hex(other.keys.first_public_key());
    }
    static Json body(const std::string& chain, const std::string& line) {
        return Json::object({{"chain", chain}, {"line", line}});
    }
    Result<Json> send(const std::string& line, const std::string& of = "") {
        TRY_ASSIGN(WitnessHead request, decode_witness_head(body(of.empty() ? chain : of, line)));
        std::optional<Result<Answer>> answer;
        heads.record(PlaneWorld::agent(), kDemo, std::move(request), [&](Result<Answer> result) {
            answer = std::move(result);
        });
        EXPECT_TRUE(answer.has_value());
        if (!*answer) {
            return std::unexpected(answer->error());
        }
        return parse_json((*answer)->body);
    }
    bool agrees(const std::string& line) {
        const auto answer = send(line);
        EXPECT_TRUE(answer.has_value()) << answer.error().message;
        return answer->find("agrees")->as_bool();
    }
    std::vector<AuditRecord> kept() {
        std::vector<AuditRecord> found;
        const auto records = *world.plane->ledger.read(kDemo, 0, 1000);
        for (const AuditRecord& record : records) {
            if (record.draft.event == kWitnessedEvent) {
                found.push_back(record);
            }
        }
        return found;
    }

    PlaneWorld other;
    PlaneWorld world;
    WitnessedHeads heads{
        [this](TurnRequest request) { world.submit(std::move(request)); }, world.memory};
    std::vector<std::string> lines;
    std::string chain;
};

TEST_F(WitnessedHeadsTest, KeepsEachLineInTheTenantsLedgerOnce) {
    ASSERT_GE(lines.size(), 4u);
    EXPECT_TRUE(agrees(lines[0]));
    EXPECT_TRUE(agrees(lines[1]));
    EXPECT_TRUE(agrees(lines[1]));
    EXPECT_TRUE(agrees(lines[3])) << "a gap is no conflict";
    const auto records = kept();
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[2].draft.detail.find("line")->as_string(), lines[3]);
    EXPECT_EQ(records[2].draft.severity, AuditSeverity::info);
    EXPECT_EQ(*heads.lines(kDemo, chain), std::vector<std::string>{lines[3]});
    EXPECT_EQ(heads.lines(kDemo, std::string(64, '0'))->size(), 0u);
    EXPECT_EQ(heads.lines(TenantId::trusted("other"), chain)->size(), 0u);
}

TEST_F(WitnessedHeadsTest, ALineThatGoesBackIsKeptAndAnAlert) {
    agrees(lines[0]);
    agrees(lines[2]);
    EXPECT_FALSE(agrees(lines[1]));
    EXPECT_EQ(kept().back().draft.severity, AuditSeverity::critical);
    EXPECT_EQ(kept().back().draft.status, AuditStatus::failed);
    EXPECT_EQ(*heads.lines(kDemo, chain), (std::vector<std::string>{lines[2], lines[1]}));
    // The evidence is bounded, and it is the first that stays.
    for (int i = 0; i < 20; ++i) {
        agrees(lines[2]);
        agrees(lines[0]);
    }
    const auto known = *heads.lines(kDemo, chain);
    EXPECT_EQ(known.size(), kWitnessedOrphansMax + 1);
    EXPECT_EQ(known.front(), lines[2]);
}

TEST_F(WitnessedHeadsTest, SurvivesARestartAndItsOwnVerification) {
    agrees(lines[2]);
    world.plane->ledger.sign_all();
    world.rebuild();
    for (const ChainReport& report : world.recovery.chains) {
        EXPECT_TRUE(report.ok());
    }
    EXPECT_FALSE(agrees(lines[1]));
}

TEST_F(WitnessedHeadsTest, RefusesWhatIsNoLineOrNoKey) {
    EXPECT_FALSE(decode_witness_head(body(chain, "")).has_value());
    EXPECT_FALSE(decode_witness_head(body(chain, "{}")).has_value());
    EXPECT_FALSE(decode_witness_head(body("AB", lines[0])).has_value());
    EXPECT_FALSE(decode_witness_head(body(std::string(64, 'A'), lines[0])).has_value());
    std::string changed = lines[0];
    changed[changed.find("\"seq\":") + 6] ^= 1;
    EXPECT_FALSE(decode_witness_head(body(chain, changed)).has_value());
    EXPECT_TRUE(decode_witness_head(body(chain, lines[0])).has_value());
}

TEST_F(WitnessedHeadsTest, TakesABoundedNumberOfLedgers) {
    for (std::size_t i = 0; i < kWitnessedChainsMax; ++i) {
        std::string name = std::to_string(i);
        ASSERT_TRUE(send(lines[0], std::string(64 - name.size(), '0') + name).has_value());
    }
    const auto refused = send(lines[0], std::string(64, 'f'));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(), errors::too_many_chains);
    EXPECT_TRUE(send(lines[1], std::string(64, '0')).has_value()) << "those it knows go on";
}

}  // namespace
}  // namespace interlock
