// Seals: the records that vouch for a chain (ADR 0015).
//
// A seal is a record of the chain it seals. It names the seal before, the root of the protected
// rows, and carries an Ed25519 signature over its place in the chain and its own detail. A seal of
// `_system` also carries the root over the heads of all chains and, when the sealing key moves on,
// the next public key. A seal with `broken` begins a continuation after records that do not hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/rules/hash_chain.h"

namespace interlock {

inline constexpr std::string_view kSealEvent = "CHECKPOINT_SEALED";
inline constexpr std::string_view kBreakEvent = "CHAIN_BROKEN";
inline constexpr std::string_view kBreakAcceptedEvent = "CHAIN_BREAK_ACCEPTED";
// For protected rows that their turn wrote after its last record.
inline constexpr std::string_view kRowsEvent = "ROWS_SEALED";

// Which file a chain lives in; two chains of one tenant must not be taken for each other.
inline constexpr std::string_view kLedgerBook = "ledger";
inline constexpr std::string_view kRelayBook = "relay";

// When a chain is sealed again, asked before each batch of turns.
inline constexpr std::int64_t kSealEvery = 10'000;
inline constexpr Duration kSealPeriod = Duration::of_hours(1);
// What a verifier lets pass without a seal: the above, one batch and the time it takes on top.
inline constexpr std::int64_t kUnsealedMax = 20'000;
inline constexpr Duration kUnsealedLife = Duration::of_minutes(61);
// After which a seal of `_system` moves the key on; at start and stop it always does.
inline constexpr Duration kSealKeyLife = Duration::of_hours(6);
// Rows named by a break; more of them are only counted.
inline constexpr std::size_t kBreakRowsMax = 100;

struct SealedRows {
    std::int64_t count = 0;
    std::string root;
    friend bool operator==(const SealedRows&, const SealedRows&) = default;
};
struct SealPoint {
    std::int64_t seq = 0;  // 0: there is none.
    std::string hash;
    Timestamp at;
    SealedRows rows = {};
    std::int64_t epoch = -1;  // Of the key whose turn it is after this seal; -1: not known.
    friend bool operator==(const SealPoint&, const SealPoint&) = default;
};

struct SealedHeads {
    std::int64_t count = 0;
    std::string root;
    friend bool operator==(const SealedHeads&, const SealedHeads&) = default;
};
// That `public_key` (hex) is the sealing key of `epoch`, said by the key before it.
struct KeyStep {
    std::int64_t epoch = 0;
    std::string public_key;
    std::string signature;  // Hex, over key_step_text(); "" when the key before it was lost.
    friend bool operator==(const KeyStep&, const KeyStep&) = default;
};
// Where and why a chain does not hold. Numbers below the seal's own and above `good_seq` are lost
// or cannot be trusted.
struct ChainBreak {
    std::int64_t bad_seq = 0;
    std::string reason;  // As in ChainFault.
    std::string detail;
    std::int64_t good_seq = 0;
    std::vector<std::string> rows = {};  // Protected rows that are not what the chain says.
    friend bool operator==(const ChainBreak&, const ChainBreak&) = default;
};

struct Seal {
    std::string book = std::string(kLedgerBook);
    std::int64_t epoch = 0;  // Of the key that signs.
    std::string public_key;  // Of that key, hex.
    std::int64_t previous_seq = 0;
    std::string previous_hash;  // "" for the first seal of a chain.
    SealedRows rows;
    std::optional<SealedHeads> heads = std::nullopt;
    std::optional<KeyStep> next_key = std::nullopt;
    std::optional<ChainBreak> broken = std::nullopt;
    // Set in the seal that adopts a chain of before: how many of its records have the old promise.
    std::optional<std::int64_t> adopted = std::nullopt;
    std::string signature = {};  // Hex.
    friend bool operator==(const Seal&, const Seal&) = default;
};
Json encode(const Seal& seal);
Result<Seal> decode_seal(const Json& detail);
bool is_seal(std::string_view event);
// The key whose turn it is after the seal.
std::int64_t next_epoch(const Seal& seal);

std::string key_step_text(std::int64_t epoch, std::string_view public_key_hex);

using SignText = std::function<std::string(std::string_view text)>;  // Raw signature.
// Signs `seal` as the record after `head` and moves `head` on to it. `draft` brings tenant, event,
// principal and time. A continuation gets the number `first_seq`; otherwise it is 0.
Result<SealedRecord> sign_seal(
    ChainHead& head, AuditDraft draft, Seal seal, const SignText& sign, std::int64_t first_seq = 0);
// Whether the seal in the record is signed by the key that it names.
bool is_signed(const AuditRecord& record, const Seal& seal);

// The sealing keys that follow from the first public key, each vouched for by the one before.
class KeyLineage {
public:
    explicit KeyLineage(std::string_view first_public_key);  // Raw.

    // False: the step does not continue the lineage, or its signature does not hold.
    bool add(const KeyStep& step);
    // A key that nobody vouches for, after a break: the one before it was lost.
    void begin_anew(const KeyStep& step);
    // Whether this key (hex) has this epoch.
    bool holds(std::int64_t epoch, std::string_view public_key_hex) const;
    // Hex; nothing when there is no such key.
    std::optional<std::string> key_of(std::int64_t epoch) const;
    std::int64_t last_epoch() const { return static_cast<std::int64_t>(keys_.size()) - 1; }
    const std::string& last_key() const { return keys_.back(); }
    const std::string& first_key() const { return keys_.front(); }  // Hex.
    // What led here from the first key, for those who know only that one.
    const std::vector<KeyStep>& steps() const { return steps_; }

private:
    std::vector<std::string> keys_;  // Hex, by epoch.
    std::vector<KeyStep> steps_;
};

// One line of the list under a heads root: "<book>/<tenant> <seq> <hash>".
struct HeadLine {
    std::string book;
    TenantId tenant_id;
    ChainHead head;
    friend bool operator==(const HeadLine&, const HeadLine&) = default;
};
std::string to_text(const HeadLine& line);
// A list as it lies beside the seal: one line per head, each ended by a newline.
Result<std::vector<HeadLine>> parse_head_list(std::string_view text);

}  // namespace interlock
