#include "services/relay/relay_chains.h"

#include "services/ledger_check.h"

namespace interlock {

RelayChains::RelayChains(Parts parts) : parts_(parts) {
    parts_.lane.set_mirror(parts_.mirror);
    parts_.lane.add_duty([this](RelayTurn& turn) { sign_due(turn); });
    parts_.lane.add_farewell([this](RelayTurn& turn) { sign_all(turn); });
}

Result<std::vector<ChainReport>> RelayChains::open(LedgerStore& chains) {
    TRY_ASSIGN(auto mirror, parts_.mirror.load());
    TRY_ASSIGN(
        auto reports,
        check_ledger(
            {.store = chains,
             .mirror = std::move(mirror),
             .public_key = parts_.key.public_key,
             .tenants = {},
             .from_last_checkpoint = true}));
    for (const ChainReport& report : reports) {
        TRY_ASSIGN(const auto points, chains.read_checkpoints(report.tenant_id));
        if (!points.empty()) {
            signed_[report.tenant_id] = {points.back().seq, points.back().at};
        }
    }
    return reports;
}

void RelayChains::sign(RelayTurn& turn, const TenantId& tenant_id, const ChainHead& head) {
    turn.rows().checkpoints.push_back(sign_checkpoint(parts_.key, tenant_id, head, turn.now()));
    turn.after([this, tenant_id, seq = head.seq, at = turn.now()](bool is_committed) {
        if (is_committed) {
            signed_[tenant_id] = {seq, at};
        }
    });
}

void RelayChains::sign_due(RelayTurn& turn) {
    for (const auto& [tenant_id, head] : parts_.lane.heads()) {
        Signed& last = signed_[tenant_id];
        if (last.at == Timestamp{}) {
            last.at = turn.now();  // A new chain: its first hour starts here.
        }
        const std::int64_t fresh = head.seq - last.seq;
        if (fresh >= LedgerService::kCheckpointEvery ||
            (fresh > 0 && turn.now() - last.at >= LedgerService::kCheckpointPeriod)) {
            sign(turn, tenant_id, head);
        }
    }
}

void RelayChains::sign_all(RelayTurn& turn) {
    for (const auto& [tenant_id, head] : parts_.lane.heads()) {
        if (head.seq > signed_[tenant_id].seq) {
            sign(turn, tenant_id, head);
        }
    }
}

}  // namespace interlock
