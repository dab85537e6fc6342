#include "engine/sink/sink_wire.h"

#include <array>

#include "base/errors.h"
#include "base/match.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kOperations{"perform", "find", "count"};
constexpr std::array<std::string_view, 2> kDeliveries{"at_most_once", "repeatable"};
constexpr std::array<std::string_view, 4> kStatuses{"done", "refused", "never_arrived", "failed"};
constexpr TextBounds kAnyText{.length_min = 0, .length_max = kSinkLineBytesMax};

}  // namespace

Json encode(const SinkRequest& request) {
    return match(
        request,
        [](const SinkPerform& perform) {
            return Json::object({
                {"op", kOperations[0]},
                {"effect_id", perform.effect_id.text()},
                {"tenant_id", perform.tenant_id.text()},
                {"kind", perform.kind},
                {"json", perform.json},
                {"delivery", kDeliveries[static_cast<std::size_t>(perform.delivery)]},
            });
        },
        [](const SinkFind& find) {
            return Json::object({{"op", kOperations[1]}, {"effect_id", find.effect_id.text()}});
        },
        [](const SinkCount&) { return Json::object({{"op", kOperations[2]}}); });
}

Result<SinkRequest> decode_sink_request(const Json& json) {
    FieldReader in(json);
    SinkRequest request;
    switch (in.required_word_index("op", kOperations)) {
        case 0: {
            SinkPerform perform;
            perform.effect_id = in.required<EffectId>("effect_id");
            perform.tenant_id = in.required<TenantId>("tenant_id");
            perform.kind = in.required_text("kind");
            perform.json = in.required_text("json", kAnyText);
            perform.delivery =
                static_cast<Delivery>(in.required_word_index("delivery", kDeliveries));
            request = std::move(perform);
            break;
        }
        case 1:
            request = SinkFind{in.required<EffectId>("effect_id")};
            break;
        default:
            request = SinkCount{};
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json encode(const SinkAnswer& answer) {
    return Json::object({
        {"status", kStatuses[static_cast<std::size_t>(answer.status)]},
        {"receipt", answer.receipt},
        {"message", answer.message},
    });
}

Result<SinkAnswer> decode_sink_answer(const Json& json) {
    FieldReader in(json);
    SinkAnswer answer;
    answer.status = static_cast<SinkStatus>(in.required_word_index("status", kStatuses));
    answer.receipt = in.required_text("receipt", kAnyText);
    answer.message = in.required_text("message", kAnyText);
    in.reject_unknown();
    return in.finish(std::move(answer));
}

Json encode(const SinkCounts& counts) {
    return Json::object({
        {"performed", counts.performed},
        {"duplicates", counts.duplicates},
        {"repeats", counts.repeats},
        {"late", counts.late},
        {"tombstones", counts.tombstones},
    });
}

Result<SinkCounts> decode_sink_counts(const Json& json) {
    FieldReader in(json);
    SinkCounts counts;
    counts.performed = in.required<std::int64_t>("performed");
    counts.duplicates = in.required<std::int64_t>("duplicates");
    counts.repeats = in.required<std::int64_t>("repeats");
    counts.late = in.required<std::int64_t>("late");
    counts.tombstones = in.required<std::int64_t>("tombstones");
    in.reject_unknown();
    return in.finish(std::move(counts));
}

}  // namespace interlock
