#include "engine/service/fold_service.h"

#include <utility>
#include <vector>

#include "base/log.h"

namespace interlock {

std::string fold_key(const TenantId& tenant_id, std::string_view subject) {
    return std::string(kFoldPrefix) + tenant_id.text() + "/" + std::to_string(fold_slot(subject));
}

std::string budget_key(const TenantId& tenant_id) {
    return "write_budget/" + tenant_id.text();
}

FoldService::FoldService(TurnRunner& runner) : runner_(runner) {
    runner_.on_timer(std::string(kFoldTimer), [](Turn& turn, const TimerItem& timer) {
        // A timer's id is the key of its row.
        return turn.close_folds(timer.timer_id.text(), FoldEnd::hour_over);
    });
    runner_.on_timer(std::string(kBudgetTimer), [](Turn& turn, const TimerItem&) {
        return turn.refill_budget();
    });
}

void FoldService::close_all() {
    const auto rows = runner_.stored_states(std::string(kFoldPrefix));
    if (!rows) {
        log_warn("folds_left_open", {{"message", rows.error().message}});
        return;
    }
    std::vector<TurnRequest> batch;
    const auto run = [&] {
        if (!batch.empty()) {
            runner_.run_batch(std::exchange(batch, {}));
        }
    };
    for (const auto& [key, state] : *rows) {
        const std::size_t end = key.rfind('/');
        const auto row = parse_json(state.json);
        const Json* open = row ? row->find("open") : nullptr;
        if (open != nullptr && open->is_array() && open->items().empty()) {
            continue;
        }
        TurnRequest request;
        request.tenant_id =
            TenantId::trusted(key.substr(kFoldPrefix.size(), end - kFoldPrefix.size()));
        request.principal = internal_principal("fold");
        request.function = "close_folds";
        request.decide = [machine = key](Turn& turn) -> Result<TurnReply> {
            TRY(turn.close_folds(machine, FoldEnd::shutdown));
            return Answer{};
        };
        batch.push_back(std::move(request));
        if (batch.size() >= kClosedPerBatch) {
            run();
        }
    }
    run();
}

}  // namespace interlock
