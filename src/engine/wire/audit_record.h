// One record of the audit ledger: what was done, by whom and why, and what makes it a chain.
// docs/contracts/audit-ledger.md#1-the-record is the table of these fields.
//
// The canonical text (RFC 8785) of the record without `hash` is what gets hashed:
//     hash = SHA-256(prev_hash_hex || canonical_text)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

enum class AuditStep { plan, validate, dry_run, execute, verify, record, control };
enum class AuditActor { codex, python, human };  // Planner, this executor, a person.
enum class AuditStatus { started, passed, failed, skipped };
enum class AuditSeverity { info, critical };  // A critical record is an alert.

std::string_view to_word(AuditStep step);
std::string_view to_word(AuditActor actor);
std::string_view to_word(AuditStatus status);
std::string_view to_word(AuditSeverity severity);

// A protected row (engine/rules/protected_rows.h) that the record's turn wrote.
struct RowChange {
    std::string key;
    std::string was;  // SHA-256 hex of its protected bytes before; "" when there was none.
    std::string now;  // The same after; "" when it is gone.
    friend bool operator==(const RowChange&, const RowChange&) = default;
};

// What a decision asks to have recorded; the chain adds seq, hashes and id.
struct AuditDraft {
    TenantId tenant_id;
    std::string event;       // "KILL_SWITCH_ACTIVATED", ...
    DecisionId decision_id;  // "sys_<turn>" for what belongs to no decision.
    TickId tick_id;          // "-" likewise.
    AuditStep step = AuditStep::control;
    AuditActor actor = AuditActor::python;
    std::string principal;  // The real identity behind `actor`: "agent:key_…", "human:…".
    AuditStatus status = AuditStatus::passed;
    AuditSeverity severity = AuditSeverity::info;
    std::string reason;
    std::vector<std::string> artifacts;  // "sha256:<hex>" of content-addressed inputs.
    Json detail = Json::object();        // The event's own facts; redacted before it comes here.
    std::string detail_text = {};        // Not empty: their canonical text, in place of `detail`.
    Timestamp timestamp;
    std::vector<RowChange> rows = {};  // Left out of the text when there are none.
};

// Protected rows of one turn in one chain; a turn that writes more is refused.
inline constexpr std::size_t kRecordRowsMax = 100'000;

struct AuditRecord {
    AuditDraft draft;
    std::int64_t seq = 0;   // From 1, gapless per tenant.
    std::string prev_hash;  // 64 hex digits; genesis is 64 zeros.
    std::string hash;
};

inline constexpr std::string_view kGenesisHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

// The record's id: "<tenant>.<seq>".
std::string audit_id(const AuditRecord& record);
// "<seq>:<first 16 hex digits of hash>", the short proof that answers carry.
std::string audit_ref(const AuditRecord& record);

// The RFC 8785 text without `hash`: what is hashed and what is stored. Fails only when `detail`
// holds a number without a canonical form. A `detail_text` is taken as it is.
Result<std::string> canonical_text(const AuditRecord& record);

// Decodes a stored canonical text; `hash` is left empty.
Result<AuditRecord> decode_audit_record(const Json& json);
// The record as the API shows it, `hash` and `audit_id` included.
Json encode(const AuditRecord& record);

}  // namespace interlock
