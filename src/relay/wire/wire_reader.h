// Reads a relay object as tolerantly as its clients write it: unknown keys are ignored, an absent
// key and null are the same, a whole number may stand where a text is meant (ids of some
// platforms). A value of another kind, or one beyond its bound, is a problem; the first one is
// kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace interlock {

inline constexpr std::size_t kRelayIdBytesMax = 512;
inline constexpr std::size_t kRelayNameBytesMax = 1024;
inline constexpr std::size_t kRelayUrlBytesMax = 4096;
inline constexpr std::size_t kRelayTextBytesMax = std::size_t{256} * 1024;
inline constexpr std::size_t kSessionKeyBytesMax = 4096;

class WireReader {
public:
    // A value that is no object is one problem; every read then yields nothing.
    explicit WireReader(const Json& json);
    explicit WireReader(const Json&&) = delete;  // The document must outlive us.

    std::string text(std::string_view key, std::size_t bytes_max = kRelayIdBytesMax);
    std::string required_text(std::string_view key, std::size_t bytes_max = kRelayIdBytesMax);
    bool flag(std::string_view key);
    std::optional<std::int64_t> integer(std::string_view key);
    const Json* object(std::string_view key);
    const Json::Array* array(std::string_view key, std::size_t count_max);

    void add_problem(std::string_view key, std::string_view problem);
    bool ok() const { return problem_.empty(); }
    const std::string& problem() const { return problem_; }

    template <class T>
    Result<T> finish(T value) {
        if (ok()) {
            return value;
        }
        return std::unexpected(error());
    }

private:
    const Json* find(std::string_view key) const;
    Error error() const;

    const Json& json_;
    std::string problem_;
};

// A text as the clients read ids: strings as they are, whole numbers by their digits.
std::optional<std::string> id_text(const Json& json);

// Sets `key` only when there is something to say.
void set_unless_empty(Json& object, std::string key, const std::string& value);
// The text, or null when it is empty.
Json text_or_null(const std::string& value);

}  // namespace interlock
