// The folder that holds everything a server keeps: locked while a server runs, closed to other
// users, and with the keys that are made once.
//
//   LOCK            held by the running server; holds its process id
//   ledger.key      seed of the key that signs checkpoints, hex, 0600
//   ledger.pub      its public half, hex; all that `audit verify` needs
//   operator.token  what the command line shows the server, 0600
#pragma once

#include <string>

#include "adapters/system/durable_file.h"
#include "base/crypto.h"
#include "base/result.h"
#include "base/secret_string.h"
#include "ports/id_source.h"

namespace interlock {

class DataFolder {
public:
    // Creates what is missing. Refuses a folder or key file that other users may touch, a folder
    // another process holds, and a folder whose signing key was lost.
    static Result<DataFolder> open(const std::string& path, IdSource& ids);

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    const Ed25519KeyPair& ledger_key() const { return ledger_key_; }
    const SecretString& operator_token() const { return operator_token_; }

private:
    DataFolder() = default;

    std::string path_;
    FileDescriptor lock_;  // The lock lasts as long as this is open.
    Ed25519KeyPair ledger_key_;
    SecretString operator_token_;
};

// For tools beside a running server: these take no lock and create nothing.
Result<std::string> read_ledger_public_key(const std::string& data_folder);  // 32 raw bytes.
Result<Ed25519KeyPair> read_ledger_key(const std::string& data_folder);
Result<SecretString> read_operator_token(const std::string& data_folder);

}  // namespace interlock
