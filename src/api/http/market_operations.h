// Reads of the market and of what was traded, for everybody who may read: markets with their rules,
// candles, books, orders and fills. Only orders take a turn: they tell what became of them.
#pragma once

#include "api/operation.h"
#include "ports/clock.h"
#include "ports/ledger_store.h"
#include "ports/venue.h"
#include "services/loop/loop_service.h"

namespace interlock {

struct MarketReads {
    const MarketFeed& feed;
    LedgerStore& store;
    Clock& clock;
};
void register_market_operations(OperationTable& table, LoopService& loop, MarketReads reads);

}  // namespace interlock
