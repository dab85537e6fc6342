// The folder that holds everything a server keeps: locked while a server runs, closed to other
// users, and with the keys that are made once.
//
//   LOCK            held by the running server; holds its process id
//   ledger.key      the current sealing key, and ledger.pub the first one's public half; see
//                   file_seal_keys.h
//   operator.token  what the command line shows the server, 0600
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret_string.h"
#include "engine/ports/id_source.h"
#include "engine/system/durable_file.h"
#include "engine/system/file_head_log.h"
#include "engine/system/file_seal_keys.h"
#include "engine/system/file_thread.h"

namespace interlock {

class DataFolder {
public:
    // Creates what is missing and closes every other file to other users. Refuses a folder or key
    // file that they may touch, and a folder another process holds.
    static Result<DataFolder> open(const std::string& path, IdSource& ids);

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    SealKeys& seal_keys() { return *seal_keys_; }
    HeadLog& head_log() { return *head_log_; }
    const SecretString& operator_token() const { return operator_token_; }

private:
    DataFolder() = default;

    std::string path_;
    FileDescriptor lock_;  // The lock lasts as long as this is open.
    std::unique_ptr<FileSealKeys> seal_keys_;
    std::unique_ptr<FileHeadLog> head_log_;
    std::unique_ptr<FileThread> thread_;  // Writes for the two above, so it ends first.
    SecretString operator_token_;
};

// The process that holds the folder, as far as this machine can tell; nothing when nobody does.
std::optional<std::string> holder_of(const std::string& data_folder);

// For tools beside a running server: takes no lock and creates nothing.
Result<SecretString> read_operator_token(const std::string& data_folder);

}  // namespace interlock
