// What the amounts of a bot are worth: shown to people, who decide in money and not in coins, and
// bounded by what the account is worth.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "bots/wire/bot_config.h"
#include "market/wire/market_facts.h"

namespace interlock {

// {"at": …, "by_symbol": {"BTCUSDT": {"value": "1000.52", "asset": "USDT"}}, "total": {"value":
// "1000.52", "asset": "USDT"}}: amounts at the mid of `at`, rounded down to hundredths, and their
// sum. Markets without a price are left out; `total` is null when nothing has one, or when they are
// not told in the same asset.
Json money_of(const BotConfig& config, const MarketSet& market, Timestamp at);
// "BTCUSDT 1000.52 USDT, ETHUSDT 240 USDT; 1240.52 USDT in all"; empty when nothing has a price.
std::string money_words(const BotConfig& config, const MarketSet& market);

struct AmountBound {
    const BotConfig& before;  // What is in effect; an amount that stays is not judged by itself.
    const MarketSet& market;  // Of both.
    Decimal equity;           // What the account is worth, in `quote`.
    Asset quote;
};
// Amounts worth more than the whole account, each with the largest that would pass, and their sum
// when it is, with the part of each that fits. An amount without a price cannot be judged and is a
// problem, too. A sum that does not grow may stay: the account may have shrunk meanwhile.
std::vector<FieldProblem> too_large_amounts(const BotConfig& config, const AmountBound& bound);

}  // namespace interlock
