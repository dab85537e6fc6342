#include "app/wiring/witness_host.h"

#include "app/wiring/witness_setup.h"
#include "host/face/witness_operations.h"

namespace interlock {

Result<std::unique_ptr<WitnessHost>> WitnessHost::open(const Parts& parts) {
    TRY_ASSIGN(
        auto made,
        make_witnesses(
            {.config = parts.config,
             .data_folder = parts.data_folder,
             .first_public_key = parts.plane.ledger.public_key()}));
    std::unique_ptr<WitnessHost> host(new WitnessHost(parts.plane));
    host->service_ = std::make_unique<WitnessService>(
        WitnessService::Parts{
            .head_log = parts.head_log,
            .store = parts.store,
            .clock = parts.clock,
            .submit = parts.submit,
            .note_disagreement =
                [&plane = parts.plane](const ChainFault& fault) {
                    plane.kill.activate_by_rule(
                        system_tenant(),
                        "witness",
                        "a witness has a seal that this ledger has not; see `interlock doctor`");
                    return plane.ledger.note_break(system_tenant(), kWitnessBook, fault)
                        .has_value();
                }},
        std::move(made));
    WitnessService& service = *host->service_;
    parts.plane.ledger.on_system_seal([&service](const std::string&) { service.ring(); });
    parts.metrics.add_text([&service] { return service.metrics_text(); });
    host->witnessed_ = std::make_unique<WitnessedHeads>(parts.submit, parts.store);
    return host;
}

void WitnessHost::register_operations(OperationTable& table) {
    register_witness_operations(table, *witnessed_, [this] { return service_->states(); });
}

}  // namespace interlock
