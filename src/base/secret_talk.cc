#include "base/secret_talk.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 16> kNames = {
    "password",
    "passwd",
    "passwort",
    "kennwort",
    "passphrase",
    "passcode",
    "pwd",
    "api_key",
    "apikey",
    "private_key",
    "privatekey",
    "secret_key",
    "access_key",
    "signing_key",
    "api_secret",
    "client_secret"};
// What names digits that are good for once.
constexpr std::array<std::string_view, 18> kCodes = {
    "2fa",
    "mfa",
    "otp",
    "totp",
    "pin",
    "2fa_code",
    "mfa_code",
    "otp_code",
    "totp_code",
    "login_code",
    "sms_code",
    "pin_code",
    "one_time_code",
    "time_code",
    "recovery_code",
    "verification_code",
    "backup_code",
    "authenticator_code"};
constexpr std::array<std::string_view, 5> kLinks = {"is", "was", "ist", "are", "est"};
constexpr std::array<std::string_view, 14> kPlainAnswers = {
    "none",
    "null",
    "true",
    "false",
    "required",
    "missing",
    "wrong",
    "empty",
    "invalid",
    "expired",
    "unset",
    "unknown",
    "changed",
    "hidden"};
// A letter and a digit stand side by side in these as well: "private key ed25519".
constexpr std::array<std::string_view, 14> kAlgorithms = {
    "sha",
    "aes",
    "rsa",
    "ed25519",
    "x25519",
    "curve25519",
    "secp",
    "argon2",
    "base",
    "pkcs",
    "pbkdf2",
    "hmac",
    "tls1",
    "x509"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& set) {
    return std::find(set.begin(), set.end(), word) != set.end();
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && is_blank(text[at])) {
        ++at;
    }
    return at;
}

struct Value {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_linked = false;  // "is" stands before it.
    char quote = '\0';
};

Value value_after(std::string_view text, std::size_t name_end) {
    Value value;
    std::size_t at = skip_blanks(text, name_end);
    for (const std::string_view link : kLinks) {
        const std::size_t after = at + link.size();
        if (after < text.size() && (is_blank(text[after]) || text[after] == ':') &&
            equal_ignoring_case(text.substr(at, link.size()), link)) {
            value.is_linked = true;
            at = skip_blanks(text, text[after] == ':' ? after + 1 : after);
            break;
        }
    }
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
        value.quote = text[at++];
    }
    value.begin = at;
    value.end = at;
    while (value.end < text.size() && !is_value_end(text[value.end])) {
        ++value.end;
    }
    return value;
}

bool is_all_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_digit);
}

SecretMatch code_in(std::string_view text, const Value& value) {
    constexpr std::size_t kDigitsMin = 6;
    constexpr std::size_t kDigitsMax = 8;
    std::size_t end = value.end;
    while (end > value.begin && !is_digit(text[end - 1])) {
        --end;  // The full stop of the sentence.
    }
    const std::string_view digits = text.substr(value.begin, end - value.begin);
    const bool is_code =
        digits.size() >= kDigitsMin && digits.size() <= kDigitsMax && is_all_digits(digits);
    return is_code ? SecretMatch{value.begin, digits.size(), "secret"} : SecretMatch{};
}

// Letters and digits side by side in one part of it, as hardly a word has them ("rotation-2026",
// "v2"), or of digits alone where it is said to be the secret.
bool looks_made_up(std::string_view text, bool is_linked) {
    constexpr std::size_t kPartMin = 6;
    if (is_linked && text.size() >= kPartMin && is_all_digits(text)) {
        return true;
    }
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = begin;
        std::size_t digits = 0;
        while (end < text.size() && is_letter_or_digit(text[end])) {
            digits += is_digit(text[end]) ? 1 : 0;
            ++end;
        }
        const std::string part = to_lower(text.substr(begin, end - begin));
        const bool is_algorithm = std::ranges::any_of(
            kAlgorithms, [&](std::string_view known) { return part.starts_with(known); });
        if (part.size() >= kPartMin && digits > 0 && digits < part.size() && !is_algorithm) {
            return true;
        }
        begin = end + 1;
    }
    return false;
}

bool is_secret_value(std::string_view value, const Value& where, bool is_closed) {
    constexpr std::size_t kQuotedMin = 4;
    constexpr std::size_t kBareMin = 8;
    constexpr std::size_t kLinkedMin = 6;
    if (is_plain_id(value)) {
        return false;
    }
    if (where.quote != '\0' && is_closed) {
        return value.size() >= kQuotedMin && !is_plain_answer(value);
    }
    // A digest is nobody's secret, but a private key may have its form: its name says which it is.
    return is_digest_form(value) || (value.size() >= (where.is_linked ? kLinkedMin : kBareMin) &&
                                     looks_made_up(value, where.is_linked));
}

}  // namespace

std::string name_before(std::string_view text, std::size_t sign) {
    std::size_t end = sign;
    while (end > 0 && (is_blank(text[end - 1]) || text[end - 1] == '"' || text[end - 1] == '\'')) {
        --end;
    }
    std::size_t begin = end;
    while (begin > 0 && is_name_character(text[begin - 1])) {
        --begin;
    }
    std::string name(text.substr(begin, end - begin));
    const bool may_be_second =
        equal_ignoring_case(name, "key") || equal_ignoring_case(name, "code") ||
        equal_ignoring_case(name, "phrase") || equal_ignoring_case(name, "secret");
    if (may_be_second && begin > 1 && text[begin - 1] == ' ') {
        std::size_t first = begin - 1;
        while (first > 0 && is_name_character(text[first - 1])) {
            --first;
        }
        name = std::string(text.substr(first, begin - 1 - first)) + "_" + name;
    }
    return name;
}

bool is_value_end(char c) {
    return static_cast<unsigned char>(c) <= ' ' ||
           std::string_view("\"',;&<>)}]").find(c) != std::string_view::npos;
}

bool is_plain_answer(std::string_view value) {
    return is_one_of(to_lower(value), kPlainAnswers);
}

SecretMatch spoken_secret_at(std::string_view text, std::size_t begin, std::size_t end) {
    constexpr std::size_t kNameMax = 20;
    // Of the words that such a name ends in.
    constexpr std::string_view kBegins = "pkacos2mtxlvbr";
    constexpr std::string_view kEnds = "dteypan";
    if (end - begin > kNameMax ||
        kBegins.find(static_cast<char>(text[begin] | 0x20)) == std::string_view::npos ||
        kEnds.find(static_cast<char>(text[end - 1] | 0x20)) == std::string_view::npos) {
        return {};
    }
    std::string name = to_lower(name_before(text, end));
    std::ranges::replace(name, '-', '_');
    const bool is_code = is_one_of(name, kCodes);
    const bool is_name = is_one_of(name, kNames) || name.ends_with("_api_key");
    if (!is_code && !is_name && name != "secret" && !name.ends_with("_secret")) {
        return {};
    }
    const Value value = value_after(text, end);
    if (value.begin >= value.end || text.substr(value.begin).starts_with(kMaskOpen) ||
        known_shape_at(text, value.begin).length != 0 ||
        own_credential_at(text, value.begin).length != 0) {
        return {};  // Masked already, or about to be, by its own kind.
    }
    // "The secret sauce", "pin 100000 to the book": the word alone says too little.
    if (!value.is_linked && (name == "pin" || (!is_code && !is_name))) {
        return {};
    }
    if (is_code) {
        return code_in(text, value);
    }
    const bool is_closed = value.end < text.size() && text[value.end] == value.quote;
    const std::string_view said = text.substr(value.begin, value.end - value.begin);
    return is_secret_value(said, value, is_closed) ? SecretMatch{value.begin, said.size(), "secret"}
                                                   : SecretMatch{};
}

}  // namespace interlock
