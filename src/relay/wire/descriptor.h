// CapabilityDescriptor: what a platform can do, sent once per hello.
// docs/contracts/relay-connector.md#2-descriptor has the keys. A client's reader dies of a
// descriptor without its nine required fields, so they are members here and always written; the
// length is always positive, because the June client keeps a zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

inline constexpr std::int64_t kRelayContractVersion = 1;
inline constexpr std::int64_t kMessageLengthDefault = 4096;
inline constexpr std::size_t kSupportedOpsMax = 64;

enum class LengthUnit { code_points, utf16, bytes };
// "chars" or "utf16". Clients know no other word: a platform that counts bytes is told as "chars"
// with a length that is safe for it.
std::string_view to_word(LengthUnit unit);

struct CapabilityDescriptor {
    std::int64_t contract_version = kRelayContractVersion;
    std::string platform;
    std::string label;
    std::int64_t max_message_length = kMessageLengthDefault;
    bool supports_draft_streaming = false;
    bool supports_edit = false;
    bool supports_threads = false;
    std::string markdown_dialect = "plain";
    LengthUnit len_unit = LengthUnit::code_points;
    std::string emoji = "\U0001F50C";
    std::string platform_hint;
    bool pii_safe = false;
    bool supports_context = false;
    bool supports_inchannel_continuable = false;
    bool supports_block_formatting = false;
    std::vector<std::string> supported_ops;  // Empty: send, edit, typing and follow_up.

    friend bool operator==(const CapabilityDescriptor&, const CapabilityDescriptor&) = default;
};

// As the newer clients read it: a length that is no positive whole number becomes 4096.
Result<CapabilityDescriptor> decode_descriptor(const Json& json);
Json encode(const CapabilityDescriptor& descriptor);

}  // namespace interlock
