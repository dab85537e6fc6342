// The SQL that writes a turn's rows. The store and the benchmark's bare loop share it, so that both
// write the same rows and a comparison of the two compares nothing else.
#pragma once

#include <string_view>

namespace interlock::turn_sql {

inline constexpr std::string_view kInsertState =
    "INSERT INTO machine_state (machine_key, version, json) VALUES (?1, 1, ?2)";
inline constexpr std::string_view kUpdateState =
    "UPDATE machine_state SET version = version + 1, json = ?3 "
    "WHERE machine_key = ?1 AND version = ?2";
inline constexpr std::string_view kInsertEntry =
    "INSERT INTO ledger (tenant_id, seq, json, hash) VALUES (?1, ?2, ?3, ?4)";
inline constexpr std::string_view kInsertHead =
    "INSERT INTO heads (tenant_id, seq, hash, proof) VALUES (?1, ?2, ?3, ?4)";
inline constexpr std::string_view kUpdateHead =
    "UPDATE heads SET seq = ?2, hash = ?3, proof = ?4 WHERE tenant_id = ?1 AND seq = ?5";
// For a continuation after a break, whose numbers begin above all that is known of the chain; a
// head beyond kHeadSeqMax (2^52) is no knowledge.
inline constexpr std::string_view kJumpHead =
    "INSERT INTO heads (tenant_id, seq, hash, proof) VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, "
    "proof = excluded.proof WHERE excluded.seq > heads.seq OR heads.seq > 4503599627370496";
inline constexpr std::string_view kInsertAnswer =
    "INSERT INTO answers (tenant_id, function, key, request_hash, operation_id, body, http_status, "
    "expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
inline constexpr std::string_view kCompleteAnswer =
    "UPDATE answers SET request_hash = ?4, operation_id = ?5, body = ?6, http_status = ?7, "
    "expires_at = ?8 WHERE tenant_id = ?1 AND function = ?2 AND key = ?3 AND body IS NULL";
inline constexpr std::string_view kInsertOutbox =
    "INSERT INTO outbox (effect_id, tenant_id, kind, json, delivery, state, not_after) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
inline constexpr std::string_view kMarkUnknown =
    "UPDATE outbox SET state = 'unknown' WHERE effect_id = ?1";
inline constexpr std::string_view kDeleteOutbox = "DELETE FROM outbox WHERE effect_id = ?1";
inline constexpr std::string_view kReplaceTimer =
    "REPLACE INTO timers (timer_id, tenant_id, kind, json, due_at) VALUES (?1, ?2, ?3, ?4, ?5)";
inline constexpr std::string_view kDeleteTimer = "DELETE FROM timers WHERE timer_id = ?1";
inline constexpr std::string_view kReleaseClaim =
    "DELETE FROM claims WHERE name = ?1 AND holder = ?2";
inline constexpr std::string_view kTakeClaim = "INSERT INTO claims (name, holder) VALUES (?1, ?2)";
inline constexpr std::string_view kInsertArtifact =
    "INSERT INTO artifacts (tenant_id, hash, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
inline constexpr std::string_view kInsertCheckpoint =
    "INSERT INTO checkpoints (tenant_id, seq, hash, at, signature) VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT DO NOTHING";

inline constexpr std::string_view kDeleteEntry =
    "DELETE FROM ledger WHERE tenant_id = ?1 AND seq = ?2";
inline constexpr std::string_view kDeleteArtifact =
    "DELETE FROM artifacts WHERE tenant_id = ?1 AND hash = ?2";

// The words the outbox columns hold.
inline constexpr std::string_view kAtMostOnce = "at_most_once";
inline constexpr std::string_view kRepeatable = "repeatable";
inline constexpr std::string_view kPending = "pending";
inline constexpr std::string_view kUnknown = "unknown";

}  // namespace interlock::turn_sql
