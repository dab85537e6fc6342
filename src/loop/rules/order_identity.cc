#include "loop/rules/order_identity.h"

#include <cstdint>

#include "base/crypto.h"

namespace interlock {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kIdLength = 31;
constexpr char kUnitSeparator = 0x1f;

std::string base32_lower(std::string_view bytes, std::size_t length) {
    std::string text;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char byte : bytes) {
        bits = (bits << 8) | static_cast<unsigned char>(byte);
        held += 8;
        while (held >= 5 && text.size() < length) {
            held -= 5;
            text += kAlphabet[(bits >> held) & 31U];
        }
    }
    return text;
}

}  // namespace

OrderClientId derive_order_client_id(const DecisionId& decision_id, const Intent& intent) {
    std::string text = "ocid.v1";
    const auto add = [&text](std::string_view part) {
        text += kUnitSeparator;
        text += part;
    };
    add(decision_id.text());
    add(intent.intent_id.text());
    add(intent.symbol.text());
    add(to_word(intent.side));
    add(to_text(intent.qty));
    add(intent.limit_price ? to_text(*intent.limit_price) : "-");
    return OrderClientId::trusted("h" + base32_lower(sha256(text), kIdLength));
}

}  // namespace interlock
