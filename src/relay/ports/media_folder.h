// Where the bytes of /relay/media lie while somebody may fetch them: files by their id. They are
// for an hour and need not survive a power cut; what is known of them is in the relay's store.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace interlock {

// A larger one is refused: `body_too_large`.
inline constexpr std::size_t kMediaBytesMax = std::size_t{25} * 1024 * 1024;

// Any thread. Ids are ours ("med_…"); anything else is `not_found`.
class MediaFolder {
public:
    virtual ~MediaFolder() = default;
    virtual Result<void> write(const std::string& id, std::string_view bytes) = 0;
    virtual Result<std::string> read(const std::string& id) = 0;
    virtual Result<void> remove(const std::string& id) = 0;  // An absent one is fine.
    virtual Result<std::vector<std::string>> list() = 0;     // Ids, in any order.
};

// "med_" and 26 characters a–z, 2–7: 130 bits, as IdSource makes them.
bool is_media_id(std::string_view text);

}  // namespace interlock
