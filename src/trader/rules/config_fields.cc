#include "trader/rules/config_fields.h"

#include <array>
#include <string>

#include "base/check.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"
#include "market/wire/candle.h"

namespace interlock {
namespace {

constexpr std::string_view kDecimalPattern = R"(^[0-9]+(\.[0-9]{1,18})?$)";

Decimal our_decimal(std::string_view text) {
    const auto value = Decimal::parse(text);
    CHECK(value.has_value());
    return *value;
}

class SchemaWriter final : public ConfigFields {
public:
    void whole(
        std::string_view key,
        std::int64_t& value,
        WholeRange range,
        std::string_view meaning) override {
        add(key,
            Json::object({
                {"type", "integer"},
                {"minimum", range.min},
                {"maximum", range.max},
                {"default", value},
                {"description", meaning},
            }));
    }
    void decimal(std::string_view key, Decimal& value, DecimalRange range, std::string_view meaning)
        override {
        add(key,
            Json::object({
                {"type", Json::array({"string", "number"})},
                {"pattern", kDecimalPattern},
                {"minimum", Json::number(std::string(range.min))},
                {"maximum", Json::number(std::string(range.max))},
                {"default", to_text(value)},
                {"description", meaning},
            }));
    }
    void price_stop(std::string_view key, PriceStop&, std::string_view meaning) override {
        add(key,
            Json::object({
                {"type", Json::array({"string", "number", "boolean", "null"})},
                {"pattern", kDecimalPattern},
                {"exclusiveMinimum", 0},
                {"default", Json()},
                {"description", meaning},
            }));
    }
    void require(bool, std::string_view, std::string_view) override {}

    Json take() {
        return Json::object({
            {"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"type", "object"},
            {"additionalProperties", false},
            {"properties", std::move(properties_)},
        });
    }

protected:
    void word_index(
        std::string_view key,
        std::size_t& index,
        std::span<const std::string_view> words,
        std::string_view meaning) override {
        add(key,
            Json::object({
                {"type", "string"},
                {"enum", json_list(words)},
                {"default", words[index]},
                {"description", meaning},
            }));
    }

private:
    void add(std::string_view key, Json schema) {
        properties_.set(std::string(key), std::move(schema));
    }
    Json properties_ = Json::object();
};

class ConfigReader final : public ConfigFields {
public:
    explicit ConfigReader(FieldReader& in) : in_(in) {}

    void whole(
        std::string_view key, std::int64_t& value, WholeRange range, std::string_view) override {
        value = in_.optional_integer_or(key, range.min, range.max, value);
    }
    void decimal(
        std::string_view key, Decimal& value, DecimalRange range, std::string_view) override {
        value = in_.optional_or<Decimal>(key, value);
        if (value < our_decimal(range.min) || value > our_decimal(range.max)) {
            in_.add_problem(
                key, "must be from " + std::string(range.min) + " to " + std::string(range.max));
        }
    }
    void price_stop(std::string_view key, PriceStop& value, std::string_view) override {
        const Json given = in_.optional_or<Json>(key, Json());
        value = {};
        if (given.is_bool()) {
            value.is_off = given.as_bool();
            return;
        }
        if (given.is_null()) {
            return;
        }
        const auto price = read_value(given, static_cast<Decimal*>(nullptr));
        if (!price || !price->is_positive()) {
            in_.add_problem(key, "must be a price above zero, true, false or null");
            return;
        }
        value.price = *price;
    }
    void require(bool holds, std::string_view key, std::string_view problem) override {
        if (!holds) {
            in_.add_problem(key, std::string(problem));
        }
    }

protected:
    void word_index(
        std::string_view key,
        std::size_t& index,
        std::span<const std::string_view> words,
        std::string_view) override {
        index = in_.optional_word_index(key, words).value_or(index);
    }

private:
    FieldReader& in_;
};

}  // namespace

std::span<const std::string_view> timeframe_words() {
    return kTimeframeWords;
}

Json config_schema_of(const ConfigDescription& description) {
    SchemaWriter writer;
    description.describe(description.config, writer);
    return writer.take();
}

Result<void> read_config(const Json& json, const ConfigDescription& description) {
    FieldReader in(json);
    ConfigReader reader(in);
    description.describe(description.config, reader);
    in.reject_unknown();
    TRY(in.finish(true));
    return {};
}

Json state_schema_of(std::initializer_list<StateField> fields) {
    Json properties = Json::object();
    for (const StateField& field : fields) {
        properties.set(
            std::string(field.key),
            Json::object({{"type", field.type}, {"description", field.meaning}}));
    }
    return Json::object({
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"type", "object"},
        {"additionalProperties", false},
        {"properties", std::move(properties)},
    });
}

}  // namespace interlock
