// The protected rows that a chain says there are: key and hash of each, and one root over all.
//
// The root is SHA-256 over the digests of 256 buckets; a row lies in the bucket of the first byte
// of its key's 64-bit FNV-1a hash; a bucket's digest is SHA-256 over "<key>\n<hash>\n" of its rows
// in order of keys, or 32 zero bytes when it is empty. Only buckets that changed are hashed again,
// so a root costs little however many rows there are.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace interlock {

class RowSet {
public:
    // An empty hash takes the row out.
    void set(const std::string& key, const std::string& hash);
    // The row's hash; "" when there is none.
    std::string hash_of(const std::string& key) const;
    std::size_t size() const { return size_; }
    std::string root() const;  // 64 hex digits.

    template <class Visit>
    void each(Visit visit) const {
        for (const Bucket& bucket : buckets_) {
            for (const auto& [key, hash] : bucket.rows) {
                visit(key, hash);
            }
        }
    }

private:
    struct Bucket {
        std::map<std::string, std::string> rows;
        mutable std::string digest = std::string(32, '\0');  // Raw.
        mutable bool is_stale = false;
    };
    static std::size_t place_of(std::string_view key);

    std::array<Bucket, 256> buckets_;
    std::size_t size_ = 0;
};

}  // namespace interlock
