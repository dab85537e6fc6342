#include "host/service/restore_state.h"

#include "codec/field_reader.h"

namespace interlock {

Json encode(const RestoreState& state) {
    return Json::object({
        {"break_seq", state.break_seq},
        {"voided_at", state.voided_at ? Json(to_text(*state.voided_at)) : Json()},
    });
}

Result<RestoreState> decode_restore_state(const Json& json) {
    FieldReader in(json);
    RestoreState state{
        .break_seq = in.required<std::int64_t>("break_seq"),
        .voided_at = in.required_nullable<Timestamp>("voided_at"),
    };
    in.reject_unknown();
    return in.finish(std::move(state));
}

}  // namespace interlock
