#include "loop/rules/gates/limit_proof.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loop/rules/gates/limit_proof_cases.h"

namespace interlock {
namespace {

RiskLimits defaults() {
    const auto limits = default_limits(Decimal(10'000));
    EXPECT_TRUE(limits.has_value());
    return *limits;
}

// A venue that states everything a limit could be about.
std::vector<LimitProof> proofs_of(const RiskLimits& limits) {
    const std::vector<MarketRules> markets{sample_world().market.markets.front().rules};
    return prove_limits(limits, markets);
}

// A limit that is added to the table without a proof, or that no rule reads, fails here.
TEST(LimitProof, EveryLimitOfTheTableCanReject) {
    const auto proofs = proofs_of(defaults());
    ASSERT_EQ(proofs.size(), limit_specs().size());
    for (const LimitProof& proof : proofs) {
        EXPECT_TRUE(proof.can_reject) << proof.name << " with " << proof.code;
        EXPECT_FALSE(proof.is_idle) << proof.name;
    }
}

TEST(LimitProof, TheWideOpenWorldPassesEveryGate) {
    const SampleWorld world = wide_open_world();
    const GateReport report = run_gates(world.input());
    EXPECT_TRUE(report.pass) << to_text(encode(report));
}

TEST(LimitProof, HoldsAtBothEndsOfEveryRange) {
    for (const bool at_max : {false, true}) {
        RiskLimits limits;
        for (const LimitSpec& spec : limit_specs()) {
            limits.*spec.member = sample_decimal(at_max ? spec.max : spec.min);
        }
        for (const LimitProof& proof : proofs_of(limits)) {
            EXPECT_TRUE(proof.can_reject) << proof.name << (at_max ? " at max" : " at min");
        }
    }
}

TEST(LimitProof, SaysWhichGuardsAreSwitchedOff) {
    const auto proofs = proofs_of(defaults());
    const auto is_off = [&](std::string_view name) {
        return std::find_if(
                   proofs.begin(),
                   proofs.end(),
                   [&](const LimitProof& proof) { return proof.name == name; })
            ->is_off;
    };
    EXPECT_TRUE(is_off("max_order_qty"));
    EXPECT_TRUE(is_off("enforce_edge"));
    EXPECT_FALSE(is_off("daily_loss_limit"));
}

TEST(LimitProof, SaysWhichLimitsTheVenueGivesNothingToActOn) {
    std::vector<MarketRules> markets(2);
    for (const LimitProof& proof : prove_limits(defaults(), markets)) {
        EXPECT_EQ(proof.is_idle, proof.name == "order_rate_share") << proof.name;
    }
    markets.back().orders_per_day_max = 1;
    for (const LimitProof& proof : prove_limits(defaults(), markets)) {
        EXPECT_FALSE(proof.is_idle) << proof.name;
    }
}

TEST(LimitProof, AGuardThatIsSetIsNotSwitchedOff) {
    RiskLimits limits = defaults();
    limits.max_order_qty = Decimal(5);
    for (const LimitProof& proof : prove_limits(limits, {})) {
        if (proof.name == "max_order_qty") {
            EXPECT_FALSE(proof.is_off);
            EXPECT_TRUE(proof.can_reject);
        }
    }
}

TEST(LimitProof, ProvesNothingAboutAValueOutOfRange) {
    RiskLimits limits = defaults();
    limits.max_drawdown = Decimal(-1);
    limits.max_leverage = Decimal(1'000'000'000);
    for (const LimitProof& proof : proofs_of(limits)) {
        const bool is_in_range = proof.name != "max_drawdown" && proof.name != "max_leverage";
        EXPECT_EQ(proof.can_reject, is_in_range) << proof.name;
    }
}

// The other way round: a row for a limit that no longer exists would prove nothing.
TEST(LimitProof, EveryRowBelongsToALimit) {
    for (const LimitProofCase& proof : limit_proof_cases()) {
        EXPECT_NE(find_limit_spec(proof.name), nullptr) << proof.name;
    }
}

}  // namespace
}  // namespace interlock
