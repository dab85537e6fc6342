// Holds the memory and SQLite stores to the promises of engine/ports/ledger_store.h.
#include "ledger_continuation_suite.h"
#include "ledger_removal_suite.h"
#include "ledger_store_kinds.h"
#include "ledger_store_suite.h"

namespace interlock {

INSTANTIATE_TEST_SUITE_P(
    Stores,
    LedgerStoreSuite,
    ::testing::Values(
        LedgerStoreKind{"memory", [] { return std::make_unique<MemoryStoreHarness>(); }},
        LedgerStoreKind{"sqlite", [] { return std::make_unique<SqliteStoreHarness>(false); }},
        LedgerStoreKind{
            "sqlite_exclusive", [] { return std::make_unique<SqliteStoreHarness>(true); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
