#include "engine/rules/row_set.h"

#include <cstdint>

#include "base/crypto.h"

namespace interlock {

std::size_t RowSet::place_of(std::string_view key) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : key) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    return static_cast<std::size_t>(hash >> 56U);
}

void RowSet::set(const std::string& key, const std::string& hash) {
    Bucket& bucket = buckets_.at(place_of(key));
    bucket.is_stale = true;
    if (hash.empty()) {
        size_ -= bucket.rows.erase(key);
    } else {
        size_ += bucket.rows.insert_or_assign(key, hash).second ? 1 : 0;
    }
}

std::string RowSet::hash_of(const std::string& key) const {
    const Bucket& bucket = buckets_.at(place_of(key));
    const auto found = bucket.rows.find(key);
    return found == bucket.rows.end() ? std::string() : found->second;
}

std::string RowSet::root() const {
    std::string digests;
    digests.reserve(buckets_.size() * 32);
    std::string text;
    for (const Bucket& bucket : buckets_) {
        if (bucket.is_stale) {
            text.clear();
            for (const auto& [key, hash] : bucket.rows) {
                text += key;
                text += '\n';
                text += hash;
                text += '\n';
            }
            bucket.digest = text.empty() ? std::string(32, '\0') : sha256(text);
            bucket.is_stale = false;
        }
        digests += bucket.digest;
    }
    return sha256_hex(digests);
}

}  // namespace interlock
