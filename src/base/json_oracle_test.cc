// Holds our JSON reader to a second opinion, simdjson, on generated and on damaged documents.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "base/json.h"

namespace interlock {
namespace {

using namespace std::string_view_literals;

// Random documents from a seed, with odd strings and numbers but no integer beyond 64 bits, which
// simdjson refuses by design.
class DocumentMaker {
public:
    explicit DocumentMaker(std::uint64_t seed) : engine_(seed) {}

    std::size_t below(std::size_t bound) { return engine_() % bound; }

    Json value(int depth) {
        switch (below(depth == 0 ? 5 : 8)) {
            case 0:
                return Json();
            case 1:
                return Json(below(2) == 0);
            case 2:
            case 3:
                return Json::number(number());
            case 4:
                return Json(text());
            case 5:
            case 6: {
                Json array = Json::array();
                for (std::size_t n = below(5); n > 0; --n) {
                    array.push(value(depth - 1));
                }
                return array;
            }
            default: {
                Json object = Json::object();
                for (std::size_t n = below(5); n > 0; --n) {
                    object.set(text(), value(depth - 1));
                }
                return object;
            }
        }
    }

    std::string damaged(std::string text) {
        static constexpr std::string_view kBytes =
            "{}[]\",:\\u0dD8e.-+E19tfn \n\0\x7f\xED\xA0\x80\xF0\x90\xC3\xEF\xBB\xBF"sv;
        for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
            const std::size_t at = below(text.size());
            const char byte = kBytes[below(kBytes.size())];
            switch (below(3)) {
                case 0:
                    text.erase(at, 1);
                    break;
                case 1:
                    text.insert(at, 1, byte);
                    break;
                default:
                    text[at] = byte;
            }
        }
        return text;
    }

private:
    std::string number() {
        std::string text = below(2) == 0 ? "-" : "";
        text += std::to_string(engine_() >> (2 + below(62)));
        if (below(2) == 0) {
            text += "." + std::to_string(engine_() >> below(64));
        }
        if (below(3) == 0) {
            text += (below(2) == 0 ? "e-" : "E+") + std::to_string(below(200));
        }
        return text;
    }

    std::string text() {
        static const std::string_view kPieces[] = {
            "a",
            "B",
            " ",
            "\"",
            "\\",
            "/",
            "\n",
            "\x01",
            "\x7f",
            "\xC3\xA9",
            "\xE2\x82\xAC",
            "\xF0\x9F\x98\x80",
            "\xEF\xBF\xBF",
            "\0"sv};
        std::string text;
        for (std::size_t n = below(8); n > 0; --n) {
            text += kPieces[below(std::size(kPieces))];
        }
        return text;
    }

    std::mt19937_64 engine_;
};

bool agree(const Json& ours, simdjson::dom::element theirs) {
    if (ours.is_object()) {
        simdjson::dom::object object;
        if (theirs.get(object) != simdjson::SUCCESS || object.size() != ours.members().size()) {
            return false;
        }
        std::size_t i = 0;
        for (const auto field : object) {
            const auto& [key, value] = ours.members()[i++];
            if (key != field.key || !agree(value, field.value)) {
                return false;
            }
        }
        return true;
    }
    if (ours.is_array()) {
        simdjson::dom::array array;
        if (theirs.get(array) != simdjson::SUCCESS || array.size() != ours.items().size()) {
            return false;
        }
        std::size_t i = 0;
        for (const auto item : array) {
            if (!agree(ours.items()[i++], item)) {
                return false;
            }
        }
        return true;
    }
    if (ours.is_string()) {
        return theirs.is_string() && ours.as_string() == std::string_view(theirs);
    }
    if (ours.is_number()) {
        return theirs.is_number() &&
               std::strtod(ours.number_text().c_str(), nullptr) == double(theirs);
    }
    return ours.is_null() ? theirs.is_null() : theirs.is_bool() && ours.as_bool() == bool(theirs);
}

TEST(JsonOracle, AgreesWithSimdjsonOnGeneratedDocuments) {
    EXPECT_TRUE(rc::check([](std::uint64_t seed) {
        DocumentMaker maker(seed);
        simdjson::dom::parser parser;
        for (int i = 0; i < 20; ++i) {
            const Json made = maker.value(5);
            for (const std::string& text : {to_text(made), to_pretty_text(made)}) {
                const auto ours = parse_json(text);
                RC_ASSERT(ours.value() == made);
                const auto theirs = parser.parse(text);
                RC_ASSERT(theirs.error() == simdjson::SUCCESS);
                RC_ASSERT(agree(*ours, theirs.value_unsafe()));
            }
        }
    }));
}

// simdjson refuses integers beyond 64 bits and numbers beyond a double, whose text we keep.
bool may_be_beyond_simdjson(const Json& json) {
    if (json.is_number()) {
        const std::string& text = json.number_text();
        const double value = std::fabs(std::strtod(text.c_str(), nullptr));
        const bool integer = text.find_first_of(".eE") == std::string::npos;
        return std::isinf(value) || (integer && value >= 9.2e18);
    }
    if (json.is_array()) {
        return std::ranges::any_of(json.items(), may_be_beyond_simdjson);
    }
    return json.is_object() && std::ranges::any_of(json.members(), [](const Json::Member& member) {
               return may_be_beyond_simdjson(member.second);
           });
}

// Damaged documents: whatever we take, simdjson takes and reads alike; whatever we refuse, it
// refuses too, apart from the rules that are ours alone.
TEST(JsonOracle, AgreesWithSimdjsonOnWhatIsADocument) {
    std::size_t accepted = 0;
    std::size_t refused = 0;
    EXPECT_TRUE(rc::check([&](std::uint64_t seed) {
        DocumentMaker maker(seed);
        simdjson::dom::parser parser;
        for (int i = 0; i < 200; ++i) {
            const std::string text = maker.damaged(to_text(maker.value(3)));
            const auto ours = parse_json(text);
            const auto theirs = parser.parse(text);
            if (ours && may_be_beyond_simdjson(*ours)) {
                continue;
            }
            if (ours) {
                ++accepted;
                RC_ASSERT(theirs.error() == simdjson::SUCCESS);
                RC_ASSERT(agree(*ours, theirs.value_unsafe()));
            } else if (theirs.error() == simdjson::SUCCESS) {
                const bool our_rule =
                    ours.error().message.find("duplicate key") != std::string::npos ||
                    ours.error().message.find("surrogate") != std::string::npos ||
                    ours.error().message.find("too large") != std::string::npos;
                RC_ASSERT(our_rule);
            } else {
                ++refused;
            }
        }
    }));
    EXPECT_GT(accepted, 1000u);
    EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace interlock
