// A message whose files only the bot itself can fetch, while it waits for them: how it is written
// into the buffer, and what a gateway reads in the end. The platform's own names of the files never
// reach a gateway.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "relay/rules/platform_event.h"
#include "relay/wire/message_event.h"

namespace interlock {

// Of one message. Whatever is beyond is told as missing.
inline constexpr std::size_t kFilesPerMessageMax = 10;

struct WaitingFiles {
    std::string platform;  // Of the bot that can fetch them.
    std::string bot_id;
    std::vector<PlatformFile> files;
    MessageEvent event;
};

// What became of one file: somewhere to fetch it, or one sentence why there is none.
struct FileFate {
    std::string url;
    std::string mime;
    std::string filename;
    std::int64_t bytes = 0;
    std::string missing;
};

// For the buffer.
std::string encode_waiting(const WaitingFiles& message);
// Whether a text of the buffer is such a message. No event of ours begins like one.
bool has_waiting_files(std::string_view stored);
Result<WaitingFiles> decode_waiting(std::string_view stored);

// The event as gateways read it. A file without a fate, or with a missing one, is told in a line at
// the end of the text, unless the platform has it for everybody.
MessageEvent with_fates(WaitingFiles message, const std::vector<FileFate>& fates);

inline constexpr std::size_t kMediaNameBytesMax = 255;
// What of a name that somebody gave can stand in a header and on a disk: its last part, printable.
std::string safe_file_name(std::string_view name);
// "type/subtype", or application/octet-stream when it is not that.
std::string safe_media_type(std::string_view text);

}  // namespace interlock
