// The promises (ARCHITECTURE.md#the-promises), as checkers that watch a simulation from outside:
// what callers send and get, what the store commits, what arrives at the sink. They share nothing
// with the workload and know nothing of the faults.
//
// Each checker is named by the promise it holds the server to. Records are fed in commit order,
// whoever wrote them; after a crash also those of a batch that turned out to be durable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ports/ledger_store.h"
#include "engine/rules/chain_verifier.h"
#include "engine/service/turn.h"
#include "engine/wire/audit_record.h"
#include "sim/command.h"
#include "sim/limit_oracle.h"
#include "sim/violation.h"

namespace interlock::sim {

// I7: what a tenant gets or has recorded never names another tenant.
class TenantInvariant {
public:
    TenantInvariant(const People& people, ViolationLog& log) : people_(people), log_(log) {}
    void check_text(const TenantId& tenant_id, std::string_view text, std::string_view where);
    void on_record(const AuditRecord& record, std::string_view canonical);

private:
    const People& people_;
    ViolationLog& log_;
};

// Chain: gapless, linked and sealed as it grows.
class ChainInvariant {
public:
    explicit ChainInvariant(ViolationLog& log) : log_(log) {}
    void on_entry(const LedgerEntry& entry);

private:
    ViolationLog& log_;
    std::map<TenantId, ChainVerifier> chains_;
};

// I2: one key, one request, one answer, byte for byte.
class AnswerInvariant {
public:
    explicit AnswerInvariant(ViolationLog& log) : log_(log) {}
    void on_delivered(const Command& command);
    void on_reply(const Command& command, const Result<Answer>& result);
    // The final answers so far, for asking again at the end.
    bool is_answered(const AnswerKey& key) const;
    // More than one request was sent under it.
    bool was_altered(const AnswerKey& key) const;

private:
    struct Key {
        std::set<std::string> tried;  // Request hashes that were delivered.
        std::string answered_hash;    // Of the request that has a final answer.
        std::string body;
        int http_status = 0;
    };
    void on_answer(const Command& command, Key& key, const Answer& answer);
    void on_error(const Command& command, const Key& key, const Error& error);

    ViolationLog& log_;
    std::map<AnswerKey, Key> keys_;
};

// Approvals (approvals.md#2-who-decides): only humans of the tenant, enough of them, in time, once.
class ApprovalInvariant {
public:
    ApprovalInvariant(const People& people, ViolationLog& log, bool two_person_rule)
        : people_(people), log_(log), two_person_rule_(two_person_rule) {}
    void on_record(const AuditRecord& record);
    void on_reply(const Command& command, const Result<Answer>& result, Timestamp now);

    // Granted and not yet consumed, inside the turn that uses it.
    bool is_being_used(const TenantId& tenant_id, const std::string& approval_id) const;
    std::vector<ApprovalId> all(const TenantId& tenant_id) const;
    std::vector<ApprovalId> pending(const TenantId& tenant_id) const;
    // Who asked for it, and until when it may be decided, to the millisecond.
    struct Request {
        std::string by;
        Timestamp until;
    };
    Request request_of(const TenantId& tenant_id, const ApprovalId& approval_id) const;
    const EdgeCounts& edges() const { return edges_; }

private:
    struct Held {
        std::string state = "pending";
        std::set<std::string> voters;
        Timestamp requested_at;
        bool is_proposal = false;  // Of a bot: one human, a day's time.
        std::string requested_by;
    };
    std::size_t needed_for(const Held& held) const {
        return two_person_rule_ && !held.is_proposal ? 2 : 1;
    }
    void check_own_vote(const Held& held, const TenantId& tenant_id, const std::string& voter);
    void on_vote(Held& held, const AuditRecord& record, std::size_t needed);

    const People& people_;
    ViolationLog& log_;
    const bool two_person_rule_;
    EdgeCounts edges_;
    std::map<std::pair<TenantId, std::string>, Held> approvals_;
};

// I6 and I5: once an activation is accepted nothing but cancels leaves until a human's release that
// came after it; no release while a fact it needs is missing.
class KillInvariant {
public:
    KillInvariant(const ApprovalInvariant& approvals, ViolationLog& log)
        : approvals_(approvals), log_(log) {}

    struct Activation {
        TenantId tenant_id;
        std::string reason;
        std::int64_t head_seq = 0;          // Of the tenant's chain when it was accepted.
        std::uint64_t delivery_number = 0;  // 0: no caller waits for an answer.
        // The KILL file, seen while the switch is on, adds no record.
        bool may_go_unrecorded = false;
    };
    void on_accepted(Activation activation);
    void on_delivered(const Delivered& delivered);
    void on_reply(const Delivered& delivered, const Result<Answer>& result);
    void on_record(const AuditRecord& record);
    // The server could not record something and says so with the KILL file: the only way in which a
    // stop that no caller waits for can fail.
    void on_file_written();
    // Whoever had no answer may find that nothing was done; whoever had one must not.
    void on_crash();

    // Why nothing may leave for this tenant; "" when it may.
    std::string why_stopped(const TenantId& tenant_id) const;
    bool is_stopped(const TenantId& tenant_id) const { return !why_stopped(tenant_id).empty(); }
    // By its own switch, not by the global one.
    bool is_stopped_itself(const TenantId& tenant_id) const;

private:
    struct Open {
        Activation activation;
        std::uint64_t order = 0;  // Among all that was accepted or asked.
        bool failed = false;      // Its caller was told so.
        bool answered = false;
        bool is_covered = false;  // Answered while the switch was on record as on.
        std::optional<std::int64_t> recorded_seq;
    };
    struct Switch {
        bool active = false;
        std::string reason;
    };
    void on_activation(const AuditRecord& record);
    void on_release(const AuditRecord& record);

    const ApprovalInvariant& approvals_;
    ViolationLog& log_;
    std::uint64_t order_ = 0;
    std::vector<Open> open_;
    std::map<TenantId, Switch> switches_;
    std::map<TenantId, std::set<std::string>> unknown_effects_;
    std::map<std::uint64_t, std::uint64_t> asked_;  // Status questions under way: number → order.
};

// Nothing that could trade leaves after its time (turns.md#3-effects), and a wall clock that was
// stepped back makes nothing young again.
class AgeInvariant {
public:
    struct Clocks {
        Timestamp now;
        Duration monotonic;
        std::uint64_t life = 0;  // Of the server: what it queued before a crash it queues anew.
    };
    explicit AgeInvariant(ViolationLog& log) : log_(log) {}
    void on_commit(const TurnCommit& turn, const Clocks& clocks);
    void on_arrival(const OutboxItem& effect, const Clocks& clocks);
    void on_submit(const TenantId& tenant_id, const OrderClientId& id, const Clocks& clocks);
    const EdgeCounts& edges() const { return edges_; }
    EdgeCounts& edges() { return edges_; }

private:
    struct Deadline {
        Timestamp not_after;
        Duration send_until;
        std::uint64_t life = 0;
    };
    void check(const Deadline& deadline, const std::string& what, const Clocks& clocks);

    ViolationLog& log_;
    EdgeCounts edges_;
    std::map<EffectId, Deadline> effects_;
    std::map<std::pair<TenantId, std::string>, Deadline> orders_;
};

// I1, I2 and I4 at the sink: justified on durable storage, once per key, never sent again.
class EffectInvariant {
public:
    explicit EffectInvariant(ViolationLog& log) : log_(log) {}
    void on_arrival(const OutboxItem& effect, bool is_justified);

private:
    ViolationLog& log_;
    std::set<EffectId> arrived_;
    std::map<std::pair<TenantId, std::string>, EffectId> by_key_;
};

// Every delivery is answered at most once, and in a server that goes on living exactly once.
class ReplyInvariant {
public:
    explicit ReplyInvariant(ViolationLog& log) : log_(log) {}
    void on_delivered(const Delivered& delivered) { open_[delivered.number] = delivered.command; }
    void on_reply(const Delivered& delivered);
    void on_crash() { open_.clear(); }
    void on_quiet();  // Nothing is under way any more.

private:
    ViolationLog& log_;
    std::map<std::uint64_t, Command> open_;
    std::set<std::uint64_t> answered_;
};

}  // namespace interlock::sim
