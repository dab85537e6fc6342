// Which names say that what they name is secret: "client_secret", "X-Api-Key", "recoveryCode".
#include <algorithm>
#include <array>
#include <vector>

#include "base/log.h"
#include "base/secret_shapes.h"
#include "base/text.h"

namespace interlock {
namespace {

// "clientSecret", "X-Api-Key" and "client_secret" as lower-case words.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    bool after_lower = false;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (!is_letter_or_digit(c) || (upper && after_lower)) {
            if (!words.back().empty()) {
                words.emplace_back();
            }
        }
        if (is_letter_or_digit(c)) {
            words.back() += to_lower(std::string_view(&c, 1));
        }
        after_lower = is_letter_or_digit(c) && !upper;
    }
    if (words.back().empty() && words.size() > 1) {
        words.pop_back();
    }
    return words;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& set) {
    return std::find(set.begin(), set.end(), word) != set.end();
}

constexpr std::array<std::string_view, 21> kSecretWords = {
    "password", "passwd", "passwort", "kennwort",    "passphrase",    "secret", "secrets",
    "token",    "tokens", "bearer",   "credential",  "authorization", "cookie", "cookies",
    "totp",     "otp",    "apikey",   "credentials", "privatekey",    "seed",   "mnemonic"};
// Secret when the word "key" or "code" follows.
constexpr std::array<std::string_view, 7> kSecretKeys = {
    "access", "api", "private", "secret", "signing", "master", "encryption"};
constexpr std::array<std::string_view, 10> kSecretCodes = {
    "time",
    "login",
    "activation",
    "recovery",
    "backup",
    "verification",
    "2fa",
    "mfa",
    "sms",
    "authenticator"};
// What a name may end in that makes it speak about a secret rather than hold one.
constexpr std::array<std::string_view, 6> kHarmlessEndings = {
    "id", "at", "count", "name", "kind", "hint"};

// Whether a secret's word can stand in a name at all: names are judged often, and are none mostly.
bool may_be_secret_name(std::string_view name) {
    constexpr std::array<std::string_view, 14> kHints = {
        "pass",
        "kenn",
        "secret",
        "token",
        "bearer",
        "cred",
        "auth",
        "cook",
        "otp",
        "key",
        "code",
        "seed",
        "mnem",
        "pwd"};
    // Letters of both cases by their lowest five bits.
    constexpr std::array<bool, 32> kMayBegin = [] {
        std::array<bool, 32> may{};
        for (const std::string_view hint : {"p", "s", "t", "b", "c", "a", "o", "k", "m"}) {
            may[static_cast<unsigned char>(hint[0]) & 0x1f] = true;
        }
        return may;
    }();
    for (std::size_t at = 0; at + 2 < name.size(); ++at) {
        if (!kMayBegin[static_cast<unsigned char>(name[at]) & 0x1f]) {
            continue;
        }
        for (const std::string_view hint : kHints) {
            if ((name[at] | 0x20) == hint[0] && (name[at + 1] | 0x20) == hint[1] &&
                equal_ignoring_case(name.substr(at, hint.size()), hint)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

bool is_secret_name(std::string_view name) {
    if (!may_be_secret_name(name)) {
        return false;
    }
    const std::vector<std::string> words = words_of(name);
    if (words.size() == 1 && words[0] == "code") {
        return true;
    }
    if (is_one_of(words.back(), kHarmlessEndings)) {
        return false;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
        if (is_one_of(words[i], kSecretWords) ||
            (next == "key" && is_one_of(words[i], kSecretKeys)) ||
            (next == "code" && is_one_of(words[i], kSecretCodes))) {
            return true;
        }
    }
    return false;
}

}  // namespace interlock
