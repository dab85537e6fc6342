// The row `break/<tenant>`: that a chain did not hold, and whether a human has accepted it.
#include <utility>

#include "codec/field_reader.h"
#include "host/service/ledger_service.h"

namespace interlock {
namespace {

Json encode_found(const FoundBreak& found) {
    return Json::object({
        {"seq", found.seq},
        {"bad_seq", found.bad_seq},
        {"reason", found.reason},
        {"detail", found.detail},
        {"at", to_text(found.at)},
    });
}

FoundBreak read_found(FieldReader& in) {
    return {
        .seq = in.required<std::int64_t>("seq"),
        .bad_seq = in.required<std::int64_t>("bad_seq"),
        .reason = in.required<std::string>("reason"),
        .detail = in.required<std::string>("detail"),
        .at = in.required<Timestamp>("at"),
    };
}

}  // namespace

std::string break_key(const TenantId& tenant_id) {
    return std::string(kBreakPrefix) + tenant_id.text();
}

Json encode(const BreakState& state) {
    Json json = encode_found(state.newest);
    json.set("accepted_by", state.accepted_by);
    if (!state.earlier.empty()) {
        Json earlier = Json::array();
        for (const FoundBreak& found : state.earlier) {
            earlier.push(encode_found(found));
        }
        json.set("earlier", std::move(earlier));
        json.set("more", state.more);
    }
    return json;
}

Result<BreakState> decode_break_state(const Json& json) {
    FieldReader in(json);
    BreakState state{.newest = read_found(in)};
    state.accepted_by = in.required<std::string>("accepted_by");
    if (const auto* earlier = in.optional_array("earlier", BreakState::kEarlierMax)) {
        for (const Json& item : *earlier) {
            FieldReader one(item);
            FoundBreak found = read_found(one);
            one.reject_unknown();
            TRY_ASSIGN(FoundBreak whole, one.finish(std::move(found)));
            state.earlier.push_back(std::move(whole));
        }
    }
    state.more = in.optional_or<std::int64_t>("more", 0);
    in.reject_unknown();
    return in.finish(std::move(state));
}

BreakState with_break(std::optional<BreakState> before, FoundBreak found) {
    BreakState state{.newest = std::move(found)};
    if (before && before->accepted_by.empty()) {
        state.earlier = std::move(before->earlier);
        state.more = before->more;
        if (state.earlier.size() < BreakState::kEarlierMax) {
            state.earlier.push_back(std::move(before->newest));
        } else {
            ++state.more;
        }
    }
    return state;
}

std::string describe(const BreakState& state) {
    const std::int64_t others = std::ssize(state.earlier) + state.more;
    return state.newest.reason + " at record " + std::to_string(state.newest.bad_seq) +
           (others > 0 ? " and " + std::to_string(others) + " before it" : std::string()) +
           ", not accepted by a human yet";
}

}  // namespace interlock
