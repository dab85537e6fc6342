#include "trader/backtest/backtest_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kBufferBytes = 4 * kBacktestLineBytesMax;

std::string name_of(const std::string& path) {
    if (path == "-") {
        return "standard input";
    }
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

BacktestData::BacktestData(Options options) : options_(std::move(options)), buffer_(kBufferBytes) {
    for (const std::string& path : options_.paths) {
        struct stat found{};
        const bool is_sized =
            path != "-" && stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
        if (!is_sized) {
            bytes_total_ = 0;
            break;
        }
        bytes_total_ += found.st_size;
    }
}

BacktestData::~BacktestData() {
    if (descriptor_ > STDIN_FILENO) {
        close(descriptor_);
    }
}

Result<std::unique_ptr<BacktestData>> BacktestData::open(Options options) {
    if (options.paths.empty()) {
        return fail(errors::invalid_request, "No data was named.");
    }
    std::unique_ptr<BacktestData> data(new BacktestData(std::move(options)));
    TRY(data->open_next());
    return data;
}

Result<void> BacktestData::open_next() {
    if (descriptor_ > STDIN_FILENO) {
        close(descriptor_);
    }
    descriptor_ = -1;
    const std::string& path = options_.paths[next_path_++];
    name_ = name_of(path);
    line_ = 0;
    layout_.reset();
    begin_ = 0;
    end_ = 0;
    is_drained_ = false;
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
        return fail(
            errors::invalid_request, path + " cannot be read: " + std::strerror(errno) + ".");
    }
    return {};
}

std::string BacktestData::place() const {
    return name_ + ":" + std::to_string(line_);
}

Result<bool> BacktestData::fill_buffer() {
    if (is_drained_) {
        return false;
    }
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (true) {
        const ssize_t count = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return fail(
                errors::invalid_request, name_ + " cannot be read: " + std::strerror(errno) + ".");
        }
        is_drained_ = count == 0;
        end_ += static_cast<std::size_t>(count);
        bytes_read_ += count;
        return count > 0;
    }
}

Result<std::optional<std::string_view>> BacktestData::next_line() {
    std::size_t searched = 0;
    while (true) {
        const char* const from = buffer_.data() + begin_;
        const std::size_t held = end_ - begin_;
        const void* found = std::memchr(from + searched, '\n', held - searched);
        if (found == nullptr && held <= kBacktestLineBytesMax) {
            searched = held;
            TRY_ASSIGN(const bool has_more, fill_buffer());
            if (has_more) {
                continue;
            }
        }
        const char* const line = buffer_.data() + begin_;
        std::size_t length = end_ - begin_;
        if (found != nullptr) {
            length = static_cast<std::size_t>(static_cast<const char*>(found) - line);
        } else if (length == 0) {
            return std::nullopt;
        }
        ++line_;
        if (length > kBacktestLineBytesMax) {
            return fail(
                errors::invalid_request,
                place() + ": the line is longer than " + std::to_string(kBacktestLineBytesMax) +
                    " bytes.");
        }
        begin_ += length + (found != nullptr ? 1 : 0);
        if (length > 0 && line[length - 1] == '\r') {
            --length;
        }
        return std::string_view(line, length);
    }
}

Result<void> BacktestData::take_bad(std::string_view what) {
    const std::string sentence = place() + ": " + std::string(what);
    ++notes_.bad_rows;
    if (notes_.bad.size() < kBacktestNotesMax) {
        notes_.bad.push_back(sentence);
    }
    if (notes_.bad_rows <= options_.bad_rows_max) {
        return {};
    }
    return fail(
        errors::invalid_request,
        sentence + ".",
        "Mend the data, or let --skip-bad-rows leave some rows out.");
}

std::string_view BacktestData::order_problem(const BacktestRow& row) const {
    if (!before_) {
        return {};
    }
    if (row.at < before_->at) {
        return "the time goes back";
    }
    const bool is_repeated = row.kind == BacktestRow::Kind::candle && row.at <= before_->closed_at;
    return is_repeated && before_->kind == row.kind ? "the candle begins before the last one ended"
                                                    : std::string_view();
}

void BacktestData::note_gap(const BacktestRow& row) {
    if (!before_) {
        return;
    }
    const bool is_candle = before_->kind == BacktestRow::Kind::candle;
    const Timestamp from = is_candle ? before_->closed_at : before_->at;
    // The last moment of a candle lies up to a millisecond before the next one begins.
    const Duration allowed = is_candle ? Duration::of_milliseconds(1) : kBacktestGapMin;
    const Duration length = row.at - from;
    if (length <= allowed) {
        return;
    }
    ++notes_.gaps;
    notes_.gaps_length.microseconds += length.microseconds;
    if (notes_.named_gaps.size() < kBacktestNotesMax) {
        notes_.named_gaps.push_back({name_, line_, from, row.at});
    }
}

// False at the end of everything. `is_row` tells whether a row was read.
Result<bool> BacktestData::read_one(BacktestRow& row, bool& is_row) {
    is_row = false;
    TRY_ASSIGN(const auto line, next_line());
    if (!line) {
        if (next_path_ == options_.paths.size()) {
            return false;
        }
        TRY(open_next());
        return true;
    }
    if (!layout_) {
        if (line->empty()) {
            return true;
        }
        layout_ = recognise_layout(*line);
        if (!layout_) {
            return fail(
                errors::invalid_request,
                place() +
                    ": this is none of the known layouts (Binance klines, trades, aggTrades, "
                    "or a recording).");
        }
        notes_.layout = *layout_;
    }
    if (is_no_row(*layout_, *line)) {
        return true;
    }
    std::string_view problem = read_row(*layout_, *line, options_.symbol, row);
    if (problem.empty() && row.at == Timestamp{}) {
        return true;  // Another symbol's.
    }
    if (problem.empty()) {
        problem = order_problem(row);
    }
    if (!problem.empty()) {
        TRY(take_bad(problem));
        return true;
    }
    note_gap(row);
    before_ = row;
    is_row = true;
    return true;
}

BacktestData::Next BacktestData::read(BacktestRow& row) {
    while (!is_ended_) {
        bool is_row = false;
        const auto went_on = read_one(row, is_row);
        if (!went_on) {
            error_ = went_on.error();
            return Next::failed;
        }
        if (is_row) {
            return Next::row;
        }
        is_ended_ = !*went_on;
    }
    return Next::end;
}

BacktestData::Next BacktestData::next(BacktestRow& row) {
    if (peeked_at_ < peeked_.size()) {
        row = peeked_[peeked_at_++];
        ++notes_.rows;
        return Next::row;
    }
    const Next next = error_ ? Next::failed : read(row);
    notes_.rows += next == Next::row ? 1 : 0;
    return next;
}

Result<std::span<const BacktestRow>> BacktestData::peek(std::size_t count) {
    BacktestRow row;
    while (peeked_.size() < count) {
        const Next next = read(row);
        if (next == Next::failed) {
            return std::unexpected(*error_);
        }
        if (next == Next::end) {
            break;
        }
        peeked_.push_back(row);
    }
    return std::span<const BacktestRow>(peeked_);
}

}  // namespace interlock
