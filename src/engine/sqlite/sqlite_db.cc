#include "engine/sqlite/sqlite_db.h"

#include <unistd.h>

#include <sqlite3.h>
#include <filesystem>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {

void SqliteDeleter::operator()(sqlite3* db) const {
    // Statements are destroyed before their connection by member order; _v2 also bears the reverse.
    sqlite3_close_v2(db);
}

void SqliteDeleter::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

SqliteRows::~SqliteRows() {
    sqlite3_reset(statement_);
}

Result<bool> SqliteRows::next() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code == SQLITE_DONE) {
        return false;
    }
    const std::string why = sqlite3_errmsg(sqlite3_db_handle(statement_));
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB) {
        return fail(errors::corrupt_data, "the database is damaged: " + why);
    }
    return fail(errors::io_failed, "the database cannot be read: " + why);
}

std::string SqliteRows::text(int column) const {
    // The blob accessor, because the text one would convert and may append a terminator.
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return data ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size))
                : std::string();
}

std::int64_t SqliteRows::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

bool SqliteRows::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void SqliteStatement::bind(int index, std::string_view text) {
    // A null pointer would bind NULL, which is not the empty text.
    const char* data = text.data() ? text.data() : "";
    sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::bind(int index, SqliteBlob blob) {
    const char* data = blob.bytes.data() ? blob.bytes.data() : "";
    sqlite3_bind_blob64(statement_.get(), index, data, blob.bytes.size(), SQLITE_STATIC);
}

void SqliteStatement::bind(int index, std::int64_t number) {
    sqlite3_bind_int64(statement_.get(), index, number);
}

void SqliteStatement::bind(int index, std::optional<Timestamp> at) {
    if (at) {
        bind(index, at->microseconds);
    } else {
        sqlite3_bind_null(statement_.get(), index);
    }
}

void SqliteStatement::bind(int index, const std::optional<std::string>& text) {
    if (text) {
        bind(index, std::string_view(*text));
    } else {
        sqlite3_bind_null(statement_.get(), index);
    }
}

int SqliteStatement::step_and_reset() {
    const int code = sqlite3_step(statement_.get());
    sqlite3_reset(statement_.get());
    return code;
}

bool is_done(int code) {
    return code == SQLITE_DONE;
}

bool is_constraint(int code) {
    return (code & 0xff) == SQLITE_CONSTRAINT;
}

namespace {

// Whether nobody can write beside the file and no log of changes lies there: evidence on a
// read-only disk. SQLite would want to make files beside it.
bool lies_still(const std::string& path) {
    const std::filesystem::path file(path);
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    std::error_code problem;
    const auto log_bytes = std::filesystem::file_size(path + "-wal", problem);
    return access(folder.c_str(), W_OK) != 0 && (problem || log_bytes == 0);
}

// As a URI that says that the file never changes.
std::string still_name(const std::string& path) {
    std::string name = "file:";
    for (const char c : path) {
        if (c == '%' || c == '?' || c == '#') {
            constexpr std::string_view kDigits = "0123456789abcdef";
            const auto byte = static_cast<unsigned char>(c);
            name += '%';
            name += kDigits[byte >> 4U];
            name += kDigits[byte & 15U];
        } else {
            name += c;
        }
    }
    return name + "?immutable=1";
}

}  // namespace

Result<SqliteDb> SqliteDb::open(const SqliteOpenOptions& options) {
    const bool read_only = options.mode == SqliteOpenOptions::Mode::read_only;
    const bool is_still = read_only && lies_still(options.path);
    const int access_flags =
        (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
        (is_still ? SQLITE_OPEN_URI : 0);
    const std::string name = is_still ? still_name(options.path) : options.path;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(
        name.c_str(),
        &handle,
        // Each connection is used by one thread at a time, so SQLite's own mutexes would only cost.
        access_flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        options.vfs_name.empty() ? nullptr : options.vfs_name.c_str());
    SqliteDb db;
    db.db_.reset(handle);
    if (code != SQLITE_OK) {
        const char* why = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
        return fail(errors::io_failed, "cannot open " + options.path + ": " + why);
    }
    sqlite3_busy_timeout(handle, static_cast<int>(kLockWaitMax.microseconds / 1000));
    return db;
}

Result<void> SqliteDb::execute(const char* sql) {
    const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
        return std::unexpected(error_of(code));
    }
    return {};
}

Result<SqliteStatement> SqliteDb::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(
        db_.get(),
        sql.data(),
        static_cast<int>(sql.size()),
        SQLITE_PREPARE_PERSISTENT,
        &statement,
        nullptr);
    if (code != SQLITE_OK) {
        return std::unexpected(error_of(code));
    }
    CHECK(statement != nullptr);
    return SqliteStatement(statement);
}

Result<std::int64_t> SqliteDb::read_integer(std::string_view sql) {
    TRY_ASSIGN(SqliteStatement statement, prepare(sql));
    SqliteRows rows = statement.query();
    TRY_ASSIGN(const bool found, rows.next());
    return found ? rows.integer(0) : 0;
}

Result<std::string> SqliteDb::read_text(std::string_view sql) {
    TRY_ASSIGN(SqliteStatement statement, prepare(sql));
    SqliteRows rows = statement.query();
    TRY_ASSIGN(const bool found, rows.next());
    return found ? rows.text(0) : std::string();
}

std::int64_t SqliteDb::rows_changed() const {
    return sqlite3_changes64(db_.get());
}

bool SqliteDb::in_transaction() const {
    return sqlite3_get_autocommit(db_.get()) == 0;
}

Error SqliteDb::error_of(int code) const {
    const std::string why = sqlite3_errmsg(db_.get());
    switch (code & 0xff) {
        case SQLITE_CONSTRAINT:
            return Error{&errors::conflict, "a row stands in the way: " + why, {}, {}};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Error{&errors::corrupt_data, "the database is damaged: " + why, {}, {}};
        default:
            return Error{&errors::io_failed, "the database failed: " + why, {}, {}};
    }
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDb& db) {
    TRY(db.execute("BEGIN IMMEDIATE"));
    return SqliteTransaction(db);
}

SqliteTransaction::~SqliteTransaction() {
    if (db_ != nullptr && db_->in_transaction()) {
        // A rollback that fails leaves a connection whose next BEGIN fails, so nothing is lost
        // here.
        (void)db_->execute("ROLLBACK");
    }
}

Result<void> SqliteTransaction::commit() {
    TRY(db_->execute("COMMIT"));
    db_ = nullptr;
    return {};
}

}  // namespace interlock
