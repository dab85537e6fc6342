// An append-only file of JSON lines that survives the death of its writer at any moment.
//
// Lines are written in batches; the last line of a batch says so (`"last":true`). Opening gives
// every line of every whole batch to the reader and cuts off what comes after: nobody was told of
// it. A second process is kept out by a lock on the file.
//
// append() and replace() belong to one thread at a time; sync() may be called from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

// A longer line is no line of ours.
inline constexpr std::size_t kJournalLineBytesMax = std::size_t{1} << 20;

class JournalFile {
public:
    using Reader = std::function<Result<void>(const Json& line)>;

    static Result<std::unique_ptr<JournalFile>> open(const std::string& path, const Reader& reader);
    ~JournalFile();
    JournalFile(const JournalFile&) = delete;
    JournalFile& operator=(const JournalFile&) = delete;

    // Writes the batch as one piece; empty ones are nothing. Fails with io_failed, and then
    // nothing of it will be read again.
    Result<void> append(std::vector<Json>& batch);
    // Puts a file with this one batch into the place of the present one, durably.
    Result<void> replace(std::vector<Json>& batch);

    std::int64_t size() const { return size_.load(); }
    // Makes everything up to `size` durable; returns at once when it is.
    Result<void> sync(std::int64_t size);

private:
    explicit JournalFile(std::string path) : path_(std::move(path)) {}
    Result<void> load(const Reader& reader);
    Result<void> take_lines(std::string& rest, const Reader& reader);

    std::string path_;
    int descriptor_ = -1;
    std::atomic<std::int64_t> size_ = 0;  // Read by sync() on other threads.
    std::int64_t line_no_ = 0;
    std::vector<Json> pending_;  // While loading: lines of a batch whose end was not seen yet.
    std::int64_t pending_size_ = 0;
    std::mutex sync_mutex_;  // Guards synced_ and, against replace(), the descriptor.
    std::int64_t synced_ = 0;
};

}  // namespace interlock
