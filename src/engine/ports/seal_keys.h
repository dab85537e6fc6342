// The keys that sign seals, one after the other (ADR 0015). Key 0's public half is pinned for ever;
// each key vouches for the next and is destroyed once a durable record says so, so that whoever
// steals the current one cannot sign anything of before.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

class SealKeys {
public:
    struct Key {
        std::int64_t epoch = 0;
        std::string public_key;  // Hex.
    };
    virtual ~SealKeys() = default;

    virtual std::string first_public_key() const = 0;  // Raw.
    // Any thread.
    virtual Key current() const = 0;
    virtual std::string sign(std::string_view text) const = 0;  // By the current key; raw.

    // The next key's public half in hex, once that key would survive a crash. Nothing: not yet; the
    // seal goes without.
    virtual std::optional<std::string> next_public_key() const = 0;
    // The next key becomes the current one and the one before it is destroyed. Called once the
    // record that names it is durable.
    virtual void advance() = 0;

    // At start: which key the chain says is the current one. False: it was lost, or another is in
    // its place. Finishes an advance() that a crash interrupted.
    virtual Result<bool> settle(const Key& expected) = 0;
    // A new current key that nobody vouches for; after settle() said false.
    virtual Result<void> begin_anew(std::int64_t epoch) = 0;
    // Whether no seal was ever signed with these keys because they come from before seals were
    // records: then chains without one are adopted.
    virtual bool is_from_before() const = 0;

    // Held from a signature to the commit that carries it by whoever signs on another thread than
    // the one that moves the key, and by that one from its list of heads to the move: so the list
    // names everything that the old key ever signed.
    std::mutex& lease() { return lease_; }

private:
    std::mutex lease_;
};

}  // namespace interlock
