// The canonical text of facts, written straight into one string. Every step of the loop keeps its
// inputs under the hash of this text, so a tree of JSON values in between would be most of what a
// decision costs. The bytes are those of canonical_json(encode(facts)); a test holds the two equal.
#pragma once

#include <map>
#include <string>

#include "account/wire/state_facts.h"
#include "market/wire/market_facts.h"

namespace interlock {

// Keeps the texts of what hardly ever changes, limits and market rules, from one call to the next;
// one thread at a time.
class FactsText {
public:
    // Markets whose rules are kept; one more and all are forgotten.
    static constexpr std::size_t kRulesKeptMax = kMarketsMax;

    // An Error exactly where canonical_json() has one: a text that is not UTF-8, a number that no
    // IEEE double holds.
    Result<std::string> of(const StateFacts& facts);
    Result<std::string> of(const MarketSet& set);

    std::size_t rules_kept() const { return rules_.size(); }

private:
    Result<const std::string*> limits_text(const RiskLimits& limits);
    Result<const std::string*> rules_text(const MarketRules& rules);

    struct HeldRules {
        MarketRules rules;
        std::string text;
    };
    RiskLimits limits_;
    std::string limits_text_;  // Empty before the first.
    std::map<Symbol, HeldRules> rules_;
    std::size_t state_size_ = 0;  // Of the last text: what to set aside for the next.
    std::size_t market_size_ = 0;
};

}  // namespace interlock
