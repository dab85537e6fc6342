// The implementations of LedgerStore under test, each with its way to close and open again.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "engine/memory/memory_ledger_store.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "ledger_store_harness.h"
#include "testing/temp_folder.h"

namespace interlock {

class MemoryStoreHarness final : public LedgerStoreHarness {
public:
    LedgerStore& store() override { return *store_; }
    void reopen() override {
        store_ = std::make_unique<MemoryLedgerStore>(store_->take_contents());
    }

private:
    std::unique_ptr<MemoryLedgerStore> store_ = std::make_unique<MemoryLedgerStore>();
};

class SqliteStoreHarness final : public LedgerStoreHarness {
public:
    explicit SqliteStoreHarness(bool exclusive_locking) : exclusive_locking_(exclusive_locking) {
        open();
    }
    LedgerStore& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        open();
    }

private:
    void open() {
        Result<std::unique_ptr<SqliteLedgerStore>> opened = SqliteLedgerStore::open(
            {.path = folder_ / "ledger.db", .exclusive_locking = exclusive_locking_});
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        store_ = *std::move(opened);
    }

    TempFolder folder_;
    bool exclusive_locking_;
    std::unique_ptr<SqliteLedgerStore> store_;
};

}  // namespace interlock
