// Recorded market data as a stream of rows: files one after the other, read in blocks, so that
// memory does not grow with their length.
//
// A bad row stops the stream with its file, line and what is wrong, or is skipped while the bound
// allows it. Time never goes back; a hole between rows is counted and the first ones are named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trader/backtest/backtest_rows.h"

namespace interlock {

inline constexpr std::size_t kBacktestLineBytesMax = 64 * 1024;
// Holes and skipped rows that are named one by one.
inline constexpr std::size_t kBacktestNotesMax = 20;
// Trades and quotes further apart than this have a hole between them; candles when one is missing.
inline constexpr Duration kBacktestGapMin = Duration::of_minutes(5);

struct BacktestGap {
    std::string file;
    std::int64_t line = 0;  // Of the row behind it.
    Timestamp from;
    Timestamp to;
};

// What the stream met on its way.
struct BacktestDataNotes {
    BacktestLayout layout = BacktestLayout::klines;  // Of the latest file.
    std::int64_t rows = 0;                           // Given out.
    std::int64_t bad_rows = 0;
    std::vector<std::string> bad;  // The first ones: "file:line: what".
    std::int64_t gaps = 0;
    Duration gaps_length;
    std::vector<BacktestGap> named_gaps;  // The first ones.
};

class BacktestData {
public:
    struct Options {
        std::vector<std::string> paths;  // In time order; "-" is standard input.
        Symbol symbol;                   // Whose rows of a recording.
        std::int64_t bad_rows_max = 0;   // One more ends the stream.
    };
    // Opens the first file; fails with invalid_request when it is not there or of no known layout.
    static Result<std::unique_ptr<BacktestData>> open(Options options);
    ~BacktestData();
    BacktestData(const BacktestData&) = delete;
    BacktestData& operator=(const BacktestData&) = delete;

    enum class Next { row, end, failed };
    // The next row; after `failed` error() tells why, and nothing more comes.
    Next next(BacktestRow& row);
    const Error& error() const { return *error_; }

    // The first rows, which next() will give again; fewer when there are fewer.
    Result<std::span<const BacktestRow>> peek(std::size_t count);

    const BacktestDataNotes& notes() const { return notes_; }
    std::int64_t bytes_read() const { return bytes_read_; }
    std::int64_t bytes_total() const { return bytes_total_; }  // 0: not known.

private:
    explicit BacktestData(Options options);
    Result<void> open_next();
    Result<bool> fill_buffer();
    // The next line without its end; nothing at the end of the file.
    Result<std::optional<std::string_view>> next_line();
    Next read(BacktestRow& row);
    Result<bool> read_one(BacktestRow& row, bool& is_row);
    Result<void> take_bad(std::string_view what);
    std::string_view order_problem(const BacktestRow& row) const;
    void note_gap(const BacktestRow& row);
    std::string place() const;

    Options options_;
    std::size_t next_path_ = 0;
    std::string name_;  // Of the open file, for people.
    int descriptor_ = -1;
    std::int64_t line_ = 0;
    std::optional<BacktestLayout> layout_;  // Nothing before the first line of the file.
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool is_drained_ = false;
    std::int64_t bytes_read_ = 0;
    std::int64_t bytes_total_ = 0;
    BacktestDataNotes notes_;
    std::optional<BacktestRow> before_;
    std::optional<Error> error_;
    std::vector<BacktestRow> peeked_;
    std::size_t peeked_at_ = 0;
    bool is_ended_ = false;
};

}  // namespace interlock
