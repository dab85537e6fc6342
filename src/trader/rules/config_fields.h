// A strategy's parameters, told once: the same description writes the published schema with its
// defaults and ranges, and reads a configuration strictly.
//
//     struct IdleConfig {
//         std::int64_t tick_seconds = 60;
//         void describe(ConfigFields& fields) {
//             fields.whole("tick_seconds", tick_seconds, {1, 3600}, "Seconds between two ticks.");
//         }
//     };
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/decimal.h"
#include "base/json.h"
#include "base/result.h"

namespace interlock {

// One side of a market in a configuration: open, off, or bounded by a price. A price, true, and
// false or null on the wire.
struct PriceStop {
    bool is_off = false;
    std::optional<Decimal> price = std::nullopt;  // > 0.
    friend bool operator==(const PriceStop&, const PriceStop&) = default;
};

class ConfigFields {
public:
    struct WholeRange {
        std::int64_t min;
        std::int64_t max;
    };
    struct DecimalRange {
        std::string_view min;
        std::string_view max;
    };
    virtual ~ConfigFields() = default;
    // `value` holds the default, and afterwards what was read.
    virtual void whole(
        std::string_view key, std::int64_t& value, WholeRange range, std::string_view meaning) = 0;
    virtual void decimal(
        std::string_view key, Decimal& value, DecimalRange range, std::string_view meaning) = 0;
    virtual void price_stop(std::string_view key, PriceStop& value, std::string_view meaning) = 0;
    // An enumeration whose values number the words.
    template <class T>
        requires std::is_enum_v<T>
    void word(
        std::string_view key,
        T& value,
        std::span<const std::string_view> words,
        std::string_view meaning) {
        auto index = static_cast<std::size_t>(value);
        word_index(key, index, words, meaning);
        value = static_cast<T>(index);
    }
    // What two parameters owe each other; only asked of configurations.
    virtual void require(bool holds, std::string_view key, std::string_view problem) = 0;

protected:
    virtual void word_index(
        std::string_view key,
        std::size_t& index,
        std::span<const std::string_view> words,
        std::string_view meaning) = 0;
};

template <class T>
concept Describable = std::default_initializable<T> &&
                      requires(T config, ConfigFields& fields) { config.describe(fields); };

// By the numbers of Timeframe.
std::span<const std::string_view> timeframe_words();

// Type-erased halves of the two templates below.
struct ConfigDescription {
    void* config;
    void (*describe)(void* config, ConfigFields& fields);
};
Json config_schema_of(const ConfigDescription& description);
Result<void> read_config(const Json& json, const ConfigDescription& description);

template <Describable T>
ConfigDescription description_of(T& config) {
    return {&config, [](void* of, ConfigFields& fields) { static_cast<T*>(of)->describe(fields); }};
}
template <Describable T>
Json config_schema() {
    T defaults;
    return config_schema_of(description_of(defaults));
}
template <Describable T>
Result<T> decode_config(const Json& json) {
    T config;
    if (auto read = read_config(json, description_of(config)); !read) {
        return std::unexpected(std::move(read).error());
    }
    return config;
}

// The schema of a strategy's memory: its keys, none required.
struct StateField {
    std::string_view key;
    std::string_view type;  // "integer", "string" (decimals), "boolean".
    std::string_view meaning;
};
Json state_schema_of(std::initializer_list<StateField> fields);

}  // namespace interlock
