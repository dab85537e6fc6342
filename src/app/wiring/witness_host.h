// The server's witnesses and what it witnesses for others, wired to plane, engine and table.
#pragma once

#include <memory>
#include <string>

#include "app/plane/plane.h"
#include "app/wiring/config.h"
#include "engine/service/witnessed_heads.h"
#include "host/face/operation.h"
#include "host/service/metrics.h"
#include "host/service/witness_service.h"

namespace interlock {

class WitnessHost {
public:
    struct Parts {
        const WitnessConfig& config;
        std::string data_folder;
        HeadLog& head_log;
        LedgerStore& store;
        Clock& clock;
        SubmitTurn submit;
        Plane& plane;
        Metrics& metrics;
    };
    // After the plane is open.
    static Result<std::unique_ptr<WitnessHost>> open(const Parts& parts);

    void register_operations(OperationTable& table);
    void start() { service_->start(); }
    void stop() { service_->stop(); }  // Behind the last seal.
    // Engine thread, once a round: the ledger's own duty, and what witnesses found.
    void duty() {
        plane_.ledger.duty();
        service_->duty();
    }

private:
    explicit WitnessHost(Plane& plane) : plane_(plane) {}

    Plane& plane_;
    std::unique_ptr<WitnessService> service_;
    std::unique_ptr<WitnessedHeads> witnessed_;
};

}  // namespace interlock
