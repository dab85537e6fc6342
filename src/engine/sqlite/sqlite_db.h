// The thinnest useful layer over SQLite: connections, prepared statements and transactions as owned
// objects, and its result codes as Results.
//
// Bound text is not copied: it must outlive the call that runs the statement. A connection and its
// statements belong to one thread at a time; whoever shares them brings the mutex.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace interlock {

// How long a connection waits for a lock another process holds (a backup, a person's shell).
inline constexpr Duration kLockWaitMax = Duration::of_seconds(5);

struct SqliteDeleter {
    void operator()(sqlite3* db) const;
    void operator()(sqlite3_stmt* statement) const;
};

// Bytes bound as a blob rather than as text.
struct SqliteBlob {
    std::string_view bytes;
};

// The rows of one running query. The statement is reset when this goes, which ends the read
// transaction: a forgotten one would keep the write-ahead log from starting over.
class SqliteRows {
public:
    explicit SqliteRows(sqlite3_stmt* statement) : statement_(statement) {}
    ~SqliteRows();
    SqliteRows(const SqliteRows&) = delete;
    SqliteRows& operator=(const SqliteRows&) = delete;

    Result<bool> next();  // False: no further row.
    // Columns count from 0; texts are copied out because the next row reuses their memory.
    std::string text(int column) const;
    std::int64_t integer(int column) const;
    bool is_null(int column) const;

private:
    sqlite3_stmt* statement_;  // Borrowed from its SqliteStatement.
};

class SqliteStatement {
public:
    SqliteStatement() = default;
    explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

    // Binds the values in order, steps once and resets. Answers SQLite's code, so that the commit
    // path builds no Result per row; is_done() says whether it went well.
    template <class... Values>
    int run(const Values&... values) {
        int index = 0;
        (bind(++index, values), ...);
        return step_and_reset();
    }

    template <class... Values>
    SqliteRows query(const Values&... values) {
        int index = 0;
        (bind(++index, values), ...);
        return SqliteRows(statement_.get());
    }

private:
    void bind(int index, std::string_view text);
    void bind(int index, SqliteBlob blob);
    void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
    template <class Tag>
    void bind(int index, const Id<Tag>& id) {
        bind(index, std::string_view(id.text()));
    }
    void bind(int index, std::int64_t number);
    void bind(int index, Timestamp at) { bind(index, at.microseconds); }
    void bind(int index, std::optional<Timestamp> at);
    void bind(int index, const std::optional<std::string>& text);
    void bind(int index, int) = delete;  // Write std::int64_t{}: the column is 64 bits wide.
    int step_and_reset();

    std::unique_ptr<sqlite3_stmt, SqliteDeleter> statement_;
};

bool is_done(int code);
bool is_constraint(int code);

struct SqliteOpenOptions {
    enum class Mode { read_write_create, read_only };
    std::string path = {};
    std::string vfs_name = {};  // Empty: the default one.
    Mode mode = Mode::read_write_create;
};

class SqliteDb {
public:
    static Result<SqliteDb> open(const SqliteOpenOptions& options);

    // Runs statements that answer no rows worth reading.
    Result<void> execute(const char* sql);
    // For statements kept and run many times.
    Result<SqliteStatement> prepare(std::string_view sql);
    // The first column of the first row of a query without parameters.
    Result<std::int64_t> read_integer(std::string_view sql);
    Result<std::string> read_text(std::string_view sql);

    std::int64_t rows_changed() const;  // By the last statement.
    bool in_transaction() const;
    // The Error for a code that a statement or call on this connection just gave.
    Error error_of(int code) const;
    sqlite3* handle() const { return db_.get(); }

private:
    std::unique_ptr<sqlite3, SqliteDeleter> db_;
};

// A write transaction that rolls back unless committed; for work off the commit path.
class SqliteTransaction {
public:
    static Result<SqliteTransaction> begin(SqliteDb& db);
    ~SqliteTransaction();
    SqliteTransaction(SqliteTransaction&& other) noexcept
        : db_(std::exchange(other.db_, nullptr)) {}
    SqliteTransaction& operator=(SqliteTransaction&&) = delete;

    Result<void> commit();

private:
    explicit SqliteTransaction(SqliteDb& db) : db_(&db) {}
    SqliteDb* db_;  // Null once committed or moved from.
};

}  // namespace interlock
