// Reads of the market and of what was traded, for everybody who may read: markets with their rules,
// candles, books, orders and fills. Only orders take a turn: they tell what became of them.
#pragma once

#include "account/ports/venue.h"
#include "engine/ports/clock.h"
#include "engine/ports/ledger_store.h"
#include "host/face/operation.h"
#include "loop/service/loop_service.h"

namespace interlock {

struct MarketReads {
    const MarketFeed& feed;
    LedgerStore& store;
    Clock& clock;
};
void register_market_operations(OperationTable& table, LoopService& loop, MarketReads reads);

}  // namespace interlock
