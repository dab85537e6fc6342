#include "relay/service/relay_chains.h"

#include <algorithm>

namespace interlock {

RelayChains::RelayChains(Parts parts) : parts_(parts) {
    parts_.lane.set_mirror(*this);
    parts_.lane.set_keys(parts_.keys);
    parts_.lane.set_seal_rule([this](RelayTurn& turn) { seal_due(turn, true); });
    parts_.lane.add_duty([this](RelayTurn& turn) { seal_due(turn, false); });
    parts_.lane.add_farewell([this](RelayTurn& turn) { seal_all(turn); });
}

Result<std::vector<ChainReport>> RelayChains::open(LedgerStore& chains, RowSet rows, Known known) {
    TRY_ASSIGN(auto mirror, parts_.mirror.load());
    std::map<TenantId, RowSet> by_chain;
    by_chain[system_tenant()] = std::move(rows);
    TRY_ASSIGN(
        auto reports,
        check_ledger(
            {.store = chains,
             .mirror = std::move(mirror),
             .keys = known.keys,
             .book = kRelayBook,
             .expected = &known.expected,
             .turn = &known.turn,
             .rows = std::move(by_chain),
             .from_last_seal = true,
             .is_from_before = known.is_from_before}));
    TRY_ASSIGN(Heads stored, chains.load_heads());
    for (const ChainReport& report : reports) {
        // A list of heads may name only records that are there, whatever the stored head says.
        if (report.fault && report.head.seq > 0) {
            stored[report.tenant_id] = {report.head.seq, report.head.hash};
        } else if (report.fault) {
            stored.erase(report.tenant_id);
        }
    }
    heads_ = std::make_shared<const Heads>(std::move(stored));
    for (const ChainReport& report : reports) {
        sealed_[report.tenant_id] = report.last_seal;
        parts_.lane.unsealed(report.tenant_id) = {report.unsealed, report.unsealed_since};
        const bool is_unadopted =
            known.is_from_before && report.last_seal.seq == 0 && report.head.seq > 0;
        if (report.fault || is_unadopted) {
            to_settle_.push_back(report);
        }
    }
    return reports;
}

void RelayChains::settle() {
    parts_.lane.submit_internal([this](RelayTurn& turn) {
        for (const ChainReport& report : to_settle_) {
            parts_.lane.unsealed(report.tenant_id) = {};
            settle_chain(turn, report);
        }
        to_settle_.clear();
        seal_all(turn);  // An unclean end left records unsealed; the next may be hours away.
    });
    parts_.lane.run_round(std::chrono::microseconds(0));
}

RelayTurn::SealOrder RelayChains::order_for(const TenantId& tenant_id, std::string_view event) {
    const SealPoint& before = sealed_[tenant_id];
    RelayTurn::SealOrder order;
    order.draft = relay_draft(tenant_id, std::string(event), "internal:ledger");
    order.seal.previous_seq = before.seq;
    order.seal.previous_hash = before.hash;
    order.done = [this, tenant_id](const SealPoint& point) { sealed_[tenant_id] = point; };
    return order;
}

void RelayChains::settle_chain(RelayTurn& turn, const ChainReport& report) {
    RelayTurn::SealOrder order =
        order_for(report.tenant_id, report.fault ? kBreakEvent : kSealEvent);
    if (!report.fault) {
        order.seal.adopted = report.head.seq;
        turn.seal(std::move(order));
        return;
    }
    order.draft.status = AuditStatus::failed;
    order.draft.severity = AuditSeverity::critical;
    order.draft.reason = "the chain does not hold: " + report.fault->detail;
    order.seal.broken = ChainBreak{
        .bad_seq = report.fault->seq,
        .reason = report.fault->reason,
        .detail = report.fault->detail,
        .good_seq = report.head.seq,
    };
    for (const RowFault& row : report.rows) {
        if (order.seal.broken->rows.size() < kBreakRowsMax) {
            order.seal.broken->rows.push_back(row.key);
        }
    }
    order.good = report.head;
    order.first_seq =
        report.has_gap ? std::max(report.known_seq, report.head.seq) + 1 : report.head.seq + 1;
    turn.seal(std::move(order));
}

void RelayChains::seal(RelayTurn& turn, const TenantId& tenant_id, bool is_first) {
    RelayTurn::SealOrder order = order_for(tenant_id, kSealEvent);
    order.is_first = is_first;
    turn.seal(std::move(order));
}

void RelayChains::seal_due(RelayTurn& turn, bool is_first) {
    for (const auto& [tenant_id, head] : parts_.lane.heads()) {
        const RelayLane::Unsealed open = parts_.lane.unsealed(tenant_id);
        if (open.records >= kSealEvery ||
            (open.records > 0 && turn.now() - open.since >= kSealPeriod)) {
            seal(turn, tenant_id, is_first);
            parts_.lane.unsealed(tenant_id) = {};  // Ordered once.
        }
    }
}

void RelayChains::seal_all(RelayTurn& turn) {
    for (const auto& [tenant_id, head] : parts_.lane.heads()) {
        if (parts_.lane.unsealed(tenant_id).records > 0) {
            seal(turn, tenant_id, false);
        }
    }
}

void RelayChains::publish(const std::map<TenantId, LedgerHead>& changed) {
    Heads heads = *heads_.load();
    for (const auto& [tenant_id, head] : changed) {
        heads[tenant_id] = head;
    }
    heads_ = std::make_shared<const Heads>(std::move(heads));
    parts_.mirror.publish(changed);
}

std::vector<HeadLine> RelayChains::heads() const {
    std::vector<HeadLine> lines;
    for (const auto& [tenant_id, head] : *heads_.load()) {
        lines.push_back({std::string(kRelayBook), tenant_id, {head.seq, head.hash}});
    }
    return lines;
}

}  // namespace interlock
