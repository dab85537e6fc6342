#include "base/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace interlock {
namespace {

enum class Alphabet { word, word_dash, hex, base64, base58, any_token };

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_in(Alphabet alphabet, char c) {
    switch (alphabet) {
        case Alphabet::word:
            return is_letter_or_digit(c) || c == '_';
        case Alphabet::word_dash:
            return is_letter_or_digit(c) || c == '_' || c == '-';
        case Alphabet::hex:
            return is_hex(c);
        case Alphabet::base64:
            return is_letter_or_digit(c) || c == '+' || c == '/' || c == '=' || c == '-' ||
                   c == '_';
        case Alphabet::base58:
            return is_letter_or_digit(c) && c != '0' && c != 'O' && c != 'I' && c != 'l';
        case Alphabet::any_token:
            return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == '/';
    }
    return false;
}

struct Shape {
    std::string_view kind;
    std::string_view prefix;
    Alphabet alphabet;
    std::size_t tail_min;
    std::size_t tail_max;  // A longer tail is another thing.
};

constexpr std::size_t kAnyTail = 4096;

// Longer prefixes of a family stand first. The lengths are the vendors' own, with room where a
// vendor has changed them before.
constexpr auto kShapes = std::to_array<Shape>({
    {"anthropic_key", "sk-ant-", Alphabet::word_dash, 20, kAnyTail},
    {"openai_key", "sk-proj-", Alphabet::word_dash, 20, kAnyTail},
    {"openai_key", "sk-svcacct-", Alphabet::word_dash, 20, kAnyTail},
    {"openrouter_key", "sk-or-", Alphabet::word_dash, 20, kAnyTail},
    {"openai_key", "sk-", Alphabet::word_dash, 20, kAnyTail},
    {"stripe_key", "sk_live_", Alphabet::word, 16, kAnyTail},
    {"stripe_key", "sk_test_", Alphabet::word, 16, kAnyTail},
    {"stripe_key", "rk_live_", Alphabet::word, 16, kAnyTail},
    {"stripe_key", "rk_test_", Alphabet::word, 16, kAnyTail},
    {"webhook_secret", "whsec_", Alphabet::base64, 20, kAnyTail},
    {"slack_token", "xoxb-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_token", "xoxp-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_token", "xoxa-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_token", "xoxr-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_token", "xoxs-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_token", "xoxe-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_token", "xapp-", Alphabet::word_dash, 10, kAnyTail},
    {"slack_webhook", "hooks.slack.com/services/", Alphabet::any_token, 20, kAnyTail},
    {"discord_webhook", "discord.com/api/webhooks/", Alphabet::any_token, 40, kAnyTail},
    {"discord_webhook", "discordapp.com/api/webhooks/", Alphabet::any_token, 40, kAnyTail},
    {"github_token", "ghp_", Alphabet::word, 20, kAnyTail},
    {"github_token", "gho_", Alphabet::word, 20, kAnyTail},
    {"github_token", "ghu_", Alphabet::word, 20, kAnyTail},
    {"github_token", "ghs_", Alphabet::word, 20, kAnyTail},
    {"github_token", "ghr_", Alphabet::word, 20, kAnyTail},
    {"github_token", "github_pat_", Alphabet::word, 20, kAnyTail},
    {"gitlab_token", "glpat-", Alphabet::word_dash, 16, kAnyTail},
    {"aws_access_key", "AKIA", Alphabet::word, 16, 16},
    {"aws_access_key", "ASIA", Alphabet::word, 16, 16},
    {"google_api_key", "AIza", Alphabet::word_dash, 35, 35},
    {"google_oauth_token", "ya29.", Alphabet::word_dash, 20, kAnyTail},
    {"google_oauth_secret", "GOCSPX-", Alphabet::word_dash, 20, kAnyTail},
    {"twilio_key", "SK", Alphabet::hex, 32, 32},
    {"sendgrid_key", "SG.", Alphabet::any_token, 40, kAnyTail},
    {"npm_token", "npm_", Alphabet::word, 30, kAnyTail},
    {"pypi_token", "pypi-", Alphabet::word_dash, 40, kAnyTail},
    {"docker_token", "dckr_pat_", Alphabet::word_dash, 20, kAnyTail},
    {"digitalocean_token", "dop_v1_", Alphabet::hex, 40, kAnyTail},
    {"huggingface_token", "hf_", Alphabet::word, 30, kAnyTail},
    {"vault_token", "hvs.", Alphabet::word_dash, 20, kAnyTail},
    {"shopify_token", "shpat_", Alphabet::hex, 32, 32},
    {"age_secret_key", "AGE-SECRET-KEY-1", Alphabet::word, 40, kAnyTail},
    {"recovery_code", "ilr-", Alphabet::word_dash, 24, 24},
    {"extended_private_key", "xprv", Alphabet::base58, 90, kAnyTail},
});

// Which characters a shape, a JWT, a Discord or Telegram token or a private key can begin with.
constexpr std::array<bool, 256> kBegins = [] {
    std::array<bool, 256> begins{};
    for (const Shape& shape : kShapes) {
        begins[static_cast<unsigned char>(shape.prefix.front())] = true;
    }
    for (const char c : std::string_view("eMNO-0123456789")) {
        begins[static_cast<unsigned char>(c)] = true;
    }
    return begins;
}();

std::size_t run_length(std::string_view text, std::size_t at, Alphabet alphabet) {
    std::size_t end = at;
    while (end < text.size() && is_in(alphabet, text[end])) {
        ++end;
    }
    return end - at;
}

// header.payload.signature, the first of which begins with '{"' in base64.
std::size_t jwt_length(std::string_view text, std::size_t at) {
    constexpr std::size_t kPartMin = 10;
    if (!text.substr(at).starts_with("eyJ")) {
        return 0;
    }
    std::size_t end = at;
    for (int part = 0; part < 3; ++part) {
        const std::size_t length = run_length(text, end, Alphabet::word_dash);
        if (part < 2 &&
            (length < kPartMin || end + length >= text.size() || text[end + length] != '.')) {
            return 0;
        }
        end += length + (part < 2 ? 1 : 0);
    }
    return end - at;
}

// A bot's token: its number, a colon and 35 characters.
std::size_t telegram_length(std::string_view text, std::size_t at) {
    constexpr std::size_t kTail = 35;
    std::size_t colon = at;
    while (colon < text.size() && is_digit(text[colon])) {
        ++colon;
    }
    const std::size_t digits = colon - at;
    if (digits < 8 || digits > 10 || colon == text.size() || text[colon] != ':' ||
        run_length(text, colon + 1, Alphabet::word_dash) != kTail) {
        return 0;
    }
    return digits + 1 + kTail;
}

// A bot's token: its number in base64, a time and a signature, between dots.
std::size_t discord_length(std::string_view text, std::size_t at) {
    const std::size_t id = run_length(text, at, Alphabet::word_dash);
    if (id < 23 || id > 28 || at + id >= text.size() || text[at + id] != '.') {
        return 0;
    }
    const std::size_t time_at = at + id + 1;
    const std::size_t time = run_length(text, time_at, Alphabet::word_dash);
    if (time < 5 || time > 8 || time_at + time >= text.size() || text[time_at + time] != '.') {
        return 0;
    }
    const std::size_t signature = run_length(text, time_at + time + 1, Alphabet::word_dash);
    return signature < 25 || signature > 45 ? 0 : id + time + signature + 2;
}

// From the header of a private key to the end of its footer, or of the text.
std::size_t private_key_length(std::string_view text, std::size_t at) {
    constexpr std::string_view kBegin = "-----BEGIN ";
    constexpr std::string_view kEnd = "-----END ";
    constexpr std::string_view kDashes = "-----";
    const std::string_view rest = text.substr(at);
    if (!rest.starts_with(kBegin)) {
        return 0;
    }
    const std::size_t name_end = rest.find(kDashes, kBegin.size());
    if (rest.substr(0, name_end).find("PRIVATE KEY") == std::string_view::npos) {
        return 0;
    }
    const std::size_t footer = rest.find(kEnd, kBegin.size());
    const std::size_t close =
        footer == std::string_view::npos ? footer : rest.find(kDashes, footer + kEnd.size());
    return close == std::string_view::npos ? rest.size() : close + kDashes.size();
}

struct Classes {
    std::size_t lower = 0;
    std::size_t upper = 0;
    std::size_t digit = 0;
};

Classes classes_of(std::string_view token) {
    Classes count;
    for (const char c : token) {
        count.lower += is_lower(c) ? 1 : 0;
        count.upper += is_upper(c) ? 1 : 0;
        count.digit += is_digit(c) ? 1 : 0;
    }
    return count;
}

bool is_one_of_lengths(std::size_t length, std::initializer_list<std::size_t> lengths) {
    return std::find(lengths.begin(), lengths.end(), length) != lengths.end();
}

bool is_uuid(std::string_view token) {
    constexpr std::size_t kLength = 36;
    if (token.size() != kLength) {
        return false;
    }
    for (std::size_t i = 0; i < kLength; ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? token[i] != '-' : !is_hex(token[i])) {
            return false;
        }
    }
    return true;
}

// The digests in use, the 24 digits of many databases' ids and the public numbers of Twilio
// ("AC…").
bool is_digest(std::string_view token) {
    constexpr std::size_t kTwilioLength = 34;
    const bool of_twilio =
        token.size() == kTwilioLength && is_upper(token[0]) && is_upper(token[1]);
    if (token.starts_with("0x") || of_twilio) {
        token.remove_prefix(2);
    }
    return is_one_of_lengths(token.size(), {24, 32, 40, 48, 56, 64, 96, 128}) &&
           std::all_of(token.begin(), token.end(), is_hex) &&
           (std::none_of(token.begin(), token.end(), is_upper) ||
            std::none_of(token.begin(), token.end(), is_lower));
}

// "<kind>_" and 26 characters of IdSource, client ids of orders ("h" and 31), and ULIDs.
bool is_public_id(std::string_view token) {
    constexpr std::size_t kBodyLength = 26;
    constexpr std::size_t kOrderIdLength = 32;
    const auto is_base32 = [](char c) { return is_lower(c) || (c >= '2' && c <= '7'); };
    if (token.size() == kOrderIdLength && token.starts_with('h') &&
        std::all_of(token.begin(), token.end(), is_base32)) {
        return true;
    }
    if (token.size() == kBodyLength && token.starts_with("01")) {
        return std::all_of(
            token.begin(), token.end(), [](char c) { return is_digit(c) || is_upper(c); });
    }
    const std::size_t bar = token.rfind('_');
    if (bar == std::string_view::npos || token.size() - bar - 1 != kBodyLength) {
        return false;
    }
    const std::string_view kind = token.substr(0, bar);
    const std::string_view body = token.substr(bar + 1);
    return std::all_of(kind.begin(), kind.end(), [](char c) { return is_lower(c) || c == '_'; }) &&
           std::all_of(body.begin(), body.end(), is_base32);
}

// Pairs of letters that words are made of; random letters have one in six or seven from here.
constexpr std::string_view kCommonPairs =
    "th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se "
    "le sa si ar ve ra ld ur ro ri io ic ne me co ma li om el la nc ch us ut un tr ct ta ad di so "
    "ac em ec ss ce ho ll be no sh il po pl ge ee lo mo wa pe ol am ig pr id na op ot ow ag gr ex "
    "ig im iv ke ul ts fo ab";

constexpr std::array<bool, 676> kIsCommonPair = [] {
    std::array<bool, 676> common{};
    for (std::size_t i = 0; i + 1 < kCommonPairs.size(); i += 3) {
        common
            [static_cast<std::size_t>(kCommonPairs[i] - 'a') * 26 +
             static_cast<std::size_t>(kCommonPairs[i + 1] - 'a')] = true;
    }
    return common;
}();

int class_of(char c) {
    return is_lower(c) ? 1 : is_upper(c) ? 2 : is_digit(c) ? 3 : 0;
}

std::size_t letter_index(char c) {
    return static_cast<std::size_t>(is_upper(c) ? c - 'A' : c - 'a');
}

struct Texture {
    std::size_t pairs = 0;         // Neighbouring letters or digits.
    std::size_t changes = 0;       // Of these, of two classes.
    std::size_t letter_pairs = 0;  // Of these, two letters.
    std::size_t common_pairs = 0;
    std::size_t segment_max = 0;  // The longest part without a separator.
};

Texture texture_of(std::string_view token) {
    Texture out;
    std::size_t segment = 0;
    for (std::size_t i = 0; i < token.size(); ++i) {
        const int here = class_of(token[i]);
        segment = here == 0 ? 0 : segment + 1;
        out.segment_max = std::max(out.segment_max, segment);
        const int before = i == 0 ? 0 : class_of(token[i - 1]);
        if (here == 0 || before == 0) {
            continue;
        }
        ++out.pairs;
        out.changes += here != before ? 1 : 0;
        // A capital after a small letter begins a new word.
        if (here != 3 && before != 3 && !(before == 1 && here == 2)) {
            ++out.letter_pairs;
            const std::size_t pair = letter_index(token[i - 1]) * 26 + letter_index(token[i]);
            out.common_pairs += kIsCommonPair[pair] ? 1 : 0;
        }
    }
    return out;
}

bool has_pairs_of_words(const Texture& texture) {
    constexpr std::size_t kLetterPairsMin = 4;  // Fewer say nothing.
    return texture.letter_pairs >= kLetterPairsMin &&
           texture.common_pairs * 100 >= texture.letter_pairs * 45;
}

}  // namespace

// Kinds of our credentials: access key, operator, session, one-time code or login, relay. Right
// after a letter or digit, a prefix may be part of a word ("details_"), unless so many characters
// follow as only a credential has.
SecretMatch own_credential_at(std::string_view text, std::size_t at) {
    constexpr std::string_view kKinds = "koscrKOSCR";
    constexpr std::size_t kPrefixLength = 4;
    constexpr std::size_t kTailInsideWordMin = 16;
    const std::string_view rest = text.substr(at);
    if (rest.size() <= kPrefixLength || rest[3] != '_' ||
        kKinds.find(rest[2]) == std::string_view::npos ||
        !equal_ignoring_case(rest.substr(0, 2), "il")) {
        return {};
    }
    const std::size_t tail = run_length(rest, kPrefixLength, Alphabet::word_dash);
    const bool inside_word = at > 0 && is_letter_or_digit(text[at - 1]);
    return tail >= (inside_word ? kTailInsideWordMin : 1)
               ? SecretMatch{at, kPrefixLength + tail, "interlock_key"}
               : SecretMatch{};
}

SecretMatch known_shape_at(std::string_view text, std::size_t at) {
    const char first = text[at];
    if (!kBegins[static_cast<unsigned char>(first)]) {
        return {};
    }
    if (first == 'e') {
        return {at, jwt_length(text, at), "jwt"};
    }
    if (first == '-') {
        return {at, private_key_length(text, at), "private_key"};
    }
    if (is_digit(first)) {
        return {at, telegram_length(text, at), "telegram_token"};
    }
    const std::string_view rest = text.substr(at);
    for (const Shape& shape : kShapes) {
        if (shape.prefix.front() != first || !rest.starts_with(shape.prefix)) {
            continue;
        }
        const std::size_t tail = run_length(rest, shape.prefix.size(), shape.alphabet);
        const std::size_t after = at + shape.prefix.size() + tail;
        const bool goes_on = after < text.size() && is_letter_or_digit(text[after]);
        // A word of the same beginning ("sk-learn-pipeline-version-two") holds no digits.
        const Classes classes = classes_of(rest.substr(shape.prefix.size(), tail));
        if (tail >= shape.tail_min && tail <= shape.tail_max && !goes_on &&
            (classes.digit > 0 || (classes.upper > 0 && classes.lower > 0))) {
            return {at, shape.prefix.size() + tail, shape.kind};
        }
    }
    if (first == 'M' || first == 'N' || first == 'O') {
        return {at, discord_length(text, at), "discord_token"};
    }
    return {};
}

// Binance: 64 letters and digits of both cases. Kraken: 56 of base64 for the key, 88 with padding
// for the secret. A key in hexadecimal cannot be told from a digest.
SecretMatch exchange_key(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string_view token = text.substr(begin, end - begin);
    if (!is_one_of_lengths(token.size(), {56, 64, 88}) || is_digest(token)) {
        return {};
    }
    const Classes count = classes_of(token);
    const bool mixed = count.lower >= 6 && count.upper >= 6 && count.digit >= 2;
    if (!mixed || has_pairs_of_words(texture_of(token))) {
        return {};
    }
    const bool plain = count.lower + count.upper + count.digit == token.size();
    if (token.size() == 64 && plain) {
        return {begin, token.size(), "exchange_key"};
    }
    const bool padded = token.size() == 88 && token.ends_with("==");
    return padded || token.size() == 56 ? SecretMatch{begin, token.size(), "exchange_key"}
                                        : SecretMatch{};
}

bool is_plain_id(std::string_view token) {
    return is_uuid(token) || is_public_id(token);
}

bool is_digest_form(std::string_view token) {
    return is_digest(token);
}

// Random characters change their class often and do not pair up as letters of words do. A human's
// own identifier does one or the other, hardly ever both.
bool is_high_entropy(std::string_view token) {
    constexpr std::size_t kSegmentMin = 12;
    constexpr std::size_t kNoDigitsLengthMin = 24;
    if (token.size() < kEntropyTokenMin || is_uuid(token) || is_digest(token) ||
        is_public_id(token)) {
        return false;
    }
    const Classes count = classes_of(token);
    const bool both_cases = count.lower > 0 && count.upper > 0;
    if ((count.digit == 0 && (!both_cases || token.size() < kNoDigitsLengthMin)) ||
        count.lower + count.upper == 0) {
        return false;
    }
    const Texture texture = texture_of(token);
    const std::size_t changes_percent = both_cases ? 30 : 18;
    return texture.segment_max >= kSegmentMin &&
           texture.changes * 100 >= texture.pairs * changes_percent && !has_pairs_of_words(texture);
}

}  // namespace interlock
