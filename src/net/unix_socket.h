// The operator's Unix socket: a file that only its owner may open, replaced only when stale.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace interlock {

// A listening socket and the file it stands on. The file is removed on destruction, unless somebody
// has put another one in its place. The descriptor is the caller's from release_descriptor() on.
class UnixListener {
public:
    // Removes a socket file on which nobody accepts any more; refuses to touch anything else. The
    // file has mode 0600 from its first moment.
    static Result<UnixListener> open(const std::string& path);

    UnixListener(UnixListener&& other) noexcept;
    UnixListener& operator=(UnixListener&&) = delete;
    ~UnixListener();

    int release_descriptor();

private:
    UnixListener(std::string path, int descriptor, dev_t device, ino_t inode);

    std::string path_;
    int descriptor_;
    dev_t device_;
    ino_t inode_;
};

}  // namespace interlock
