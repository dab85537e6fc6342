// The JSON value and its parser. RapidJSON reads the text in place and calls the builder below; no
// other file includes it.
//
// What the library leaves open is closed here: nesting (the builder stops the library's recursion),
// duplicate keys, a byte order mark, a NUL byte passing for the end, escaped lone surrogates.
#include "base/json.h"

#include <rapidjson/error/error.h>
#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

// Up to here, comparing every key with every other beats sorting them.
constexpr std::size_t kKeysComparedPairwiseMax = 16;
// A longer key is not repeated in an error message.
constexpr std::size_t kKeyShownMax = 64;

const std::string* duplicate_key(const Json::Object& members) {
    if (members.size() <= kKeysComparedPairwiseMax) {
        for (std::size_t i = 1; i < members.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (members[i].first == members[j].first) {
                    return &members[i].first;
                }
            }
        }
        return nullptr;
    }
    std::vector<const std::string*> keys;
    keys.reserve(members.size());
    for (const Json::Member& member : members) {
        keys.push_back(&member.first);
    }
    std::sort(keys.begin(), keys.end(), [](auto* a, auto* b) { return *a < *b; });
    const auto twice =
        std::adjacent_find(keys.begin(), keys.end(), [](auto* a, auto* b) { return *a == *b; });
    return twice == keys.end() ? nullptr : *twice;
}

// Receives the parts of a document in order and puts each where it belongs. Only the innermost open
// container grows, so pointers to the outer ones stay good.
class JsonBuilder {
public:
    bool Null() { return place(Json()); }
    bool Bool(bool value) { return place(Json(value)); }
    bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
        return place(Json::number(std::string(text, length)));
    }
    // Never called: numbers arrive as text.
    bool Int(int) { return stop("unexpected number event"); }
    bool Uint(unsigned) { return stop("unexpected number event"); }
    bool Int64(std::int64_t) { return stop("unexpected number event"); }
    bool Uint64(std::uint64_t) { return stop("unexpected number event"); }
    bool Double(double) { return stop("unexpected number event"); }

    bool String(const char* text, rapidjson::SizeType length, bool) {
        return is_whole({text, length}) && place(Json(std::string(text, length)));
    }
    bool Key(const char* text, rapidjson::SizeType length, bool) {
        if (!is_whole({text, length})) {
            return false;
        }
        open_[depth_ - 1]->members().emplace_back(std::string(text, length), Json());
        return true;
    }
    bool StartObject() { return open(Json::object()); }
    bool EndObject(rapidjson::SizeType) {
        const std::string* twice = duplicate_key(open_[depth_ - 1]->members());
        if (twice != nullptr) {
            return stop(
                twice->size() > kKeyShownMax ? "an object with a duplicate key"
                                             : "an object with the duplicate key '" + *twice + "'");
        }
        --depth_;
        return true;
    }
    bool StartArray() { return open(Json::array()); }
    bool EndArray(rapidjson::SizeType) {
        --depth_;
        return true;
    }

    const std::string& problem() const { return problem_; }
    Json take() { return std::move(root_); }

private:
    bool stop(std::string problem) {
        problem_ = std::move(problem);
        return false;
    }

    // The library checks raw bytes but lets an escaped low surrogate through (\udc00), which it
    // writes as bytes beginning with 0xED.
    bool is_whole(std::string_view text) {
        if (text.find('\xED') == std::string_view::npos || is_valid_utf8(text)) {
            return true;
        }
        return stop("a lone surrogate");
    }

    Json& slot() {
        if (depth_ == 0) {
            return root_;
        }
        Json& container = *open_[depth_ - 1];
        if (container.is_array()) {
            return container.items().emplace_back();
        }
        return container.members().back().second;
    }

    bool place(Json value) {
        slot() = std::move(value);
        return true;
    }

    bool open(Json container) {
        if (depth_ == kJsonDepthMax) {
            return stop("nesting deeper than " + std::to_string(kJsonDepthMax));
        }
        Json& opened = slot();
        opened = std::move(container);
        open_[depth_++] = &opened;
        return true;
    }

    Json root_;
    std::array<Json*, kJsonDepthMax> open_{};
    std::size_t depth_ = 0;
    std::string problem_;
};

std::string_view words_for(rapidjson::ParseErrorCode code) {
    switch (code) {
        case rapidjson::kParseErrorDocumentEmpty:
            return "an empty document";
        case rapidjson::kParseErrorDocumentRootNotSingular:
            return "something after the document";
        case rapidjson::kParseErrorObjectMissName:
            return "no key where one is due";
        case rapidjson::kParseErrorObjectMissColon:
            return "no colon after a key";
        case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
            return "an object that is not closed or lacks a comma";
        case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
            return "an array that is not closed or lacks a comma";
        case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
        case rapidjson::kParseErrorStringEscapeInvalid:
            return "an invalid escape";
        case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
            return "a lone surrogate";
        case rapidjson::kParseErrorStringMissQuotationMark:
            return "a string that is not closed";
        case rapidjson::kParseErrorStringInvalidEncoding:
            return "a control character or bytes that are not UTF-8";
        case rapidjson::kParseErrorNumberTooBig:
            return "a number too large for any IEEE double";
        case rapidjson::kParseErrorNumberMissFraction:
        case rapidjson::kParseErrorNumberMissExponent:
            return "a number without digits where some are due";
        default:
            return "no JSON value where one is due";
    }
}

std::unexpected<Error> not_json(std::string_view found, std::size_t offset) {
    return fail(
        errors::invalid_json,
        "not a JSON document: found " + std::string(found) + " at byte " + std::to_string(offset));
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
    if (text.size() > kJsonBytesMax) {
        return not_json("more than " + std::to_string(kJsonBytesMax) + " bytes", kJsonBytesMax);
    }
    if (text.starts_with("\xEF\xBB\xBF")) {
        return not_json("a byte order mark", 0);
    }
    constexpr unsigned kFlags = rapidjson::kParseInsituFlag |
                                rapidjson::kParseNumbersAsStringsFlag |
                                rapidjson::kParseValidateEncodingFlag;
    std::string buffer(text);  // The library decodes strings in place.
    // The library reads all of a UTF-8 sequence before it judges one that the end cuts off.
    buffer.append(4, '\0');
    rapidjson::InsituStringStream stream(buffer.data());
    rapidjson::Reader reader;
    JsonBuilder builder;
    const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, builder);
    if (parsed.Code() == rapidjson::kParseErrorTermination) {
        return not_json(builder.problem(), parsed.Offset());
    }
    if (parsed.IsError()) {
        return not_json(words_for(parsed.Code()), parsed.Offset());
    }
    if (stream.Tell() != text.size()) {
        return not_json("a NUL byte", stream.Tell());
    }
    return builder.take();
}

bool is_json_number(std::string_view text) {
    std::size_t at = 0;
    const auto skip_digits = [&] {
        const std::size_t start = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
            ++at;
        }
        return at > start;
    };
    const auto skip_one_of = [&](std::string_view set) {
        if (at < text.size() && set.find(text[at]) != std::string_view::npos) {
            ++at;
            return true;
        }
        return false;
    };
    skip_one_of("-");
    if (!skip_one_of("0") && !skip_digits()) {
        return false;
    }
    if (skip_one_of(".") && !skip_digits()) {
        return false;
    }
    if (skip_one_of("eE")) {
        skip_one_of("+-");
        if (!skip_digits()) {
            return false;
        }
    }
    return at == text.size();
}

Json::Json() = default;
Json::~Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;

Json Json::number(std::string text) {
    CHECK(is_json_number(text));
    Json json;
    json.value_ = Number{std::move(text)};
    return json;
}

Json Json::array(std::initializer_list<ItemArgument> items) {
    Array array;
    array.reserve(items.size());
    for (const ItemArgument& item : items) {
        array.push_back(std::move(item.value));
    }
    return Json(std::move(array));
}

Json Json::object(std::initializer_list<MemberArgument> members) {
    Object object;
    object.reserve(members.size());
    for (const MemberArgument& member : members) {
        object.emplace_back(std::move(member.key), std::move(member.value));
    }
    CHECK(duplicate_key(object) == nullptr);
    Json json;
    json.value_ = std::move(object);
    return json;
}

std::string_view Json::type_word() const {
    static constexpr std::array<std::string_view, 6> kWords = {
        "null", "boolean", "number", "string", "array", "object"};
    return kWords[value_.index()];
}

bool Json::as_bool() const {
    const bool* value = std::get_if<bool>(&value_);
    CHECK(value != nullptr);
    return *value;
}

const std::string& Json::number_text() const {
    const Number* value = std::get_if<Number>(&value_);
    CHECK(value != nullptr);
    return value->text;
}

const std::string& Json::as_string() const {
    const std::string* value = std::get_if<std::string>(&value_);
    CHECK(value != nullptr);
    return *value;
}

const Json::Array& Json::items() const {
    const Array* value = std::get_if<Array>(&value_);
    CHECK(value != nullptr);
    return *value;
}

Json::Array& Json::items() {
    Array* value = std::get_if<Array>(&value_);
    CHECK(value != nullptr);
    return *value;
}

const Json::Object& Json::members() const {
    const Object* value = std::get_if<Object>(&value_);
    CHECK(value != nullptr);
    return *value;
}

Json::Object& Json::members() {
    Object* value = std::get_if<Object>(&value_);
    CHECK(value != nullptr);
    return *value;
}

std::optional<std::int64_t> Json::as_int64() const {
    const Number* number = std::get_if<Number>(&value_);
    if (number == nullptr) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const char* end = number->text.data() + number->text.size();
    const auto [stopped, problem] = std::from_chars(number->text.data(), end, value);
    if (problem != std::errc() || stopped != end) {
        return std::nullopt;
    }
    return value;
}

const Json* Json::find(std::string_view key) const {
    const Object* object = std::get_if<Object>(&value_);
    if (object == nullptr) {
        return nullptr;
    }
    for (const Member& member : *object) {
        if (member.first == key) {
            return &member.second;
        }
    }
    return nullptr;
}

Json* Json::find(std::string_view key) {
    return const_cast<Json*>(std::as_const(*this).find(key));
}

Json& Json::set(std::string key, Json value) {
    if (Json* held = find(key); held != nullptr) {
        *held = std::move(value);
        return *this;
    }
    members().emplace_back(std::move(key), std::move(value));
    return *this;
}

void Json::push(Json value) {
    items().push_back(std::move(value));
}

}  // namespace interlock
