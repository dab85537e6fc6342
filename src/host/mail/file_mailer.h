// Leaves letters in a folder, one `.eml` file each, for whoever runs the server to read or forward.
// The default, so that a fresh installation works without a mail server.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "host/ports/mailer.h"

namespace interlock {

// Letters that nobody took away; one more is refused as `mail_unavailable`.
inline constexpr std::size_t kOutboxFilesMax = 10'000;

class FileMailer final : public Mailer {
public:
    struct Parts {
        std::string folder;
        std::string from;
        Clock& clock;
        IdSource& ids;
        std::size_t files_max = kOutboxFilesMax;  // Smaller for who must leave room.
    };
    // Makes the folder (0700) when it is missing.
    static Result<std::unique_ptr<FileMailer>> open(Parts parts);

    // The file is whole and on disk when this returns, readable by its owner alone: a letter may
    // hold a link that lets one in.
    Result<void> send(const Mail& mail) override;

private:
    explicit FileMailer(Parts parts) : parts_(std::move(parts)) {}
    Result<std::size_t> count_files() const;

    Parts parts_;
    std::mutex mutex_;  // Two letters at once must not both be the last that fits.
};

}  // namespace interlock
