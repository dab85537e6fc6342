#include "loop/rules/gates/limit_proof.h"

#include <algorithm>

#include "loop/rules/gates/limit_proof_cases.h"

namespace interlock {
namespace {

bool rejects(SampleWorld& world, const LimitProofCase& proof) {
    if (proof.derive != nullptr) {
        proof.derive(world);
    }
    const GateReport report = run_gates(world.input());
    return std::any_of(report.breaches.begin(), report.breaches.end(), [&](const Breach& breach) {
        return breach.code == proof.code;
    });
}

bool passes(SampleWorld& world, const LimitProofCase& proof) {
    if (proof.derive != nullptr) {
        proof.derive(world);
    }
    return run_gates(world.input()).pass;
}

LimitProof prove(const LimitSpec& spec, const LimitProofCase& proof, Decimal configured) {
    LimitProof result{.name = spec.name, .can_reject = false, .code = proof.code, .is_off = false};
    result.is_off = configured.is_zero() && !proof.when_off.empty();
    const Decimal value = result.is_off ? sample_decimal(proof.when_off) : configured;
    if (value < sample_decimal(spec.min) || value > sample_decimal(spec.max)) {
        return result;  // No such value can be configured; nothing is proven about it.
    }
    SampleWorld world = wide_open_world();
    world.state.limits.*spec.member = value;
    proof.arrange(world, value);
    const bool rejected = rejects(world, proof);
    world.state.limits.*spec.member = sample_decimal(proof.loose);
    result.can_reject = rejected && passes(world, proof);
    return result;
}

}  // namespace

std::vector<LimitProof> prove_limits(
    const RiskLimits& limits, std::span<const MarketRules> markets) {
    std::vector<LimitProof> proofs;
    const auto cases = limit_proof_cases();
    for (const LimitSpec& spec : limit_specs()) {
        const auto found =
            std::find_if(cases.begin(), cases.end(), [&](const LimitProofCase& proof) {
                return proof.name == spec.name;
            });
        if (found == cases.end()) {
            proofs.push_back({.name = spec.name, .code = {}});
            continue;
        }
        LimitProof& proof = proofs.emplace_back(prove(spec, *found, limits.*spec.member));
        proof.is_idle = found->applies != nullptr &&
                        std::none_of(markets.begin(), markets.end(), found->applies);
    }
    return proofs;
}

}  // namespace interlock
