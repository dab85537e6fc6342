// A secret that cannot be printed, compared with == or copied by accident, and is wiped on
// destruction. Only the vault and signing code call reveal().
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace interlock {

// Overwrites the whole buffer in a way the compiler may not remove, and leaves `text` empty.
void wipe(std::string& text);

class SecretString {
public:
    SecretString() = default;
    // A short string leaves its characters behind when moved from, hence the wipes after moves.
    explicit SecretString(std::string text) : text_(std::move(text)) { wipe(text); }
    ~SecretString() { wipe(text_); }

    SecretString(SecretString&& other) noexcept : text_(std::move(other.text_)) {
        wipe(other.text_);
    }
    SecretString& operator=(SecretString&& other) noexcept {
        if (this != &other) {
            wipe(text_);
            text_ = std::move(other.text_);
            wipe(other.text_);
        }
        return *this;
    }
    SecretString(const SecretString&) = delete;
    SecretString& operator=(const SecretString&) = delete;

    SecretString clone() const { return SecretString(text_); }

    std::string_view reveal() const { return text_; }
    bool empty() const { return text_.empty(); }

    // The last four characters, for people to recognise a secret by; "" when shorter than 12.
    std::string hint() const {
        return text_.size() < 12 ? std::string() : text_.substr(text_.size() - 4);
    }

    friend bool operator==(const SecretString&, const SecretString&) = delete;

private:
    std::string text_;
};

}  // namespace interlock
