// The scan of base/redaction.h over texts and documents. One pass looks at every place where a
// secret can begin; what costs more than a look at a character is done only where one may stand.
#include "base/redaction.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/secret_shapes.h"
#include "base/secret_talk.h"
#include "base/seed_phrase.h"
#include "base/text.h"
#include "base/text_fold.h"

namespace interlock {
namespace {

constexpr std::string_view kHiddenKind = "secret";

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& set) {
    return std::find(set.begin(), set.end(), word) != set.end();
}

bool is_token_character(char c) {
    return is_letter_or_digit(c) || c == '+' || c == '/' || c == '_' || c == '-';
}

// Names that are words of daily talk, too ("token: BTC", "seed=42"): what follows has to look like
// a secret itself.
constexpr std::array<std::string_view, 10> kWeakNames = {
    "token",
    "tokens",
    "seed",
    "cookie",
    "cookies",
    "bearer",
    "credential",
    "credentials",
    "otp",
    "totp"};
constexpr std::array<std::string_view, 7> kPasswordNames = {
    "pwd", "pass", "passcode", "pin", "pw", "passwort", "kennwort"};
// Of what is good for once; anything else behind them is talk ("mfa: enabled").
constexpr std::array<std::string_view, 2> kOnceNames = {"2fa", "mfa"};

bool looks_like_value(std::string_view value, bool weak) {
    constexpr std::size_t kStrongMin = 4;
    constexpr std::size_t kWeakMin = 8;
    constexpr std::size_t kOneTimeCode = 6;
    const auto digits = static_cast<std::size_t>(
        std::count_if(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; }));
    if (weak) {
        return (value.size() >= kWeakMin && digits > 0 && digits < value.size()) ||
               (value.size() == kOneTimeCode && digits == kOneTimeCode);
    }
    return value.size() >= kStrongMin && !is_plain_answer(value);
}

// "name: value" and "name=value" at the sign between them.
SecretMatch pair_at(std::string_view text, std::size_t sign) {
    const std::string name = name_before(text, sign);
    const bool is_password = is_one_of(to_lower(name), kPasswordNames);
    const bool is_once = is_one_of(to_lower(name), kOnceNames);
    const bool is_phrase = equal_ignoring_case(name, "seed_phrase") ||
                           equal_ignoring_case(name, "recovery_phrase") ||
                           equal_ignoring_case(name, "mnemonic");
    if (name.empty() || equal_ignoring_case(name, "code") ||
        !(is_password || is_once || is_phrase || is_secret_name(name))) {
        return {};
    }
    std::size_t begin = sign + 1;
    while (begin < text.size() &&
           (is_blank(text[begin]) || text[begin] == '=' || text[begin] == '>' ||
            text[begin] == '"' || text[begin] == '\'')) {
        ++begin;
    }
    if (begin >= text.size() || text.substr(begin).starts_with(kMaskOpen) ||
        known_shape_at(text, begin).length != 0 || own_credential_at(text, begin).length != 0) {
        return {};  // Masked already, or about to be, by its own kind.
    }
    const bool whole_line = is_phrase || equal_ignoring_case(name, "authorization");
    std::size_t end = begin;
    while (end < text.size() &&
           (whole_line ? text[end] != '\n' && text[end] != '"' : !is_value_end(text[end]))) {
        ++end;
    }
    const std::string_view value = text.substr(begin, end - begin);
    const bool weak = is_once || is_one_of(to_lower(name), kWeakNames);
    if (whole_line && value.find(kMaskOpen) != std::string_view::npos) {
        return {};
    }
    return looks_like_value(value, weak || (whole_line && !is_phrase))
               ? SecretMatch{begin, end - begin, is_password ? "password" : kHiddenKind}
               : SecretMatch{};
}

// "https://user:password@host": the password.
SecretMatch address_password_at(std::string_view text, std::size_t colon) {
    if (text.substr(colon, 3) != "://") {
        return {};
    }
    const std::size_t begin = colon + 3;
    std::size_t end = begin;
    while (end < text.size() && text[end] != '/' && text[end] != '@' && !is_value_end(text[end])) {
        ++end;
    }
    if (end == text.size() || text[end] != '@') {
        return {};
    }
    const std::size_t inner = text.substr(0, end).find(':', begin);
    if (inner == std::string_view::npos || inner + 1 == end ||
        text.substr(inner + 1).starts_with(kMaskOpen)) {
        return {};
    }
    return {inner + 1, end - inner - 1, "password"};
}

// "Bearer <token>" and "Basic <token>", as headers have them: the token.
SecretMatch header_value_at(std::string_view text, std::size_t at) {
    constexpr std::size_t kTokenMin = 8;
    const std::string_view rest = text.substr(at);
    std::size_t begin = 0;
    for (const std::string_view scheme :
         {std::string_view("bearer "), std::string_view("basic ")}) {
        if (equal_ignoring_case(rest.substr(0, scheme.size()), scheme)) {
            begin = at + scheme.size();
        }
    }
    if (begin == 0) {
        return {};
    }
    std::size_t end = begin;
    std::size_t odd = 0;  // Characters that no plain word has.
    while (end < text.size() && (is_token_character(text[end]) || text[end] == '.' ||
                                 text[end] == '=' || text[end] == '~')) {
        const char c = text[end];
        odd += !(c >= 'a' && c <= 'z') && c != '.' && c != '-' && end != begin ? 1 : 0;
        ++end;
    }
    if (end - begin < kTokenMin || odd == 0 || known_shape_at(text, begin).length != 0 ||
        own_credential_at(text, begin).length != 0) {
        return {};
    }
    return {begin, end - begin, "bearer"};
}

// A token that begins at `at`, judged by what it is made of.
class TokenJudge {
public:
    TokenJudge(std::string_view text, std::size_t begin, std::size_t end)
        : text_(text), begin_(begin), end_(end), padded_(end) {
        while (padded_ < text.size() && padded_ < end + 2 && text[padded_] == '=') {
            ++padded_;
        }
    }

    SecretMatch known() const {
        std::size_t begin = begin_;  // Base64 may begin with what else begins no word.
        while (begin > 0 && (text_[begin - 1] == '+' || text_[begin - 1] == '/')) {
            --begin;
        }
        if (SecretMatch found = exchange_key(text_, begin, padded_); found.length != 0) {
            return found;
        }
        if (begin != begin_) {
            if (SecretMatch found = exchange_key(text_, begin_, padded_); found.length != 0) {
                return found;
            }
        }
        return first_part(
            [this](std::size_t from, std::size_t to) { return exchange_key(text_, from, to); });
    }

    SecretMatch random() const {
        if (is_high_entropy(text_.substr(begin_, end_ - begin_))) {
            return {begin_, padded_ - begin_, "token"};
        }
        return first_part([this](std::size_t from, std::size_t to) {
            return is_high_entropy(text_.substr(from, to - from))
                       ? SecretMatch{from, to - from, "token"}
                       : SecretMatch{};
        });
    }

private:
    // Of the parts between the slashes of a path.
    template <class Judge>
    SecretMatch first_part(Judge judge) const {
        if (text_.substr(begin_, end_ - begin_).find('/') == std::string_view::npos) {
            return {};
        }
        std::size_t from = begin_;
        while (from < end_) {
            const std::size_t slash = std::min(text_.substr(0, end_).find('/', from), end_);
            const std::size_t to = slash == end_ ? padded_ : slash;
            if (to - from >= kEntropyTokenMin) {
                if (SecretMatch found = judge(from, to); found.length != 0) {
                    return found;
                }
            }
            from = slash + 1;
        }
        return {};
    }

    std::string_view text_;
    std::size_t begin_;
    std::size_t end_;
    std::size_t padded_;  // With the '=' signs that end base64.
};

// What a token is made of; nothing for a character that is in none.
enum TokenBits : unsigned char { upper = 1, lower = 2, digit = 4, separator = 8, bar = 16 };

constexpr std::array<unsigned char, 256> kTokenBits = [] {
    std::array<unsigned char, 256> bits{};
    for (std::size_t c = 'A'; c <= 'Z'; ++c) {
        bits[c] = upper;
        bits[c + ('a' - 'A')] = lower;
    }
    for (std::size_t c = '0'; c <= '9'; ++c) {
        bits[c] = digit;
    }
    for (const char c : std::string_view("+/-_")) {
        bits[static_cast<unsigned char>(c)] = separator;
    }
    bits['_'] = separator | bar;
    return bits;
}();

struct Token {
    std::size_t begin = 0;
    std::size_t end = 0;
    unsigned bits = 0;

    std::size_t size() const { return end - begin; }
    bool has(unsigned wanted) const { return (bits & wanted) == wanted; }
};

// Goes from token to token. Most are short words, at which only what follows them is looked at.
class SecretScan {
public:
    SecretScan(std::string_view text, SecretDepth depth)
        : text_(text), full_(depth == SecretDepth::full), may_have_phrase_(full_) {}

    // The first secret at or after `from`.
    SecretMatch next(std::size_t from) {
        const SecretMatch found = next_token(from);
        if (may_have_phrase_ && (phrase_.length == 0 || phrase_.begin < from)) {
            phrase_ = seed_phrase_from(text_, from);
            may_have_phrase_ = phrase_.length != 0;  // Looked for once where there is none.
        }
        const bool is_phrase =
            may_have_phrase_ && (found.length == 0 || phrase_.begin < found.begin);
        return is_phrase ? phrase_ : found;
    }

private:
    SecretMatch next_token(std::size_t from) const {
        std::size_t at = from;
        while (at < text_.size()) {
            const char c = text_[at];
            SecretMatch found;
            Token token = token_at(at);
            if (token.size() > 0) {
                found = in_token(token);
            } else if (full_ && (c == ':' || c == '=')) {
                found = at_sign(at);
            }
            if (found.length != 0) {
                return found;
            }
            at = std::max(token.end, at + 1);
        }
        return {};
    }

    // No shape of the table has a shorter token, but for those with a dot or a colon behind it.
    static constexpr std::size_t kLongToken = 10;

    Token token_at(std::size_t at) const {
        Token token{.begin = at, .end = at, .bits = 0};
        while (token.end < text_.size()) {
            const unsigned char bits = kTokenBits[static_cast<unsigned char>(text_[token.end])];
            if (bits == 0) {
                break;
            }
            token.bits |= bits;
            ++token.end;
        }
        return token;
    }

    SecretMatch at_sign(std::size_t sign) const {
        if (SecretMatch found = address_password_at(text_, sign); found.length != 0) {
            return found;
        }
        return pair_at(text_, sign);
    }

    SecretMatch in_token(const Token& token) const {
        if (token.has(bar)) {
            if (SecretMatch found = own_in(token); found.length != 0) {
                return found;
            }
        }
        const char after = token.end < text_.size() ? text_[token.end] : '\0';
        if (full_ && after == ' ' && (text_[token.begin] | 0x20) == 'b') {
            if (SecretMatch found = header_value_at(text_, token.begin); found.length != 0) {
                return found;
            }
        }
        if (full_ && after == ' ') {
            if (SecretMatch found = spoken_secret_at(text_, token.begin, token.end);
                found.length != 0) {
                return found;
            }
        }
        if (token.size() >= kLongToken || after == '.' || after == ':') {
            if (SecretMatch found = shape_in(token); found.length != 0) {
                return found;
            }
        }
        const bool mixed = token.has(upper | lower);
        if (token.size() < kEntropyTokenMin || !(mixed || (full_ && token.has(digit)))) {
            return {};
        }
        const TokenJudge judge(text_, token.begin, token.end);
        const SecretMatch known = mixed ? judge.known() : SecretMatch{};
        return known.length != 0 || !full_ ? known : judge.random();
    }

    SecretMatch own_in(const Token& token) const {
        constexpr std::size_t kBarAt = 3;
        for (std::size_t at = token.begin; at + kBarAt < token.end; ++at) {
            if (text_[at + kBarAt] == '_') {
                if (SecretMatch found = own_credential_at(text_, at); found.length != 0) {
                    return found;
                }
            }
        }
        return {};
    }

    // A shape begins where a word does.
    SecretMatch shape_in(const Token& token) const {
        const std::size_t end = token.has(separator) ? token.end : token.begin + 1;
        for (std::size_t at = token.begin; at < end; ++at) {
            if (at > 0 && is_letter_or_digit(text_[at - 1]) && text_[at] != '-') {
                continue;
            }
            if (SecretMatch found = known_shape_at(text_, at); found.length != 0) {
                return found;
            }
        }
        return {};
    }

    std::string_view text_;
    bool full_;
    bool may_have_phrase_;
    SecretMatch phrase_ = {};  // The next one, when it was found already.
};

std::string mask_of(std::string_view kind) {
    return std::string(kMaskOpen) + std::string(kind) + "]";
}

// An error's code is a word and no code of a login.
bool is_plain_code(std::string_view name, const Json& value) {
    constexpr std::size_t kShortNumber = 5;
    if (name != "code") {
        return false;
    }
    if (value.is_number()) {
        return value.number_text().front() == '-' || value.number_text().size() <= kShortNumber;
    }
    return value.is_string() &&
           std::all_of(value.as_string().begin(), value.as_string().end(), [](char c) {
               return (c >= 'a' && c <= 'z') || c == '_';
           });
}

bool is_hidden(std::string_view name, const Json& value) {
    return !value.is_null() && !value.is_bool() && is_secret_name(name) &&
           !is_plain_code(name, value);
}

// No credential of the table is shorter; most of what a record holds is.
constexpr std::size_t kKnownSecretMin = 14;

bool mask_string(Json& json, SecretDepth depth) {
    if (depth == SecretDepth::known_shapes && json.as_string().size() < kKnownSecretMin) {
        return false;
    }
    std::optional<std::string> text = masked(json.as_string(), depth);
    if (text) {
        json = Json(*std::move(text));
    }
    return text.has_value();
}

}  // namespace

namespace {

// `text` is what the judge reads and `shown` what the mask is put into: at `from[i]` to `to[i]`
// stands what is read at i.
template <class From, class To>
std::optional<std::string> masked_in(std::string_view shown, SecretScan scan, From from, To to) {
    SecretMatch found = scan.next(0);
    if (found.length == 0) {
        return std::nullopt;
    }
    std::string out;
    std::size_t copied = 0;
    while (found.length != 0) {
        const std::size_t begin = from(found.begin);
        out.append(shown, copied, begin - copied);
        out += mask_of(found.kind);
        copied = to(found.begin + found.length - 1);
        found = scan.next(found.begin + found.length);
    }
    out.append(shown, copied);
    return out;
}

}  // namespace

std::optional<std::string> masked(std::string_view text, SecretDepth depth) {
    if (const std::optional<FoldedText> folded = fold_look_alikes(text)) {
        return masked_in(
            text,
            SecretScan(folded->text, depth),
            [&](std::size_t at) { return folded->begins[at]; },
            [&](std::size_t at) { return folded->ends[at]; });
    }
    return masked_in(
        text,
        SecretScan(text, depth),
        [](std::size_t at) { return at; },
        [](std::size_t at) { return at + 1; });
}

std::optional<std::string_view> known_secret(std::string_view text) {
    const std::optional<FoldedText> folded = fold_look_alikes(text);
    SecretScan scan(folded ? folded->text : text, SecretDepth::known_shapes);
    const SecretMatch found = scan.next(0);
    return found.length == 0 ? std::nullopt : std::optional(found.kind);
}

bool mask_secrets(Json& json, SecretDepth depth) {
    if (json.is_string()) {
        return mask_string(json, depth);
    }
    bool changed = false;
    if (json.is_array()) {
        for (Json& item : json.items()) {
            changed = mask_secrets(item, depth) || changed;
        }
    }
    if (!json.is_object()) {
        return changed;
    }
    for (auto& [name, value] : json.members()) {
        const bool full = depth == SecretDepth::full;
        if (full && is_hidden(name, value)) {
            const Json mask(mask_of(kHiddenKind));
            const bool done = value.is_string() && value.as_string().starts_with(kMaskOpen);
            changed = changed || !done;
            value = done ? std::move(value) : mask;
            continue;
        }
        const bool is_id = full && is_identifier_name(name);
        changed = mask_secrets(value, is_id ? SecretDepth::known_shapes : depth) || changed;
        if (full && name.size() >= kKnownSecretMin) {
            if (std::optional<std::string> shown = masked(name, SecretDepth::known_shapes)) {
                name = *std::move(shown);
                changed = true;
            }
        }
    }
    return changed;
}

bool is_identifier_name(std::string_view name) {
    constexpr std::array<std::string_view, 9> kEndings = {
        "id", "ids", "hash", "url", "uri", "email", "symbol", "symbols", "ref"};
    if (name == "idempotency_key" || name == "session_key" || name == "cancels") {
        return true;
    }
    if (name.empty() ||
        std::string_view("dshlifDSHLIF").find(name.back()) == std::string_view::npos) {
        return false;
    }
    for (const std::string_view ending : kEndings) {
        if (name.size() < ending.size() ||
            !equal_ignoring_case(name.substr(name.size() - ending.size()), ending)) {
            continue;
        }
        const std::size_t begin = name.size() - ending.size();
        if (begin == 0 || name[begin - 1] == '_' || name[begin - 1] == '-' ||
            (name[begin] >= 'A' && name[begin] <= 'Z')) {
            return true;
        }
    }
    return false;
}

std::string redact(std::string_view text) {
    std::optional<std::string> shown = masked(text, SecretDepth::full);
    return shown ? *std::move(shown) : std::string(text);
}

Json redact(const Json& json) {
    Json copy = json;
    mask_secrets(copy, SecretDepth::full);
    return copy;
}

}  // namespace interlock
