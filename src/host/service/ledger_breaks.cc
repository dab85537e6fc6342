// The ledger service's part for chains that do not hold: how a break gets on record, who is told of
// it, and how a human accepts it. The stop follows from the row alone (Plane::open()), so that it
// cannot be lost with the process that found the break.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "engine/rules/witnessed_head.h"
#include "host/rules/approval_step.h"
#include "host/service/ledger_service.h"
#include "host/service/restore_state.h"

namespace interlock {
namespace {

TurnRequest break_turn(const TenantId& tenant_id, std::string function) {
    TurnRequest request;
    request.tenant_id = tenant_id;
    request.principal = internal_principal("ledger");
    request.function = std::move(function);
    return request;
}

ChainBreak chain_break_of(const ChainReport& report) {
    ChainBreak broken{
        .bad_seq = report.fault->seq,
        .reason = report.fault->reason,
        .detail = report.fault->detail,
        .good_seq = report.head.seq,
    };
    for (const RowFault& row : report.rows) {
        if (broken.rows.size() < kBreakRowsMax) {
            broken.rows.push_back(row.key);
        }
    }
    return broken;
}

// What a row says that anybody may have written. One that cannot be read is as good as none: the
// walk over its chain names it, or finds that it was never recorded.
std::optional<BreakState> read_break(std::string_view text) {
    const auto json = parse_json(text);
    if (!json) {
        return std::nullopt;
    }
    auto state = decode_break_state(*json);
    return state ? std::optional(*std::move(state)) : std::nullopt;
}

// Every break that an acceptance is for, the oldest first.
Json list_of(const BreakState& state) {
    Json list = Json::array();
    const auto add = [&](const FoundBreak& found) {
        list.push(Json::object({
            {"break_seq", found.seq},
            {"first_bad_seq", found.bad_seq},
            {"problem", found.reason},
            {"detail", found.detail},
        }));
    };
    std::ranges::for_each(state.earlier, add);
    add(state.newest);
    return list;
}

}  // namespace

Result<void> LedgerService::load_breaks() {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states(std::string(kBreakPrefix)));
    for (const auto& [machine_key, stored] : rows) {
        const TenantId tenant_id = TenantId::trusted(machine_key.substr(kBreakPrefix.size()));
        auto state = read_break(stored.json);
        if (!state) {
            state = BreakState{.newest = {.reason = "unreadable_record", .at = parts_.clock.now()}};
        }
        if (state->accepted_by.empty()) {
            show_break(tenant_id, std::move(state));
        }
    }
    return {};
}

void LedgerService::show_break(const TenantId& tenant_id, std::optional<BreakState> state) {
    Breaks breaks = *breaks_.load();
    if (state) {
        breaks.insert_or_assign(tenant_id, *std::move(state));
    } else {
        breaks.erase(tenant_id);
    }
    breaks_ = std::make_shared<const Breaks>(std::move(breaks));
}

std::string LedgerService::open_break(const TenantId& tenant_id) const {
    const auto breaks = open_breaks();
    const auto found = breaks->find(tenant_id);
    return found == breaks->end() ? std::string() : describe(found->second);
}

void LedgerService::put_break(Turn& turn, FoundBreak found) {
    const TenantId tenant_id = turn.tenant_id();
    // Of what was shown, not of what is stored: that may be the row that somebody changed.
    const auto breaks = open_breaks();
    const auto before = breaks->find(tenant_id);
    BreakState state = with_break(
        before == breaks->end() ? std::nullopt : std::optional(before->second), std::move(found));
    turn.save(break_key(tenant_id), encode(state));
    turn.after_commit(
        [this, tenant_id, state = std::move(state)] { show_break(tenant_id, state); });
}

Result<void> LedgerService::break_chain(const ChainReport& report) {
    if (on_break_) {
        on_break_(report);
    }
    TurnRequest request = break_turn(report.tenant_id, "break_chain");
    request.decide = [this, &report](Turn& turn) -> Result<TurnReply> {
        const ChainFault& fault = *report.fault;
        const std::int64_t seq =
            report.has_gap ? std::max(report.known_seq, report.head.seq) + 1 : report.head.seq + 1;
        put_break(turn, {seq, fault.seq, fault.reason, fault.detail, turn.now()});
        if (is_key_lost_ && turn.tenant_id() == system_tenant()) {
            // No key: these are the bytes of another day. What rights they give is void.
            turn.save(std::string(kRestoreKey), encode(RestoreState{.break_seq = seq}));
        }
        Seal seal = seal_of(turn, turn.tenant_id());
        seal.broken = chain_break_of(report);
        AuditDraft draft = turn.draft(std::string(kBreakEvent));
        draft.status = AuditStatus::failed;
        draft.severity = AuditSeverity::critical;
        draft.reason = "the chain does not hold: " + fault.detail;
        draft.artifacts.push_back(turn.put_artifact(row_list(turn.rows_of(turn.tenant_id()))));
        TRY_ASSIGN(
            const SealPoint point,
            turn.audit_seal(
                std::move(draft),
                std::move(seal),
                [this](std::string_view text) { return parts_.keys.sign(text); },
                Turn::Continuation{report.head, seq}));
        turn.after_commit(
            [this, tenant_id = turn.tenant_id(), point] { sealed_[tenant_id] = point; });
        return Answer{};
    };
    return run(std::move(request));
}

Result<void> LedgerService::note_break(
    const TenantId& tenant_id, std::string_view book, const ChainFault& fault) {
    const FoundBreak found{
        .bad_seq = fault.seq,
        .reason = std::string(book) + ":" + fault.reason,
        .detail = fault.detail};
    const auto breaks = open_breaks();
    if (const auto known = breaks->find(tenant_id); known != breaks->end()) {
        const auto is_this = [&](const FoundBreak& one) {
            return one.bad_seq == found.bad_seq && one.reason == found.reason &&
                   one.detail == found.detail;
        };
        if (is_this(known->second.newest) || std::ranges::any_of(known->second.earlier, is_this)) {
            return {};  // By a start that did not come to its end.
        }
    }
    TurnRequest request = break_turn(tenant_id, "note_break");
    request.decide = [&](Turn& turn) -> Result<TurnReply> {
        FoundBreak noted = found;
        noted.seq = turn.head_of(turn.tenant_id()).seq + 1;
        noted.at = turn.now();
        put_break(turn, std::move(noted));
        const bool is_witness = book == kWitnessBook;
        AuditDraft draft = turn.draft(is_witness ? "WITNESS_DISAGREES" : "OTHER_CHAIN_BROKEN");
        draft.status = AuditStatus::failed;
        draft.severity = AuditSeverity::critical;
        draft.reason =
            (is_witness ? "" : "a chain of the " + std::string(book) + " does not hold: ") +
            fault.detail;
        draft.detail.set("book", std::string(book));
        draft.detail.set("bad_seq", fault.seq);
        draft.detail.set("problem", fault.reason);
        TRY(turn.audit(std::move(draft)));
        return Answer{};
    };
    return run(std::move(request));
}

std::string LedgerService::chain_problem(const TenantId& tenant_id) {
    if (std::string known = open_break(tenant_id); !known.empty()) {
        return known;
    }
    const auto walk = walk_chain(
        {.store = parts_.store,
         .keys = lineage_,
         .live_rows = &parts_.runner.rows(tenant_id),
         .from_last_seal = true},
        tenant_id);
    if (!walk) {
        return walk.error().message;
    }
    const std::optional<ChainFault>& fault = walk->report.fault;
    return fault ? fault->reason + " at record " + std::to_string(fault->seq) : std::string();
}

void LedgerService::accept_break(
    Principal human, TenantId tenant_id, std::string reason, Reply reply) {
    TurnRequest request = break_turn(tenant_id, "accept_chain_break");
    request.principal = std::move(human);
    request.decide = [this, reason = std::move(reason)](Turn& turn) {
        return run_acceptance(turn, reason);
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

Result<TurnReply> LedgerService::run_acceptance(Turn& turn, const std::string& reason) {
    const TenantId& tenant_id = turn.tenant_id();
    const Timestamp session_now = parts_.directory.time_of_sessions(turn.now());
    if (session_now - turn.principal().authenticated_at > kFreshAuthentication) {
        return fail(
            errors::reauthentication_required, "Accepting a broken chain needs a fresh login.");
    }
    TRY_ASSIGN(const std::optional<Json> json, turn.load(break_key(tenant_id)));
    if (!json) {
        return fail(errors::no_open_break, "The chain of " + tenant_id.text() + " is not broken.");
    }
    TRY_ASSIGN(BreakState state, decode_break_state(*json));
    const FoundBreak& newest = state.newest;
    if (!state.accepted_by.empty()) {
        return fail(
            errors::no_open_break,
            "The break at record " + std::to_string(newest.bad_seq) + " was accepted by " +
                state.accepted_by + ".");
    }
    state.accepted_by = to_text(turn.principal());
    turn.save(break_key(tenant_id), encode(state));
    AuditDraft draft = turn.draft(std::string(kBreakAcceptedEvent));
    draft.severity = AuditSeverity::critical;
    draft.reason = reason;
    draft.detail.set("break_seq", newest.seq);
    draft.detail.set("bad_seq", newest.bad_seq);
    draft.detail.set("problem", newest.reason);
    draft.detail.set("breaks", list_of(state));
    draft.detail.set("more", state.more);
    TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
    turn.after_commit([this, tenant_id] { show_break(tenant_id, std::nullopt); });
    return Answer{
        200,
        to_text(Json::object({
            {"tenant_id", tenant_id.text()},
            {"break_seq", newest.seq},
            {"first_bad_seq", newest.bad_seq},
            {"problem", newest.reason},
            {"breaks", list_of(state)},
            {"more", state.more},
            {"accepted_by", state.accepted_by},
            {"audit_ref", ref},
            {"next", "The stop stays on: release it when you have seen what was changed."},
        }))};
}

}  // namespace interlock
