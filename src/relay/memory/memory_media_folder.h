// The media folder in memory, for tests and the simulator.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/errors.h"
#include "relay/ports/media_folder.h"

namespace interlock {

class MemoryMediaFolder final : public MediaFolder {
public:
    // The next write is refused as by a full disk.
    void fail_next_write() {
        const std::lock_guard lock(mutex_);
        fails_ = true;
    }

    Result<void> write(const std::string& id, std::string_view bytes) override {
        const std::lock_guard lock(mutex_);
        if (std::exchange(fails_, false)) {
            return fail(errors::io_failed, "cannot write the media");
        }
        if (bytes.size() > kMediaBytesMax) {
            return fail(errors::body_too_large, "media is larger than 25 MiB");
        }
        files_[id] = std::string(bytes);
        return {};
    }
    Result<std::string> read(const std::string& id) override {
        const std::lock_guard lock(mutex_);
        const auto found = files_.find(id);
        if (found == files_.end()) {
            return fail(errors::not_found, "there is no such media");
        }
        return found->second;
    }
    Result<void> remove(const std::string& id) override {
        const std::lock_guard lock(mutex_);
        files_.erase(id);
        return {};
    }
    Result<std::vector<std::string>> list() override {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> ids;
        for (const auto& [id, bytes] : files_) {
            ids.push_back(id);
        }
        return ids;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> files_;
    bool fails_ = false;
};

}  // namespace interlock
