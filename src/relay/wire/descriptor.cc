#include "relay/wire/descriptor.h"

#include "codec/json_list.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::string_view kRequiredKeys[] = {
    "contract_version",
    "platform",
    "label",
    "max_message_length",
    "supports_draft_streaming",
    "supports_edit",
    "supports_threads",
    "markdown_dialect",
    "len_unit"};

std::int64_t read_length(const Json& json) {
    const Json* const value = json.find("max_message_length");
    const auto number = value != nullptr && value->is_number() ? value->as_int64() : std::nullopt;
    return number && *number > 0 ? *number : kMessageLengthDefault;
}

// Anything but a list counts as none, and entries that are no names are dropped.
std::vector<std::string> read_ops(const Json& json) {
    std::vector<std::string> ops;
    const Json* const value = json.find("supported_ops");
    if (value == nullptr || !value->is_array()) {
        return ops;
    }
    for (const Json& item : value->items()) {
        if (item.is_string() && !item.as_string().empty() && ops.size() < kSupportedOpsMax) {
            ops.push_back(item.as_string());
        }
    }
    return ops;
}

}  // namespace

std::string_view to_word(LengthUnit unit) {
    return unit == LengthUnit::utf16 ? "utf16" : "chars";
}

Result<CapabilityDescriptor> decode_descriptor(const Json& json) {
    WireReader in(json);
    for (const std::string_view key : kRequiredKeys) {
        if (json.find(key) == nullptr) {
            in.add_problem(key, "is required");
        }
    }
    CapabilityDescriptor descriptor{
        .contract_version = in.integer("contract_version").value_or(kRelayContractVersion),
        .platform = in.text("platform"),
        .label = in.text("label", kRelayNameBytesMax),
        .max_message_length = read_length(json),
        .supports_draft_streaming = in.flag("supports_draft_streaming"),
        .supports_edit = in.flag("supports_edit"),
        .supports_threads = in.flag("supports_threads"),
        .markdown_dialect = in.text("markdown_dialect"),
        .len_unit = in.text("len_unit") == "utf16" ? LengthUnit::utf16 : LengthUnit::code_points,
        .platform_hint = in.text("platform_hint", kRelayTextBytesMax),
        .pii_safe = in.flag("pii_safe"),
        .supports_context = in.flag("supports_context"),
        .supports_inchannel_continuable = in.flag("supports_inchannel_continuable"),
        .supports_block_formatting = in.flag("supports_block_formatting"),
        .supported_ops = read_ops(json),
    };
    if (const std::string emoji = in.text("emoji"); !emoji.empty()) {
        descriptor.emoji = emoji;
    }
    return in.finish(std::move(descriptor));
}

Json encode(const CapabilityDescriptor& descriptor) {
    const std::int64_t length = descriptor.max_message_length;
    return Json::object({
        {"contract_version", descriptor.contract_version},
        {"platform", descriptor.platform},
        {"label", descriptor.label},
        {"max_message_length", length > 0 ? length : kMessageLengthDefault},
        {"supports_draft_streaming", descriptor.supports_draft_streaming},
        {"supports_edit", descriptor.supports_edit},
        {"supports_threads", descriptor.supports_threads},
        {"markdown_dialect", descriptor.markdown_dialect},
        {"len_unit", to_word(descriptor.len_unit)},
        {"emoji", descriptor.emoji},
        {"platform_hint", descriptor.platform_hint},
        {"pii_safe", descriptor.pii_safe},
        {"supports_context", descriptor.supports_context},
        {"supports_inchannel_continuable", descriptor.supports_inchannel_continuable},
        {"supports_block_formatting", descriptor.supports_block_formatting},
        {"supported_ops", json_list(descriptor.supported_ops)},
    });
}

}  // namespace interlock
