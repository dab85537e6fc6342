#include "engine/sqlite/wal_checkpointer.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"

namespace interlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

Duration since(SteadyClock::time_point begin) {
    return {
        std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - begin).count()};
}

}  // namespace

// By one thread at a time.
void WalCheckpointer::Spent::add(Duration span) {
    all_us += span.microseconds;
    longest_us = std::max(longest_us.load(), span.microseconds);
}

WalCheckpointer::WalCheckpointer(SqliteDb& writer, const WalCheckpointerOptions&)
    : writer_(writer) {}

Result<std::unique_ptr<WalCheckpointer>> WalCheckpointer::attach(
    SqliteDb& writer, const WalCheckpointerOptions& options) {
    TRY_ASSIGN(const std::int64_t page_size, writer.read_integer("PRAGMA page_size"));
    std::unique_ptr<WalCheckpointer> made(new WalCheckpointer(writer, options));
    made->passive_pages_ = std::max<std::int64_t>(1, options.passive_bytes / page_size);
    made->restart_pages_ = std::max<std::int64_t>(1, options.restart_bytes / page_size);
    made->rest_pages_ = std::max<std::int64_t>(1, options.rest_bytes / page_size);
    made->hard_pages_ = std::max(made->restart_pages_, options.hard_bytes / page_size);
    if (options.own_thread) {
        TRY_ASSIGN(
            made->own_db_, SqliteDb::open({.path = options.path, .vfs_name = options.vfs_name}));
        TRY(made->own_db_->execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"));
        made->thread_ = std::thread([self = made.get()] { self->run(); });
    }
    sqlite3_wal_hook(writer.handle(), &WalCheckpointer::on_commit, made.get());
    return made;
}

WalCheckpointer::~WalCheckpointer() {
    sqlite3_wal_hook(writer_.handle(), nullptr, nullptr);
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(wake_mutex_);
            stopping_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }
    if (halted_ && own_db_) {
        sqlite3_db_config(own_db_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
}

int WalCheckpointer::on_commit(void* self, sqlite3*, const char*, int wal_pages) {
    auto& checkpointer = *static_cast<WalCheckpointer*>(self);
    checkpointer.wal_pages_.store(wal_pages, std::memory_order_relaxed);
    checkpointer.is_cut_ = false;
    return SQLITE_OK;
}

void WalCheckpointer::after_commit() {
    const std::int64_t pages = wal_pages_.load(std::memory_order_relaxed);
    if (pages < pages_at_request_) {
        pages_at_request_ = 0;  // Everything had been moved and the log started over by itself.
        moved_pages_ = 0;
        pages_at_refusal_ = 0;
    }
    if (pages >= std::max(restart_pages_, pages_at_refusal_)) {
        if (may_restart(pages)) {
            restart();
        }
    } else if (thread_.joinable() && pages - pages_at_request_ >= passive_pages_) {
        pages_at_request_ = pages;
        request();
    }
}

// Whether little enough is left to move; else the own thread is asked for more, unless it is at it.
bool WalCheckpointer::may_restart(std::int64_t pages) {
    if (!thread_.joinable() || pages >= hard_pages_) {
        return true;
    }
    if (is_moving_) {
        return false;
    }
    if (pages - moved_pages_ <= rest_pages_) {
        return true;
    }
    // A reader can keep it from moving any more; then asking at every commit would only cost.
    if (pages - pages_at_request_ >= rest_pages_) {
        pages_at_request_ = pages;
        request();
    }
    return false;
}

void WalCheckpointer::halt() {
    halted_ = true;
    sqlite3_db_config(writer_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

WalCounters WalCheckpointer::counters() const {
    return {
        .wal_pages = wal_pages_,
        .passive_checkpoints = passive_checkpoints_,
        .restarts = restarts_,
        .restarts_refused = restarts_refused_,
        .failures = failures_,
        .restart_wait = {restart_wait_.all_us},
        .restart_wait_max = {restart_wait_.longest_us},
        .restart_work = {restart_work_.all_us},
        .restart_work_max = {restart_work_.longest_us},
        .restart_pages = left_pages_,
        .passive_work = {passive_work_.all_us},
        .passive_work_max = {passive_work_.longest_us}};
}

void WalCheckpointer::request() {
    {
        const std::lock_guard lock(wake_mutex_);
        requested_ = true;
        is_moving_ = true;
    }
    wake_.notify_one();
}

void WalCheckpointer::run() {
    std::unique_lock lock(wake_mutex_);
    while (true) {
        wake_.wait(lock, [this] { return requested_ || stopping_; });
        if (stopping_) {
            return;
        }
        requested_ = false;
        lock.unlock();
        if (!halted_) {
            move_passively();
        }
        lock.lock();
        is_moving_ = requested_;
    }
}

void WalCheckpointer::move_passively() {
    const std::lock_guard checkpointing(checkpoint_mutex_);
    const auto begin = SteadyClock::now();
    int moved = 0;
    const int code = sqlite3_wal_checkpoint_v2(
        own_db_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, &moved);
    passive_work_.add(since(begin));
    if (code == SQLITE_OK) {
        ++passive_checkpoints_;
        moved_pages_ = moved;
    } else if ((code & 0xff) != SQLITE_BUSY) {
        // The log still holds every page, so nothing is lost; but the disk needs a person.
        ++failures_;
        log_error("checkpoint_failed", {{"why", Json(own_db_->error_of(code).message)}});
    }
}

void WalCheckpointer::empty_short_log() {
    if (!is_cut_ && wal_pages_.load(std::memory_order_relaxed) < passive_pages_) {
        move_all(SQLITE_CHECKPOINT_TRUNCATE);
    }
}

void WalCheckpointer::restart() {
    move_all(SQLITE_CHECKPOINT_RESTART);
}

void WalCheckpointer::move_all(int mode) {
    if (halted_) {
        return;
    }
    const auto asked = SteadyClock::now();
    const std::lock_guard checkpointing(checkpoint_mutex_);
    restart_wait_.add(since(asked));
    const auto begin = SteadyClock::now();
    left_pages_ += std::max<std::int64_t>(0, wal_pages_ - moved_pages_);
    sqlite3* const db = writer_.handle();
    sqlite3_busy_timeout(db, static_cast<int>(kWalRestartWaitMax.microseconds / 1000));
    const int code = sqlite3_wal_checkpoint_v2(db, nullptr, mode, nullptr, nullptr);
    sqlite3_busy_timeout(db, static_cast<int>(kLockWaitMax.microseconds / 1000));
    restart_work_.add(since(begin));
    if (code == SQLITE_OK) {
        ++restarts_;
        moved_pages_ = 0;
        wal_pages_.store(0, std::memory_order_relaxed);
        is_cut_ = mode == SQLITE_CHECKPOINT_TRUNCATE;
        pages_at_request_ = 0;
        pages_at_refusal_ = 0;
        return;
    }
    pages_at_refusal_ = wal_pages_.load(std::memory_order_relaxed) + passive_pages_;
    if ((code & 0xff) == SQLITE_BUSY) {
        ++restarts_refused_;
    } else {
        ++failures_;
        log_error("checkpoint_failed", {{"why", Json(writer_.error_of(code).message)}});
    }
}

}  // namespace interlock
