#include "host/rules/password_policy.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/crypto.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kWordMin = 3;
constexpr std::size_t kWordMax = 16;
constexpr std::size_t kRunMin = 3;
constexpr std::size_t kPeriodMax = 12;  // "abc123abc123" is "abc123" and a guess.

std::size_t characters_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // Not a UTF-8 continuation byte.
    }));
}

// Lower case, with the letters that signs and digits commonly stand for.
char plain_letter(char c) {
    constexpr std::string_view kSigns = "0134578@$!";
    constexpr std::string_view kLetters = "oieastbasi";
    const std::size_t found = kSigns.find(c);
    return found == std::string_view::npos ? c : kLetters[found];
}

// Rows of keys, the alphabet and the digits; each is also walked backwards.
constexpr std::array<std::string_view, 9> kWalks = {
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qazwsxedcrfvtgbyhnujmikolp",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "!@#$%^&*()",
    "qwertzuiop"};

bool is_step(std::string_view walk, char from, char to) {
    for (std::size_t i = 0; i + 1 < walk.size(); ++i) {
        if ((walk[i] == from && walk[i + 1] == to) || (walk[i] == to && walk[i + 1] == from)) {
            return true;
        }
    }
    return false;
}

// The longest piece that begins here.
std::size_t piece_length(
    std::string_view lower, std::string_view letters, std::string_view own, std::size_t at) {
    std::size_t longest = 1;
    std::size_t same = 1;
    while (at + same < lower.size() && lower[at + same] == lower[at]) {
        ++same;
    }
    longest = same >= kRunMin ? std::max(longest, same) : longest;
    for (const std::string_view walk : kWalks) {
        std::size_t steps = 1;
        while (at + steps < lower.size() &&
               is_step(walk, lower[at + steps - 1], lower[at + steps])) {
            ++steps;
        }
        longest = steps >= kRunMin ? std::max(longest, steps) : longest;
    }
    for (std::size_t length = kWordMin; length <= kWordMax && at + length <= lower.size();
         ++length) {
        if (is_common_password_word(letters.substr(at, length)) ||
            is_common_password_word(lower.substr(at, length))) {
            longest = std::max(longest, length);
        }
    }
    if (own.size() >= kWordMin && lower.substr(at).starts_with(own)) {
        longest = std::max(longest, own.size());
    }
    const std::string_view year = lower.substr(at, 4);
    const bool is_year = year.size() == 4 && (year.starts_with("19") || year.starts_with("20")) &&
                         year[2] >= '0' && year[2] <= '9' && year[3] >= '0' && year[3] <= '9';
    return is_year ? std::max<std::size_t>(longest, 4) : longest;
}

// The part that repeats; all of it when nothing does.
std::string_view period_of(std::string_view text) {
    for (std::size_t period = 1; period <= kPeriodMax && period * 2 <= text.size(); ++period) {
        bool repeats = true;
        for (std::size_t i = period; i < text.size() && repeats; ++i) {
            repeats = text[i] == text[i - period];
        }
        if (repeats) {
            return text.substr(0, period);
        }
    }
    return text;
}

}  // namespace

std::size_t password_pieces(std::string_view password, std::string_view email) {
    const std::string whole = to_lower(password);
    const std::string_view lower = period_of(whole);
    std::string letters(lower);
    std::transform(letters.begin(), letters.end(), letters.begin(), plain_letter);
    const std::string address = to_lower(email);
    const std::string own = address.substr(0, address.find('@'));
    std::size_t pieces = lower.size() < whole.size() ? 1 : 0;  // That it repeats is one more.
    for (std::size_t at = 0; at < lower.size(); ++pieces) {
        at += piece_length(lower, letters, own, at);
    }
    return pieces;
}

Result<void> check_new_password(std::string_view password, std::string_view email) {
    std::string problem;
    std::string remedy;
    if (!is_valid_utf8(password)) {
        problem = "must be text in UTF-8";
    } else if (password.size() > kPasswordBytesMax) {
        problem = "must have at most " + std::to_string(kPasswordBytesMax) + " bytes";
    } else if (characters_of(password) < kPasswordCharactersMin) {
        problem = "must have at least " + std::to_string(kPasswordCharactersMin) + " characters";
    } else if (password_pieces(password, email) < kPasswordPiecesMin) {
        problem =
            "is too easily guessed: it is made of well-known words, repeated characters, rows of "
            "keys, years or your own address";
        remedy =
            "Take five or more words that have nothing to do with each other, or let a "
            "password manager make one.";
    } else {
        return {};
    }
    return fail(errors::invalid_request, "The new password " + problem + ".", remedy);
}

}  // namespace interlock
