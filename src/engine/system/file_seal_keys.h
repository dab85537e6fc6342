// The sealing keys in a data folder.
//
//   ledger.pub       public half of key 0 in hex; never changes
//   ledger.key       "<epoch> <64 hex digits>", 0600: the seed of the current key. Digits alone are
//                    key 0 as older versions wrote it
//   ledger.key.next  the next key, there before any record names it
//
// advance() overwrites ledger.key before the next key takes its place, on the file thread; a crash
// in between leaves the next key, which settle() then recognises. What a disk keeps of overwritten
// bytes is beyond a program.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "engine/ports/seal_keys.h"
#include "engine/system/file_thread.h"

namespace interlock {

struct NumberedKey {
    std::int64_t epoch = 0;
    Ed25519KeyPair pair;
    bool is_from_before = false;
};

class FileSealKeys final : public SealKeys {
public:
    // Makes key 0 in a new folder. `thread` outlives it.
    static Result<std::unique_ptr<FileSealKeys>> open(
        const std::string& data_folder, FileThread& thread);

    std::string first_public_key() const override { return first_; }
    Key current() const override;
    std::string sign(std::string_view text) const override;
    std::optional<std::string> next_public_key() const override;
    void advance() override;
    Result<bool> settle(const Key& expected) override;
    Result<void> begin_anew(std::int64_t epoch) override;
    bool is_from_before() const override;

private:
    FileSealKeys(std::string data_folder, FileThread& thread);
    Result<void> make_first();
    Result<void> prepare_next();
    Result<void> promote_next();

    std::string data_folder_;
    FileThread& thread_;
    std::string first_;
    mutable std::mutex mutex_;        // Seals are signed on the engine's thread and the relay's.
    std::optional<NumberedKey> key_;  // Nothing: lost.
    std::optional<NumberedKey> next_;
};

// For tools beside a running server: they take no lock and create nothing.
Result<std::string> read_ledger_public_key(const std::string& data_folder);  // 32 raw bytes.
Result<NumberedKey> read_sealing_key(const std::string& data_folder);
// Those that are there: the current one, and the one that may have taken its place already.
Result<std::vector<NumberedKey>> read_sealing_keys(const std::string& data_folder);

}  // namespace interlock
