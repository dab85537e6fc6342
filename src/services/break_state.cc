// The row `break/<tenant>`: that a chain did not hold, and whether a human has accepted it.
#include "base/field_reader.h"
#include "services/ledger_service.h"

namespace interlock {

Json encode(const BreakState& state) {
    return Json::object({
        {"seq", state.seq},
        {"bad_seq", state.bad_seq},
        {"reason", state.reason},
        {"detail", state.detail},
        {"at", to_text(state.at)},
        {"accepted_by", state.accepted_by},
    });
}

Result<BreakState> decode_break_state(const Json& json) {
    FieldReader in(json);
    BreakState state{
        .seq = in.required<std::int64_t>("seq"),
        .bad_seq = in.required<std::int64_t>("bad_seq"),
        .reason = in.required<std::string>("reason"),
        .detail = in.required<std::string>("detail"),
        .at = in.required<Timestamp>("at"),
        .accepted_by = in.required<std::string>("accepted_by"),
    };
    in.reject_unknown();
    return in.finish(std::move(state));
}

}  // namespace interlock
