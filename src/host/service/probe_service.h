// Runs probes (engine/wire/probe): the smallest complete turn, with or without an effect.
#pragma once

#include <functional>

#include "engine/service/kill_latch.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"
#include "engine/wire/probe.h"

namespace interlock {

inline constexpr std::string_view kProbeEffectKind = "probe";

class ProbeService {
public:
    // Effects of all tenants under way at once; one more is refused as overload.
    static constexpr std::int64_t kEffectsInFlightMax = 4096;

    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        KillLatch& latch;
        bool has_sink = false;
    };
    explicit ProbeService(Parts parts);

    struct Caller {
        Principal principal;
        TenantId tenant_id;
        std::string request_hash;
    };
    using Reply = std::function<void(Result<Answer>)>;
    void run(Caller caller, ProbeRequest request, Reply reply);

    // The turn itself, without submitting it; the benchmark and the simulator drive it directly.
    TurnRequest turn_of(Caller caller, ProbeRequest request, Reply reply);

private:
    Result<TurnReply> decide(Turn& turn, const ProbeRequest& request);
    Result<void> on_outcome(Turn& turn, const EffectOutcome& outcome);

    Parts parts_;
};

}  // namespace interlock
