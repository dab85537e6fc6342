// Folding (audit-ledger.md 5): what happens again and again and changes nothing is counted, not
// recorded again. The first of a kind is a record like any other; the equal ones that follow are
// kept as one count with the times of the first and the last and a digest over the facts of each:
//
//     digest(0) = hash of the record that they repeat
//     digest(n) = SHA-256( digest(n-1) || time of n || SHA-256 of the facts of n )
//
// Pure: what is open comes in and goes out as a value. Invariants of a row of folds:
//   - a subject ("BOT_PULSE", "the refusals of one caller") has at most one open fold;
//   - whatever is not equal to the open fold of its subject closes it first;
//   - no fold stays open longer than kFoldLife, and a row holds at most kOpenFoldsMax;
//   - nothing that passed, is critical, or belongs to a control decision folds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/wire/audit_record.h"

namespace interlock {

inline constexpr std::string_view kFoldEvent = "REPEATS_FOLDED";
inline constexpr Duration kFoldLife = Duration::of_hours(1);
// Of one row; the one that rested longest makes room.
inline constexpr std::size_t kOpenFoldsMax = 4;
// Rows of one tenant; a subject always has the same one.
inline constexpr std::size_t kFoldRowsMax = 64;

// What may repeat: told beside the draft of its record.
struct Repeat {
    std::string subject;    // Of which there is one stream: "pulse", "tick/<account>".
    std::string_view what;  // In words, for people: "idle tick".
    // Members of the record's detail that are facts of the one occurrence: not compared, part of
    // the digest.
    std::vector<std::string> varying = {};
};

struct OpenFold {
    std::string subject;
    std::string kind;  // SHA-256 of what is equal.
    std::string what;
    std::string event;   // Of the record that is repeated.
    std::string of_ref;  // Its audit_ref.
    std::vector<std::string>
        varying;  // Members of its detail that are facts of the one occurrence.
    Timestamp opened_at;
    std::int64_t count = 0;  // Of repeats; the record itself is not one.
    Timestamp first;
    Timestamp last;
    std::string digest;
    // One link of the chain can be checked from the record alone: the digest before the last
    // occurrence, and the hash of its facts.
    std::string digest_before;
    std::string last_facts;
    friend bool operator==(const OpenFold&, const OpenFold&) = default;
};

struct FoldRow {
    std::vector<OpenFold> open;
    friend bool operator==(const FoldRow&, const FoldRow&) = default;
};
Json encode(const FoldRow& row);
Result<FoldRow> decode_fold_row(const Json& json);

// The row of a tenant that keeps the subject.
std::size_t fold_slot(std::string_view subject);

// A refusal or a tick that did nothing. The rest is recorded each time.
bool may_fold(const AuditDraft& draft);
// The hash over everything of a draft that two equal occurrences share: all but its time, tick and
// artifacts, a decision id that we gave ourselves, and the `varying` members of its detail.
Result<std::string> fold_kind(
    const AuditDraft& draft, const std::vector<std::string>& varying = {});
std::string fold_link(std::string_view digest, Timestamp at, std::string_view facts_hash);

struct Occurrence {
    std::string subject;
    std::string kind;        // Empty: never equal to anything.
    std::string facts_hash;  // Over tick, decision, request and the varying members.
    Timestamp at;
};
Result<Occurrence> occurrence_of(
    const AuditDraft& draft, const Repeat& repeat, std::string_view request_hash);

struct FoldStep {
    std::optional<std::string> counted_as;  // The record it repeats; nothing: record it whole.
    std::optional<OpenFold> closed;         // To be recorded before anything else.
};
// Counts the occurrence if its subject's open fold is of its kind; closes that fold otherwise.
FoldStep step_fold(FoldRow& row, const Occurrence& occurrence);

// The record that the next ones repeat.
struct Repeated {
    std::string event;
    std::string ref;
    std::string hash;
};
// The occurrence was recorded whole; equal ones are counted from here on. Gives what had to make
// room.
std::optional<OpenFold> open_fold(
    FoldRow& row, const Occurrence& occurrence, const Repeat& repeat, const Repeated& record);

enum class FoldEnd { kind_changed, hour_over, room_needed, shutdown };
std::string_view to_word(FoldEnd end);

// Takes out every fold that is older than kFoldLife at `now`, or all of them.
std::vector<OpenFold> take_folds(FoldRow& row, std::optional<Timestamp> now);
// When the oldest one has to be closed; nothing while none is open.
std::optional<Timestamp> folds_due(const FoldRow& row);

// The record of a closed fold; nothing when it never counted anything.
std::optional<AuditDraft> fold_draft(const TenantId& tenant_id, const OpenFold& fold, FoldEnd end);

// The detail of such a record.
Result<OpenFold> decode_fold(const Json& detail);
// "36 equal idle ticks from … to …".
std::string describe_fold(const OpenFold& fold);

// Why the record of a fold cannot be true, with the record it says it repeats; empty: it holds.
std::string fold_problem(const AuditRecord& folded, const AuditRecord* repeated);

}  // namespace interlock
