#include "engine/system/file_seal_keys.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/system/durable_file.h"
#include "engine/system/private_file.h"

namespace interlock {
namespace {

constexpr std::size_t kSeedBytes = 32;

std::string key_path(const std::string& data_folder) {
    return data_folder + "/ledger.key";
}
std::string next_path(const std::string& data_folder) {
    return data_folder + "/ledger.key.next";
}
std::string public_path(const std::string& data_folder) {
    return data_folder + "/ledger.pub";
}

Result<NumberedKey> parse_key(const SecretString& line, const std::string& path) {
    std::string_view text = line.reveal();
    NumberedKey key;
    const std::size_t space = text.find(' ');
    key.is_from_before = space == std::string_view::npos;
    if (!key.is_from_before) {
        const auto read = std::from_chars(text.data(), text.data() + space, key.epoch);
        if (read.ptr != text.data() + space || key.epoch < 0) {
            return fail(errors::crypto_failed, path + " does not hold the number of a key");
        }
        text.remove_prefix(space + 1);
    }
    Result<std::string> seed = from_hex(text);
    if (!seed || seed->size() != kSeedBytes) {
        return fail(errors::crypto_failed, path + " does not hold 64 hex digits");
    }
    Result<Ed25519KeyPair> pair = ed25519_from_seed(*seed);
    wipe(*seed);
    if (!pair) {
        return std::unexpected(pair.error());
    }
    key.pair = *std::move(pair);
    return key;
}

// Nothing when there is no file, or only what a key that was destroyed left behind.
Result<std::optional<NumberedKey>> read_key(const std::string& path) {
    TRY_ASSIGN(const std::optional<SecretString> line, read_private_file(path));
    if (!line || line->reveal().empty() || line->reveal().starts_with('\0')) {
        return std::nullopt;
    }
    TRY_ASSIGN(NumberedKey key, parse_key(*line, path));
    return key;
}

Result<NumberedKey> make_key(const std::string& path, std::int64_t epoch) {
    std::string seed = random_bytes(kSeedBytes);
    const SecretString line(std::to_string(epoch) + " " + to_hex(seed));
    wipe(seed);
    TRY(create_private_file(path, line));
    return parse_key(line, path);
}

Result<void> overwrite(const std::string& path) {
    const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) {
        return errno == ENOENT ? Result<void>() : system_failure("overwrite", path);
    }
    const std::string zeros(kPrivateFileBytesMax, '\0');
    const off_t size = lseek(file.get(), 0, SEEK_END);
    const auto count = std::min(static_cast<std::size_t>(std::max<off_t>(size, 0)), zeros.size());
    if (pwrite(file.get(), zeros.data(), count, 0) != static_cast<ssize_t>(count) ||
        fsync(file.get()) != 0) {
        return system_failure("overwrite", path);
    }
    return {};
}

Result<void> remove_key(const std::string& path) {
    TRY(overwrite(path));
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
        return system_failure("remove", path);
    }
    return {};
}

}  // namespace

FileSealKeys::FileSealKeys(std::string data_folder, FileThread& thread)
    : data_folder_(std::move(data_folder)), thread_(thread) {}

Result<std::unique_ptr<FileSealKeys>> FileSealKeys::open(
    const std::string& data_folder, FileThread& thread) {
    std::unique_ptr<FileSealKeys> keys(new FileSealKeys(data_folder, thread));
    TRY_ASSIGN(keys->key_, read_key(key_path(data_folder)));
    TRY_ASSIGN(keys->next_, read_key(next_path(data_folder)));
    auto published = read_ledger_public_key(data_folder);
    if (!published && published.error() != errors::not_found) {
        return std::unexpected(published.error());
    }
    if (!published && keys->key_ && keys->key_->epoch > 0) {
        return fail(
            errors::crypto_failed,
            public_path(data_folder) + " is missing: nobody could tell what the first key was",
            "Put ledger.pub back from a copy of the folder or of an export's first line.");
    }
    if (!published) {
        TRY(keys->make_first());
    } else {
        keys->first_ = *std::move(published);
    }
    if (keys->key_ && keys->key_->epoch == 0 && keys->key_->pair.public_key != keys->first_) {
        return fail(
            errors::crypto_failed,
            public_path(data_folder) + " is not the public half of " + key_path(data_folder),
            "Restore both files from the same backup.");
    }
    if (keys->key_ && !keys->next_) {
        TRY(keys->prepare_next());
    }
    return keys;
}

Result<void> FileSealKeys::make_first() {
    if (!key_) {
        TRY_ASSIGN(key_, make_key(key_path(data_folder_), 0));
    }
    first_ = key_->pair.public_key;
    const std::string line = to_hex(first_) + "\n";
    TRY(create_file_durably({.path = public_path(data_folder_), .bytes = line, .mode = 0644}));
    return {};
}

Result<void> FileSealKeys::prepare_next() {
    std::int64_t epoch = 0;
    {
        const std::lock_guard lock(mutex_);
        epoch = key_->epoch + 1;
    }
    TRY(remove_key(next_path(data_folder_)));
    TRY_ASSIGN(NumberedKey next, make_key(next_path(data_folder_), epoch));
    const std::lock_guard lock(mutex_);
    next_ = std::move(next);
    return {};
}

SealKeys::Key FileSealKeys::current() const {
    const std::lock_guard lock(mutex_);
    return key_ ? Key{key_->epoch, to_hex(key_->pair.public_key)} : Key{-1, {}};
}

std::string FileSealKeys::sign(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return key_ ? ed25519_sign(key_->pair, text) : std::string();
}

std::optional<std::string> FileSealKeys::next_public_key() const {
    const std::lock_guard lock(mutex_);
    return next_ ? std::optional(to_hex(next_->pair.public_key)) : std::nullopt;
}

bool FileSealKeys::is_from_before() const {
    const std::lock_guard lock(mutex_);
    return key_ && key_->is_from_before;
}

Result<void> FileSealKeys::promote_next() {
    TRY(overwrite(key_path(data_folder_)));
    if (rename(next_path(data_folder_).c_str(), key_path(data_folder_).c_str()) != 0) {
        return system_failure("put in place", key_path(data_folder_));
    }
    return sync_folder(data_folder_);
}

void FileSealKeys::advance() {
    {
        const std::lock_guard lock(mutex_);
        key_ = std::exchange(next_, std::nullopt);
    }
    thread_.run([this] {
        Result<void> done = promote_next();
        if (done) {
            done = prepare_next();
        }
        if (!done) {
            // The next key stays on disk beside the old one, and settle() finds it there.
            log_error("sealing_key_failed", {{"message", done.error().message}});
        }
    });
}

Result<bool> FileSealKeys::settle(const Key& expected) {
    const auto is_expected = [&](const std::optional<NumberedKey>& key) {
        return key && key->epoch == expected.epoch &&
               to_hex(key->pair.public_key) == expected.public_key;
    };
    if (is_expected(key_)) {
        return true;
    }
    if (!is_expected(next_)) {
        return false;
    }
    TRY(promote_next());
    key_ = std::exchange(next_, std::nullopt);
    TRY(prepare_next());
    return true;
}

Result<void> FileSealKeys::begin_anew(std::int64_t epoch) {
    TRY(remove_key(key_path(data_folder_)));
    TRY_ASSIGN(NumberedKey key, make_key(key_path(data_folder_), epoch));
    {
        const std::lock_guard lock(mutex_);
        key_ = std::move(key);
    }
    return prepare_next();
}

Result<std::string> read_ledger_public_key(const std::string& data_folder) {
    const std::string path = public_path(data_folder);
    TRY_ASSIGN(const std::string hex, read_small_file(path, kPrivateFileBytesMax));
    Result<std::string> key = from_hex(trim(hex));
    if (!key || key->size() != kSeedBytes) {
        return fail(errors::crypto_failed, path + " does not hold 64 hex digits");
    }
    return key;
}

Result<std::vector<NumberedKey>> read_sealing_keys(const std::string& data_folder) {
    std::vector<NumberedKey> keys;
    for (const std::string& path : {key_path(data_folder), next_path(data_folder)}) {
        TRY_ASSIGN(std::optional<NumberedKey> key, read_key(path));
        if (key) {
            keys.push_back(*std::move(key));
        }
    }
    return keys;
}

Result<NumberedKey> read_sealing_key(const std::string& data_folder) {
    TRY_ASSIGN(std::vector<NumberedKey> keys, read_sealing_keys(data_folder));
    if (!keys.empty()) {
        return std::move(keys.front());
    }
    return fail(
        errors::not_found,
        key_path(data_folder) + " does not exist",
        "Run this on the machine of the server, as the user it runs under.");
}

}  // namespace interlock
