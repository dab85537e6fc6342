// A fixed number of equal records, handed out by 32-bit handle. All memory is taken at
// construction; handle 0 is never given and stands for "none". The record freed last is given next,
// because it is the one still in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace interlock {

template <class Record>
class HandlePool {
public:
    static constexpr std::size_t kRecordsMax = std::size_t{1} << 30;

    explicit HandlePool(std::size_t records_max) {
        CHECK(records_max > 0 && records_max <= kRecordsMax);
        records_.resize(records_max + 1);
        free_.reserve(records_max);
    }

    bool is_full() const { return size() == records_.size() - 1; }
    std::size_t size() const { return used_ - free_.size(); }

    std::uint32_t take() {
        if (!free_.empty()) {
            const std::uint32_t handle = free_.back();
            free_.pop_back();
            return handle;
        }
        CHECK(used_ < records_.size() - 1);
        return static_cast<std::uint32_t>(++used_);
    }
    void give_back(std::uint32_t handle) { free_.push_back(handle); }

    Record& operator[](std::uint32_t handle) { return records_[handle]; }
    const Record& operator[](std::uint32_t handle) const { return records_[handle]; }

    std::size_t memory_bytes() const {
        return records_.capacity() * sizeof(Record) + free_.capacity() * sizeof(free_[0]);
    }

private:
    std::vector<Record> records_;
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;  // Handles 1 to used_ were given at least once.
};

}  // namespace interlock
