#include "venues/paper/paper_faults.h"

#include <array>
#include <string>
#include <utility>

#include "base/errors.h"
#include "market/rules/market_noise.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 11> kKinds{
    "reject",
    "time_out",
    "lose_answer",
    "late_arrival",
    "late_fill",
    "duplicate_report",
    "out_of_order_fills",
    "disconnect",
    "clock_skew",
    "cancel_lost",
    "cancel_answer_lost"};

}  // namespace

std::string_view to_word(PaperFaultKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::optional<PaperFaultKind> parse_paper_fault(std::string_view word) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        if (kKinds[i] == word) {
            return static_cast<PaperFaultKind>(i);
        }
    }
    return std::nullopt;
}

Result<void> PaperFaultBox::set(std::vector<PaperFault> faults) {
    if (faults.size() > kPaperFaultsMax) {
        return fail(
            errors::out_of_range,
            "At most " + std::to_string(kPaperFaultsMax) + " faults can be set, not " +
                std::to_string(faults.size()) + ".");
    }
    faults_ = std::move(faults);
    return {};
}

bool PaperFaultBox::applies(const PaperFault& fault, PaperFaultKind kind, const Call& call) {
    if (fault.kind != kind || fault.times_max == 0) {
        return false;
    }
    if (fault.account && (call.account == nullptr || *fault.account != *call.account)) {
        return false;
    }
    return !fault.symbol || (call.symbol != nullptr && *fault.symbol == *call.symbol);
}

std::optional<PaperFault> PaperFaultBox::draw(PaperFaultKind kind, const Call& call) {
    for (PaperFault& fault : faults_) {
        if (!applies(fault, kind, call)) {
            continue;
        }
        const std::uint64_t bits = mix_bits(seed_, static_cast<std::uint64_t>(kind), ++draws_);
        if (uniform(bits, 0, 999'999) >= fault.chance_ppm) {
            continue;
        }
        if (fault.times_max > 0) {
            --fault.times_max;
        }
        return fault;
    }
    return std::nullopt;
}

const PaperFault* PaperFaultBox::standing(PaperFaultKind kind, const Call& call) const {
    for (const PaperFault& fault : faults_) {
        if (applies(fault, kind, call)) {
            return &fault;
        }
    }
    return nullptr;
}

}  // namespace interlock
