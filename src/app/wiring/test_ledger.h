// A data folder with a real ledger in it, as a server leaves it behind, for the commands that read
// one: keys, a SQLite database with chains and checkpoints, head files.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "app/wiring/data_path.h"
#include "engine/service/moved_heads.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "engine/system/data_folder.h"
#include "engine/system/file_head_mirror.h"
#include "engine/system/random_id_source.h"
#include "host/service/ledger_service.h"
#include "testing/fake_clock.h"
#include "testing/temp_folder.h"

namespace interlock {

class TestLedger {
public:
    TestLedger() {
        auto opened = DataFolder::open(path(), ids_);
        EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
        data_ = std::make_unique<DataFolder>(*std::move(opened));
        auto mirror = FileHeadMirror::open(heads_folder(path()));
        EXPECT_TRUE(mirror.has_value());
        mirror_ = std::make_unique<FileHeadMirror>(*std::move(mirror));
        open_store();
    }

    std::string path() const { return folder_ / "data"; }
    SealKeys& keys() { return data_->seal_keys(); }
    SqliteLedgerStore& store() { return *store_; }
    const LedgerHead& head(const std::string& tenant) { return heads_[TenantId::trusted(tenant)]; }

    // Appends records and, on request, a checkpoint over the last of them as it was before seals
    // were records.
    void append(const std::string& tenant, int count, bool checkpoint = false) {
        const TenantId tenant_id = TenantId::trusted(tenant);
        ChainHead head;
        if (heads_.contains(tenant_id)) {
            head = {heads_[tenant_id].seq, heads_[tenant_id].hash};
        }
        std::vector<TurnCommit> turns;
        for (int i = 0; i < count; ++i) {
            AuditDraft draft;
            draft.tenant_id = tenant_id;
            draft.event = "PROBE";
            draft.decision_id = DecisionId::trusted("dec_" + std::to_string(head.seq + 1));
            draft.tick_id = TickId::trusted("-");
            draft.principal = "agent:key_1";
            draft.reason = "note number " + std::to_string(head.seq + 1);
            draft.timestamp = FakeClock::kNoon;
            const SealedRecord sealed = *seal(head, draft);
            TurnCommit turn;
            turn.audit.push_back({tenant_id, head.seq, sealed.canonical, head.hash});
            turns.push_back(std::move(turn));
        }
        if (checkpoint) {
            turns.back().checkpoints.push_back(sign_head(
                [this](std::string_view text) { return keys().sign(text); },
                tenant_id,
                head,
                FakeClock::kNoon));
        }
        MovedHeads moved;
        for (const TurnCommit& turn : turns) {
            moved.add(turn.audit, {});
        }
        turns.back().proofs = moved.prove(kLedgerBook, keys());
        EXPECT_TRUE(store_->commit(turns).has_value());
        heads_[tenant_id] = {head.seq, head.hash};
        mirror_->publish({{tenant_id, heads_[tenant_id]}});
    }

    void publish_head(const std::string& tenant, const LedgerHead& head) {
        mirror_->publish({{TenantId::trusted(tenant), head}});
    }

    // Closes the database, so that all of it is in the one file.
    void close_store() {
        store_.reset();
        run_sql("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    void open_store() {
        auto store = SqliteLedgerStore::open({.path = database_path(path())});
        ASSERT_TRUE(store.has_value()) << store.error().message;
        store_ = *std::move(store);
    }
    // What somebody with a shell does.
    void run_sql(const std::string& sql) {
        auto db = SqliteDb::open({.path = database_path(path())});
        ASSERT_TRUE(db.has_value());
        const auto done = db->execute(sql.c_str());
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }

private:
    TempFolder folder_;
    RandomIdSource ids_;
    std::unique_ptr<DataFolder> data_;
    std::unique_ptr<FileHeadMirror> mirror_;
    std::unique_ptr<SqliteLedgerStore> store_;
    std::map<TenantId, LedgerHead> heads_;
};

}  // namespace interlock
