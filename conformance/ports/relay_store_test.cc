// Holds the memory and SQLite stores to the promises of relay/ports/relay_store.h.
#include "relay_store_suite.h"

namespace interlock {

INSTANTIATE_TEST_SUITE_P(
    Stores,
    RelayStoreSuite,
    ::testing::Values(
        RelayStoreKind{"memory", [] { return std::make_unique<MemoryRelayHarness>(); }},
        RelayStoreKind{"sqlite", [] { return std::make_unique<SqliteRelayHarness>(); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
